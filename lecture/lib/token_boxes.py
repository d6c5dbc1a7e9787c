"""Tokens, drawn in boxes."""

from collections.abc import Sequence

from lecture.lib.drawing import COLOURS, Figure, box, text

WIDTH = 400
CHARACTER_WIDTH = 8.2


def shown(token: bytes) -> str:
    """Return a token as it is drawn: visible spaces, and bytes that are no text in hexadecimal."""
    try:
        return token.decode().replace(" ", "␣").replace("\n", "⏎")
    except UnicodeDecodeError:
        return token.hex(" ")


def coloured_tokens(
    tokens: Sequence[bytes], ids: Sequence[int], title: str = "A sentence, token by token"
) -> Figure:  # @stepover
    """Draw each token in a box, with its id below; the boxes flow like text."""
    parts: list[str] = []
    left, top = 4.0, 6.0
    for number, (token, token_id) in enumerate(zip(tokens, ids, strict=True)):
        words = shown(token)
        width = max(CHARACTER_WIDTH * max(len(words), 0.85 * len(str(token_id))) + 8, 22)
        if left + width > WIDTH - 4:
            left, top = 4.0, top + 52
        parts.append(box(left, top, width, 24, COLOURS[number % len(COLOURS)], words))
        parts.append(text(left + width / 2, top + 38, str(token_id), more=' font-size="11"'))
        left += width + 3
    return Figure(title, WIDTH, top + 46, tuple(parts))
