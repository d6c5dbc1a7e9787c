"""Serve the viewer and its documents on this machine, and nothing else."""

import contextlib
import functools
import http.server
import json
import os
import sys
import webbrowser
from collections.abc import Mapping
from http import HTTPStatus
from pathlib import Path

from . import documents
from .errors import UsageError

HOST = "127.0.0.1"
PORTS_TRIED = 20


def serve(document: Path | None, module: str | None, *, port: int, open_browser: bool) -> None:
    """Serve until interrupted; print the address first."""
    server = make_server(document, port)
    address = f"http://{HOST}:{server.server_address[1]}/"
    if module and document:
        address += f"#doc={document.stem}"
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
    for candidate in range(port, port + PORTS_TRIED):
        try:
            server = http.server.ThreadingHTTPServer((HOST, candidate), handler)
        except OSError:
            continue
        if candidate != port and port:
            sys.stderr.write(f"port {port} is busy: taking {server.server_address[1]}\n")
        return server
    raise UsageError(f"ports {port} to {port + PORTS_TRIED - 1} are busy: give another --port.")


def _extra_files(document: Path | None) -> dict[str, Path | bytes]:
    """What is served besides the folder: an empty local index if there is none on disk."""
    extra: dict[str, Path | bytes] = {}
    if not (documents.TRACES / "index.local.json").exists():
        extra["/traces/index.local.json"] = b'{"documents": []}'
    if document and document.resolve().parent != documents.TRACES:
        name = f"{document.stem}.json"
        extra[f"/traces/{name}"] = document
        entry = {**documents.entry_of(document), "file": name}
        extra["/traces/index.local.json"] = json.dumps({"documents": [entry]}).encode()
    return extra


def _has_display() -> bool:
    on_desktop = sys.platform in ("darwin", "win32")
    return on_desktop or any(os.environ.get(name) for name in ("DISPLAY", "WAYLAND_DISPLAY"))


class ViewerHandler(http.server.SimpleHTTPRequestHandler):
    """Files of the viewer: no listings, no dot files, no links that lead outside."""

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

    def do_GET(self) -> None:
        """Send an extra file, or one from the viewer's folder."""
        extra = self._extra.get(self.path.partition("?")[0])
        if extra is None:
            super().do_GET()
            return
        data = extra if isinstance(extra, bytes) else extra.read_bytes()
        self.send_response(HTTPStatus.OK)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def translate_path(self, path: str) -> str:
        """Map a URL to a file inside the viewer's folder, or to one that does not exist."""
        file = Path(super().translate_path(path)).resolve()
        hidden = any(part.startswith(".") for part in path.split("/"))
        inside = file == documents.VIEWER or documents.VIEWER in file.parents
        return str(file if inside and not hidden else documents.VIEWER / "no such file")

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
