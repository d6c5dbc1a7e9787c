"""One run of a lecture in a process of its own, which can be stopped."""

import contextlib
import os
import re
import signal
import subprocess
import sys
import threading
import time

GRACE_SECONDS = 1.0
"""How long an interrupted lecture has to clean up after itself."""
MAX_KEPT_BYTES = 100_000
"""How much is kept of what a run says on stderr."""

_CONTROLS = re.compile(r"\r?[^\r\n]*\x1b\[K")


class Run:
    """A process. What it says on stderr is passed on, and its end is kept. One that is waiting
    begins when it is told to."""

    def __init__(self, command: list[str], *, is_waiting: bool = False) -> None:
        self.ended = threading.Event()
        self.began_ns = time.time_ns()
        self.seconds = 0.0
        self._began = time.perf_counter()
        self._said = b""
        self._stopped = False
        self._process = subprocess.Popen(
            command,
            stdin=subprocess.PIPE if is_waiting else subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            start_new_session=True,
        )
        self._reader = threading.Thread(target=self._pass_on, daemon=True)
        self._waiter = threading.Thread(target=self._wait, daemon=True)
        self._reader.start()
        self._waiter.start()

    def begin(self) -> bool:
        """Let a process begin that waits for it; tell whether it still did."""
        assert self._process.stdin is not None
        self.began_ns = time.time_ns()
        self._began = time.perf_counter()
        try:
            self._process.stdin.write(b"\n")
            self._process.stdin.close()
        except OSError:
            return False
        return not self.ended.is_set()

    def stop(self) -> None:
        """End it, and all processes that it started."""
        self._stopped = True
        with contextlib.suppress(ProcessLookupError):
            if sys.platform == "win32":
                self._process.terminate()
            else:
                self._process.send_signal(signal.SIGINT)
        try:
            self._process.wait(GRACE_SECONDS)
        except subprocess.TimeoutExpired:
            self._process.kill()
        self._waiter.join()

    def last_words(self) -> str:
        """Return the last line that it said, or how it ended if it said nothing."""
        text = _CONTROLS.sub("", self._said.decode(errors="replace"))
        lines = [line for line in text.splitlines() if line.strip()]
        return lines[-1] if lines else f"The run ended with status {self._process.returncode}."

    def _pass_on(self) -> None:
        assert self._process.stderr is not None
        with self._process.stderr as pipe:
            while said := os.read(pipe.fileno(), 4096):
                self._said = (self._said + said)[-MAX_KEPT_BYTES:]
                if not self._stopped:
                    sys.stderr.write(said.decode(errors="replace"))
                    sys.stderr.flush()

    def _wait(self) -> None:
        self._process.wait()
        self.seconds = time.perf_counter() - self._began
        if sys.platform != "win32":
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.killpg(self._process.pid, signal.SIGKILL)  # what it has started and left
        self._reader.join(GRACE_SECONDS)  # which a process in a session of its own may keep open
        self.ended.set()
