"""What the server serves, to whom, and on which port."""

import contextlib
import errno
import gzip
import http.client
import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import threading
import urllib.parse
from pathlib import Path

import pytest

from tests.tracing import record_source
from trace.arguments import parse
from trace.cli import main
from trace.document.build import build
from trace.document.encoding import encode
from trace.errors import UsageError
from trace.serve import library, server
from trace.serve.news import Bulletin
from trace.serve.overlay import Shown

ROOT = Path(__file__).parent.parent


@pytest.fixture
def viewer(tmp_path, monkeypatch):
    """A small viewer of its own, with things beside and inside it that are not to be seen."""
    folder = tmp_path.resolve() / "viewer"
    (folder / "traces").mkdir(parents=True)
    (folder / "empty").mkdir()
    (folder / "index.html").write_text("<p>the page")
    (folder / "app.js").write_text("export {}")
    (folder / ".hidden").write_text("secret")
    (folder / ".git").mkdir()
    (folder / ".git/config").write_text("secret")
    (folder.parent / "outside.txt").write_text("secret")
    monkeypatch.setattr(library, "VIEWER", folder)
    monkeypatch.setattr(library, "TRACES", folder / "traces")
    return folder


@contextlib.contextmanager
def serving(document=None, **shown):
    """A running server; gives its port."""
    with server.make_server(Shown(document, **shown), 0) as running:
        thread = threading.Thread(target=running.serve_forever, args=(0.01,))
        thread.start()
        try:
            yield running.server_address[1]
        finally:
            running.shutdown()
            thread.join()


def ask(port, path, method="GET", **headers):
    """Status, headers and body of an answer. The path is sent as it is."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=120)
    given = {"skip_host": "Host" in headers, "skip_accept_encoding": "Accept-Encoding" in headers}
    connection.putrequest(method, path, **given)
    for name, value in headers.items():
        connection.putheader(name, value)
    connection.endheaders()
    answer = connection.getresponse()
    with contextlib.closing(connection):
        return answer.status, answer.headers, answer.read()


# path -> media type, a word of the file
SERVED = [
    ("/", "text/html", b"<title>"),
    ("/index.html", "text/html", b"<title>"),
    ("/?a=b", "text/html", b"<title>"),
    ("/main.js", "text/javascript", b"import"),
    ("/style.css", "text/css", b"{"),
    ("/traces/index.json", "application/json", b"lecture.main.json"),
    ("/traces/lecture.main.json", "application/json", b"lecture-trace"),
]


@pytest.mark.parametrize(("path", "media_type", "word"), SERVED)
def test_the_viewer_is_served(path, media_type, word):
    with serving() as port:
        status, headers, body = ask(port, path)
        assert (status, headers.get_content_type()) == (200, media_type)
        assert word in body
        assert headers["Cache-Control"] == "no-cache"
        assert headers["X-Content-Type-Options"] == "nosniff"
        assert headers["Lecture-Server"] == "1"
        status, same_headers, body = ask(port, path, "HEAD")
        assert (status, body) == (200, b"")
        assert same_headers["Content-Length"] == headers["Content-Length"]


FAR = {"Host": "ours.example", "Accept-Encoding": "gzip, br"}
PARTS = ("/traces/lecture.main.text.json.gz", "/traces/lecture.main.values.json.gz")


def far(**shown):
    return serving(allowed_hosts=("ours.example",), **shown)


@pytest.mark.parametrize(("path", "media_type", "word"), SERVED)
def test_another_machine_gets_texts_compressed(path, media_type, word):
    with far() as port:
        status, headers, body = ask(port, path, **FAR)
        assert (status, headers.get_content_type()) == (200, media_type)
        assert headers["Content-Encoding"] == "gzip"
        assert word in gzip.decompress(body)
        status, same, body = ask(port, path, **FAR, **{"If-None-Match": headers["ETag"]})
        assert (status, body) == (304, b"")
        status, same, body = ask(port, path, **{**FAR, "Accept-Encoding": "br"})
        assert "Content-Encoding" not in same
        assert word in body


def test_another_machine_gets_large_documents_in_parts():
    with far() as port:
        page = gzip.decompress(ask(port, "/", **FAR)[2])
        assert b'<html data-parts="lecture.main" ' in page
        for part in PARTS:
            status, headers, body = ask(port, part, **FAR)
            assert (status, headers.get_content_type()) == (200, "application/gzip")
            assert "Content-Encoding" not in headers
            assert len(body) < 1_000_000
            assert json.loads(gzip.decompress(body))["values"]
        assert ask(port, "/traces/nothing.text.json.gz", **FAR)[0] == 404
        assert b"data-parts" not in ask(port, "/")[2], "on this machine, nothing travels far"
        assert ask(port, PARTS[0])[0] == 404


def test_another_machine_gets_plain_pages_of_chapters():
    with far() as port:
        for path, word in (
            ("/lecture.main.html", b"What language models cost</h1>"),
            ("/lecture.main.why-count.html", b"Why count</h1>"),
        ):
            status, headers, body = ask(port, path, **FAR)
            assert (status, headers.get_content_type()) == (200, "text/html")
            assert word in gzip.decompress(body)
        assert ask(port, "/lecture.main.nothing.html", **FAR)[0] == 404
        assert ask(port, "/lecture.main.html")[0] == 404


def test_parts_are_those_of_the_document_that_is_there_now(viewer, mine):
    small = mine.read_bytes()
    (viewer / "index.html").write_text('<html lang="en">')
    with far(document=mine) as port:
        assert ask(port, "/traces/mine.text.json.gz", **FAR)[0] == 404
        assert b'data-parts=""' in gzip.decompress(ask(port, "/", **FAR)[2])
        for title in ("One.", "Two, longer."):
            mine.write_bytes(small.replace(b'"title":"mine"', f'"title":"{title}"'.encode()))
            with mine.open("ab") as file:
                file.write(b" " * 500_000)
            body = ask(port, "/traces/mine.text.json.gz", **FAR)[2]
            assert json.loads(gzip.decompress(body))["title"] == title
            assert b'data-parts="mine"' in gzip.decompress(ask(port, "/", **FAR)[2])


def test_fonts_are_fonts(viewer):
    (viewer / "a.woff2").touch()
    with serving() as port:
        assert ask(port, "/a.woff2")[1].get_content_type() == "font/woff2"


@pytest.fixture
def secrets(viewer):
    """Links inside the viewer that lead out of it."""
    try:
        (viewer / "link.txt").symlink_to(viewer.parent / "outside.txt")
        (viewer / "up").symlink_to(viewer.parent)
        (viewer / "dots.txt").symlink_to(viewer / ".hidden")
        (viewer / "inside.js").symlink_to(viewer / "app.js")
    except OSError:
        pytest.skip("no symbolic links here")
    return viewer


REFUSED = [
    *("/traces/", "/empty/", "/.hidden", "/.git/config", "/.git/", "/%2ehidden", "/%2Egit/config"),
    *("/empty/.../.hidden", "/./.hidden", "/traces/../.hidden", "/.", "/..", "/nothing.js", "/%00"),
    *("/link.txt", "/up/outside.txt", "/up/viewer/.hidden", "/up/", "/app.js%00.html"),
    *("/../outside.txt", "/traces/../../outside.txt", "//../outside.txt", "/%2e%2e/outside.txt"),
    *("/..%2foutside.txt", "/traces/%2e%2e%2f%2e%2e/outside.txt", "/..\\outside.txt"),
    *("/%252e%252e/outside.txt", "/..%5coutside.txt", "/traces/..;/outside.txt", "*"),
    *("{outside}", "/{outside}", "//{outside}", "file://{outside}", "http://127.0.0.1/outside.txt"),
]


@pytest.mark.parametrize("path", REFUSED)
def test_nothing_else_is_served(path, secrets, capsys):
    outside = (secrets.parent / "outside.txt").as_posix()
    with serving() as port:
        status, _, body = ask(port, path.format(outside=outside))
        assert status == 404 or body in (b"", b"<p>the page")
        assert b"secret" not in body
        assert b"config" not in body
        assert b"outside" not in body
    assert capsys.readouterr() == ("", "")


def test_a_link_within_the_viewer_is_followed(secrets):
    with serving() as port:
        assert ask(port, "/inside.js")[2] == b"export {}"
        assert ask(port, "/dots.txt")[0] == 200


def test_a_folder_without_its_slash_is_redirected_to_nowhere_else(viewer):
    with serving() as port:
        for path, location in (("/traces", "/traces/"), ("//traces", "/traces/")):
            status, headers, _ = ask(port, path)
            assert (status, headers["Location"]) == (301, location)


@pytest.mark.parametrize("method", ["POST", "PUT", "DELETE", "OPTIONS", "NONSENSE"])
def test_nothing_can_be_sent_to_it(method, viewer):
    with serving() as port:
        assert ask(port, "/index.html", method)[0] == 501


# the name by which a browser calls us -> status
HOSTS = [
    ("127.0.0.1", 200),
    ("127.0.0.1:8000", 200),
    ("localhost:8000", 200),
    ("LocalHost", 200),
    ("[::1]:8000", 200),
    ("evil.example", 421),
    ("evil.example:8000", 421),
    ("localhost.evil.example", 421),
    ("127.0.0.1.evil.example:8000", 421),
    ("evil.example:127.0.0.1", 421),
    ("127.0.0.1:8000@evil.example", 421),
    ("127x0x0x1", 421),
    ("0.0.0.0:8000", 421),
    ("", 421),
]


@pytest.mark.parametrize(("host", "status"), HOSTS)
def test_a_page_from_elsewhere_cannot_call_this_machine_by_its_own_name(host, status, viewer, mine):
    with serving(mine) as port:
        for path in ("/index.html", "/traces/mine.json", "/traces/index.local.json"):
            assert ask(port, path, Host=host)[0] == status


# where we listen, the name by which a browser calls us -> status
HOSTS_ELSEWHERE = [
    ("0.0.0.0", "192.168.1.7:8000", 200),
    ("0.0.0.0", "0.0.0.0:8000", 200),
    ("0.0.0.0", "[fe80::1]:8000", 200),
    ("0.0.0.0", "localhost", 200),
    ("0.0.0.0", socket.gethostname(), 200),
    ("0.0.0.0", "evil.example", 421),
    ("::", "10.0.0.1", 200),
    ("::", "evil.example", 421),
    ("Classroom.local", "classroom.local:8000", 200),
    ("Classroom.local", "10.0.0.1", 421),
    ("Classroom.local", "evil.classroom.local", 421),
    ("127.0.0.1", "[::1", 421),
    ("127.0.0.1", "localhost:", 421),
    ("127.0.0.1", "localhost/", 421),
    ("127.0.0.1", "a@localhost", 421),
]


@pytest.mark.parametrize(("host", "header", "status"), HOSTS_ELSEWHERE)
def test_who_is_meant_depends_on_where_we_listen(host, header, status):
    assert server.is_own_name(header, host) == (status == 200)


# names that are allowed, the name by which a browser calls us -> whether that is one
ALLOWED = [
    (["me-8000.app.example"], "me-8000.app.example", True),
    (["me-8000.app.example"], "ME-8000.app.example:443", True),
    (["me-8000.app.example"], "you-8000.app.example", False),
    (["me-8000.app.example"], "a.me-8000.app.example", False),
    (["*.app.example"], "me-8000.app.example", True),
    (["*.app.example"], "a.b.app.example", True),
    (["*.app.example"], "app.example", False),
    (["*.app.example"], "evilapp.example", False),
    (["*.app.example"], "app.example.evil", False),
    (["one.example", "two.example"], "two.example", True),
    ([], "two.example", False),
]


@pytest.mark.parametrize(("allowed", "header", "is_ours"), ALLOWED)
def test_names_of_proxies_can_be_allowed(allowed, header, is_ours):
    assert server.is_own_name(header, "127.0.0.1", allowed) == is_ours


def test_who_calls_us_by_another_name_is_told_how_to_allow_it(viewer, mine):
    with serving(mine, allowed_hosts=("ours.example",)) as port:
        assert ask(port, "/index.html", Host="ours.example")[0] == 200
        status, _, body = ask(port, "/index.html", Host="other.example:80")
        assert (status, b"--allow-host other.example." in body) == (421, True)
        assert b"--allow-host NAME." in ask(port, "/", Host="<b>")[2]


# what is given as a name -> whether it is one
ALLOWABLE = [
    ("me-8000.app.example", True),
    ("*.app.example", True),
    ("*", False),
    ("*.", False),
    ("https://app.example", False),
    ("app.example:8000", False),
    ("app..example", False),
]


@pytest.mark.parametrize(("name", "is_one"), ALLOWABLE)
def test_what_is_no_name_cannot_be_allowed(name, is_one, capsys):
    with contextlib.nullcontext() if is_one else pytest.raises(SystemExit):
        assert parse(["--serve", "--allow-host", name]).allow_host == [name]
    assert (f"{name} is no name of a host" in capsys.readouterr().err) != is_one


@pytest.fixture
def mine(tmp_path, capsys):
    """A document outside the viewer's folder."""
    file = tmp_path / "elsewhere" / "mine.json"
    file.parent.mkdir()
    file.write_bytes(encode(build(record_source("def main(): assert 1 == 1", "mine"))))
    return file


def local_index(port):
    return json.loads(ask(port, "/traces/index.local.json")[2])["documents"]


def test_a_document_outside_the_viewer_is_served_as_if_it_lay_there(viewer, mine):
    with serving(mine) as port:
        status, headers, body = ask(port, "/traces/mine.json?1")
        assert (status, headers.get_content_type()) == (200, "application/json")
        assert body == mine.read_bytes()
        assert [entry["file"] for entry in local_index(port)] == ["mine.json"]
        assert ask(port, "/traces/mine.json", "HEAD")[2] == b""
        mine.write_text("{}")
        assert ask(port, "/traces/mine.json")[2] == b"{}"
        mine.unlink()
        assert ask(port, "/traces/mine.json")[0] == 404
    assert list((viewer / "traces").iterdir()) == []


# name of a document, and how addresses name it, as the viewer takes them
NAMES = [
    ("my notes.json", "my-notes"),
    ("größe_λ.json", "größe_λ"),
    ("notes.txt", "notes"),
    ("a#b?c%20.d.json", "a-b-c-20.d"),
]


@pytest.mark.parametrize(("name", "shown_name"), NAMES)
def test_whatever_its_name_is(name, shown_name, viewer, mine, capsys, monkeypatch):
    document = mine.rename(mine.parent / name)
    with monkeypatch.context() as patch:
        patch.setattr(server._Server, "serve_forever", lambda server: None)
        server.serve(Shown(document), port=0, open_browser=False)
    stem = capsys.readouterr().out.split("#doc=")[1].split()[0]
    assert urllib.parse.unquote(stem) == shown_name
    with serving(document) as port:
        assert ask(port, f"/traces/{stem}.json")[2] == document.read_bytes()
        assert local_index(port)[0]["file"] == f"{shown_name}.json"


def test_local_documents_are_listed_beside_it(viewer, mine):
    (viewer / "traces/index.local.json").write_text('{"documents": [{"file": "old.json"}]}')
    with serving(mine) as port:
        assert [entry["file"] for entry in local_index(port)] == ["old.json", "mine.json"]


def test_without_local_documents_their_list_is_empty_and_not_missing(viewer):
    with serving() as port:
        assert local_index(port) == []
        (viewer / "traces/index.local.json").write_text('{"documents": [1]}')
    with serving() as port:
        assert local_index(port) == [1]


def test_a_browser_that_goes_away_is_no_error(viewer, capsys):
    (viewer / "large.json").write_bytes(b" " * 20_000_000)
    with serving() as port:
        for _ in range(3):
            with socket.create_connection(("127.0.0.1", port)) as connection:
                connection.sendall(b"GET /large.json HTTP/1.1\r\nHost: localhost\r\n\r\n")
                connection.recv(10)
    assert capsys.readouterr().err == ""


def test_other_errors_are_shown(viewer, capsys, monkeypatch):
    monkeypatch.setattr(server.ViewerHandler, "send_head", lambda handler: 1 / 0)
    with serving() as port, contextlib.suppress(http.client.HTTPException, ConnectionError):
        ask(port, "/")
    assert "ZeroDivisionError" in capsys.readouterr().err


@pytest.mark.skipif(sys.platform != "linux", reason="one loopback address elsewhere")
def test_only_this_machine_can_reach_it(viewer):
    with serving() as port:
        socket.create_connection(("127.0.0.1", port)).close()
        with pytest.raises(ConnectionRefusedError):
            socket.create_connection(("127.0.0.2", port))


@pytest.mark.skipif(not socket.has_ipv6, reason="no IPv6 here")
def test_it_listens_where_it_is_told(viewer, capsys):
    shown = Shown(host="::1")
    try:
        running = server.make_server(shown, 0)
    except UsageError:
        pytest.skip("no IPv6 here")
    with running:
        port = running.server_address[1]
        assert server.announce(running, shown) == f"http://[::1]:{port}/"
        socket.create_connection(("::1", port)).close()
        with pytest.raises(ConnectionRefusedError):
            socket.create_connection(("127.0.0.1", port))


def test_everywhere_is_said(viewer, capsys):
    shown = Shown(host="0.0.0.0")
    with server.make_server(shown, 0) as running:
        address = f"http://127.0.0.1:{running.server_address[1]}/"
        assert server.announce(running, shown) == address
    assert capsys.readouterr().out == (
        f"serving {address}, to other machines too  (stop with Ctrl-C)\n"
    )


@pytest.mark.parametrize("host", ["no.such.host.invalid", "203.0.113.7"])
def test_an_address_of_another_machine(host, viewer, capsys):
    assert main(["--serve", "--host", host]) == 2
    sentence = f"cannot serve on {host}: give --host a name or address of this machine."
    assert capsys.readouterr() == ("", f"python -m trace: {sentence}\n")


# News -------------------------------------------------------------------------------------------


def test_without_news_there_is_none(viewer):
    with serving() as port:
        assert ask(port, "/news")[0] == 404
        assert b"live.js" not in ask(port, "/")[2]


@pytest.fixture
def bulletin(monkeypatch):
    monkeypatch.setattr("trace.serve.news.STILL_THERE_SECONDS", 0.05)
    return Bulletin()


def test_news_is_sent_as_it_comes_and_the_page_listens(viewer, mine, bulletin):
    (viewer / "index.html").write_text("<template></template>")
    bulletin.post(state="done", recorded="7")
    with serving(mine, bulletin=bulletin) as port:
        page = ask(port, "/")[2].decode()
        assert '<script type="module" src="views/live.js" data-recorded="7"></script>' in page
        assert ask(port, "/index.html")[2].decode() == page
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=120)
        connection.request("GET", "/news")
        answer = connection.getresponse()
        with contextlib.closing(connection), answer:
            assert answer.headers["Content-Type"] == "text/event-stream"
            assert answer.readline() == b'data: {"state": "done", "recorded": "7"}\n'
            bulletin.post(state="running")
            while not (line := answer.readline()).startswith(b"data"):
                assert line in (b":\n", b"\n")
            assert line == b'data: {"state": "running"}\n'


def test_news_is_told_to_nobody_else(viewer, mine, bulletin):
    with serving(mine, bulletin=bulletin) as port:
        assert ask(port, "/news", Host="evil.example")[0] == 421
        assert ask(port, "/news", "POST")[0] == 501


def test_a_page_that_is_gone_is_forgotten(viewer, mine, bulletin, capsys):
    with serving(mine, bulletin=bulletin) as port:
        before = set(threading.enumerate())
        with socket.create_connection(("127.0.0.1", port)) as connection:
            connection.sendall(b"GET /news HTTP/1.1\r\nHost: localhost\r\n\r\n")
            connection.recv(10)
            (telling,) = set(threading.enumerate()) - before
        telling.join(timeout=120)
        assert not telling.is_alive()
    assert capsys.readouterr().err == ""


def test_a_document_stands_in_for_one_of_the_same_name(viewer, mine):
    documents_of = {"documents": [{"file": "mine.json"}, {"file": "other.json"}]}
    (viewer / "traces/index.json").write_text(json.dumps(documents_of))
    (viewer / "traces/mine.json").write_text("{}")
    with serving(mine) as port:
        assert ask(port, "/traces/mine.json")[2] == mine.read_bytes()
        listed = json.loads(ask(port, "/traces/index.json")[2])["documents"]
        assert [entry["file"] for entry in listed] == ["other.json"]
        assert [entry["file"] for entry in local_index(port)] == ["mine.json"]


@contextlib.contextmanager
def busy(count):
    """So many ports that are taken, one after the other; gives the first."""
    for first in range(20_000, 30_000, count + 1):
        with contextlib.ExitStack() as stack:
            try:
                for port in range(first, first + count):
                    stack.enter_context(socket.create_server(("127.0.0.1", port)))
                socket.create_server(("127.0.0.1", first + count)).close()
            except OSError:
                continue
            yield first
            return


@pytest.mark.parametrize("count", [1, 3])
def test_a_busy_port_makes_way_for_the_next(count, viewer, capsys):
    with busy(count) as first, server.make_server(Shown(), first) as running:
        assert running.server_address == ("127.0.0.1", first + count)
        message = f"port {first} is busy: taking {first + count}\n"
        assert capsys.readouterr() == ("", message)


def test_a_free_port_is_taken_without_a_word(viewer, capsys):
    with busy(1) as first, server.make_server(Shown(), first + 1) as running:
        assert running.server_address[1] == first + 1
        assert capsys.readouterr() == ("", "")


def test_when_all_are_busy_it_says_so(viewer, capsys):
    with busy(server.PORTS_TRIED) as first:
        assert main(["--serve", "--port", str(first)]) == 2
    message = f"ports {first} to {first + 19} are busy: give another --port."
    assert capsys.readouterr() == ("", f"python -m trace: {message}\n")


def test_the_last_port_has_no_next_one(viewer, monkeypatch):
    tried = []

    def refuse(address, handler):
        tried.append(address[1])
        raise OSError(errno.EADDRINUSE, "Address already in use")

    monkeypatch.setattr(server, "_Server", refuse)
    with pytest.raises(UsageError, match="ports 65530 to 65535 are busy"):
        server.make_server(Shown(), 65530)
    assert tried == list(range(65530, 65536))


def test_without_a_viewer_it_says_so(viewer, capsys):
    shutil.rmtree(viewer)
    assert main(["--serve"]) == 2
    assert capsys.readouterr().err.startswith("python -m trace: there is no viewer in ")


# the options, what the environment says -> whether a browser is opened
BROWSERS = [
    (["--open"], {"DISPLAY": ":0"}, True),
    (["--open"], {"WAYLAND_DISPLAY": "wayland-0"}, True),
    (["--open"], {}, False),
    ([], {"DISPLAY": ":0"}, False),
]


@pytest.mark.parametrize(("options", "environment", "opened"), BROWSERS)
def test_a_browser_is_opened_where_there_is_a_display(
    options, environment, opened, viewer, capsys, monkeypatch
):
    addresses = []
    monkeypatch.setattr(server.sys, "platform", "linux")
    monkeypatch.setattr(server.webbrowser, "open", addresses.append)
    monkeypatch.setattr(server._Server, "serve_forever", lambda server: None)
    for name in ("DISPLAY", "WAYLAND_DISPLAY"):
        monkeypatch.delenv(name, raising=False)
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    assert main(["--serve", "--port", "0", *options]) == 0
    said = capsys.readouterr().out
    assert said.startswith("serving http://127.0.0.1:")
    assert addresses == [said.split()[1]] * opened


# the lecture -> exit status of `--serve`, which is stopped with Ctrl-C
SERVE_ENDS = [("pass", 0), ("1 / 0", 1)]


@pytest.mark.skipif(sys.platform == "win32", reason="there is no SIGINT to send")
@pytest.mark.parametrize(("body", "status"), SERVE_ENDS)
def test_ctrl_c_ends_it(body, status, tmp_path):
    (tmp_path / "mine.py").write_text(f"def main(): {body}\n")
    command = [sys.executable, "-m", "trace", tmp_path / "mine.py", "-o", tmp_path / "mine.json"]
    with subprocess.Popen(
        [*command, "--serve", "--port", "0"],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        said = [process.stdout.readline() for _ in range(2)]
        port = int(said[1].split(":")[2].partition("/")[0])
        assert said[1].split()[1] == f"http://127.0.0.1:{port}/#doc=mine"
        assert ask(port, "/traces/mine.json")[0] == 200
        process.send_signal(signal.SIGINT)
        rest, errors = process.communicate(timeout=120)
    assert (process.returncode, rest) == (status, "")
    assert "trace/" not in errors
    assert "KeyboardInterrupt" not in errors
    with pytest.raises(ConnectionRefusedError):
        socket.create_connection(("127.0.0.1", port))
    with pytest.raises(ProcessLookupError):
        os.kill(process.pid, 0)
