"""Serve the viewer and its documents on this machine, and nothing else."""

import contextlib
import functools
import http.server
import io
import json
import os
import re
import sys
import urllib.parse
import webbrowser
from collections.abc import Mapping
from http import HTTPStatus
from pathlib import Path
from typing import Any, BinaryIO

from . import documents
from .errors import UsageError

HOST = "127.0.0.1"
PORTS_TRIED = 20
MAX_PORT = 65535
TIMES = ".times.json"

_OWN_NAME = re.compile(r"(127\.0\.0\.1|localhost|\[::1\])(:\d+)?", re.IGNORECASE)
"""What a browser may call us. A page from elsewhere that points a name of its own at this address
(DNS rebinding) must not read what is served."""


def serve(document: Path | None, module: str | None, *, port: int, open_browser: bool) -> None:
    """Serve until interrupted; print the address first."""
    server = make_server(document, port)
    address = f"http://{HOST}:{server.server_address[1]}/"
    if module and document:
        address += f"#doc={urllib.parse.quote(document.stem)}"
    print(f"serving {address}  (stop with Ctrl-C)", flush=True)
    if open_browser and _has_display():
        webbrowser.open(address)
    with contextlib.suppress(KeyboardInterrupt), server:
        server.serve_forever()


def make_server(document: Path | None, port: int) -> http.server.ThreadingHTTPServer:
    """Return a server on the first free port from `port` on. Raises UsageError if there is none.

    A document outside the viewer's folder is served as if it lay there.
    """
    if not documents.VIEWER.is_dir():
        raise UsageError(f"there is no viewer in {documents.shown(documents.VIEWER)}.")
    handler = functools.partial(ViewerHandler, _extra_files(document))
    last = min(port + PORTS_TRIED - 1, MAX_PORT)
    for candidate in range(port, last + 1):
        try:
            server = _Server((HOST, candidate), handler)
        except OSError:
            continue
        if candidate != port and port:
            sys.stderr.write(f"port {port} is busy: taking {server.server_address[1]}\n")
        return server
    raise UsageError(f"ports {port} to {last} are busy: give another --port.")


class _Server(http.server.ThreadingHTTPServer):
    def handle_error(self, request: Any, client_address: Any) -> None:
        """A browser may go away in the middle of an answer."""
        if not isinstance(sys.exception(), ConnectionError):
            super().handle_error(request, client_address)


def _extra_files(document: Path | None) -> dict[str, Path | bytes]:
    """What is served besides the folder: an empty local index if there is none on disk."""
    extra: dict[str, Path | bytes] = {}
    index = documents.TRACES / "index.local.json"
    if not index.exists():
        extra["/traces/index.local.json"] = b'{"documents": []}'
    if document and document.resolve().parent != documents.TRACES:
        name = f"{document.stem}.json"
        extra[f"/traces/{name}"] = document
        extra[f"/traces/{document.stem}{TIMES}"] = document.with_suffix(TIMES)
        others = [entry for entry in documents.entries_of(index) if entry["file"] != name]
        entries = [*others, {**documents.entry_of(document), "file": name}]
        extra["/traces/index.local.json"] = json.dumps({"documents": entries}).encode()
    return extra


def _has_display() -> bool:
    on_desktop = sys.platform in ("darwin", "win32")
    return on_desktop or any(os.environ.get(name) for name in ("DISPLAY", "WAYLAND_DISPLAY"))


class ViewerHandler(http.server.SimpleHTTPRequestHandler):
    """Files of the viewer: no listings, no dot files, no links that lead outside."""

    protocol_version = "HTTP/1.1"
    """The page has some thirty files: connections stay open, and answers are not held back."""
    disable_nagle_algorithm = True

    extensions_map = {  # noqa: RUF012 (the base class has it so)
        **http.server.SimpleHTTPRequestHandler.extensions_map,
        ".js": "text/javascript",
        ".mjs": "text/javascript",
        ".json": "application/json",
        ".woff2": "font/woff2",
    }

    def __init__(self, extra: Mapping[str, Path | bytes], *args: object) -> None:
        self._extra = extra
        super().__init__(*args, directory=str(documents.VIEWER))  # type: ignore[arg-type]

    def send_head(self) -> io.BytesIO | BinaryIO | None:
        """Send the headers of an extra file or of one from the viewer's folder; return it."""
        if not _OWN_NAME.fullmatch(self.headers.get("Host", "")):
            self.send_error(HTTPStatus.MISDIRECTED_REQUEST)
            return None
        path = urllib.parse.unquote(self.path.partition("?")[0])
        extra = self._extra.get(path)
        place = extra if isinstance(extra, Path) else Path(self.translate_path(self.path))
        if path.endswith(TIMES) and not place.is_file():
            self.send_response(HTTPStatus.NO_CONTENT)  # most documents have none: no error
            self.end_headers()
            return None
        if extra is None:
            return super().send_head()
        try:
            data = extra if isinstance(extra, bytes) else extra.read_bytes()
        except OSError:
            self.send_error(HTTPStatus.NOT_FOUND)
            return None
        self.send_response(HTTPStatus.OK)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        return io.BytesIO(data)

    def translate_path(self, path: str) -> str:
        """Map a URL to a file inside the viewer's folder, or to one that does not exist."""
        nothing = str(documents.VIEWER / "no such file")
        try:
            place = Path(super().translate_path(path))
            hidden = any(part.startswith(".") for part in place.relative_to(self.directory).parts)
            inside = place.resolve().is_relative_to(documents.VIEWER)
        except ValueError:  # a null byte
            return nothing
        return str(place) if inside and not hidden else nothing

    def list_directory(self, path: object) -> None:
        """Refuse: folders are not listed."""
        self.send_error(HTTPStatus.NOT_FOUND)

    def end_headers(self) -> None:
        """A page that is reloaded shows what is on disk."""
        self.send_header("Cache-Control", "no-cache")
        self.send_header("X-Content-Type-Options", "nosniff")
        super().end_headers()

    def log_message(self, *args: object) -> None:
        """Requests are not logged."""
