"""The README in parts; `python -m tests.readme FILE` writes the lecture it shows into a file."""

import re
import sys
from pathlib import Path

ROOT = Path(__file__).parent.parent
TEXT = (ROOT / "README.md").read_text(encoding="utf-8")


def blocks(language: str, text: str = TEXT) -> list[str]:
    """The fenced blocks in a language."""
    return re.findall(rf"^```{language}\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)


def section(title: str, text: str = TEXT) -> str:
    """What stands under a heading, up to the next of its level or a higher one."""
    start = re.search(rf"^(#+) {re.escape(title)}\n", text, re.MULTILINE)
    assert start, f"no heading {title}"
    end = re.search(rf"^#{{1,{len(start[1])}}} ", text[start.end() :], re.MULTILINE)
    return text[start.end() :][: end.start() if end else None]


if __name__ == "__main__":
    Path(sys.argv[1]).write_text(blocks("python")[0], encoding="utf-8")
