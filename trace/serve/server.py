"""Serve the viewer and its documents on this machine, and nothing else."""

import contextlib
import errno
import functools
import http.server
import io
import ipaddress
import os
import re
import socket
import sys
import threading
import urllib.parse
import webbrowser
from collections.abc import Callable, Mapping, Sequence
from email.message import Message
from http import HTTPStatus
from pathlib import Path
from typing import Any, BinaryIO

from ..errors import UsageError
from ..options import HOST, MAX_PORT
from ..terminal import say
from . import library
from .afar import Parcel, parcel, prepare
from .library import TIMES
from .news import Bulletin
from .overlay import Shown, address_name, extra_files, frame_ancestors
from .translating import TranslatingHandler

PORTS_TRIED = 20

NEWS = "/news"
"""Where pages hear what happens to the document they show."""

_OWN_NAMES = ("127.0.0.1", "localhost", "::1")
"""What a browser may call us. A page from elsewhere that points a name of its own at this address
(DNS rebinding) must not read what is served."""
_HOST_HEADER = re.compile(r"(\[(?P<address>[\da-f:.]+)\]|(?P<name>[\w.-]+))(:\d+)?", re.IGNORECASE)
_EVERYWHERE = ("0.0.0.0", "::")
_BUSY = (errno.EADDRINUSE, errno.EACCES, getattr(errno, "WSAEACCES", errno.EACCES))


def serve(shown: Shown, *, port: int, open_browser: bool) -> None:
    """Serve until interrupted; print the address first."""
    with make_server(shown, port) as server:
        address = announce(server, shown)
        if shown.host in _EVERYWHERE or shown.allowed_hosts:
            threading.Thread(target=prepare, args=(shown,), daemon=True).start()
        if open_browser:
            open_in_browser(address)
        with contextlib.suppress(KeyboardInterrupt):
            server.serve_forever()


def announce(server: http.server.HTTPServer, shown: Shown) -> str:
    """Print and return the address of the document that is shown."""
    everywhere = shown.host in _EVERYWHERE
    host = HOST if everywhere else shown.host
    place = f"[{host}]" if ":" in host else host
    address = f"http://{place}:{server.server_address[1]}/"
    if shown.document:
        address += f"#doc={urllib.parse.quote(address_name(shown.document))}"
    others = ", to other machines too" if everywhere else ""
    say(f"serving {address}{others}  (stop with Ctrl-C)")
    return address


def open_in_browser(address: str) -> None:
    """Open an address where there is a display."""
    if _has_display():
        webbrowser.open(address)


def make_server(shown: Shown, port: int) -> http.server.ThreadingHTTPServer:
    """Return a server on the first free port from `port` on. Raises UsageError if there is none.

    A document outside the viewer's folder is served as if it lay there.
    """
    if not library.VIEWER.is_dir():
        raise UsageError(f"there is no viewer in {library.shown(library.VIEWER)}.")
    handler = functools.partial(ViewerHandler, shown, extra_files(shown))
    last = min(port + PORTS_TRIED - 1, MAX_PORT)
    kind = _Server6 if ":" in shown.host else _Server
    for candidate in range(port, last + 1):
        try:
            server = kind((shown.host, candidate), handler)
        except OSError as error:
            if error.errno not in _BUSY:
                raise UsageError(
                    f"cannot serve on {shown.host}: give --host a name or address of this machine."
                ) from None
            continue
        if candidate != port and port:
            sys.stderr.write(f"port {port} is busy: taking {server.server_address[1]}\n")
        return server
    raise UsageError(f"ports {port} to {last} are busy: give another --port.")


class _Server(http.server.ThreadingHTTPServer):
    allow_reuse_address = sys.platform != "win32"  # where it would share a port that is busy

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A browser may go away in the middle of an answer."""
        if not isinstance(sys.exception(), ConnectionError):
            super().handle_error(request, client_address)


class _Server6(_Server):
    address_family = socket.AF_INET6


def _has_display() -> bool:
    on_desktop = sys.platform in ("darwin", "win32")
    return on_desktop or any(os.environ.get(name) for name in ("DISPLAY", "WAYLAND_DISPLAY"))


class ViewerHandler(TranslatingHandler):
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

    def __init__(
        self, shown: Shown, extra: Mapping[str, Callable[[], bytes]], *args: object
    ) -> None:
        self._shown = shown
        self._extra = extra
        super().__init__(*args, directory=str(library.VIEWER))  # type: ignore[arg-type]

    def do_GET(self) -> None:
        """Answer with a file, or with news for as long as the page is there."""
        bulletin = self._shown.bulletin
        if bulletin and self.path == NEWS and self.is_called_by_own_name():
            self._tell(bulletin)
        else:
            super().do_GET()

    def _tell(self, bulletin: Bulletin) -> None:
        """Send news as server-sent events until the page is gone."""
        self.close_connection = True
        self.send_response(HTTPStatus.OK)
        self.send_header("Content-Type", "text/event-stream")
        self.end_headers()
        for event in bulletin.events():
            self.wfile.write(event)

    def is_called_by_own_name(self) -> bool:
        """Tell whether a browser that asks means us."""
        shown = self._shown
        return is_own_name(self.headers.get("Host", ""), shown.host, shown.allowed_hosts)

    def send_head(self) -> io.BytesIO | BinaryIO | None:
        """Send the headers of an extra file or of one from the viewer's folder; return it."""
        if not self.is_called_by_own_name():
            self.send_error(HTTPStatus.MISDIRECTED_REQUEST, explain=_how_to_allow(self.headers))
            return None
        path = urllib.parse.unquote(self.path.partition("?")[0])
        read = self._extra.get(path)
        if self._is_far() and (parcel := self._parcel(path, read)):
            return self._send_parcel(path, parcel)
        if read is None:
            if path.endswith(TIMES) and not Path(self.translate_path(self.path)).is_file():
                self._say_nothing()
                return None
            return super().send_head()
        try:
            data = read()
        except OSError:
            if path.endswith(TIMES):
                self._say_nothing()
            else:
                self.send_error(HTTPStatus.NOT_FOUND)
            return None
        self.send_response(HTTPStatus.OK)
        self.send_header("Content-Type", "application/json" if ".json" in path else "text/html")
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        return io.BytesIO(data)

    def _is_near(self) -> bool:
        """Tell whether the reader calls us by a name that only this machine has for us."""
        return is_own_name(self.headers.get("Host", ""), HOST)

    def _is_far(self) -> bool:
        """Tell whether the reader is on another machine, and takes compressed answers."""
        return not self._is_near() and "gzip" in self.headers.get("Accept-Encoding", "")

    def _parcel(self, path: str, read: Callable[[], bytes] | None) -> Parcel | None:
        try:
            return parcel(self._shown, path, Path(self.translate_path(self.path)), read)
        except OSError:
            return None  # answered as if nobody had asked for less

    def _send_parcel(self, path: str, parcel: Parcel) -> io.BytesIO | None:
        if self.headers.get("If-None-Match") == parcel.tag:
            self.send_response(HTTPStatus.NOT_MODIFIED)
            self.end_headers()
            return None
        self.send_response(HTTPStatus.OK)
        kind = self.guess_type("index.html" if path.endswith("/") else path)
        self.send_header("Content-Type", kind if parcel.is_coded else "application/gzip")
        if parcel.is_coded:
            self.send_header("Content-Encoding", "gzip")
        self.send_header("Vary", "Accept-Encoding, Host")
        self.send_header("ETag", parcel.tag)
        self.send_header("Content-Length", str(len(parcel.data)))
        self.end_headers()
        return io.BytesIO(parcel.data)

    def _say_nothing(self) -> None:
        """Most documents have no times: no error."""
        self.send_response(HTTPStatus.NO_CONTENT)
        self.end_headers()

    def translate_path(self, path: str) -> str:
        """Map a URL to a file of the viewer or on the shelf, or to one that does not exist."""
        nothing = str(library.VIEWER / "no such file")
        try:
            place = Path(super().translate_path(path))
            parts = place.relative_to(self.directory).parts
            hidden = any(part.startswith(".") for part in parts)
            folder = library.VIEWER
            if parts[:1] == ("traces",):
                folder, place = self._shown.place_of(parts[1:])
            inside = place.resolve().is_relative_to(folder.resolve())
        except ValueError:  # a null byte
            return nothing
        return str(place) if inside and not hidden else nothing

    def list_directory(self, path: object) -> None:
        """Refuse: folders are not listed."""
        self.send_error(HTTPStatus.NOT_FOUND)

    def end_headers(self) -> None:
        """A page that is reloaded shows what is on disk. On this machine, editors show pages in
        frames; on others nobody does who was not named."""
        frames = self._shown.frames
        if frames or (hasattr(self, "headers") and not self._is_near()):
            self.send_header("Content-Security-Policy", frame_ancestors(frames))
        self.send_header("Cache-Control", "no-cache")
        self.send_header("X-Content-Type-Options", "nosniff")
        self.send_header("Lecture-Server", "1")  # for pages, which ask it for more than others
        super().end_headers()

    def log_message(self, *args: object) -> None:
        """Requests are not logged."""


def _how_to_allow(headers: Message) -> str:
    found = _HOST_HEADER.fullmatch(headers.get("Host", ""))
    name = found["name"] if found and found["name"] else "NAME"
    return f"If this is the author's own proxy, start the server with --allow-host {name}."


def is_own_name(header: str, host: str, allowed: Sequence[str] = ()) -> bool:
    """Tell whether a browser that sends this `Host` header means us, who listen on `host` and are
    called by the `allowed` names, too."""
    found = _HOST_HEADER.fullmatch(header)
    if not found:
        return False
    name = (found["address"] or found["name"]).lower()
    if name in (*_OWN_NAMES, host.lower(), *allowed):
        return True
    if any(one.startswith("*.") and name.endswith(one[1:]) for one in allowed):
        return True
    return host in _EVERYWHERE and (_is_address(name) or name == socket.gethostname().lower())


def _is_address(name: str) -> bool:
    """Numbers cannot be pointed anywhere else, as names can."""
    try:
        ipaddress.ip_address(name)
    except ValueError:
        return False
    return True
