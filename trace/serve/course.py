"""What several lectures have in common: `lecture.toml`, or `[tool.lecture-trace]` in
`pyproject.toml`, in the folder of the lectures or in one above it."""

import re
import tomllib
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ..errors import UsageError

_FACTS = ("title", "author", "date", "licence", "language")
_LANGUAGE = re.compile(r"[A-Za-z]{2,3}(-[A-Za-z0-9]{2,8})*")


@dataclass(frozen=True)
class Course:
    """How lectures are presented together."""

    facts: dict[str, str] = field(default_factory=dict)
    """Title, author, date, licence and language, as far as they are given."""
    groups: tuple[tuple[str, tuple[str, ...]], ...] = ()
    """Titles of groups, each with the modules of its lectures in their order."""

    def index(self, documents: list[dict[str, Any]]) -> dict[str, Any]:
        """Return the index of these documents: in the order of the groups, others at the end."""
        if not self.facts and not self.groups:
            return {"documents": documents}
        places = {
            module: (title, number)
            for number, (title, module) in enumerate(
                (title, module) for title, modules in self.groups for module in modules
            )
        }
        others = ("", len(places))
        documents = sorted(documents, key=lambda one: places.get(one["module"], others)[1])
        for one in documents:
            one.pop("group", None)
            if title := places.get(one["module"], others)[0]:
                one["group"] = title
        return {"course": self.facts, "documents": documents}


NO_COURSE = Course()


def course_of(folder: Path) -> Course:
    """Return the course that lectures in a folder belong to. Raises UsageError."""
    for place in (folder, *folder.parents):
        for file, path in ((place / "lecture.toml", ()), (place / "pyproject.toml", ("tool",))):
            settings = _settings(file, path)
            if settings is not None:
                return _course(settings, file)
    return NO_COURSE


def _settings(file: Path, path: tuple[str, ...]) -> dict[str, Any] | None:
    try:
        found: Any = tomllib.loads(file.read_text(encoding="utf-8"))
    except OSError:
        return None
    except ValueError as error:
        raise UsageError(f"{file.name} cannot be read: {error}.") from None
    for name in (*path, "lecture-trace") if path else ():
        found = found.get(name)
        if not isinstance(found, dict):
            return None
    return dict(found)


def _course(settings: dict[str, Any], file: Path) -> Course:
    """Raises UsageError where something is not as it has to be."""
    groups = settings.pop("groups", [])
    for name, value in settings.items():
        if name not in _FACTS:
            raise UsageError(f"{file.name}: {name} is none of {', '.join(_FACTS)}, groups.")
        if not isinstance(value, str):
            raise UsageError(f"{file.name}: {name} has to be a text in quotes.")
    language = settings.get("language", "en")
    if not _LANGUAGE.fullmatch(language):
        raise UsageError(f"{file.name}: {language} is no language: write en, de or pt-BR.")
    if not isinstance(groups, list) or not all(map(_is_group, groups)):
        wanted = '[[groups]] with title = "..." and lectures = ["...", ...]'
        raise UsageError(f"{file.name}: groups are written as {wanted}.")
    listed = tuple((group["title"], tuple(group["lectures"])) for group in groups)
    return Course(settings, listed)


def _is_group(group: object) -> bool:
    return (
        isinstance(group, dict)
        and group.keys() == {"title", "lectures"}
        and isinstance(group["title"], str)
        and isinstance(group["lectures"], list)
        and all(isinstance(module, str) for module in group["lectures"])
    )
