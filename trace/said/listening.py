"""Hears what a lecture says by calling."""

import contextlib
import functools
import importlib.util
import inspect
import sys
import types
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from pathlib import Path
from typing import Any, Protocol

from ..meter.when_imported import when_imported
from ..schema import Value
from . import paragraphs, stand_in
from .libraries import OWN, SPEAKERS, STAND_INS, is_part, speaks
from .media import Media, cache_names, download
from .missing import AbsentFinder
from .pieces import value_of

Hear = Callable[[Value], None]
Picture = Callable[[object], Value]


class Ear(list[Any]):
    """Stands where a tool collects what was said: what is appended is heard and not kept."""

    def __init__(self, hear: Callable[[object], None]) -> None:
        super().__init__()
        self._hear = hear

    def append(self, rendering: object) -> None:
        """Hear one thing."""
        self._hear(rendering)

    def extend(self, renderings: Any) -> None:
        """Hear several."""
        for rendering in renderings:
            self._hear(rendering)

    def insert(self, index: object, rendering: object) -> None:
        """Hear one thing, in the order in which things are said."""
        self._hear(rendering)

    def __iadd__(self, renderings: Any) -> "Ear":  # type: ignore[misc]
        """Hear several."""
        self.extend(renderings)
        return self


@dataclass
class Listener:
    """Hears one lecture for the time of its run."""

    hear: Hear
    picture: Picture
    """Draws what is no chart by itself, such as a figure of matplotlib."""
    media: Media
    modules: list[str] = field(default_factory=list)
    """What was put into `sys.modules`."""

    def ear(self, markdown_first: bool) -> Ear:
        """Return a list that hears what is appended to it."""

        def hear(rendering: object) -> None:
            value = value_of(rendering, self.media, markdown_first)
            self.hear(self.picture(getattr(rendering, "data", None)) if value is None else value)

        return Ear(hear)

    def stand_in(self, name: str) -> types.ModuleType:
        """Return a module that says things by the names of a tool."""
        module = types.ModuleType(name, stand_in.__doc__)
        module.__path__ = []
        ear = self.ear(markdown_first=not name.startswith("lectrace"))
        speaking = stand_in.Speaking(ear.append, cuts_indentation=name.startswith("lectrace"))
        for known in SPEAKERS:
            setattr(module, known, getattr(speaking, known))
        for thing in (
            stand_in.Reference,
            stand_in.Rendering,
            stand_in.CodeLocation,
            stand_in.url_reference,
            stand_in.make_graph,
            stand_in.relativize,
            stand_in.is_arxiv_link,
        ):
            setattr(module, thing.__name__, thing)
        module.arxiv_reference = stand_in.url_reference  # type: ignore[attr-defined]
        module.cached = self.cached  # type: ignore[attr-defined]
        module.download_file = self.download_file  # type: ignore[attr-defined]
        module._current_renderings = ear  # type: ignore[attr-defined]
        module.pop_renderings = list  # type: ignore[attr-defined]
        return module

    def cached(self, url: str, kind: str) -> str:
        """The file in which lies what is at an address."""
        for file in cache_names(url, kind):
            if file.is_file():
                return str(file)
        file = next(cache_names(url, kind))
        self.download_file(url, str(file))
        return str(file)

    def download_file(self, url: str, filename: str) -> None:
        """Fetch a file unless it is there. Raises OSError where downloads are not wanted."""
        if Path(filename).exists():
            return
        if not self.media.downloads:
            raise FileNotFoundError(f"{filename} is not here; --download fetches it from {url}")
        download(url, Path(filename))

    def replaces_list(self, module: types.ModuleType) -> None:
        """Put an ear where a lecture's own `execute_util` collects what was said."""
        if isinstance(vars(module).get("_current_renderings"), list):
            vars(module)["_current_renderings"] = self.ear(markdown_first=True)
        for name in (module.__name__, *_FETCHING):
            if name in sys.modules:
                _survive_without_a_network(vars(sys.modules[name]))


_FETCHING = ("file_util", "arxiv_util")
"""Modules beside a course's own `execute_util` that download."""


def _survive_without_a_network(names: dict[str, Any]) -> None:
    """Let what a course uses to download give the address back where nothing can be had: what is
    missing is then named on the page, and does not end the lecture."""

    def surviving(own: Callable[..., Any], instead: Callable[[str], Any]) -> Callable[..., Any]:
        @functools.wraps(own)
        def fetched(url: str, *arguments: Any, **more: Any) -> Any:
            try:
                return own(url, *arguments, **more)
            except Exception:  # each library of downloads has its own
                return instead(url)

        return fetched

    reference = names.get("Reference", stand_in.Reference)
    if inspect.isfunction(cached := names.get("cached")):
        names["cached"] = surviving(cached, str)
    if inspect.isfunction(about := names.get("arxiv_reference")):
        names["arxiv_reference"] = surviving(about, lambda url: reference(url=url))


class _Finder(MetaPathFinder, Loader):
    """Gives a lecture our functions under the names of the tools it imports."""

    def __init__(self, listener: Listener) -> None:
        self._listener = listener

    def find_spec(
        self, name: str, path: Sequence[str] | None, target: types.ModuleType | None = None
    ) -> ModuleSpec | None:
        """Find what is stood in for."""
        if name not in STAND_INS:
            return None
        self._listener.modules.append(name)
        return importlib.util.spec_from_loader(name, self, is_package=True)

    def create_module(self, spec: ModuleSpec) -> types.ModuleType:
        """Make the module."""
        return self._listener.stand_in(spec.name)

    def exec_module(self, module: types.ModuleType) -> None:
        """Nothing is left to do."""


@contextlib.contextmanager
def listening(hear: Hear, picture: Picture, media: Media, lecture: Path) -> Iterator[Listener]:
    """Hear what the lecture in a file says as long as the block lasts, in the lecture's folder.

    Some lectures ask whether they are traced, by `sys.gettrace()`: they are.
    """
    listener = Listener(hear, picture, media)
    finders = (_Finder(listener), AbsentFinder(lecture, listener.modules, media.missing))
    known = {*sys.modules}
    hidden = {name: sys.modules.pop(name) for name in [*sys.modules] if name in STAND_INS}
    gettrace = sys.gettrace
    sys.meta_path[:] = [finders[0], *sys.meta_path, finders[1]]
    sys.gettrace = lambda: gettrace() or _is_traced
    try:
        with contextlib.chdir(lecture.parent):
            yield listener
    finally:
        sys.gettrace = gettrace
        for finder in finders:
            sys.meta_path.remove(finder)
        for name in {*sys.modules} - known:
            file = getattr(sys.modules[name], "__file__", None)
            # Helpers, too, are read anew by the next run: they have our functions by name.
            if name in listener.modules or (file and lecture.parent in Path(file).parents):
                del sys.modules[name]
        sys.modules.update(hidden)


def _is_traced(*_: object) -> None:
    return None


class Recorder(paragraphs.Recorder, Protocol):
    """What is told of what is said."""

    stops_at_none: bool

    def picture(self, value: object) -> Value:
        """Return what is kept of a value."""


class Scope(Protocol):
    """Which files are recorded."""

    root: Path
    only: Callable[[Path], bool] | None


@contextlib.contextmanager
def heard(lecture: Path, scope: Scope, recorder: Recorder, media: Media) -> Iterator[None]:
    """Hear what a lecture says if it was written for another tool. As there, what is recorded is
    the lecture's own file, and it runs in its folder."""
    if not speaks(lecture):
        yield
        return
    scope.only = lambda file: file == lecture or is_part(file)
    recorder.stops_at_none = True
    hear = paragraphs.Paragraphs(recorder, scope.root).hear
    with (
        listening(hear, recorder.picture, media, lecture) as listener,
        when_imported(OWN, lambda: listener.replaces_list(sys.modules[OWN])),
    ):
        yield
