"""The files of token ids, which people cannot read.

Ids are numbers of two bytes each, or of four where the vocabulary has more than 65 536 tokens, the
low byte first, and nothing else.
"""

from collections.abc import Iterable
from itertools import islice
from pathlib import Path

import numpy as np

from lecture.tokenizer.errors import TokenizerError
from lecture.tokenizer.files import replacing

IDS_AT_ONCE = 2**16


def id_type(vocabulary_size: int) -> np.dtype:  # @stepover
    """Return the smallest of the two types that holds all ids of a vocabulary."""
    return np.dtype("<u2" if vocabulary_size <= 2**16 else "<u4")


def write_ids(path: Path, ids: Iterable[int], vocabulary_size: int) -> int:  # @stepover
    """Write ids to a file, however many, and return their number; memory does not grow with it."""
    dtype, ids, written = id_type(vocabulary_size), iter(ids), 0
    with replacing(path) as file:
        while block := [*islice(ids, IDS_AT_ONCE)]:
            if min(block) < 0 or max(block) >= vocabulary_size:
                raise TokenizerError(f"an id is outside a vocabulary of {vocabulary_size}")
            file.write(np.array(block, dtype).tobytes())
            written += len(block)
    return written


def read_ids(path: Path, vocabulary_size: int) -> np.ndarray:  # @stepover
    """Return the ids of a file as an array that is read from disk where it is used."""
    dtype = id_type(vocabulary_size)
    if (size := path.stat().st_size) % dtype.itemsize:
        raise TokenizerError(
            f"{path} has {size} bytes, which is no number of {dtype.itemsize}-byte ids"
        )
    return np.memmap(path, dtype, mode="r") if size else np.zeros(0, dtype)
