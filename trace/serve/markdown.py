"""Markdown as plain HTML, for readers without JavaScript. All else that a text says is escaped.

The viewer reads the same texts with a library; this is as much of the language as lectures use:
headings, paragraphs, lists, quotes, tables, code, emphasis, links. Maths stays as it is written.
"""

import html
import re
from collections.abc import Callable

_FENCE = re.compile(r"^(`{3,}|~{3,})[^\n]*\n(.*?)(?:^\1[ \t]*$|\Z)", re.DOTALL | re.MULTILINE)
_HEADING = re.compile(r"(#{1,6})\s+(.*)")
_ITEM = re.compile(r"(\s*)([-*+]|\d+[.)])\s+(.*)")
_TABLE_RULE = re.compile(r"\s*\|?(\s*:?-+:?\s*\|)+\s*(:?-+:?)?\s*")
_INLINE = re.compile(
    r"(?P<maths>\$\$.+?\$\$|\$(?![\s$])(?:\\.|[^\\$])+?(?<!\s)\$(?!\d))"
    r"|(?P<ticks>`+)(?P<code>.+?)(?P=ticks)(?!`)"
    r"|(?P<image>!)?\[(?P<label>(?:[^\[\]]|\[[^\[\]]*\])+)\]"
    r"\((?P<address>[^()\s]*(?:\([^()]*\)[^()\s]*)?)[^()]*\)"
    r"|\*\*(?P<strong>.+?)\*\*"
    r"|(?<![\w*])[*_](?P<em>[^\s*_](?:[^*_]*[^\s*_])?)[*_](?![\w*])"
    r"|\\(?P<escaped>[!-/:-@\[-`{-~])",
    re.DOTALL,
)
_SAFE = re.compile(r"(https?://|mailto:|#)[^\s\"<>]*")

Link = Callable[[str], str]
"""What becomes of the address of a link: another one, or nothing where there is to be none."""


def as_html(text: str, heading: int = 2, link: Link = lambda address: address) -> str:
    """Return Markdown as HTML; headings begin at a level.

    >>> as_html("Some *words*, `a < b` and [a link](#here).")
    '<p>Some <em>words</em>, <code>a &lt; b</code> and <a href="#here">a link</a>.</p>'
    """
    parts = []
    end = 0
    for fence in _FENCE.finditer(text):
        parts += _blocks(text[end : fence.start()], heading, link)
        parts.append(f"<pre><code>{html.escape(fence[2])}</code></pre>")
        end = fence.end()
    return "\n".join([*parts, *_blocks(text[end:], heading, link)])


def plain_text(text: str) -> str:
    """Return the words of Markdown.

    >>> plain_text("Some *words* and [a `link`](https://example.org).")
    'Some words and a link.'
    """
    return html.unescape(re.sub(r"<[^<>]*>", "", _inline(text, lambda address: "")))


def _blocks(text: str, heading: int, link: Link) -> list[str]:
    paragraphs = re.split(r"\n\s*\n", text.strip("\n"))
    return [_block(one, heading, link) for one in paragraphs if one.strip()]


def _block(text: str, heading: int, link: Link) -> str:
    lines = text.split("\n")
    if found := _HEADING.fullmatch(lines[0].strip()):
        level = min(6, max(heading, len(found[1])))
        title = f"<h{level}>{_inline(found[2], link)}</h{level}>"
        rest = "\n".join(lines[1:])
        return "\n".join([title, *_blocks(rest, heading, link)])
    if lines[0].lstrip().startswith(">"):
        inner = "\n".join(re.sub(r"^\s*>\s?", "", line) for line in lines)
        return f"<blockquote>{as_html(inner, heading, link)}</blockquote>"
    if len(lines) > 1 and _TABLE_RULE.fullmatch(lines[1]):
        return _table(lines, link)
    for at, line in enumerate(lines):
        if _ITEM.match(line) and (at == 0 or not _ITEM.match(lines[0])):
            before = [_paragraph(lines[:at], link)] if at else []
            return "\n".join([*before, _list(lines[at:], link)])
    return _paragraph(lines, link)


def _paragraph(lines: list[str], link: Link) -> str:
    return f"<p>{_inline(chr(10).join(line.strip() for line in lines), link)}</p>"


def _list(lines: list[str], link: Link) -> str:
    """Items, and those below them: what is indented further belongs to the item before it."""
    items: list[list[str]] = []
    first = _ITEM.match(lines[0])
    assert first
    for line in lines:
        found = _ITEM.match(line)
        if found and len(found[1]) <= len(first[1]):
            items.append([found[3]])
        else:
            items[-1].append(line)
    kind = "ol" if first[2][0].isdigit() else "ul"
    return f"<{kind}>{''.join(f'<li>{_item(item, link)}</li>' for item in items)}</{kind}>"


def _item(lines: list[str], link: Link) -> str:
    below = next((at for at, line in enumerate(lines) if at and _ITEM.match(line)), len(lines))
    text = _inline("\n".join(line.strip() for line in lines[:below]), link)
    return text + (_list(lines[below:], link) if lines[below:] else "")


def _table(lines: list[str], link: Link) -> str:
    def row(line: str, cell: str) -> str:
        cells = re.split(r"(?<!\\)\|", line.strip().strip("|"))
        return "".join(f"<{cell}>{_inline(text.strip(), link)}</{cell}>" for text in cells)

    body = "".join(f"<tr>{row(line, 'td')}</tr>" for line in lines[2:])
    return f"<table><thead><tr>{row(lines[0], 'th')}</tr></thead><tbody>{body}</tbody></table>"


def _inline(text: str, link: Link) -> str:
    parts = []
    end = 0
    for found in _INLINE.finditer(text):
        parts += [html.escape(text[end : found.start()]), _marked(found, link)]
        end = found.end()
    return "".join([*parts, html.escape(text[end:])])


def _marked(found: re.Match[str], link: Link) -> str:
    kinds = ("maths", "code", "label", "strong", "em", "escaped")
    kind = next(name for name in kinds if found[name])
    inner = found[kind]
    if kind in ("maths", "code"):
        element = "code" if kind == "code" else "span"
        return f"<{element}>{html.escape(inner.strip() if kind == 'code' else inner)}</{element}>"
    if kind == "escaped":
        return html.escape(inner)
    if kind != "label":
        return f"<{kind}>{_inline(inner, link)}</{kind}>"
    if found["image"]:
        return f"<em>{html.escape(inner)}</em>"
    address = link(found["address"])
    if not _SAFE.fullmatch(address) and not _is_page(address):
        return _inline(inner, link)
    return f'<a href="{html.escape(address)}">{_inline(inner, link)}</a>'


def _is_page(address: str) -> bool:
    """Tell whether an address is one of a page beside this one."""
    return bool(re.fullmatch(r"(\./)?[\w.%-]*\.html(#[\w.%-]*)?", address))
