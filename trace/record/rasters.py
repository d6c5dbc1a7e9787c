"""Arrays of bytes, [height, width, 3 or 4], as the pictures that they are."""

import base64
import struct
import sys
import zlib
from typing import Any

from ..own_builtins import use_own_builtins

use_own_builtins(globals())

LEAST_PIXELS = 8
"""Height and width of the smallest array that is taken for a picture."""
MOST_PIXELS = 800
"""Height or width of the largest picture: of larger arrays every second, third, ... is shown."""
_COLOUR_TYPES = {3: 2, 4: 6}
"""Channels -> what PNG calls them."""


def png_of(array: Any) -> tuple[str, int] | None:
    """Return a PNG in base64 of an array of bytes of this form, and which pixels it shows: 1 for
    each, 2 for every second. None of any other array."""
    if str(array.dtype).removeprefix("torch.") != "uint8" or len(array.shape) != 3:
        return None
    height, width, channels = array.shape
    if channels not in _COLOUR_TYPES or min(height, width) < LEAST_PIXELS:
        return None
    every = -(-max(height, width) // MOST_PIXELS)
    pixels = array[::every, ::every]
    if "torch" in sys.modules and isinstance(pixels, sys.modules["torch"].Tensor):
        pixels = pixels.detach().cpu().numpy()
    return base64.b64encode(_png(pixels)).decode("ascii"), every


def _png(pixels: Any) -> bytes:
    height, width, channels = pixels.shape
    rows = b"".join(b"\0" + row.tobytes() for row in pixels)  # 0: no filter
    header = struct.pack(">IIBBBBB", width, height, 8, _COLOUR_TYPES[channels], 0, 0, 0)
    return (
        b"\x89PNG\r\n\x1a\n"
        + _chunk(b"IHDR", header)
        + _chunk(b"IDAT", zlib.compress(rows, 9))
        + _chunk(b"IEND", b"")
    )


def _chunk(kind: bytes, data: bytes) -> bytes:
    checksum = zlib.crc32(kind + data)
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", checksum)
