"""What several lectures have in common: `lecture.toml`, or `[tool.lecture-trace]` in
`pyproject.toml`, in the folder of the lectures or in one above it."""

import re
import tomllib
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ..errors import UsageError

_FACTS = ("title", "author", "date", "licence", "language", "address")
_PICTURES = (".png", ".jpg", ".jpeg", ".webp")
_FILES = {"logo": (".svg", *_PICTURES), "picture": _PICTURES, "css": (".css",)}
"""What is the path of a file beside the settings, and what it ends in."""
_COLOUR = re.compile(r"#[0-9a-fA-F]{3,8}|[a-z]+|(rgb|hsl|oklch|oklab|lch|lab)\([\w\s.,%/-]+\)")
_ELSEWHERE = re.compile(r"@import|url\(\s*[\"']?(?!data:|#)", re.IGNORECASE)
"""What a style sheet may not ask for: the policy of the page refuses it."""
FOLDER = "course"
"""Where the files of a course lie in a site."""
_LANGUAGE = re.compile(r"[A-Za-z]{2,3}(-[A-Za-z0-9]{2,8})*")


@dataclass(frozen=True)
class Course:
    """How lectures are presented together."""

    facts: dict[str, Any] = field(default_factory=dict)
    """Title, author, date, licence, language, `address` (where the site will lie), `accent` (a
    colour on light and one on dark), `links` (title and address), and where `logo`, `picture` (for
    previews of links) and `css` lie in the site, as far as they are given."""
    files: dict[str, Path] = field(default_factory=dict)
    """Where these come from, by where they lie in the site."""
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
    looks, files = _looks(settings, file)
    for name, value in settings.items():
        if name not in _FACTS:
            known = ", ".join((*_FACTS, "accent", *_FILES, "links"))
            raise UsageError(f"{file.name}: {name} is none of {known}, groups.")
        if not isinstance(value, str):
            raise UsageError(f"{file.name}: {name} has to be a text in quotes.")
    language = settings.get("language", "en")
    if not _LANGUAGE.fullmatch(language):
        raise UsageError(f"{file.name}: {language} is no language: write en, de or pt-BR.")
    address = settings.get("address", "https://")
    if not address.startswith(("https://", "http://")):
        raise UsageError(
            f"{file.name}: {address} is no address: write https://example.org/course/."
        )
    if "address" in settings:
        settings["address"] = address.rstrip("/") + "/"
    if not isinstance(groups, list) or not all(map(_is_group, groups)):
        wanted = '[[groups]] with title = "..." and lectures = ["...", ...]'
        raise UsageError(f"{file.name}: groups are written as {wanted}.")
    listed = tuple((group["title"], tuple(group["lectures"])) for group in groups)
    return Course({**settings, **looks}, files, listed)


def _looks(settings: dict[str, Any], file: Path) -> tuple[dict[str, Any], dict[str, Path]]:
    """Take colours, links and files out of the settings. Raises UsageError."""
    looks: dict[str, Any] = {}
    files: dict[str, Path] = {}
    if "accent" in settings:
        accent = settings.pop("accent")
        pair = accent if isinstance(accent, list) else [accent, accent]
        if len(pair) != 2 or not all(isinstance(c, str) and _COLOUR.fullmatch(c) for c in pair):
            raise UsageError(
                f'{file.name}: accent is a colour such as "#1f5fa8", or one for light and one for '
                'dark: ["#1f5fa8", "#7fb4f0"].'
            )
        looks["accent"] = pair
    if "links" in settings:
        looks["links"] = settings.pop("links")
        if not isinstance(looks["links"], list) or not all(map(_is_link, looks["links"])):
            wanted = '[[links]] with title = "..." and address = "https://..."'
            raise UsageError(f"{file.name}: links are written as {wanted}.")
    for name, endings in _FILES.items():
        if name in settings:
            path = _file(name, settings.pop(name), file, endings)
            looks[name] = f"{FOLDER}/{name}{path.suffix.lower()}"
            files[looks[name]] = path
    return looks, files


def _file(name: str, said: object, settings: Path, endings: tuple[str, ...]) -> Path:
    """Return the path of a file that the settings name. Raises UsageError."""
    path = settings.parent / said if isinstance(said, str) else settings.parent
    if path.suffix.lower() not in endings or not path.is_file():
        raise UsageError(
            f"{settings.name}: {name} has to be a file beside it that ends in "
            f"{' or '.join(endings)}; {said} is none."
        )
    if name == "css" and (found := _ELSEWHERE.search(path.read_text(encoding="utf-8"))):
        raise UsageError(
            f"{path.name}: a page fetches nothing from elsewhere: {found[0].strip()} is refused."
        )
    return path


def _is_link(link: object) -> bool:
    return (
        isinstance(link, dict)
        and link.keys() == {"title", "address"}
        and isinstance(link["title"], str)
        and isinstance(link["address"], str)
        and link["address"].startswith(("https://", "http://", "mailto:"))
    )


def _is_group(group: object) -> bool:
    return (
        isinstance(group, dict)
        and group.keys() == {"title", "lectures"}
        and isinstance(group["title"], str)
        and isinstance(group["lectures"], list)
        and all(isinstance(module, str) for module in group["lectures"])
    )
