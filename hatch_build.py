"""What packing changes: a wheel carries the viewer's code without comments, types and indentation.

They are a fifth of our share of the wheel, and a browser has no use for them. Whoever wants to
read the viewer finds them in the archive of sources.
"""

import importlib.util
import tempfile
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface


class WithoutComments(BuildHookInterface):
    """Puts other texts in the place of the viewer's modules and style sheets."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Write them beside each other; an editable installation keeps what lies here."""
        if version == "editable":
            return
        root = Path(self.root)
        comments = _module(root / "trace/serve/comments.py")
        self.folder = tempfile.TemporaryDirectory()
        for path in sorted((root / "viewer").rglob("*")):
            if path.suffix not in comments.CODE or "vendor" in path.parts:
                continue
            place = path.relative_to(root).as_posix()
            copy = Path(self.folder.name, place.replace("/", "-"))
            code = comments.without_comments(path.read_text(encoding="utf-8"))
            copy.write_text(code, encoding="utf-8", newline="\n")
            build_data["force_include"][str(copy)] = f"lecture_trace/{place}"

    def finalize(self, version: str, build_data: dict[str, Any], artifact: str) -> None:
        """Remove them, which are packed by now."""
        if version != "editable":
            self.folder.cleanup()


def _module(path: Path) -> Any:
    """A module of the tracer, by its file: `trace` itself is the standard library's here."""
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec and spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module
