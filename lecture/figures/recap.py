"""Tables for the last page."""

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True)
class Sheet:
    """A table of results, by what they are of, each with a link to the section that explains it."""

    title: str
    results: Mapping[str, tuple[str, str]]

    def _repr_markdown_(self) -> str:
        rows = [
            f"| [{name}](#{section}) | {result} |"
            for name, (result, section) in self.results.items()
        ]
        return "\n".join((f"| {self.title} | |", "| :-- | :-- |", *rows))


@dataclass(frozen=True)
class TwoAnswers:
    """A table with the bytes and the FLOPs of each chapter, linked to where they were measured."""

    answers: Mapping[str, tuple[str, str, str]]
    """By chapter: bytes, FLOPs, section."""

    def _repr_markdown_(self) -> str:
        rows = [
            f"| [{chapter}](#{section}) | {in_bytes} | {in_flops} |"
            for chapter, (in_bytes, in_flops, section) in self.answers.items()
        ]
        return "\n".join(("| Chapter | bytes | FLOPs |", "| :-- | :-- | :-- |", *rows))
