"""What depends on the clock: seconds per step, and the values of `@timed` statements.

It goes to a file of its own beside the document, `NAME.times.json`, written with `--time` only: the
document itself stays the same on every run. The file says which sources it belongs to.
"""

import datetime
import hashlib
import itertools
import json
import os
import platform
from pathlib import Path
from typing import Any

from ..events import Log, Replay, steps_of
from ..record.run import Recording

FORMAT = "lecture-trace-times"
VERSION = 1


def encode_times(recording: Recording) -> bytes:
    """Return the bytes of the times of a recording that was made with the option `time`.

    `seconds[i]` is the time spent in step i itself, without the recorded functions it calls.
    `inspections` and `claims` give the values of `@timed` statements by the row of the document
    they belong to; of a claim, the operands by their index. `environment` names the machine, with
    its processor and cores, and the day.
    """
    recorder = recording.recorder
    sources = {file.path: hashlib.sha256(file.text.encode()) for file in recording.files}
    sidecar: dict[str, Any] = {
        "format": FORMAT,
        "version": VERSION,
        "module": recording.target.module,
        "sources": {path: digest.hexdigest() for path, digest in sources.items()},
        "environment": {
            **recording.environment,
            "processor": processor_name(),
            "cores": os.cpu_count(),
            "date": datetime.datetime.now(datetime.UTC).date().isoformat(),
        },
        "seconds": [float(f"{seconds:.3g}") for seconds in step_seconds(recording)],
        "inspections": recorder.timed_inspections,
        "claims": recorder.timed_claims,
    }
    return (json.dumps(sidecar) + "\n").encode("ascii")


def processor_name(path: Path = Path("/proc/cpuinfo")) -> str:
    """Return the name that the processor gives itself, or its kind where it gives none."""
    try:
        lines = path.read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        lines = []
    names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return next(filter(None, names), "") or platform.processor() or platform.machine()


def step_seconds(recording: Recording) -> list[float]:
    """Return the seconds spent in each step."""
    recorder = recording.recorder
    log = Log.of_recorder(recorder.events, recording.tables.first_steps)
    clock = [*log.spread(recorder.times), recorder.end_seconds]
    seconds = [0.0] * len(steps_of(log.events))
    replay = Replay(log.events)
    for index, (begin, end) in enumerate(itertools.pairwise(clock)):
        replay.to(index + 1)
        if replay.step >= 0:
            seconds[replay.step] += end - begin
    return seconds[: recording.max_steps]
