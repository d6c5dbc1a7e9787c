"""The viewer's code as it travels. Packing uses this file alone, so it imports nothing of ours."""

import re

CODE = (".js", ".css")
_COMMENT_LINES = re.compile(
    r"^[ \t]*(?:/\*(?:(?!\*/).)*\*/|//[^\n]*)[ \t]*\n", re.DOTALL | re.MULTILINE
)
_TYPES = re.compile(r"/\*\* @[^*\n]*\*/ ?")
_INDENTATION = re.compile(r"\n\s+")


def without_comments(code: str) -> str:
    """Return a module or a style sheet without the comments that stand on lines of their own, types
    and indentation: a quarter of what a browser fetches is written for those who read the sources.

    >>> without_comments("// One.\\n/** Two. */\\n  let a = /** @type {any} */ (1); // three\\n")
    'let a = (1); // three\\n'
    """
    return _INDENTATION.sub("\n", "\n" + _TYPES.sub("", _COMMENT_LINES.sub("", code)))[1:]
