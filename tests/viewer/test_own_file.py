"""A file of the reader's on the home page: a document, or a trace of another tool."""

import http.client
import json
import threading

import pytest

from tests.test_published import EDTRACE
from tests.viewer import documents
from trace.serve.overlay import Shown
from trace.serve.server import make_server


@pytest.fixture
def server(tmp_path):
    """Our own server, with nothing on its shelf."""
    made = make_server(Shown(shelf=tmp_path), port=0)
    threading.Thread(target=made.serve_forever, daemon=True).start()
    yield made
    made.shutdown()
    made.server_close()


def ask(server, body: str, path: str = "/translate", **headers: str) -> tuple[int, dict | None]:
    connection = http.client.HTTPConnection("127.0.0.1", server.server_address[1])
    connection.request("POST", path, body, {"Content-Type": "application/json", **headers})
    answer = connection.getresponse()
    text = answer.read()
    connection.close()
    is_json = answer.headers["Content-Type"] == "application/json"
    return answer.status, json.loads(text) if is_json else None


def test_the_server_reads_traces(server):
    status, document = ask(server, json.dumps(EDTRACE))
    assert (status, document["title"]) == (200, "Title")


# what is asked -> status
REFUSED = [
    ({"body": "[]"}, 422),
    ({"body": "{}", "path": "/"}, 501),
    ({"body": "{}", "Content-Type": "text/plain"}, 403),
    ({"body": "{}", "Host": "evil.example"}, 421),
]


@pytest.mark.parametrize(("asked", "status"), REFUSED)
def test_the_server_refuses_other_things(asked, status, server):
    found, answer = ask(server, **asked)
    assert found == status
    if status == 422:
        assert answer["problem"].startswith("this file is no trace of edtrace")


def choose(page, name: str, content: object) -> None:
    text = content if isinstance(content, str) else json.dumps(content)
    file = {"name": name, "mimeType": "application/json", "buffer": text.encode()}
    page.locator(".own-file input").set_input_files(file)


@pytest.fixture
def home(context, server):
    page = context.new_page()
    page.goto(f"http://127.0.0.1:{server.server_address[1]}/")
    page.locator(".own-file").wait_for()
    yield page
    page.close()


def test_a_trace_of_another_tool_is_shown(home):
    choose(home, "talk.json", EDTRACE)
    home.locator("#article h1", has_text="Title").wait_for()
    home.locator("#article").get_by_text("turn 1").wait_for()


def test_a_document_is_shown(home):
    choose(home, "my lecture.json", documents.small())
    home.locator("#article h1", has_text="Small numbers").wait_for()


def test_a_file_can_be_dropped(home):
    data = home.evaluate_handle(
        """text => {
            const data = new DataTransfer();
            data.items.add(new File([text], "talk.json", { type: "application/json" }));
            return data;
        }""",
        json.dumps(EDTRACE),
    )
    home.dispatch_event("main", "drop", {"dataTransfer": data})
    home.locator("#article h1", has_text="Title").wait_for()


@pytest.mark.parametrize("content", ["{", "[]", {"steps": []}, {"steps": [1], "files": {}}])
def test_what_is_neither_is_said(content, home):
    choose(home, "talk.json", content)
    home.locator("[role=alert] p").wait_for()
    assert home.locator("[role=alert] p").inner_text()
    home.locator(".own-file").wait_for()


def test_a_site_without_the_tool_says_how(page, site):
    site.publish(one=documents.small(), two=documents.small())
    page.goto(site.address)
    choose(page, "talk.json", EDTRACE)
    page.locator("[role=alert]", has_text="lecture-trace --import talk.json").wait_for()
