"""`python -m lecture.train`, and at the end how many bytes this process had averaged."""

import hashlib
import sys

from lecture import train
from lecture.training.parallel import Together

if __name__ == "__main__":
    groups = []

    class Watched(Together):
        def __init__(self, device):
            super().__init__(device)
            groups.append(self)

    train.join = Watched
    steps = train.train

    def watched_steps(run, *arguments):
        yield from steps(run, *arguments)
        weights = b"".join(weight.detach().numpy().tobytes() for weight in run.model.parameters())
        digest = hashlib.sha256(weights).hexdigest()
        print(f"weights {digest}, reduced {groups[0].reduced_bytes} bytes", flush=True)

    train.train = watched_steps
    raise SystemExit(train.main(sys.argv[1:]))
