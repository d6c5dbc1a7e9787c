"""A small lecture to begin with, `--new FILE`, or a course, `--new-course FOLDER`."""

from pathlib import Path

from ..errors import UsageError
from ..target import require_importable

EXAMPLE = Path(__file__).with_name("template") / "my_lecture.py"
"""It stands here as its readers get it, but for its name; its picture lies beside it."""


COURSE = EXAMPLE.with_name("course")
_ELSEWHERE = {"pages.yml": ".github/workflows/pages.yml"}
"""Files of the course that do not lie in its folder itself."""


def write_example(path: Path) -> None:
    """Write the example and, beside it, its picture. Raises UsageError; replaces nothing."""
    require_importable(path)
    if not path.parent.is_dir():
        raise UsageError(f"there is no folder {path.parent}: make it first.")
    image = path.with_suffix(".svg")
    for file in (path, image):
        if file.exists() or file.is_symlink():
            raise UsageError(f"{file} is there already: choose another name.")
    picture = EXAMPLE.with_suffix(".svg").read_text(encoding="utf-8")
    lecture = EXAMPLE.read_text(encoding="utf-8").replace(EXAMPLE.stem, path.stem)
    _write({image: picture, path: lecture})


def write_course(folder: Path) -> None:
    """Write a course of two lectures into a new or empty folder. Raises UsageError."""
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise UsageError(f"{folder} is there already and not empty: choose another name.")
    files = {}
    for file in sorted(COURSE.iterdir()):
        if file.is_file():
            place = folder / _ELSEWHERE.get(file.name, file.name)
            files[place] = file.read_text(encoding="utf-8")
    _write(files)


def _write(files: dict[Path, str]) -> None:
    """Write files that are not there yet. Raises UsageError."""
    for file, text in files.items():
        try:
            file.parent.mkdir(parents=True, exist_ok=True)
            with file.open("x", encoding="utf-8", newline="\n") as stream:
                stream.write(text)
        except OSError as error:
            reason = f"cannot write {file} ({error.strerror})"
            raise UsageError(f"{reason}: choose another place.") from None
