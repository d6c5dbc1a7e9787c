"""A name in code leads to what it is, and to where it is defined."""

import pytest

from tests.viewer import documents
from tests.viewer.test_access import assert_accessible
from tests.viewer.test_page import line

LIBRARY = '''\
"""What several lectures use."""

import torch as t

# Bytes of one number, from the standard.
SIZE_BYTES = 4


class Shape:
    """A few axes."""

    def elements(self):
        """How many numbers there are."""
        return t.prod(self)


def double(n):
    """Return twice as much."""
    return SIZE_BYTES // 2 * n
'''


def with_library() -> dict:
    """The small lecture, which imports `double` from a file of its own that holds more."""
    document = documents.small()
    main = document["files"][0]
    lines = main["source"].split("\n")
    lines[1] = "from demo.lib import Shape, double as twice"
    lines[9] = lines[9].replace("double(3)", "twice(3)")
    main["source"] = "\n".join(lines)
    main["tokens"] = documents.tokens(main["source"])
    main["prose"][3]["text"] = "A view moves no data, says `Shape` in `demo/lib.py`."
    prose = [documents.prose(1, 1, "docstring", "What several lectures use.")]
    prose += [documents.prose(10, 10, "docstring", "A few axes.")]
    prose += [documents.prose(13, 13, "docstring", "How many numbers there are.")]
    prose += [documents.prose(18, 18, "docstring", "Return twice as much.")]
    document["files"].append(
        {
            "path": "demo/lib.py",
            "source": LIBRARY,
            "prose": prose,
            "tokens": documents.tokens(LIBRARY),
            "hidden": [],
        }
    )
    return document


MAIN, LIB = 0, 1


@pytest.mark.parametrize(
    ("file", "chain", "expected"),
    [
        (MAIN, ["twice"], (LIB, 17, 19, "def", "Return twice as much.")),
        (MAIN, ["Shape"], (LIB, 9, 14, "class", "A few axes.")),
        (MAIN, ["Shape", "elements"], (LIB, 12, 14, "def", "How many numbers there are.")),
        (MAIN, ["x", "elements"], (LIB, 12, 14, "def", "How many numbers there are.")),
        (MAIN, ["views"], (MAIN, 17, 23, "def", "Views share storage.")),
        (LIB, ["SIZE_BYTES"], (LIB, 5, 6, "constant", "")),
        (LIB, ["t", "prod"], (-1, 0, 0, "module", "torch")),
        (MAIN, ["nothing"], None),
        (MAIN, ["x", "size"], None),
    ],
    ids=lambda case: ".".join(case) if isinstance(case, list) else None,
)
def test_names_resolve_as_python_would(file, chain, expected, ask):
    found = ask("definition", with_library(), file, chain)
    keys = ("file", "line", "last", "kind", "text")
    assert (found and tuple(found[key] for key in keys)) == expected


HEADS = '''\
def over_lines(
    first: int,  # of two
    second: dict[str, int],
) -> int:  # @stepover
    r"""Say what this is.

    And more.
    """
    return first


def below():
    """
    Begins a line later.
    """


class Bare:
    # No docstring.
    size = "a: b"


def nothing(): return 1
'''


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("over_lines", "Say what this is."),
        ("below", "Begins a line later."),
        ("Bare", ""),
        ("nothing", ""),
    ],
)
def test_what_a_name_is_stands_in_sources_that_are_not_read_as_prose(name, expected, ask):
    document = with_library()
    document["files"][LIB] |= {"source": HEADS, "prose": []}
    assert ask("definition", document, LIB, [name])["text"] == expected


@pytest.mark.parametrize(
    ("column", "chain"),
    [(0, ["a"]), (2, ["a", "bc"]), (3, ["a", "bc"]), (5, ["d"]), (9, None), (11, ["e"])],
)
def test_a_column_is_in_a_chain_of_names(column, chain, ask):
    assert ask("chain", "a.bc(d)  + e", column) == chain


def point_at(page, number: int, name: str) -> None:
    """Move the mouse onto a name in a line, as its text is laid out."""
    box = (
        line(page, number)
        .locator("pre")
        .evaluate(
            """(pre, name) => {
            const texts = document.createTreeWalker(pre, NodeFilter.SHOW_TEXT);
            for (let node = texts.nextNode(); node; node = texts.nextNode()) {
                const at = node.textContent.indexOf(name);
                if (at < 0) continue;
                const range = document.createRange();
                range.setStart(node, at);
                range.setEnd(node, at + name.length);
                const { left, top, width, height } = range.getBoundingClientRect();
                return [left + width / 2, top + height / 2];
            }
        }""",
            name,
        )
    )
    page.mouse.move(*box)


def show_with_names(page, show, document: dict) -> None:
    """Show it, and wait until what attends to names is there."""
    show(page, document)
    page.mouse.move(5, 300)
    page.evaluate("""import("viewer/views/names.js").then(() => {})""")
    line(page, 20).scroll_into_view_if_needed()


@pytest.fixture
def lecture(page, show):
    show_with_names(page, show, with_library())
    return page


def test_pointing_at_a_name_tells_what_it_is(lecture):
    point_at(lecture, 10, "twice")
    tip = lecture.locator(".name-tip")
    tip.wait_for()
    assert tip.locator("div").all_inner_texts() == [
        "function twice, lib.py:17",
        "Return twice as much.",
    ]
    point_at(lecture, 10, "y")
    lecture.locator(".name-tip", has_text="y = 6").wait_for()
    lecture.mouse.move(5, 300)
    tip.wait_for(state="detached")


def test_a_click_opens_the_definition_beside_the_text_and_names_there_lead_on(lecture):
    point_at(lecture, 10, "twice")
    lecture.mouse.down()
    lecture.mouse.up()
    panel = lecture.locator(".definition-panel")
    panel.wait_for()
    assert panel.locator(".definition-head code").inner_text() == "lib.py:17"
    assert panel.locator(".definition-number").all_inner_texts() == ["17", "18", "19"]
    panel.get_by_text("SIZE_BYTES").click(position={"x": 110, "y": 8})
    panel.get_by_text("# Bytes of one number").wait_for()
    assert panel.locator(".definition-number").all_inner_texts() == ["5", "6"]
    panel.get_by_title("The whole file").click()
    panel.get_by_text("class Shape").wait_for()
    panel.get_by_title("The definition before").click()
    panel.get_by_title("The definition before").click()
    assert panel.locator(".definition-number").first.inner_text() == "17"
    lecture.keyboard.press("Escape")
    panel.wait_for(state="detached")


def test_a_definition_shows_no_directives(lecture):
    lecture.evaluate(
        """async () => {
            const { openDefinition } = await import("viewer/state/state.js");
            openDefinition({ file: 0, line: 25, last: 30, kind: "def", text: "" });
        }"""
    )
    shown = lecture.locator(".definition-body")
    shown.get_by_text("def double").wait_for()
    assert "@" not in shown.inner_text()


def test_a_definition_in_a_file_in_which_nothing_ran_has_its_colours_and_no_directives(page, show):
    """Such a file has no tokens in the document."""
    document = with_library()
    source = LIBRARY.replace("(self):", "(self):  # as PyTorch # @stepover")
    document["files"][LIB] |= {"source": source, "prose": [], "tokens": []}
    show_with_names(page, show, document)
    page.locator("#article .prose code", has_text="Shape").first.click()
    body = page.locator(".definition-body")
    body.wait_for()
    assert body.locator(".definition-line code").all_inner_texts() == [
        "class Shape:\n",
        '    """A few axes."""\n',
        "\n",
        "    def elements(self):  # as PyTorch\n",
        '        """How many numbers there are."""\n',
        "        return t.prod(self)\n",
    ]
    kinds = {"keyword": ["class", "def", "return"], "definition": ["Shape", "elements"]}
    for kind, texts in kinds.items():
        assert body.locator(f".token-{kind}").all_inner_texts() == texts
    assert body.locator(".token-string").count() == 2


@pytest.mark.parametrize("width", [1000, 1280, 1440, 1536, 1920])
def test_a_definition_stands_beside_code_and_not_on_it(width, lecture):
    lecture.set_viewport_size({"width": width, "height": 800})
    lecture.locator("#article .prose code", has_text="Shape").first.click()
    panel = lecture.locator(".definition-panel")
    panel.wait_for()
    lecture.set_viewport_size({"width": width + 10, "height": 800})
    lecture.wait_for_function(
        """() => {
            const rights = [...document.querySelectorAll("#article .row-line")].map((row) =>
                row.getBoundingClientRect().right);
            const { left, right } = document.querySelector(".definition-panel")
                .getBoundingClientRect();
            const gap = left - Math.max(...rights);
            return rights.length && gap > 0 && right === innerWidth && right - left > 300;
        }"""
    )


@pytest.mark.parametrize(("text", "first"), [("Shape", "9"), ("demo/lib.py", "1")])
def test_names_and_files_in_prose_lead_there(text, first, lecture):
    lecture.locator("#article .prose code", has_text=text).first.click()
    lecture.locator(".definition-panel").wait_for()
    assert lecture.locator(".definition-number").first.inner_text() == first


def test_the_keyboard_reaches_definitions_through_the_card(lecture):
    line(lecture, 10).hover()
    lecture.wait_for_load_state("networkidle")
    line(lecture, 10).hover(position={"x": 3, "y": 3})
    lecture.locator(".card-name").wait_for()
    lecture.locator(".card-name").focus()
    lecture.keyboard.press("Enter")
    lecture.locator(".definition-body:focus").wait_for()
    assert lecture.locator(".definition-head code").inner_text() == "lib.py:17"


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_axe_finds_nothing_in_a_definition(theme, lecture):
    lecture.emulate_media(color_scheme=theme)
    lecture.locator("#article .prose code", has_text="Shape").first.click()
    lecture.locator(".definition-panel").wait_for()
    assert_accessible(lecture, "definition")
