"""`python -m lecture.train`, and at the end how many bytes this process had averaged."""

import hashlib
import os
import sys

from lecture.train import cli, session

if __name__ == "__main__":
    groups = []

    join = cli.join

    def watched_join(device, how):
        groups.append(join(device, how))
        return groups[0]

    cli.join = watched_join
    steps = session.train

    def watched_steps(run, *arguments):
        yield from steps(run, *arguments)
        weights = b"".join(weight.detach().numpy().tobytes() for weight in run.model.parameters())
        digest = hashlib.sha256(weights).hexdigest()
        print(f"weights {digest}, reduced {groups[0].reduced_bytes} bytes", flush=True)

    session.train = watched_steps
    status = cli.main(sys.argv[1:])
    sys.stdout.flush()
    sys.stderr.flush()
    # At an ordinary end PyTorch's threads, which still wait, abort the process now and then.
    os._exit(status or 0)
