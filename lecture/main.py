"""The table of contents: `main` calls the parts in the order of teaching."""

import sys
import time

if __name__ == "__main__" and not __package__:
    print("Run it from the repository root: python -m lecture.main", file=sys.stderr)
    raise SystemExit(2)

import torch

from lecture.part1_why import contents as why
from lecture.part2_text import contents as text
from lecture.part3_tensors import contents as tensors
from lecture.part4_compute import contents as compute
from lecture.part5_models import contents as models
from lecture.part6_training import contents as training
from lecture.part7_after import contents as after


def main() -> None:
    """What language models cost.

    A language model is made of a few kinds of operations on arrays of numbers. This lecture takes
    them one at a time and asks of each the same two questions: how many bytes of memory does it
    take up, and how many additions and multiplications does it cost? With the answers, the bill of
    a training run can be written down before the run and checked after it.

    The lecture is a Python program, and this page is one run of it. Where a number matters, the
    line that checks it stands below.
    """
    # For the same numbers on every run: a fixed number of threads, and operations that add up in a
    # fixed order.
    torch.set_num_threads(2)
    torch.use_deterministic_algorithms(True)

    why.main()
    text.main()
    tensors.main()
    compute.main()
    models.main()
    training.main()
    after.main()


if __name__ == "__main__":
    start_seconds = time.perf_counter()
    main()
    print(f"the lecture ran in {time.perf_counter() - start_seconds:.1f} s")
