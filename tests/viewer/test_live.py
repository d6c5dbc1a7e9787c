"""Pages that are open while a lecture is written: they follow it, and keep their place."""

import textwrap

import pytest

from tests.test_watch import Watched, pytestmark, save  # noqa: F401 (the mark)
from tests.viewer.conftest import PATIENCE, painted, still

SECTIONS = 30


def lecture(*, number=0, above="", inside="", end=""):
    """A long lecture; what is written above the place of the reader, in it, and at the end."""
    calls = "\n".join(f"    section_{index}()" for index in range(SECTIONS))
    sections = "\n\n".join(
        f'def section_{index}():\n    """Section {index}.\n\n    {"Some words. " * 40}\n    """\n'
        f"{above if index == 3 else ''}    x = {index}  # @inspect x\n"
        f"{inside if index == 15 else ''}    y = x + {number}  # @inspect y\n"
        f"    z = y * 2  # @inspect z\n    assert z == 2 * y"
        for index in range(SECTIONS)
    )
    return f'def main():\n    """A long lecture."""\n{calls}\n{end}\n\n{sections}\n'


@pytest.fixture
def watched(tmp_path):
    """`watched(source)` saves a lecture that is watched; the first time it waits for its record.

    Tests ask for it before `page`: a page whose server ends before it misses what it still loads.
    """
    running = []

    def write(source, name="lecture.py"):
        save(tmp_path / name, source)
        if not running:
            running.append(Watched(tmp_path, tmp_path / name))
        return running[0]

    yield write
    for one in running:
        one.process.kill()
        one.process.communicate()


@pytest.fixture
def page(browser):
    context = browser.new_context(viewport={"width": 1000, "height": 700})
    context.set_default_timeout(PATIENCE)
    opened = context.new_page()
    errors = []
    opened.on("pageerror", lambda error: errors.append(str(error)))
    yield opened
    context.close()
    assert errors == []


NOTICE = ".live-notice"


def value_shown(page, name, value):
    """Wait until a value stands beside a line of the article."""
    page.locator("#article .beside-line", has_text=f"{name}{value}").first.wait_for(
        state="attached"
    )


def test_ten_saves_in_a_row_and_the_page_is_always_right(watched, page):
    source = 'def main():\n    """Numbers."""\n    x = {}  # @inspect x\n'
    server = watched(source.format(100))
    server.hear(state="done")
    page.goto(server.address)
    page.get_by_text("100").last.wait_for()
    for number in range(101, 111):
        watched(source.format(number))
        page.locator("#article .beside-line").filter(has_text=str(number)).wait_for()
        assert page.locator(NOTICE).text_content() == ""


def test_it_keeps_its_place_in_the_article(watched, page):
    server = watched(lecture())
    server.hear(state="done")
    page.goto(server.address)
    page.locator(".section-title", has_text="Section 29").wait_for(state="attached")
    page.locator(".waiting").first.wait_for(state="detached")
    page.locator(".section-title", has_text="Section 15").evaluate("one => one.scrollIntoView()")
    page.mouse.wheel(0, 150)
    section = page.locator(
        "#article .section", has=page.locator(".section-title", has_text="Section 15")
    )
    line = section.last.locator(".line", has_text="y = x")
    still(line)
    before = line.bounding_box()["y"]
    watched(lecture(number=1, above="    # Words above.\n    a = 1\n    b = 2\n" * 10))
    value_shown(page, "y", 16)
    page.locator(".waiting").first.wait_for(state="detached")
    still(line)
    after = line.bounding_box()["y"]
    assert abs(after - before) < 3


def test_it_keeps_its_statement_in_step(watched, page):
    server = watched(lecture())
    server.hear(state="done")
    page.goto(f"{server.address}&mode=step&at=lecture.py:section_15:3.1")
    page.locator(".mode-step").wait_for()
    current = "[aria-current] .source, .current .source, .line.current"
    assert "z = y * 2" in page.locator(current).first.text_content()
    watched(lecture(number=1, inside="    a = 1\n    b = 2\n"))
    page.locator(".source", has_text="y = x + 1").first.wait_for()
    page.locator(current, has_text="z = y * 2").first.wait_for()
    painted(page)
    assert "z = y * 2" in page.locator(current).first.text_content()
    assert page.locator(".mode-step").count() == 1


def test_a_broken_save_shows_the_error_and_the_next_one_recovers(watched, page):
    server = watched(lecture())
    server.hear(state="done")
    page.goto(server.address)
    page.locator("h1").first.wait_for()
    watched("def main(:\n")
    notice = page.locator(f"{NOTICE}.wrong")
    notice.wait_for()
    assert notice.text_content() == "lecture.py:1: SyntaxError: invalid syntax"
    assert page.locator("h1").first.text_content() == "A long lecture"
    watched(lecture(number=7))
    value_shown(page, "y", 7)
    page.locator(NOTICE).wait_for(state="hidden")


def test_a_lecture_that_fails_is_shown_with_its_failure(watched, page):
    server = watched(lecture())
    server.hear(state="done")
    page.goto(server.address)
    page.locator("h1").first.wait_for()
    watched(lecture(end="    1 / 0"))
    page.locator(".failure").wait_for()
    text = page.locator(f"{NOTICE}.wrong").text_content()
    assert text.endswith(": ZeroDivisionError: division by zero")
    watched(lecture())
    page.locator(".failure").wait_for(state="detached")
    page.locator(NOTICE).wait_for(state="hidden")


def test_a_page_that_was_there_before_any_document(watched, page):
    server = watched("def main(:\n")
    server.hear(state="failed")
    page.goto(server.address)
    page.locator(f"{NOTICE}.wrong", has_text="SyntaxError").wait_for()
    page.locator("main", has_text="lecture.py:1: SyntaxError: invalid syntax").wait_for()
    watched("import time\ndef main(): time.sleep(60)\n")
    page.locator(NOTICE, has_text="The lecture is running for the first time").wait_for()
    page.get_by_text("Loading").wait_for()
    watched(lecture(number=3))
    value_shown(page, "y", 3)
    page.locator(NOTICE).wait_for(state="hidden")


def test_what_a_page_finds_missing_does_not_cover_the_news(watched, page):
    server = watched("def main(:\n")
    server.hear(state="failed")

    held = []
    page.route("**/main.js", lambda route: held.append(route))
    page.goto(server.address, wait_until="commit")
    page.wait_for_timeout(1000)  # long enough for the news to come
    held[0].continue_()
    page.locator(f"{NOTICE}.wrong").wait_for()
    page.wait_for_timeout(200)
    sentence = "lecture.py:1: SyntaxError: invalid syntax"
    page.locator("main", has_text=sentence).wait_for(timeout=5000)


def test_two_pages_follow_one_lecture(watched, page):
    server = watched(lecture())
    server.hear(state="done")
    page.goto(server.address)
    other = page.context.new_page()
    other.goto(server.address)
    for one in (page, other):
        value_shown(one, "y", 0)
    watched(lecture(number=4))
    for one in (page, other):
        value_shown(one, "y", 4)


def test_a_page_says_when_the_server_has_ended(watched, page):
    server = watched(textwrap.dedent(lecture()))
    server.hear(state="done")
    page.goto(server.address)
    page.locator(".colophon").wait_for(state="attached")
    page.evaluate("import('viewer/views/panels.js')")  # the last part that a page fetches by itself
    assert server.end()[0] == 0
    page.locator(f"{NOTICE}.wrong", has_text="The server has ended").wait_for()
    assert page.locator("h1").first.text_content() == "A long lecture"


def test_a_lecture_whose_name_is_beyond_ascii_is_followed_and_listed(watched, page):
    source = 'def main():\n    """Größe."""\n    x = {}  # @inspect x\n'
    server = watched(source.format(123), "übung_λ.py")
    server.hear(state="done")
    page.goto(server.address)
    value_shown(page, "x", 123)
    watched(source.format(456), "übung_λ.py")
    value_shown(page, "x", 456)
    page.goto("about:blank")
    page.goto(server.address.partition("#")[0])
    page.get_by_role("link", name="Größe").click()
    value_shown(page, "x", 456)


def test_a_warning_is_told_on_the_page(watched, page):
    server = watched('def main():\n    """Numbers."""\n    x = 1  # @inspect y\n')
    server.hear(state="done")
    page.goto(server.address)
    notice = page.locator(f"{NOTICE}:not(.wrong)")
    notice.filter(has_text="lecture.py:3: y does not exist here.").wait_for()
    watched('def main():\n    """Numbers."""\n    x = 1  # @inspect x\n')
    page.locator(NOTICE).wait_for(state="hidden")
