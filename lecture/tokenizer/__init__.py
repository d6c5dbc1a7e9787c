"""A byte-level BPE tokenizer in Python, built from the ideas of the chapters on text.

    from lecture.tokenizer import Tokenizer

    tokenizer = Tokenizer.train(Path("corpus.txt"), 10_000, ["<|endoftext|>"])
    ids = tokenizer.encode("Once upon a time")
    text = tokenizer.decode(ids)

On the command line: `python -m lecture.tokenizer train|encode|decode|show|inspect ...`.
"""

from lecture.tokenizer.core import Tokenizer
from lecture.tokenizer.errors import TokenizerError

__all__ = ["Tokenizer", "TokenizerError"]
