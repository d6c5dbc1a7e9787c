"""Records what a lecture prints, and shows it all the same."""

import contextlib
import sys
from collections.abc import Callable, Iterable, Iterator
from typing import Any, TextIO

from ..options import Options
from ..own_builtins import use_own_builtins
from .recorder import Recorder

use_own_builtins(globals())


@contextlib.contextmanager
def tees(recorder: Recorder, options: Options, importing: bool = False) -> Iterator[None]:
    """Record what is printed, and show it all the same.

    While importing, the lecture may keep a stream, such as for a logger, or put another one in its
    place, which then stays.
    """
    streams = {"stdout": sys.stdout, "stderr": sys.stderr}
    teed = {
        name: stream if type(stream) is _Tee else _Tee(stream, name, recorder, options.progress)
        for name, stream in streams.items()
    }
    vars(sys).update(teed)
    try:
        yield
    finally:
        for name, stream in streams.items():
            if not importing or getattr(sys, name) is teed[name]:
                setattr(sys, name, stream)


class _Tee:
    """Writes to a stream and notes the text. Not an `IOBase`, which would close the stream."""

    def __init__(
        self,
        stream: TextIO,
        name: str,
        recorder: Recorder,
        progress: Callable[[Recorder | None], None] | None,
    ) -> None:
        self._stream = stream
        self._name = name
        self._recorder = recorder
        self._progress = progress

    def write(self, text: str) -> int:
        if self._recorder.is_reading():  # what a value's own code prints, the lecture does not
            return len(text)
        if self._progress:
            self._progress(None)
        written = self._stream.write(text)
        if self._recorder.running:
            self._recorder.printed(self._name, text)
        return written

    def writelines(self, lines: Iterable[str]) -> None:
        for line in lines:
            self.write(line)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)
