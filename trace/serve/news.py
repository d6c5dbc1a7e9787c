"""What pages that are open are told about the document they show."""

import json
import threading
from collections.abc import Iterator

STILL_THERE_SECONDS = 15.0
"""How often a page is written to that has nothing to hear, to notice that it is gone."""


class Bulletin:
    """The latest notice; each replaces the one before."""

    def __init__(self) -> None:
        self._changed = threading.Condition()
        self._number = 0
        self.notice: dict[str, str] = {}
        """The latest one."""
        self._numbered: dict[str, tuple[int, dict[str, str]]] = {"": (0, {})}
        """The latest one of each document, and its number."""

    def post(self, **notice: str) -> None:
        """Tell all pages that are open, and those that will be."""
        with self._changed:
            self.notice = notice
            self._number += 1
            self._numbered.pop("", None)
            self._numbered[notice.get("document", "")] = self._number, notice
            self._changed.notify_all()

    def events(self) -> Iterator[bytes]:
        """Yield each notice as a server-sent event, for ever; an empty one now and then."""
        told = -1
        while True:
            news = self._after(told)
            for number, notice in news:
                told = max(told, number)
                yield f"data: {json.dumps(notice)}\n\n".encode()
            if not news:
                yield b":\n\n"

    def _after(self, number: int) -> list[tuple[int, dict[str, str]]]:
        with self._changed:
            self._changed.wait_for(lambda: self._number != number, STILL_THERE_SECONDS)
            newer = [one for one in self._numbered.values() if one[0] > number]
            return sorted(newer, key=lambda one: one[0])
