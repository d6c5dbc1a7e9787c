"""The `.bib` files beside a lecture: what a citation says, and what a list of references."""

import re
import unicodedata
from collections.abc import Iterator
from pathlib import Path

Entry = dict[str, str]
"""The fields of an entry, in lower case."""

_ENTRY = re.compile(r"@(\w+)\s*\{\s*([^,\s{}]+)\s*,")
_FIELD = re.compile(r"\s*([\w-]+)\s*=\s*")
_PIECE = re.compile(r"\s*(?:#\s*)?([\w.-]+)")
_ACCENTS = {"'": 0x301, "`": 0x300, "^": 0x302, '"': 0x308, "~": 0x303, "c": 0x327, "v": 0x30C}
_ACCENTS |= {"=": 0x304, ".": 0x307, "u": 0x306, "H": 0x30B, "r": 0x30A, "k": 0x328}
_ACCENT = re.compile(r"\\(?:(['`^\"~=.])\s*|([cvuHrk])(?:\s+|(?=\{)))\{?\\?([A-Za-z])\}?")
_LETTERS = {"ss": "ß", "ae": "æ", "AE": "Æ", "oe": "œ", "o": "ø", "O": "Ø", "l": "ł", "L": "Ł"}
_LETTER = re.compile(r"\\(" + "|".join(_LETTERS) + r")(?![A-Za-z])\s*")
_WORD = re.compile(r"\\([A-Za-z]+)[ ]*")
"""Such as TeX's own name."""
_ESCAPED = re.compile(r"\\([&%$#_{}])")
_SPECIAL = re.compile(r"([\\`*_\[\]<>])")
_PLACES = ("journal", "booktitle", "publisher", "school", "institution", "howpublished")


def bibliography(folder: Path) -> dict[str, Entry]:
    """Return the entries of all `.bib` files in a folder by their keys."""
    found: dict[str, Entry] = {}
    for file in sorted(folder.glob("*.bib")):
        for key, entry in entries_in(file.read_text(encoding="utf-8", errors="replace")):
            found.setdefault(key, entry)
    return found


def entries_in(text: str) -> Iterator[tuple[str, Entry]]:
    """Yield key and fields of each entry.

    >>> list(entries_in('@book{tex, author = {Knuth, Donald E.}, year = 1984}'))
    [('tex', {'author': 'Knuth, Donald E.', 'year': '1984'})]
    """
    for match in _ENTRY.finditer(text):
        if match[1].lower() not in ("comment", "preamble", "string"):
            yield match[2], dict(_fields(text, match.end()))


def _fields(text: str, at: int) -> Iterator[tuple[str, str]]:
    while match := _FIELD.match(text, at):
        value, at = _value(text, match.end())
        yield match[1].lower(), " ".join(_plain(value).split())
        at = re.compile(r"\s*,?").match(text, at).end()  # type: ignore[union-attr]


def _value(text: str, at: int) -> tuple[str, int]:
    """Return what stands in braces, in quotes or bare, and where it ends."""
    if text[at : at + 1] not in ("{", '"'):
        match = _PIECE.match(text, at)
        return (match[1], match.end()) if match else ("", len(text))
    depth, opened = 0, text[at]
    for end in range(at + 1, len(text)):
        if text[end] == ("}" if opened == "{" else '"') and depth == 0:
            return text[at + 1 : end], end + 1
        depth += {"{": 1, "}": -1}.get(text[end], 0)
    return text[at + 1 :], len(text)


def _plain(text: str) -> str:
    """TeX's accents and letters as characters, without its braces."""
    text = _LETTER.sub(lambda match: _LETTERS[match[1]], text)
    text = _ACCENT.sub(_accented, text)
    text = _WORD.sub(r"\1", _ESCAPED.sub(r"\1", text.replace("--", "–")))
    text = re.sub(r"[{}]", "", text)
    return text.replace("~", " ")


def _accented(match: re.Match[str]) -> str:
    accent = chr(_ACCENTS[match[1] or match[2]])
    return unicodedata.normalize("NFC", match[3] + accent)


def _last_names(entry: Entry) -> list[str]:
    people = entry.get("author") or entry.get("editor") or ""
    names = [name.strip() for name in re.split(r"\s+and\s+", people) if name.strip()]
    return [name.partition(",")[0] if "," in name else name.rpartition(" ")[2] for name in names]


def cited(key: str, entry: Entry) -> str:
    """Return what stands in the text.

    >>> cited("a", {"author": "Gauss, C. F. and Noether, Emmy", "year": "1918"})
    'Gauss and Noether 1918'
    """
    names = _last_names(entry)
    who = " and ".join(names) if len(names) <= 2 else f"{names[0]} et al."
    return " ".join(part for part in (who or entry.get("title", key), entry.get("year")) if part)


def reference(key: str, entry: Entry) -> str:
    """Return the Markdown of an entry in the list of references."""
    people = entry.get("author") or entry.get("editor") or ""
    who = "; ".join(re.split(r"\s+and\s+", people)).strip()
    parts = [_SPECIAL.sub(r"\\\1", who)]
    if year := entry.get("year"):
        parts[0] = f"{parts[0]} ({year})".strip()
    title = _SPECIAL.sub(r"\\\1", entry.get("title", key))
    parts.append(f"*{title}*")
    place = next((entry[name] for name in _PLACES if name in entry), "")
    numbers = [entry.get("volume", ""), entry.get("pages", "")]
    where = ", ".join(part for part in (place, *numbers) if part)
    parts += [_SPECIAL.sub(r"\\\1", where)] if where else []
    address = entry.get("url") or (f"https://doi.org/{entry['doi']}" if "doi" in entry else "")
    told = ". ".join(part.rstrip(".") for part in parts if part) + "."
    return f"{told} <{address}>" if address.startswith(("http://", "https://")) else told
