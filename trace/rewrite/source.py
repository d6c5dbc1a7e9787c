"""A source file of a lecture: everything that is known of it before it runs."""

import ast
import io
import tokenize
from collections.abc import Iterable
from tokenize import TokenInfo

from ..own_builtins import use_own_builtins
from .directives import comments_of, find_directives, words_and_directives
from .highlighting import BETWEEN_STATEMENTS, highlighted

use_own_builtins(globals())


class Source:
    """A source file that is imported through the compiler pass; tokenised and parsed once.

    Raises LectureError where a directive is wrong, or, if there are `complaints`, adds it to them.

    >>> source = Source("views.py", "def main():  # M7.4\\n    x = 1  # @inspect x")
    >>> source.label(1)
    'M7.4'
    >>> [marks.inspect for marks in source.directives.statements.values()]
    [['x']]
    """

    def __init__(
        self,
        path: str,
        text: str,
        tree: ast.Module | None = None,
        complaints: list[str] | None = None,
    ) -> None:
        self.path = path
        """As the document names it."""
        self.text = text
        self.lines = text.split("\n")
        self.tree = tree or ast.parse(text)
        # Only what is asked for later is kept: the tokens take a hundred times as much memory.
        tokens = list(tokenize.generate_tokens(io.StringIO(text).readline))
        self.comments = comments_of(tokens)
        self.directives = find_directives(self.comments, self.tree, self.lines, path, complaints)
        self.inner_lines = _inner_lines(tokens)
        """Lines inside statements, or headers, of several lines; comments there are not prose."""
        self.tokens = highlighted(tokens, self.lines)
        """The highlighted pieces, as the document stores them."""
        self._comments = {comment.line: comment.text for comment in self.comments}

    def label(self, line: int) -> str:
        """Return the comment at the end of a line, without its directives."""
        return words_and_directives(self._comments.get(line, ""))[0]

    def without_comments(self) -> str:
        """Return the text without comments; all else stands where it stood."""
        lines = list(self.lines)
        for comment in self.comments:
            lines[comment.line - 1] = lines[comment.line - 1][: comment.column]
        return "\n".join(lines)


def _inner_lines(tokens: Iterable[TokenInfo]) -> set[int]:
    lines: set[int] = set()
    first = 0
    for token in tokens:
        if token.type == tokenize.NEWLINE:
            lines.update(range(first, token.start[0] + 1))
            first = 0
        elif token.type not in BETWEEN_STATEMENTS:
            first = first or token.start[0]
    return lines
