"""Vocabularies that other programs wrote: GPT-2's two files, and Hugging Face's `tokenizer.json`.

GPT-2 published `encoder.json`, which gives each token its id, and `vocab.bpe`, its merges in order;
Hugging Face calls such files `vocab.json` and `merges.txt`, and puts both into `tokenizer.json`
together with all that happens to a text before. Three things are other than in our own files:

- Bytes are spelled as characters that can be seen: those of Latin-1 that are visible stand for
  themselves, the other 68 for the characters from U+0100 on. So a space is "Ġ".
- Tokens are numbered in an order of their own; ids may even be missing.
- More than one merge may make the same token.

What would give other ids than the program it comes from is refused, in a sentence. Left out are the
tokens that it may put around a text, such as one for the beginning.
"""

import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from lecture.tokenizer.errors import TokenizerError
from lecture.tokenizer.files import Numbering, Vocabulary
from lecture.tokenizer.merging import Pair
from lecture.tokenizer.splitting import PATTERNS

VISIBLE = [*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100)]
HIDDEN = [value for value in range(256) if value not in VISIBLE]
BYTES = {chr(value): value for value in VISIBLE}
BYTES |= {chr(0x100 + number): value for number, value in enumerate(HIDDEN)}

# Regular expressions that cut as ours do -> the name of ours.
NAMES = {pattern: name for name, pattern in PATTERNS.items()}
NAMES |= {
    # As `transformers` writes GPT-4's, and as Llama 3 has it.
    r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}"
    r"| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+": "gpt4",
}
PAIRS_OF_FILES = (("encoder.json", "vocab.bpe"), ("vocab.json", "merges.txt"))


def is_foreign(path: Path) -> bool:
    """Tell from its name whether another program wrote a vocabulary."""
    return path.is_dir() or path.suffix == ".json" or path.name in dict(PAIRS_OF_FILES).values()


def read_foreign(path: Path) -> Vocabulary:
    """Read a folder, one of GPT-2's files (the other lies beside it), or a `tokenizer.json`."""
    if path.is_dir():
        names = [name for pair in PAIRS_OF_FILES for name in pair] + ["tokenizer.json"]
        if not (found := [path / name for name in names if (path / name).exists()]):
            raise TokenizerError(f"the folder {path} holds none of {', '.join(names)}")
        path = found[0]
    for ids_name, merges_name in PAIRS_OF_FILES:
        if path.name in (ids_name, merges_name):
            return _read_pair(path.with_name(ids_name), path.with_name(merges_name))
    return _read_tokenizer_json(path)


def _read_pair(ids_path: Path, merges_path: Path) -> Vocabulary:
    """Read GPT-2's two files."""
    lines = _text_of(merges_path).replace("\r\n", "\n").split("\n")
    rows = [line for line in lines[lines[0].startswith("#version") :] if line]
    spelled = _object_of(ids_path)
    if not all(type(number) is int for number in spelled.values()):
        raise TokenizerError(f"{ids_path} should give each token its id, a whole number")
    merges = _merges_of(merges_path, rows)
    made = {b"".join(pair) for pair in merges}
    # What no merge makes and is more than one byte is a special token, such as <|endoftext|>.
    special = {
        name: number
        for name, number in spelled.items()
        if len(name) > 1 and _bytes_of(ids_path, name) not in made
    }
    plain = {name: number for name, number in spelled.items() if name not in special}
    return _vocabulary(ids_path, "gpt2", merges, plain, special, whole_words=False)


def _read_tokenizer_json(path: Path) -> Vocabulary:
    """Read what Hugging Face's `tokenizers` saved."""
    saved = _object_of(path)
    model = saved.get("model")
    if not isinstance(model, dict) or model.get("type", "BPE") != "BPE" or "merges" not in model:
        raise TokenizerError(f"{path} holds no BPE tokenizer")
    refused: dict[str, object] = {"a normalizer": saved.get("normalizer")}
    refused |= {name: saved.get(name) for name in ("truncation", "padding")}
    refused |= {name: model.get(name) for name in ("dropout", "byte_fallback")}
    refused |= {
        name: model.get(name) for name in ("continuing_subword_prefix", "end_of_word_suffix")
    }
    if used := [name for name, value in refused.items() if value]:
        raise TokenizerError(f"{path} uses {used[0]}, which this tokenizer does not have")
    special = {}
    for token in saved.get("added_tokens") or []:
        if any(token.get(name) for name in ("lstrip", "rstrip", "single_word")):
            raise TokenizerError(f"{path}: {token['content']!r} takes white space around it along")
        special[token["content"]] = token["id"]
    plain = {name: number for name, number in model["vocab"].items() if name not in special}
    merges = _merges_of(path, model["merges"])
    whole_words = bool(model.get("ignore_merges"))
    return _vocabulary(path, _pattern_of(path, saved), merges, plain, special, whole_words)


def _pattern_of(path: Path, saved: Mapping[str, Any]) -> str:
    """Return the name of the pattern by which a `tokenizer.json` cuts text into words."""
    steps = saved.get("pre_tokenizer") or {}
    steps = steps.get("pretokenizers", [steps])
    if any(step.get("type") == "ByteLevel" and step.get("add_prefix_space") for step in steps):
        raise TokenizerError(f"{path} puts a space before each text, which this tokenizer does not")
    kinds = [step.get("type") for step in steps]
    if kinds == ["ByteLevel"] and steps[0].get("use_regex", True):
        return "gpt2"
    if kinds == ["Split", "ByteLevel"] and not steps[1].get("use_regex", True):
        split = steps[0]
        expression = split.get("pattern", {}).get("Regex")
        whole = split.get("behavior") == "Isolated" and not split.get("invert")
        if whole and expression in NAMES:
            return NAMES[expression]
    raise TokenizerError(f"{path} cuts text in a way that is neither GPT-2's nor GPT-4's")


def _vocabulary(
    path: Path,
    pattern: str,
    merges: list[Pair],
    plain: Mapping[str, int],
    special: Mapping[str, int],
    whole_words: bool,
) -> Vocabulary:
    """Put together what a file says."""
    ids = {_bytes_of(path, name): number for name, number in plain.items()}
    if missing := [value for value in range(256) if bytes([value]) not in ids]:
        raise TokenizerError(f"{path} has no token for the byte {missing[0]:02x}")
    if unknown := [pair for pair in merges if b"".join(pair) not in ids]:
        raise TokenizerError(f"{path} has no id for {b''.join(unknown[0])!r}, which a merge makes")
    numbers = [*ids.values(), *special.values()]
    if len({*numbers}) < len(numbers) or min(numbers) < 0:
        raise TokenizerError(f"{path} gives an id twice, or a negative one")
    numbering = Numbering(ids, dict(special), whole_words)
    return Vocabulary(pattern, merges, [*special], numbering)


def _merges_of(path: Path, rows: Iterable[str | list[str]]) -> list[Pair]:
    """Read merges, each "left right" or two texts; each pair once."""
    merges: dict[Pair, None] = {}
    for row in rows:
        names = row.split(" ") if isinstance(row, str) else row
        if len(names) != 2:
            raise TokenizerError(f"{path}: {row!r} is no merge of two tokens")
        merges[_bytes_of(path, names[0]), _bytes_of(path, names[1])] = None
    return [*merges]


def _bytes_of(path: Path, name: str) -> bytes:
    """Return the bytes that a token's visible characters stand for."""
    try:
        return bytes(map(BYTES.__getitem__, name))
    except KeyError:
        raise TokenizerError(f"{path}: {name!r} is not spelled in GPT-2's characters") from None


def _text_of(path: Path) -> str:
    """Return the text of a file."""
    try:
        return path.read_bytes().decode()
    except UnicodeDecodeError:
        raise TokenizerError(f"{path}: it is no UTF-8 text") from None


def _object_of(path: Path) -> dict[str, Any]:
    """Return the JSON object in a file."""
    try:
        found = json.loads(_text_of(path))
    except json.JSONDecodeError as error:
        raise TokenizerError(f"{path}:{error.lineno}: this is no JSON: {error.msg}") from None
    if not isinstance(found, dict):
        raise TokenizerError(f"{path} holds no JSON object")
    return found
