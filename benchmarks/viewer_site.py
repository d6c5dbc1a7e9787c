"""What the viewer's benchmark serves: the viewer, a floor page, documents of several sizes."""

import contextlib
import functools
import gzip
import http.server
import io
import json
import sys
import threading
from pathlib import Path
from typing import Any

from trace.document.build import build
from trace.document.encoding import encode
from trace.options import Options
from trace.record.run import record
from trace.serve.afar import prepare
from trace.serve.comments import CODE, without_comments
from trace.serve.overlay import Shown, address_name
from trace.serve.publication import write_site
from trace.serve.server import make_server
from trace.target import find_target

VIEWER = Path(__file__).parents[1] / "viewer"

FLOOR = """<!doctype html><meta charset="utf-8"><title>floor</title>
<style>pre div.current { background: yellow }</style><pre id="lines"></pre>
<script type="module">
const name = new URLSearchParams(location.hash.slice(1)).get("doc");
window.held = JSON.parse(await (await fetch(`traces/${name}.json`)).text());
const place = document.getElementById("lines");
for (const text of held.files[0].source.split("\\n")) {
  const line = document.createElement("div");
  line.className = "line";
  line.textContent = text || " ";
  place.append(line);
}
let at = 0;
addEventListener("keydown", () => {
  place.children[at].classList.remove("current");
  at = (at + 1) % place.children.length;
  place.children[at].classList.add("current");
});
</script>"""

MANY_STEPS = '''
def main():
    """Many steps."""
    total = 0
    for i in range({turns}):
        total = add(total, i)
        odd = total % 2  # @inspect odd
        if odd:
            total += 1
        total -= 1
        total += 2
        total -= 1
    assert total > 0


def add(a, b):
    """A sum."""
    return a + b
'''


class Site:
    """A server that counts what is asked for."""

    def __init__(self, documents: dict[str, bytes]):
        self.texts = {f"/traces/{name}.json": data for name, data in documents.items()}
        self.texts["/floor.html"] = FLOOR.encode()
        self.texts["/traces/index.json"] = json.dumps({"documents": []}).encode()
        self.asked: list[str] = []
        handler = functools.partial(Handler, self)
        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)
        self.address = f"http://127.0.0.1:{self.server.server_port}/"
        threading.Thread(target=self.server.serve_forever, daemon=True).start()


class Handler(http.server.SimpleHTTPRequestHandler):
    """Serves a `Site` as `python -m trace --serve` does: connections stay open, nothing waits."""

    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True

    def __init__(self, site: Site, *arguments: Any):
        self.site = site
        with contextlib.suppress(ConnectionError):  # a browser may go away
            super().__init__(*arguments, directory=str(VIEWER))

    def do_GET(self) -> None:
        path = self.path.partition("?")[0]
        self.site.asked.append(path)
        data = self.site.texts.get(path)
        if data is None:
            super().do_GET()
            return
        self.send_response(200)
        kind = "text/html" if path.endswith(".html") else "application/json"
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, *_: Any) -> None:
        """Say nothing."""


class PlainHandler(http.server.SimpleHTTPRequestHandler):
    """Serves files as they are."""

    def log_message(self, *_: Any) -> None:
        """Say nothing."""


class CompressingHandler(PlainHandler):
    """Serves texts compressed, over connections that stay open, as usual servers do."""

    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True

    def send_head(self) -> Any:
        file = Path(self.translate_path(self.path))
        file = file / "index.html" if file.is_dir() else file
        if file.suffix not in (".html", ".js", ".css", ".json", ".svg") or not file.is_file():
            return super().send_head()
        data = compressed(file)
        self.send_response(200)
        self.send_header("Content-Type", self.guess_type(str(file)))
        self.send_header("Content-Encoding", "gzip")
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        return io.BytesIO(data)


@functools.cache
def compressed(file: Path) -> bytes:
    """A file as servers keep it compressed."""
    return gzip.compress(file.read_bytes())


class PatientServer(http.server.ThreadingHTTPServer):
    """Says nothing of browsers that go away."""

    def handle_error(self, request: Any, client_address: Any) -> None:
        if not isinstance(sys.exception(), ConnectionError):
            super().handle_error(request, client_address)


NAME_OF_OURS = "lecture.localhost"
"""What browsers take for this machine and our server for another name of it."""


def served_over_networks(lecture: Path, folder: Path) -> dict[str, str]:
    """Addresses of a lecture on servers of three kinds."""
    site = folder / "site"
    write_site(site, [lecture])
    shown = Shown(lecture, allowed_hosts=(NAME_OF_OURS,))
    prepare(shown)
    ours = make_server(shown, 0)
    name = address_name(lecture)
    addresses = {"ours": f"http://{NAME_OF_OURS}:{ours.server_port}/#doc={name}"}
    servers = [ours]
    for kind, handler in {"static": CompressingHandler, "http.server": PlainHandler}.items():
        server = PatientServer(("127.0.0.1", 0), functools.partial(handler, directory=str(site)))
        addresses[kind] = f"http://127.0.0.1:{server.server_port}/#doc={name}"
        servers.append(server)
    for server in servers:
        threading.Thread(target=server.serve_forever, daemon=True).start()
    return addresses


def recorded(steps: int, folder: Path) -> bytes:
    """A document of about that many steps: a loop with calls and values."""
    file = folder / f"steps_{steps}.py"
    file.write_text(MANY_STEPS.lstrip().replace("{turns}", str(steps // 8)))
    with contextlib.redirect_stdout(io.StringIO()):
        recording = record(find_target(str(file)), Options(max_steps=2 * steps, costs=False))
    return encode(build(recording))


def without_charts(data: bytes) -> bytes:
    """The same document, with no chart in it."""
    document = json.loads(data)
    for value in document["values"]:
        value.pop("vega", None)
    return json.dumps(document).encode()


def content(path: str) -> bytes:
    """What a site has as a file of the viewer, by the path that a browser asks for."""
    file = VIEWER / (path.strip("/") or "index.html")
    is_ours = file.suffix in CODE and VIEWER / "vendor" not in file.parents
    return without_comments(file.read_text()).encode() if is_ours else file.read_bytes()
