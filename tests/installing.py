"""The distribution, packed and installed into an environment of its own."""

import functools
import os
import subprocess
import sys
import tempfile
from pathlib import Path

from tests.outside import ROOT

PIP = [sys.executable, "-m", "pip", "--quiet", "--disable-pip-version-check"]
SCRIPTS = "Scripts" if sys.platform == "win32" else "bin"


def pack(source: Path, folder: Path, *kinds: str) -> None:
    """Write the wheel and the archive of sources, or one of these kinds, into a folder."""
    command = [sys.executable, "-m", "hatchling", "build", "-d", str(folder)]
    environment = {**os.environ, "SOURCE_DATE_EPOCH": "1577836800"}
    options = [word for kind in kinds for word in ("-t", kind)]
    subprocess.run([*command, *options], cwd=source, env=environment, check=True)


@functools.cache
def packed() -> Path:
    """A folder with both, packed once in this process."""
    folder = Path(tempfile.mkdtemp(prefix="packed-"))
    pack(ROOT, folder)
    return folder


def wheel() -> Path:
    """The wheel."""
    return next(packed().glob("*.whl"))


class Installed:
    """An environment in which something may be installed and run."""

    def __init__(self, folder: Path, python: Path | str = sys.executable) -> None:
        subprocess.run([python, "-m", "venv", "--without-pip", folder], check=True)
        self.python = folder / SCRIPTS / "python"
        self.site = Path(self.says("import sysconfig; print(sysconfig.get_path('purelib'))"))

    def install(self, *words: Path | str) -> None:
        """Install as pip would that were there; ours is found where it was packed."""
        links = [os.environ.get("PIP_FIND_LINKS", ""), str(packed())]
        environment = {**os.environ, "PIP_FIND_LINKS": " ".join(links).strip()}
        command = [*PIP, "--python", self.python, "install", *words]
        subprocess.run([str(word) for word in command], env=environment, check=True)

    def see(self, other: Path) -> None:
        """Let what is installed in another environment be imported here, too."""
        (self.site / "others.pth").write_text(f"{other}\n", encoding="utf-8")

    def command(self, name: str) -> Path:
        """A program that was installed."""
        return self.python.with_name(name)

    def says(self, source: str) -> str:
        """What a line of Python prints here."""
        command = [str(self.python), "-I", "-c", source]
        found = subprocess.run(command, check=True, capture_output=True, text=True)
        return found.stdout.strip()
