"""The table of contents: `main` calls the parts in the order of teaching."""

import sys
import time

if __name__ == "__main__" and not __package__:
    print("Run it from the repository root: python -m lecture.main", file=sys.stderr)
    raise SystemExit(2)

import torch

from lecture.lib.ranks import prepare_to_fork
from lecture.part1_why import contents as why
from lecture.part2_text import contents as text
from lecture.part3_tensors import contents as tensors
from lecture.part4_compute import contents as compute
from lecture.part5_models import contents as models
from lecture.part6_training import contents as training
from lecture.part7_after import contents as after


def main() -> None:
    """What language models cost.

    We want to train a language model. What will it cost, and how would we know? This lecture takes
    a model apart into a few kinds of operations on arrays of numbers, and asks two questions of
    each: how many bytes of memory does it need, and how many additions and multiplications? With
    the answers we can write down the cost of a training run before the run, and check it after.

    **Who this is for.** You write Python, you know what a matrix and a derivative are, and you have
    seen PyTorch once. Everything else is said where it is first needed: matmul, attention, bf16.

    **What it does not cover.** Which data and which architecture make a better model; how models
    are aligned or evaluated; GPU programming and serving beyond what the costs need.

    **Three ways through.** In about 75 minutes: the short path. Its sections stand alone, from [why
    count](#every_chapter_pays_in_two_currencies) over
    [FLOPs](#forward_is_two_flops_per_parameter_and_token), [bytes against
    FLOPs](#an_accelerator_has_an_intensity), [gradients](#two_plus_four_is_six),
    [attention](#attention_takes_a_weighted_mean) and [what fills the
    memory](#four_things_fill_the_memory) to [many GPUs](#zero_divides_what_every_rank_keeps), and a
    few sentences bridge what is left out. In two or three days: from the top, one chapter after the
    other; nearly all end with what you can do then, and with exercises. Or as a reference: search
    for a word or look it up in the glossary, and follow the links back until you know all that a
    section uses.

    **Read with a guess.** Where a line asks you, with a question mark, say what comes out before
    you look. In the margin stand ticks for claims that held, values that the program showed, and
    what lines cost; the key `L` explains each.

    The lecture is a Python program, and this page is one run of it. For most numbers that can be
    checked here, the line that checks them stands below.
    """
    # For the same numbers on every run: a fixed number of threads, operations that add up in a
    # fixed order, and a seed for what layers draw.
    torch.manual_seed(0)
    torch.set_num_threads(2)
    torch.use_deterministic_algorithms(True)
    # The last part is about several devices, which are processes here. What forks them gets ready
    # meanwhile.
    prepare_to_fork(after.__name__)

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
