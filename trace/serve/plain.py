"""Lectures as plain pages: prose and code of each chapter, for readers without JavaScript, search
engines and previews of links. They are the viewer's page, which puts itself in their place."""

import base64
import hashlib
import re
from collections.abc import Iterator
from html import escape
from urllib.parse import quote, urljoin

from ..foreign.prose import between
from ..rewrite.quotes import quotes_in
from ..schema import Document, Function, Prose
from .book import Book, Chapter, plain_title
from .course import Course
from .markdown import as_html, plain_text

MAX_DESCRIPTION = 200
"""Characters; what is longer is cut where it is shown."""
_DIRECTIVES = re.compile(r"\s*#\s*@\w.*$")
_WAIT = 'if (location.hash.length > 1) document.documentElement.classList.add("elsewhere");'
"""Until the plain text is there as a whole, an address within the page may be of something else."""
_LEAVE = (
    'document.documentElement.classList.remove("elsewhere");'
    "{const name = location.hash.slice(1);"
    'if (name && !document.getElementById(name)) document.getElementById("first").remove();}'
)
"""Where an address names something that is not in the plain text, that text is never shown."""
_NOTICE = re.compile(r"<noscript>.*?</noscript>\n")
_TITLE = re.compile(r"<title>.*?</title>")


def pages_of(name: str, document: Document, page: str, course: Course) -> dict[str, str]:
    """Return the pages of a document by their file names: that of the lecture, and one for each
    chapter. `page` is the viewer's page."""
    return dict(_Pages(name, Book(document), page, course).all())


def file_of(name: str, chapter: Chapter | None = None) -> str:
    """Return the name of the file of a lecture or of a chapter of it."""
    return f"{name}.{chapter.name}.html" if chapter else f"{name}.html"


def is_page_of(name: str, text: str) -> bool:
    """Tell whether a file is a page of the lecture of that name."""
    return f'<html data-doc="{escape(name)}" ' in text[:200]


def list_page(page: str, titles: dict[str, str], course: Course) -> str:
    """Return the viewer's page with links to several lectures: titles by the files of pages."""
    title = str(course.facts.get("title", "Executable lectures"))
    links = "".join(
        f'<li><a href="{quote(file)}">{escape(plain_title(title))}</a></li>'
        for file, title in titles.items()
    )
    content = f'<main class="article prose"><h1>{escape(title)}</h1><ul>{links}</ul></main>'
    return _filled(page, _Head(title, "", "./"), content, course)


class _Head:
    """What the head of a page says of it."""

    def __init__(self, title: str, description: str, address: str) -> None:
        self.title = title
        words = " ".join(plain_text(description).split())
        cut = words[:MAX_DESCRIPTION].rpartition(" ")[0] + " …"
        self.description = words if len(words) <= MAX_DESCRIPTION else cut
        self.address = address

    def markup(self, course: Course) -> str:
        """Return the elements that search engines and previews read."""
        site = str(course.facts.get("address", ""))
        address = urljoin(site, self.address)
        facts = {
            "og:type": "article",
            "og:title": self.title,
            "og:description": self.description,
            "og:site_name": course.facts.get("title", ""),
            "og:url": address if site else "",
            "og:image": urljoin(site, course.facts["picture"])
            if site and "picture" in course.facts
            else "",
        }
        named = {"description": self.description, "author": course.facts.get("author", "")}
        named["twitter:card"] = "summary_large_image" if facts["og:image"] else "summary"
        return "".join(
            [
                f"<title>{escape(self.title)}</title>\n",
                *(
                    f'<meta name="{key}" content="{escape(str(text))}">\n'
                    for key, text in named.items()
                    if text
                ),
                *(
                    f'<meta property="{key}" content="{escape(str(text))}">\n'
                    for key, text in facts.items()
                    if text
                ),
                f'<link rel="canonical" href="{escape(address)}">\n',
            ]
        )


def _filled(page: str, head: _Head, content: str, course: Course, **data: str) -> str:
    """The viewer's page with other words in its head, and content that it replaces."""
    named = "".join(f'data-{key}="{escape(text)}" ' for key, text in data.items() if text)
    page = page.replace("<html ", f"<html {named}", 1)
    if language := course.facts.get("language"):
        page = page.replace('lang="en"', f'lang="{escape(language)}"', 1)
    page = _TITLE.sub(lambda _: head.markup(course).rstrip("\n"), page, count=1)
    page = _NOTICE.sub("", page, count=1)
    hashes = " ".join(f"'{_hash_of(script)}'" for script in (_WAIT, _LEAVE))
    page = page.replace("script-src 'self'", f"script-src 'self' {hashes}", 1)
    text = f'<div id="first">\n{content}\n</div>'
    first = f'<script>{_WAIT}</script>\n{text}\n<script>{_LEAVE}</script>\n<div id="app">'
    return page.replace('<div id="app">', first, 1)


def _hash_of(script: str) -> str:
    return f"sha256-{base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()}"


class _Pages:
    """The pages of one document."""

    def __init__(self, name: str, book: Book, page: str, course: Course) -> None:
        self.name = name
        self.book = book
        self.page = page
        self.course = course
        self.chapter_of = {
            book.function_of(section.activation).name: chapter
            for chapter in reversed(book.chapters)
            for section in chapter.sections
        }
        self.below: dict[int, dict[int, list[int]]] = {}
        """Sections inside an activation, by the lines that call them."""
        for section in book.sections:
            if section.parent >= 0:
                line = book.document.statements[book.calls[section.activation].statement][1]
                lines = self.below.setdefault(section.parent, {})
                lines.setdefault(line, []).append(section.activation)
        self.said = _said(book)
        self.quoted = _quoted(book)

    def all(self) -> Iterator[tuple[str, str]]:
        """Yield file names and pages."""
        yield file_of(self.name), self._front()
        for chapter in self.book.chapters:
            yield file_of(self.name, chapter), self._chapter(chapter)

    def _front(self) -> str:
        book = self.book
        if not book.calls:
            content, about = f"<h1>{escape(book.title)}</h1>", ""
        elif book.chapters:
            about = self._docstring(book.function_of(0))
            content = f"{self._title(book.title)}{self._prose(about)}{self._contents()}"
        else:
            about = self._docstring(book.function_of(0))
            content = f"{self._title(book.title)}{self._body(0, 0)}"
        head = _Head(book.title, about, quote(file_of(self.name)))
        return self._whole(head, f'<section class="section depth-0">{content}</section>')

    def _contents(self) -> str:
        chapters = "".join(
            f'<li><a href="{quote(file_of(self.name, chapter))}">{escape(chapter.title)}</a></li>'
            for chapter in self.book.chapters
        )
        return f'<div class="prose"><ol>{chapters}</ol></div>'

    def _chapter(self, chapter: Chapter) -> str:
        count = len(self.book.chapters)
        sections = "".join(
            self._section(section.activation, 1)
            for section in chapter.sections
            if section.depth == 1
        )
        first = self.book.function_of(chapter.sections[0].activation)
        content = (
            '<section class="section depth-0"><header class="chapter-head">'
            f'<p class="chapter-place">Chapter {chapter.number} of {count}</p>'
            f'<h1 class="section-title">{escape(chapter.title)}</h1>{self._prose(chapter.about)}'
            f"</header>{sections}{self._ways(chapter)}</section>"
        )
        head = _Head(
            f"{chapter.title} · {self.book.title}",
            chapter.about or self._docstring(first),
            quote(file_of(self.name, chapter)),
        )
        return self._whole(head, content, chapter.name)

    def _ways(self, chapter: Chapter) -> str:
        """Links to the chapters before and after one."""
        chapters = self.book.chapters
        before = chapters[chapter.number - 2] if chapter.number > 1 else None
        ways = [("prev", "←", before, before.title if before else "All chapters")]
        if chapter.number < len(chapters):
            after = chapters[chapter.number]
            ways.append(("next", "→", after, after.title))
        links = "".join(
            f'<a class="chapter-way" rel="{rel}" href="{quote(file_of(self.name, target))}">'
            f'<span class="quiet">{arrow}</span><span>{escape(title)}</span></a>'
            for rel, arrow, target, title in ways
        )
        return f'<nav class="chapter-foot" aria-label="chapters">{links}</nav>'

    def _whole(self, head: _Head, content: str, chapter: str = "") -> str:
        front = quote(file_of(self.name))
        title = f'<a class="bar-title" href="{front}">{escape(self.book.title)}</a>'
        entries = "".join(
            f'<li class="outline-entry"><a href="{quote(file_of(self.name, one))}">'
            f"<span>{one.number}. {escape(one.title)}</span></a></li>"
            for one in self.book.chapters
        )
        outline = f'<nav class="outline" aria-label="outline"><ol>{entries}</ol></nav>'
        beside = f'<div class="sidebar">{outline}</div>' if len(self.book.sections) > 1 else ""
        first = (
            f'<header class="bar">{title}</header><div class="page">{beside}'
            f'<div class="content"><main class="article">{content}</main></div></div>'
        )
        return _filled(self.page, head, first, self.course, doc=self.name, chapter=chapter)

    @staticmethod
    def _title(title: str) -> str:
        return (
            f'<header class="section-head"><h1 class="section-title">{escape(title)}</h1></header>'
        )

    def _docstring(self, function: Function) -> str:
        """What the docstring of a function says below its title."""
        for prose in self._prose_in(function):
            return prose.text.partition("\n")[2].strip() if prose.kind == "docstring" else ""
        return ""

    def _prose_in(self, function: Function) -> list[Prose]:
        blocks = self.book.document.files[function.file].prose
        first, last = function.line, function.end_line
        return [one for one in blocks if first < one.first_line and one.last_line <= last]

    def _prose(self, text: str, heading: int = 2) -> str:
        return f'<div class="prose">{as_html(text, heading, self._link)}</div>' if text else ""

    def _link(self, address: str) -> str:
        """Where a link leads: sections are named as in the code."""
        if not address.startswith("#"):
            return address
        name = address[1:]
        chapter = self.chapter_of.get(name)
        return f"{quote(file_of(self.name, chapter))}#{quote(name)}" if chapter else ""

    def _section(self, activation: int, depth: int) -> str:
        function = self.book.function_of(activation)
        level = min(depth + 1, 6)
        return (
            f'<section class="section depth-{min(depth, 4)}" id="{escape(function.name)}">'
            f'<header class="section-head"><h{level} class="section-title">'
            f"{escape(plain_title(function.title))}</h{level}></header>"
            f"{self._body(activation, depth)}</section>"
        )

    def _body(self, activation: int, depth: int) -> str:
        """Prose, code and the sections in it, in the order of the lines."""
        book = self.book
        function = book.function_of(activation)
        lines = book.lines[function.file]
        hidden = book.document.files[function.file].hidden
        prose = {one.first_line: one for one in self._prose_in(function)}
        below = self.below.get(activation, {})
        parts: list[str] = []
        code: list[str] = []
        line = self._first_line(function)
        while line <= function.end_line:
            block = prose.get(line)
            sections = below.get(line, [])
            if any(first <= line <= last for first, last in hidden):
                pass
            elif block:
                self._end_code(code, parts)
                text = self._text_of(function, block, activation)
                parts.append(self._prose(text, 2 if depth == 0 else 4))
                line = block.last_line
            elif not (sections and book.is_bare_call(book.calls[sections[0]].statement)):
                code.append(_DIRECTIVES.sub("", lines[line - 1]))
            if sections:
                self._end_code(code, parts)
                parts += [self._unfolded(one, depth) for one in sections]
            line += 1
        self._end_code(code, parts)
        return "".join(parts)

    def _unfolded(self, activation: int, depth: int) -> str:
        if depth == 0 and self.book.is_part(activation):
            return self._body(activation, 0)
        return self._section(activation, depth + 1)

    def _first_line(self, function: Function) -> int:
        """The first line of a body: that of its prose, or of its first statement."""
        index = self.book.document.functions.index(function)
        own = [row[1] for row in self.book.document.statements if row[5] == index]
        return min(
            [*own, *(one.first_line for one in self._prose_in(function))],
            default=function.end_line + 1,
        )

    def _text_of(self, function: Function, block: Prose, activation: int) -> str:
        if block.kind in ("note", "bridge"):  # for who speaks, and for the short path
            return ""
        if block.kind == "call":
            return self.said.get((function.file, block.first_line), "")
        is_title = block.kind == "docstring" and block is self._prose_in(function)[0]
        text = block.text.partition("\n")[2].strip() if is_title else block.text
        return _with_values(text, self.quoted.get((activation, block.first_line), {}))

    @staticmethod
    def _end_code(code: list[str], parts: list[str]) -> None:
        """Move lines of code to what the page shows, without blank ones around them."""
        text = re.sub(r"\A(\s*\n)+|\s+\Z", "", "\n".join(code))
        code.clear()
        if text:
            lines = text.split("\n")
            indent = min(len(line) - len(line.lstrip()) for line in lines if line.strip())
            shown = escape("\n".join(line[indent:] for line in lines))
            parts.append(
                f'<div class="row-line"><pre class="plain-code"><code>{shown}</code></pre></div>'
            )


def _said(book: Book) -> dict[tuple[int, int], str]:
    """What calls said in place of prose, by file and line: Markdown."""
    said: dict[tuple[int, int], str] = {}
    last: dict[tuple[int, int], int] = {}
    document = book.document
    for step, value in zip(document.said.step, document.said.value, strict=True):
        if step >= 0:
            row = document.statements[book.statement_of[step]]
            place = (row[0], row[1])
            before, text = said.get(place, ""), document.values[value].get("markdown", "")
            said[place] = before + between(before, text, last.get(place) == step) + text
            last[place] = step
    return said


def _quoted(book: Book) -> dict[tuple[int, int], dict[str, str]]:
    """What stands for the marks of prose, by activation and line of the prose: what was read
    last."""
    found: dict[tuple[int, int], dict[str, str]] = {}
    quotes, names = book.document.quotes, book.document.names
    for at, line, mark, text in zip(quotes.at, quotes.line, quotes.mark, quotes.text, strict=True):
        place = (book.quoting.get(at, -1), line)
        found.setdefault(place, {})[names[mark]] = names[text]
    return found


def _with_values(text: str, values: dict[str, str]) -> str:
    """A text with values in place of its marks; one that was not read is an ellipsis.

    >>> _with_values("so @{n} of `@{n}`, @{m}", {"n": "a.b"})
    'so a.b of `@{n}`, …'
    """
    end, parts = 0, []
    for match in quotes_in(text):
        value = values.get(match[0][2:-1], "…")
        escaped = re.sub(r"([\\`*_{}\[\]<>#|~])", r"\\\1", value).replace("\n", " ")
        parts += [text[end : match.start()], escaped]
        end = match.end()
    return "".join([*parts, text[end:]])
