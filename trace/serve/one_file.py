"""The viewer and one document in a single file that opens from disk, without a network.

Modules are `data:` URLs in the import map. Its `integrity` table gives their hashes, and the policy
names the same hashes and nothing else: markup that were injected could still run nothing. All parts
stand compressed in one element; `viewer/unpack.js` puts them in their places.
"""

import base64
import hashlib
import html
import json
import re
import zlib
from pathlib import Path
from typing import Any
from urllib.parse import quote

from . import library
from .comments import CODE, without_comments
from .packing import packed, slim

_ENTRIES = ("viewer/early.js", "viewer/main.js")
_CHARTS = "viewer/parts/chart.js"
_START = 'import "viewer/main.js";'
_IMPORTED = re.compile(r"""(?:\bimport|\bfrom)\s*\(?\s*["']([^"'\s]+)["']""")
_STYLES = ("style.css", "vendor/katex/katex.min.css")
_STYLED = re.compile(r"""\bstyled\("([\w/-]+\.css)"\)""")
"""Style sheets that modules ask for when they are first used."""
_FONT = re.compile(r"url\((fonts/[\w-]+\.woff2)\)")
_OTHER_FONTS = re.compile(r",url\(fonts/[\w-]+\.(?:woff|ttf)\) format\(\"\w+\"\)")
_FONT_COMMANDS = {
    "Caligraphic": r"\\(mathcal|cal)\b",
    "Fraktur": r"\\(mathfrak|frak)\b",
    "SansSerif": r"\\(mathsf|textsf|sf|mathsfit)\b",
    "Script": r"\\mathscr\b",
    "Typewriter": r"\\(mathtt|texttt|tt|verb|url)\b",
}
"""KaTeX fonts and the commands that ask for them; the others may be needed anywhere."""
_UNPACKED = "-_.!~*'()"
"""What `encodeURIComponent` leaves as it is, besides letters and digits."""


def one_file(document: bytes, name: str) -> bytes:
    """Return the page that shows this document."""
    modules = _modules(with_charts=b'"vega":' in document)
    lecture = json.loads(document)
    fonts = _unused_fonts(document.decode())
    asked_for = {path for text in modules.values() for path in _STYLED.findall(text)}
    styles = [_style(path, fonts) for path in (*_STYLES, *sorted(asked_for))]
    parts = {
        "name": name,
        "modules": [[specifier, _hash(text), text] for specifier, text in modules.items()],
        "styles": styles,
        "document": packed(slim(lecture)),
    }
    unpack = _text("unpack.js")
    scripts = [unpack, import_map(modules), _START, *modules.values()]
    return _page(lecture["title"], _policy(scripts, styles), unpack, _compressed(parts)).encode()


def _text(path: str) -> str:
    """A file of the viewer; what we wrote ourselves as it is published."""
    text = (library.VIEWER / path).read_text(encoding="utf-8")
    is_ours = path.endswith(CODE) and "vendor/" not in path
    return without_comments(text) if is_ours else text


def _modules(with_charts: bool) -> dict[str, str]:
    """The modules that the page may import, by the names it imports them by."""
    found: dict[str, str] = {}
    places = _import_map_of_viewer()
    left = list(_ENTRIES)
    while left:
        name = left.pop()
        place = places.get(name) or name.replace("viewer/", "./", 1)
        if name in found or (name not in places and not name.startswith("viewer/")):
            continue
        if name == _CHARTS and not with_charts:
            continue
        found[name] = _text(place)
        left += _IMPORTED.findall(found[name])
    return dict(sorted(found.items()))


def _import_map_of_viewer() -> dict[str, str]:
    found = re.search(r'<script type="importmap">(.*?)</script>', _text("index.html"), re.DOTALL)
    assert found
    return dict(json.loads(found[1])["imports"])


def import_map(modules: dict[str, str]) -> str:
    """Return the import map, byte for byte as `unpack.js` makes it."""
    addresses = {
        name: f"data:text/javascript,{quote(text, safe=_UNPACKED)}"
        for name, text in modules.items()
    }
    integrity = {addresses[name]: _hash(text) for name, text in modules.items()}
    return json.dumps(
        {"imports": addresses, "integrity": integrity}, separators=(",", ":"), ensure_ascii=False
    )


def _unused_fonts(document: str) -> str:
    """A pattern of the fonts that only commands bring which stand nowhere in the document."""
    unused = [font for font, command in _FONT_COMMANDS.items() if not re.search(command, document)]
    return "|".join(unused) or "$."


def _style(path: str, unused_fonts: str) -> str:
    """A style sheet, with the fonts that it names."""

    def font(found: re.Match[str]) -> str:
        data = (library.VIEWER / Path(path).parent / found[1]).read_bytes()
        return f"url(data:font/woff2;base64,{base64.b64encode(data).decode()})"

    text = re.sub(rf"@font-face{{[^}}]*KaTeX_({unused_fonts})-[^}}]*}}", "", _text(path))
    return _FONT.sub(font, _OTHER_FONTS.sub("", text))


def _hash(text: str) -> str:
    return f"sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}"


def _policy(scripts: list[str], styles: list[str]) -> str:
    def hashes(texts: list[str]) -> str:
        return " ".join(f"'{_hash(text)}'" for text in texts)

    return (
        f"default-src 'none'; script-src {hashes(scripts)}; style-src {hashes(styles)}; "
        "style-src-attr 'unsafe-inline'; img-src data:; media-src data:; font-src data:; "
        "base-uri 'none'; form-action 'none'"
    )


def _compressed(parts: dict[str, Any]) -> str:
    data = json.dumps(parts, separators=(",", ":"), ensure_ascii=False).encode()
    text = base64.b85encode(zlib.compress(data, 9)).decode()
    return text.replace("<", ",")  # so that no letters begin markup


def _page(title: str, policy: str, unpack: str, parts: str) -> str:
    """The viewer's page with everything in it instead of addresses."""
    icon = base64.b64encode((library.VIEWER / "icon.svg").read_bytes()).decode()
    page = _text("index.html")
    for pattern, text in (
        (r'(?<=Content-Security-Policy" content=")[^"]*', policy),
        (r"(?<=<title>).*(?=</title>)", html.escape(title)),
        (r'(?<=rel="icon" href=")[^"]*', f"data:image/svg+xml;base64,{icon}"),
        (r'<script type="importmap">(.|\n)*?</script>\n', ""),
        (r'(<link rel="modulepreload" .*\n)+<script type="module" src="early.js" async>.*\n', ""),
        (r'<link rel="stylesheet" href="style.css">\n', ""),
        (
            r'(?<=<template id="later">\n)(.|\n)*?(?=</template>)',
            f'<script type="module">{_START}</script>\n',
        ),
        (r'(<template id="(front|chapters)">\n(<link .*\n)+</template>\n){2}', ""),
        (r'<p class="notice" role="status" id="not-served">.*</p>\n', ""),
        (r", from the folder it is served from and from nowhere else", ""),
        (
            r"(?=</body>)",
            f'<script type="text/plain" id="parts">{parts}</script>\n<script>{unpack}</script>\n',
        ),
    ):
        page, count = re.subn(pattern, text.replace("\\", r"\\"), page)
        assert count == 1, f"the viewer's page has {count} times {pattern}"
    return page
