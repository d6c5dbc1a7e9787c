"""A small lecture to begin with: `--new FILE`."""

from pathlib import Path

from ..errors import UsageError
from ..target import require_importable

EXAMPLE = Path(__file__).with_name("template") / "my_lecture.py"
"""It stands here as its readers get it, but for its name; its picture lies beside it."""


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
    try:
        for file, text in ((image, picture), (path, lecture)):
            with file.open("x", encoding="utf-8", newline="\n") as stream:
                stream.write(text)
    except OSError as error:
        raise UsageError(f"cannot write {file} ({error.strerror}): choose another place.") from None
