"""`python -m lecture.train`, and at the end how many bytes this process had averaged."""

import hashlib
import sys

from lecture.train import cli, session
from lecture.train.parallel import Together

if __name__ == "__main__":
    groups = []

    class Watched(Together):
        def __init__(self, device, sharded):
            assert not sharded
            super().__init__(device)
            groups.append(self)

    cli.join = Watched
    steps = session.train

    def watched_steps(run, *arguments):
        yield from steps(run, *arguments)
        weights = b"".join(weight.detach().numpy().tobytes() for weight in run.model.parameters())
        digest = hashlib.sha256(weights).hexdigest()
        print(f"weights {digest}, reduced {groups[0].reduced_bytes} bytes", flush=True)

    session.train = watched_steps
    raise SystemExit(cli.main(sys.argv[1:]))
