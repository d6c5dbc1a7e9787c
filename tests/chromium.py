"""Which Chromium the tests of the viewer use; `python -m tests.chromium` makes sure there is one.

One on PATH is taken first, then one that Playwright downloads, then the one of the system.
"""

import os
import shutil
import subprocess
import sys
from collections.abc import Callable

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
PLAYWRIGHT = (sys.executable, "-m", "playwright")
NONE_FOUND = (
    "No Chromium could be found or installed, and the tests of the viewer need one: put `chromium`"
    " or `google-chrome` on PATH, or run `python -m playwright install --with-deps chromium`."
)


def succeeds(*command: str) -> bool:
    """Whether the command ran and exited with 0; what it prints is dropped."""
    try:
        finished = subprocess.run(command, capture_output=True, timeout=60)
    except (OSError, subprocess.TimeoutExpired):
        return False
    return finished.returncode == 0


class Installer:
    """Runs commands that may take long, and keeps what they print until somebody asks."""

    def __init__(self) -> None:
        self.said = ""

    def run(self, *command: str) -> bool:
        """Whether the command ran and exited with 0. One way that fails is no error yet."""
        print("looking for a Chromium:", *command[-3:], file=sys.stderr, flush=True)
        pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.STDOUT}
        try:
            finished = subprocess.run(command, **pipes, stdin=subprocess.DEVNULL)
        except OSError as error:
            self.said += f"{error}\n"
            return False
        self.said += finished.stdout.decode(errors="replace")
        return finished.returncode == 0


def find_chromium() -> str | None:
    """The Chromium on PATH, or None: then Playwright's own is meant.

    It is asked for its version, because a name alone may be a stub that only recommends a package.
    """
    for path in filter(None, map(shutil.which, NAMES)):
        if succeeds(path, "--version"):
            return path
    return None


def playwright_starts() -> bool:
    """Whether Playwright's own Chromium is there and has all the libraries it needs."""
    start = (
        "from playwright.sync_api import sync_playwright as p\n"
        "with p() as started: started.chromium.launch().close()"
    )
    return succeeds(sys.executable, "-c", start)


def ready() -> bool:
    return find_chromium() is not None or playwright_starts()


def may_use_apt() -> bool:
    return shutil.which("apt-get") is not None and hasattr(os, "geteuid") and os.geteuid() == 0


def make_sure(
    run: Callable[..., bool],
    ready: Callable[[], bool] = ready,
    may_use_apt: Callable[[], bool] = may_use_apt,
) -> bool:
    """Install a Chromium unless there is one; says whether there is one now."""
    if ready():
        return True
    downloaded = run(*PLAYWRIGHT, "install", "chromium")
    if downloaded and ready():
        return True
    if not may_use_apt():
        return False
    if downloaded:
        run(*PLAYWRIGHT, "install-deps", "chromium")
    else:
        run("apt-get", "update")
        run("apt-get", "install", "-y", "chromium")
    return ready()


def main() -> int:
    installer = Installer()
    if make_sure(installer.run):
        return 0
    print(installer.said, end="", file=sys.stderr)
    print(NONE_FOUND, file=sys.stderr)
    return 1


if __name__ == "__main__":
    sys.exit(main())
