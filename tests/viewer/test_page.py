"""What a reader sees and does, in Chromium."""

import itertools
import json
import re

import pytest
from playwright.sync_api import expect

from tests.tracing import trace_source
from tests.viewer import documents
from tests.viewer.conftest import VIEWER, painted, show_everything
from tests.viewer.programs import recorded

COMMANDS = """async () => {
    const { COMMANDS } = await import("viewer/state/commands.js");
    await import("viewer/views/present.js");  // brings its own
    return COMMANDS.map(({ id, keys, title, where }) => [id, keys, title, where]);
}"""
BUTTONS = """() => Object.fromEntries([...document.querySelectorAll("[data-command]")].map(
    (button) => [button.dataset.command, [button.dataset.key, button.title !== ""]]))"""


def line(page, number: int):
    """The line of the article that begins with this one of the source."""
    button = page.locator(f'.line-number:text-is("{number}")')
    return page.locator("#article .line", has=button).last


def told(page, number: int):
    """What is listed of it where everything is shown."""
    return page.locator(f'#article .evidence [data-line="{number}"]').last


def current_line(page) -> int:
    return int(page.locator(".program-line.current").first.get_attribute("data-line"))


def variables(page) -> dict[str, str]:
    shown = page.locator(".open-call.shown .variable")
    return {
        shown.nth(index).locator(".variable-name code").inner_text(): shown.nth(index)
        .locator(".variable-value")
        .inner_text()
        for index in range(shown.count())
    }


def test_two_formulas_of_two_lines_are_two(page, show):
    lecture = documents.small()
    lecture["files"][0]["prose"][3]["text"] = "$$a$$ is not\n\n$$b$$"
    show(page, lecture)
    formulas = page.locator("#article .prose:has-text('is not') .katex annotation")
    assert formulas.all_text_contents() == ["a", "b"]
    assert page.locator(".katex-error").count() == 0


def test_read_shows_title_prose_values_claims_costs_and_output(page, show):
    show(page, documents.small())
    assert page.title() == "Small numbers"
    assert page.locator("#article h1").inner_text() == "Small numbers"
    assert page.locator("#article h2").inner_text() == "Views share storage"
    assert page.locator("#article .katex").count() == 1
    assert page.locator("#article strong").inner_text() == "bold"
    assert "A view moves no data." in page.locator("#article .prose").all_inner_texts()
    assert line(page, 10).locator(".named-value").inner_text().split() == ["y", "6"]
    assert line(page, 13).locator(".held-mark").inner_text().split()[0] == "✓"
    show_everything(page)
    assert told(page, 13).locator(".claim.held").inner_text().split() == [
        "✓",
        "held",
        "y",
        "=",
        "6",
    ]
    assert (
        told(page, 10).locator(".cost").inner_text()
        == "2.1 MFLOP · ≥ 72 B moved · ≤ 29\u202f000 FLOP/B"
    )
    assert page.locator("#article .output").inner_text().strip() == "done"
    assert page.locator("#article .topic").all_inner_texts() == ["M1.1", "M1.2"]
    assert page.locator("#article .topic").nth(1).get_attribute("title") == (
        "Topic M1.2 of the syllabus: Views"
    )
    assert "aten.sort (2 times)" in page.locator(".colophon").text_content()


def test_read_leaves_out_directives_docstrings_and_the_line_of_a_section(page, show):
    show(page, documents.small())
    text = page.locator("#article").inner_text()
    assert "@inspect" not in text
    assert '"""' not in text
    assert "views()\n" not in "\n".join(page.locator("#article .source").all_inner_texts())
    assert "unrun" in line(page, 22).get_attribute("class").split()
    assert page.locator(".line.unrun").count() == 1


def test_a_tensor_shows_type_shape_elements_and_storage(page, show):
    show(page, documents.small())
    tensor = line(page, 20).locator(".tensor")
    assert tensor.locator(".dtype").inner_text() == "float32"
    assert tensor.locator(".shape").inner_text() == "[2, 3]"
    cells = ["0.0", "1.0", "2.0", "3.0", "4.0", "5.5"]
    assert tensor.locator("td").all_inner_texts() == cells
    assert tensor.locator(".layout").inner_text() == "storage #1"


def test_tensors_that_were_cut_show_corners_statistics_and_aliases(page, show):
    large = {
        **documents.TENSOR,
        "shape": [100, 100],
        "strides": [100, 1],
        "cut": True,
        "shown": [[0, 1, 99], [0, 99]],
        "elements": [1.0, 2.0, 3.0, "nan", -5.0, 6.0],
        "statistics": {"min": -5.0, "max": 6.0, "mean": 0.25, "nan": 1},
        "histogram": {"low": -5.0, "high": 6.0, "counts": [1, 5, 3]},
    }
    show(page, documents.with_values(large))
    tensor = line(page, 20).locator(".tensor").nth(1)
    assert tensor.locator("tr").count() == 3
    assert tensor.locator("tr.skipped").count() == 1
    assert tensor.locator("td.skipped").count() == 3
    line(page, 20).hover()  # the card has room for what follows in the margin
    tensor = page.locator(".card .tensor").nth(1)
    tensor.locator(".histogram rect").nth(2).wait_for()
    assert "mean\n0.25" in tensor.locator(".statistics").inner_text()
    assert tensor.locator(".shares").inner_text() == "shares storage with x"


def test_a_loop_shows_its_first_round_and_any_other(page, show):
    show(page, documents.small())
    total = line(page, 12).locator(".named-value")
    count = page.locator(".scrubber-count")
    assert total.inner_text().split() == ["total", "0"]
    assert count.inner_text() == "round 1 of 3", "it binds nothing"
    page.get_by_role("slider", name="round").fill("3")
    assert total.inner_text().split() == ["total", "4"]
    page.get_by_title("Previous round").click()
    assert total.inner_text().split() == ["total", "2"]
    assert count.inner_text() == "round 2 of 3"


def test_on_a_phone_neither_the_round_nor_what_it_binds_breaks_inside(phone, show):
    document = documents.small()
    name = document["names"].index("i")
    document["statements"][2][6] = [name]
    document["names"][name] = "a_name_that_takes_all_of_the_line_of_a_phone"
    show(phone, document)
    phone.locator(".scrubber-count code").wait_for()
    bound, comma, count = phone.locator(".scrubber-count").evaluate(
        """(whole) => [...whole.childNodes].filter(({ textContent }) => textContent.trim())
            .map((node) => {
                const range = document.createRange();
                range.selectNodeContents(node);
                const { top, bottom } = range.getBoundingClientRect();
                return [top, bottom];
            })"""
    )
    assert comma[0] < bound[1] <= count[0] + 4, "the comma ends the first line"
    assert comma[1] <= bound[1] + 4
    assert count[1] - count[0] < 24, "one line"


PAIRS = """
def main():
    '''Rounds.'''
    for first, second, letters in [(1, 2, ["one", "two", "three"])] * 2:
        print(first, second, letters)
"""


def test_on_a_phone_all_that_a_loop_binds_is_shown(phone, show):
    """Who has no pointer sees no title of what is cut."""
    show(phone, recorded(PAIRS))
    bound = phone.locator(".scrubber-count code")
    bound.wait_for()
    assert bound.inner_text() == "first = 1, second = 2, letters = ['one', 'two', 'three']"
    names = bound.locator("span")
    assert [names.nth(at).evaluate("e => e.getClientRects().length") for at in (0, 1)] == [1, 1]
    parts = [phone.locator(".scrubber-count"), *names.all()]
    whole, *boxes = [part.bounding_box() for part in parts]
    assert all(box["x"] + box["width"] <= whole["x"] + whole["width"] for box in boxes)
    assert all(box["y"] + box["height"] <= whole["y"] + whole["height"] for box in boxes)


LONG_NAME = "a_name_of_a_function_that_a_phone_has_no_room_for_on_one_line"


def test_on_a_phone_the_name_below_a_title_goes_on_after_a_word(phone, show):
    main = f"def main():\n    'Title.'\n    {LONG_NAME}()\n"
    show(phone, recorded(f"\n{main}\n\ndef {LONG_NAME}():\n    'Section.'\n    assert 1\n"))
    name = phone.locator(".section-meta .quiet-link").first
    expect(name).to_have_text(f"▸ {LONG_NAME}()")
    assert name.evaluate("e => e.scrollWidth <= e.clientWidth")
    lines = name.evaluate(
        """(name) => {
            const texts = [...name.childNodes].filter(({ data }) => data?.trim());
            const range = document.createRange();
            return texts.map((text) => {
                range.selectNodeContents(text);
                return range.getClientRects().length;
            });
        }"""
    )
    assert lines == [1] * (LONG_NAME.count("_") + 2), "no word is broken"


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_a_way_that_ends_here_can_still_be_read(page, show, scheme):
    page.emulate_media(color_scheme=scheme)
    show(page, documents.small())
    ended = page.get_by_title("Previous round")
    ended.wait_for()
    assert ended.is_disabled()
    colours = ended.evaluate(
        """(button) => {
            const { color, backgroundColor, opacity } = getComputedStyle(button);
            const page = getComputedStyle(document.documentElement).backgroundColor;
            return [color, page, backgroundColor, opacity];
        }"""
    )
    darker, lighter = sorted(luminance(colour) for colour in colours[:2])
    assert (lighter + 0.05) / (darker + 0.05) >= 3
    assert colours[2:] == ["rgba(0, 0, 0, 0)", "1"], "it stands on the page itself"


def luminance(colour: str) -> float:
    """The relative luminance of an `rgb(...)`, as WCAG defines it."""
    parts = [int(part) / 255 for part in re.findall(r"\d+", colour)[:3]]
    linear = [
        part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts
    ]
    return sum(weight * part for weight, part in zip((0.2126, 0.7152, 0.0722), linear, strict=True))


def test_a_loop_says_what_it_binds(page, show):
    document = documents.small()
    document["statements"][2][6] = [document["names"].index("i")]
    show(page, document)
    count = page.locator(".scrubber-count")
    assert count.inner_text() == "i = 0, round 1 of 3"  # as `@inspect` saw it
    page.get_by_title("Next round").click()
    assert count.inner_text() == "i = 1, round 2 of 3"
    slider = page.get_by_role("slider", name="round")
    assert slider.get_attribute("aria-valuetext") == "i = 1, round 2 of 3"


LOOPS = """
def main():
    '''Rounds.'''
    for number in range(3):
        print(number)
    for number in range(1000, 1200):
        for letter in "ab":
            print(letter)
    for row, word in enumerate(["one", "two", "three"]):
        width = len(word) * 10
        assert width < 50
"""


def test_a_loop_that_ended_with_a_false_claim_shows_that_round(page, show):
    show(page, recorded(LOOPS))
    page.locator(".scrubber-count").nth(3).wait_for()
    counts = page.locator(".scrubber-count").all_inner_texts()
    assert counts == [
        "number = 0, round 1 of 3",
        "number = 1000, round 1 of 200",
        "letter = 'a', round 1 of 2",
        "row = 2, word = 'three', round 3 of 3",
    ]


def test_the_sliders_of_loops_stand_below_each_other(page, show):
    show(page, recorded(LOOPS))
    page.locator(".scrubber").last.wait_for()
    places = page.evaluate(
        """() => [...document.querySelectorAll(".row-line:has(> .scrubber)")].map((row) =>
            [".scrubber input", ".source"].map((part) => {
                const { left, top, width } = row.querySelector(part).getBoundingClientRect();
                return { left, top, width };
            }))"""
    )
    assert len(places) == 4
    assert len({(slider["left"], slider["width"]) for slider, _ in places}) == 1
    for slider, code in places:
        assert abs(slider["top"] - code["top"]) < 12, "beside the code, on no line of its own"


NESTED = {
    "type": "dict",
    "length": 2,
    "entries": [
        [
            {"type": "str", "value": key},
            {
                "type": "dict",
                "length": 2,
                "entries": [
                    [{"type": "str", "value": "weight_decay"}, {"type": "float", "value": 0.0125}],
                    [
                        {"type": "str", "value": "kind"},
                        {"type": "str", "value": "a few words " * 5},
                    ],
                ],
            },
        ]
        for key in ("a", "a_key_that_is_rather_long")
    ],
}


@pytest.mark.parametrize("width", [1280, 390])
def test_nested_values_are_indented_by_a_step_and_wrap_at_words(page, show, width):
    page.set_viewport_size({"width": width, "height": 800})
    show(page, documents.with_values(NESTED))
    line(page, 20).click()
    parts = page.locator(".card .named-value > .parts")
    parts.wait_for()
    keys = parts.locator("dl dl dt")
    assert len({key.bounding_box()["x"] for key in keys.all()}) == 1, "however long the key above"
    step = keys.first.bounding_box()["x"] - parts.locator("dt").first.bounding_box()["x"]
    assert 8 < step < 32
    lines = """(code) => {
        const range = document.createRange();
        const [text] = code.childNodes;
        return text.data.split(/(?= )/).reduce(([at, all], word) => {
            range.setStart(text, at + (word.startsWith(" ") ? 1 : 0));
            range.setEnd(text, at + word.length);
            return [at + word.length, [...all, range.getClientRects().length]];
        }, [0, []])[1];
    }"""
    values = parts.locator("dl dl .value code").all()
    assert len(values) == 4
    for value in values:
        assert set(value.evaluate(lines)) == {1}, "each word is on one line"
    assert parts.evaluate("e => e.scrollWidth <= e.clientWidth")


LABELS = """
def main():
    '''Rounds.'''
    for name in ["the first of many names", "the second of many names"]:
        print(name)
"""


def test_what_a_loop_binds_takes_the_room_that_is_there(page, show):
    show(page, recorded(LABELS))
    count = page.locator(".scrubber-count")
    assert count.inner_text() == "name = 'the first of many names', round 1 of 2"
    assert count.evaluate("e => e.scrollWidth <= e.clientWidth")
    assert count.locator("code").evaluate("e => e.scrollWidth <= e.clientWidth")


def test_a_call_in_an_expression_is_folded(page, show):
    show(page, documents.small())
    assert line(page, 27).count() == 0
    page.get_by_role("button", name="What ran in double").click()
    assert line(page, 27).locator(".named-value").inner_text().split() == ["m", "6"]
    assert page.locator(".arguments").inner_text().split() == ["n", "3"]


MOVES = [
    # key, line that is then current
    ("ArrowRight", 20),
    ("l", 21),
    ("ArrowLeft", 20),
    ("h", 9),
    ("j", 9),  # before its calls, and after them
    ("j", 10),  # with its calls
    ("k", 10),  # and before them
    ("k", 9),
    ("Shift+ArrowRight", 10),
    ("Shift+ArrowLeft", 10),
    ("ArrowRight", 27),
    ("u", 10),
    ("Shift+ArrowLeft", 10),
    (" ", 27),
    ("Shift+ ", 10),
    (" ", 27),
    (" ", 28),
    (" ", 10),  # once more, when its calls have ended
    (" ", 11),
    ("h", 10),
    ("h", 28),
    ("End", 14),
    ("PageUp", 13),
    ("Home", 9),
    ("ArrowLeft", 9),
]


def test_keys_step(page, show):
    show(page, documents.small(), mode="step")
    found = []
    for key, _ in MOVES:
        page.keyboard.press(key.replace(" ", "Space"))
        found.append((key, current_line(page)))
    assert found == MOVES


def test_keys_with_modifiers_and_while_typing_do_nothing(page, show):
    show(page, documents.small(), mode="step", at="1")
    page.keyboard.press("Control+j")
    page.keyboard.press("Alt+l")
    page.keyboard.press("/")
    page.locator(".search-field:focus").wait_for()
    page.keyboard.type("lj")
    page.keyboard.press("Escape")
    page.locator("dialog").wait_for(state="detached")
    assert current_line(page) == 20


@pytest.mark.parametrize(
    ("key", "module", "mode"),
    [("C", "views/panels.js", "read"), ("i", "state/inspecting.js", "step")],
)
def test_a_panel_that_is_closed_before_it_has_come_does_not_come(page, show, key, module, mode):
    waiting = []
    page.route(f"**/{module}", lambda route: waiting.append(route))
    show(page, documents.small(), mode=mode)
    page.keyboard.press(key)
    while not waiting:
        page.wait_for_function("() => true")
    page.keyboard.press("Escape")
    for route in waiting:
        route.continue_()
    page.unroute(f"**/{module}")
    page.evaluate("module => import(`viewer/${module}`)", module)
    painted(page)
    assert page.locator("dialog, .dock").count() == 0
    page.keyboard.press(key)
    page.locator("dialog[open], .dock").wait_for()


def test_letters_are_no_commands_behind_a_dialog(page, show):
    show(page, documents.small())
    page.keyboard.press("L")
    page.locator("dialog[open]").wait_for()
    for key in "twSQerC":
        page.keyboard.press(key)
    painted(page)
    assert page.locator("html").get_attribute("data-theme") in (None, "auto")
    assert page.locator("#panel-title").inner_text() == "Beside the code"
    assert page.locator("#article").count() == 1
    page.keyboard.press("L")
    page.locator("dialog[open]").wait_for(state="detached")
    page.keyboard.press("M")
    page.locator("dialog .menu").wait_for()
    page.keyboard.press("t")  # it is listed there
    assert page.locator("html").get_attribute("data-theme") == "light"


def test_buttons_and_line_numbers_step(page, show):
    show(page, documents.small(), mode="step")
    page.locator('[data-command="over"]').click()
    assert page.locator(".where").inner_text() == "after line 9 ran"
    page.locator('[data-command="over"]').click()
    assert page.locator(".where").inner_text() == "after line 10 ran"
    page.locator('[data-line="28"] .line-number').click()
    page.locator('[data-line="28"].current').wait_for()
    assert page.locator(".where").inner_text() == "back at line 28, its last run"
    page.get_by_role("slider", name="step").fill("8")
    assert current_line(page) == 12


def test_a_frame_shows_only_what_was_known(page, show):
    show(page, documents.small(), mode="step", at="5")
    assert variables(page) == {"n": "3", "m": "6"}
    page.get_by_role("button", name="main").click()
    assert variables(page) == {}
    assert page.locator(".program-line.caller").get_attribute("data-line") == "10"
    page.keyboard.press("u")
    assert current_line(page) == 10
    assert variables(page) == {"y": "6"}
    assert page.locator(".variable.changed .variable-name code").all_inner_texts() == ["y"]


def test_brackets_visit_the_changes_of_a_variable(page, show):
    show(page, documents.small(), mode="step", at="7")
    page.locator(".variable-name", has_text="total").count()
    page.locator(".variable-name", has=page.locator("code:text-is('i')")).click()
    page.keyboard.press("]")
    assert variables(page)["i"] == "1"
    page.keyboard.press("]")
    assert variables(page)["i"] == "2"
    page.keyboard.press("[")
    assert variables(page)["i"] == "1"


def test_step_tells_cost_output_and_claims(page, show):
    show(page, documents.small(), mode="step", at="14")
    assert page.locator(".outcome .condition").inner_text() == "y == 6"
    page.keyboard.press("l")
    assert page.locator(".outcome .output").inner_text().strip() == "done"
    page.keyboard.press("Home")
    page.keyboard.press("j")
    assert (
        page.locator(".outcome .cost").inner_text()
        == "6 FLOP · ≥ 48 B moved · ≤ 0.13 FLOP/B · 4 KiB allocated"
    )
    page.locator("#live", has_text="line 9: views()").wait_for(state="attached")


def test_switching_modes_keeps_the_place(page, show):
    show(page, documents.small(), mode="step", at="10")
    assert variables(page)["total"] == "2"
    page.keyboard.press("r")
    page.locator("#article").wait_for()
    assert page.locator(".scrubber-count").inner_text() == "round 2 of 3"
    assert line(page, 12).locator(".named-value").inner_text().split() == ["total", "2"]
    page.keyboard.press("Enter")
    page.locator("#stepping").wait_for()
    assert variables(page)["total"] == "2"


def test_a_link_leads_back_to_its_place(page, show, site):
    show(page, documents.small(), mode="step")
    page.locator('[data-line="12"] .line-number').click()
    address = "#doc=demo&mode=step&at=main.py:main:4.1"
    page.wait_for_url(f"{site.address}{address}")
    page.goto("about:blank")
    page.goto(site.address + address)
    page.locator("#stepping").wait_for()
    assert current_line(page) == 12
    page.evaluate("location.hash = '#doc=demo&at=main.py:double:1.1'")
    page.locator("#article").wait_for()
    line(page, 27).wait_for()  # the folded call that holds the place opens


def test_claims_are_listed_and_lead_to_their_place(page, show):
    show(page, documents.small())
    page.keyboard.press("c")
    page.locator(".claim-entry").first.wait_for()
    assert "2 claims in 2 executions; all held" in page.locator("dialog").inner_text()
    assert page.locator("dialog .condition").all_inner_texts() == ["x.size == 6", "y == 6"]
    place = page.locator(".claim-place").first
    assert place.evaluate("e => getComputedStyle(e).display") == "block"
    assert place.evaluate("e => parseFloat(getComputedStyle(e).fontSize)") < 13, "no link"
    page.locator(".claim-entry").nth(0).click()
    page.locator("dialog").wait_for(state="detached")
    assert page.evaluate("location.hash") == "#doc=demo&at=main.py:views:4.1"


@pytest.mark.parametrize(
    ("mode", "focused"),
    [("read", ".line[data-first='23']"), ("step", ".program-line[data-line='23']")],
)
def test_the_line_of_a_chosen_claim_takes_the_focus(mode, focused, page, show):
    show(page, documents.small(), mode=mode)
    page.keyboard.press("c")
    page.locator(".claim-entry").nth(0).click()
    page.locator(f"{focused}:focus").wait_for()


def test_search_finds_text_code_and_titles(page, show):
    show(page, documents.small())
    page.keyboard.press("/")
    page.locator(".search-field:focus").wait_for()
    page.keyboard.type("share")
    assert page.locator(".result-text.title mark").inner_text() == "share"
    page.keyboard.press("Enter")
    page.locator("dialog").wait_for(state="detached")
    assert page.evaluate("location.hash") == "#doc=demo&at=main.py:views:1.1"


def test_arrow_keys_walk_through_what_is_found(page, show):
    show(page, documents.small())
    page.keyboard.press("/")
    page.locator(".search-field:focus").wait_for()
    page.keyboard.type("view")
    page.locator(".result-text.title").wait_for()
    page.keyboard.press("ArrowDown")
    page.locator(".results li:nth-child(1) button:focus").wait_for()
    page.keyboard.press("ArrowDown")
    page.locator(".results li:nth-child(2) button:focus").wait_for()
    page.keyboard.press("ArrowUp")
    page.keyboard.press("ArrowUp")
    page.locator(".search-field:focus").wait_for()


COPY = """() => {
    const data = new DataTransfer();
    const event = new ClipboardEvent("copy", { clipboardData: data, cancelable: true });
    window.dispatchEvent(event);
    return data.getData("text/plain");
}"""


def test_copied_code_is_the_code(page, show):
    show(page, documents.small())
    page.locator("#article .beside-line").first.wait_for()
    page.keyboard.press("Shift")  # who does something
    page.wait_for_function("() => import('viewer/views/copier.js').then(() => true)")
    page.evaluate("getSelection().selectAllChildren(document.querySelector('#article'))")
    lines = page.evaluate(COPY).splitlines()
    shown = page.locator("#article .line pre").all_inner_texts()
    assert shown
    for code in shown:
        assert code.splitlines()[0] in lines
    assert not any(line.strip().isdigit() for line in lines)
    assert any("$x^2$" in line for line in lines)
    aside = page.locator("#article .beside-line").first
    page.evaluate(
        "getSelection().selectAllChildren(document.querySelector('#article .beside-line'))"
    )
    assert page.evaluate(COPY) == ""  # the browser's own copy
    assert aside.inner_text()


@pytest.mark.parametrize("density", ["story", "everything"])
def test_the_button_that_copies_lies_on_nothing_that_a_loop_says(density, page, show):
    show(page, documents.small())
    page.evaluate(
        """async (density) => {
            (await import("viewer/state/state.js")).density.value = density;
            await import("viewer/views/copier.js");
        }""",
        density,
    )
    loop = page.locator("#article .loop").first
    loop.scroll_into_view_if_needed()
    painted(page)
    loop.locator(".row-line", has_text="total = i").last.hover()
    copy = loop.get_by_role("button", name="copy")
    copy.wait_for()
    left, right = (
        copy.evaluate("e => e.getBoundingClientRect().right"),
        loop.locator(".scrubber").first.evaluate("e => e.getBoundingClientRect().left"),
    )
    assert left <= right


HEAD = "(e) => [getComputedStyle(e).borderBottomColor, getComputedStyle(e).boxShadow]"


def test_every_panel_shows_in_the_same_way_where_keys_go(page, show):
    show(page, documents.small())
    looks = []
    for key in ["?", "/", "c", "W"]:
        page.keyboard.press(key)
        page.locator(".panel-body:focus, .panel-body .search-field:focus").wait_for()
        looks.append(page.locator(".panel-head").evaluate(HEAD))
        page.keyboard.press("Escape")
        page.locator("dialog").wait_for(state="detached")
    assert looks == [looks[0]] * 4
    assert looks[0][1] != "none"


def test_a_slow_document_is_no_page_opened_as_a_file(page, site):
    site.publish(demo=documents.small())
    held = []
    page.route("**/traces/demo.json", lambda route: held.append(route))
    page.goto(f"{site.address}#doc=demo", wait_until="commit")
    page.wait_for_timeout(2500)  # the sentence comes after a second and a half
    assert page.locator("#not-served").is_hidden()
    held[0].continue_()
    page.locator("h1").first.wait_for()


def test_a_failure_stands_first_with_both_sides(page, show):
    show(page, documents.failing())
    alert = page.locator(".failure")
    assert "A claim of this lecture is false" in alert.inner_text()
    sides = dict(
        zip(
            alert.locator(".operand-source").all_inner_texts(),
            alert.locator(".operand-value").all_inner_texts(),
            strict=True,
        )
    )
    assert sides == {"y": "6", "n + 2": "5"}
    expect(line(page, 13).locator(".claim.failed")).to_be_visible()
    assert "unrun" in line(page, 14).get_attribute("class").split()
    assert page.locator('[data-command="claims"]').inner_text().startswith("✗ 1")
    alert.get_by_text("main.py:13").click()
    assert current_line(page) == 13


def test_claims_of_a_run_that_ended_early_are_not_said_to_hold(page, show):
    document = documents.small()
    document["failure"] = {
        **documents.failing()["failure"],
        "kind": "exception",
        "type": "KeyError",
    }
    show(page, document)
    page.locator(".failure").wait_for()
    button = page.locator('[data-command="claims"]')
    assert button.inner_text().split() == ["✗", "ended", "early"]
    button.click()
    page.get_by_text("2 claims in 2 executions; all held until it ended.").wait_for()


def test_step_opens_at_the_failure_unless_a_place_is_named(page, show):
    show(page, documents.failing(), mode="step")
    assert current_line(page) == 13
    show(page, documents.failing(), mode="step", at="0")
    assert current_line(page) == 9


def test_several_documents_are_listed_and_one_opens(page, site):
    site.publish(first=documents.small(), second=documents.small())
    page.goto(site.address)
    page.locator(".documents").wait_for()
    assert page.locator(".document-title").all_inner_texts() == ["Lecture first", "Lecture second"]
    page.locator(".documents a").nth(1).click()
    page.locator("#article").wait_for()
    site.publish(only=documents.small())
    page.goto("about:blank")
    page.goto(site.address)
    page.locator("#article").wait_for()


def test_the_help_is_the_table_of_keys(page, show):
    show(page, documents.small(), mode="step", at="8")
    page.locator(".variable-name").first.click()  # the buttons for its changes appear
    table = page.evaluate(COMMANDS)
    page.keyboard.press("?")
    page.locator(".keys").first.wait_for()
    shown = page.evaluate(
        """() => [...document.querySelectorAll(".keys tr")].map(
            (row) => [row.querySelectorAll("kbd").length, row.cells[1].textContent])"""
    )
    assert sorted(shown) == sorted([len(keys), title] for _, keys, title, _ in table)


@pytest.mark.parametrize(
    ("way", "first"), [("", "In Read"), ("r", "In Step"), ("P", "While presenting")]
)
def test_the_help_begins_with_what_one_is_doing(way, first, page, show):
    show(page, documents.small())
    for key in way:
        page.keyboard.press(key)
        page.locator("#stepping .program-line, .slide").first.wait_for()
    page.keyboard.press("?")
    captions = page.locator(".keys caption")
    captions.nth(3).wait_for()
    others = {"Everywhere", "In Read", "In Step", "While presenting"} - {first}
    assert captions.first.inner_text() == first
    assert set(captions.all_inner_texts()[1:]) == others


WAYS = (
    *("nextSection", "previousSection", "nextChapter", "previousChapter"),
    *("nextLine", "previousLine"),
)
LINES = ("lineAbove", "lineBelow", *WAYS)
"""Their buttons are the numbers of the lines, and links of the page."""


def test_every_command_has_a_button_with_its_keys(page, show):
    show(page, documents.small())
    page.keyboard.press("M")
    page.locator(".menu").wait_for()
    buttons = page.evaluate(BUTTONS)
    show(page, documents.small(), mode="step", at="8")
    page.locator(".variable-name").first.click()
    page.keyboard.press("c")
    page.locator("dialog[open]").wait_for()
    buttons |= page.evaluate(BUTTONS)
    page.keyboard.press("Escape")
    page.locator("dialog").wait_for(state="detached")
    page.keyboard.press("M")
    page.locator(".menu").wait_for()
    buttons |= page.evaluate(BUTTONS)
    page.keyboard.press("Escape")
    page.locator("dialog").wait_for(state="detached")
    page.keyboard.press("P")
    page.locator(".slide").wait_for()
    buttons |= page.evaluate(BUTTONS)
    commands = page.evaluate(COMMANDS)
    expected = {id_: [" ".join(keys), True] for id_, keys, *_ in commands if id_ not in LINES}
    assert buttons == expected
    assert page.locator("button:not([title]):visible").count() == 0


@pytest.mark.parametrize("place", ["read", "step", "present"])
def test_no_two_commands_share_a_key(page, show, place):
    """Escape closes what is open: a panel first, then the presentation."""
    show(page, documents.small())
    table = page.evaluate(COMMANDS)
    keys = [key for id_, own, _, where in table if where in ("any", place) for key in own]
    keys = [key for key in keys if key != "Escape"]
    assert len(keys) == len(set(keys))


@pytest.mark.parametrize("mode", ["read", "step"])
def test_a_phone_scrolls_in_one_direction(phone, show, mode):
    wide = {"type": "str", "value": "wide" * 100}
    show(phone, documents.with_values(wide), mode=mode, at="1")
    assert phone.evaluate("document.documentElement.scrollWidth") <= 390
    phone.locator('[data-command="outline"]').click()
    phone.locator("dialog .outline").wait_for()
    phone.keyboard.press("Escape")
    phone.locator("dialog").wait_for(state="detached")
    for id_ in ("mode", "claims", "search", "menu"):
        box = phone.locator(f'[data-command="{id_}"]').bounding_box()
        assert box and box["x"] >= 0 and box["x"] + box["width"] <= 390


def test_themes_go_round_and_are_remembered(page, show):
    show(page, documents.small())
    colour = "getComputedStyle(document.documentElement).backgroundColor"
    light = page.evaluate(colour)
    themes = []
    for _ in range(3):
        page.keyboard.press("t")
        themes.append(page.evaluate("document.documentElement.dataset.theme"))
    assert themes == ["light", "dark", "auto"]
    page.keyboard.press("t")
    page.keyboard.press("t")
    assert page.evaluate(colour) != light
    page.reload()
    page.locator("#app main").wait_for()
    assert page.evaluate("document.documentElement.dataset.theme") == "dark"
    page.keyboard.press("t")


def test_the_page_has_landmarks_and_one_first_heading(page, show):
    show(page, documents.small())
    for role in ("banner", "navigation", "main"):
        assert page.get_by_role(role).count() == 1, role
    assert page.locator("h1").count() == 1
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.className") == "skip"
    page.keyboard.press("Enter")
    assert page.evaluate("document.activeElement.id") == "article"


def test_a_chart_is_drawn_and_its_libraries_come_only_with_one(page, show, site):
    site.requests.clear()
    show(page, documents.small())
    assert not any("vega" in path for path in site.requests)
    spec = {
        "mark": "bar",
        "title": "Bytes",
        "data": {"values": [{"a": "x", "b": 1}, {"a": "y", "b": 2}]},
        "encoding": {
            "x": {"field": "a", "type": "nominal"},
            "y": {"field": "b", "type": "quantitative"},
        },
        "transform": [{"calculate": "datum.b * 2", "as": "c"}],
    }
    show(page, documents.with_values({"type": "Chart", "vega": spec}))
    page.locator(".chart svg .mark-rect path").nth(1).wait_for()
    assert page.locator(".chart").get_attribute("aria-label") == "Bytes"


@pytest.mark.parametrize(
    "label", [{"format": "~e"}, {"labelExpr": "'1e' + format(log(datum.value) / LN10, '.0f')"}]
)
def test_the_powers_of_an_axis_have_raised_signs(page, show, label):
    """Vega writes one exponent with a hyphen and the other with a minus sign."""
    axis = {"values": [1e-12, 1e-3, 1, 1e4], **label}
    spec = {
        "mark": "point",
        "data": {"values": [{"b": 1e-12}, {"b": 1e4}]},
        "encoding": {
            "x": {"field": "b", "type": "quantitative", "scale": {"type": "log"}, "axis": axis},
        },
    }
    show(page, documents.with_values({"type": "Chart", "vega": spec}))
    page.locator(".chart svg .mark-symbol path").first.wait_for()
    labels = page.locator(".chart svg .role-axis-label text").all_text_contents()
    assert labels == ["10⁻¹²", "10⁻³", "10⁰", "10⁴"]


def test_a_chart_answers_the_pointer_and_writes_powers_as_text_does(page, show):
    spec = {
        "mark": {"type": "square", "size": 200, "opacity": 1},
        "data": {"values": [{"a": "x", "b": 1e12}, {"a": "y", "b": 1e-10}]},
        "encoding": {
            "y": {"field": "a", "type": "nominal"},
            "x": {"field": "b", "type": "quantitative", "scale": {"type": "log"},
                  "axis": {"format": "~e", "values": [1e-10, 1, 1e3, 1e12]}},
        },
    }  # fmt: skip
    show(page, documents.with_values({"type": "Chart", "vega": spec}))
    mark = page.locator(".chart svg .mark-symbol path").first
    mark.wait_for()
    labels = page.locator(".chart svg .role-axis-label text").all_text_contents()
    assert {"10⁻¹⁰", "10⁰", "10³", "10¹²", "x"} <= set(labels)
    mark.scroll_into_view_if_needed()
    mark.hover()
    assert page.locator(".name-tip").inner_text() == "b: 1e+12 · a: x"
    page.mouse.move(2, 2)
    page.locator(".name-tip").wait_for(state="detached")


def test_letters_grow_on_large_screens_and_prose_has_room_on_small_ones(page, show):
    show(page, documents.small())
    size = "Number.parseFloat(getComputedStyle(document.querySelector('.line pre')).fontSize)"
    prose = "document.querySelector('#article .prose').getBoundingClientRect().width"
    usual = page.evaluate(size)
    assert usual > 14
    page.set_viewport_size({"width": 2560, "height": 1300})
    assert page.evaluate(size) > 1.25 * usual
    page.set_viewport_size({"width": 1000, "height": 800})
    page.reload()
    page.locator("#article .prose").first.wait_for()
    assert page.evaluate(prose) > 550


def test_a_page_may_carry_its_document(page, site):
    site.publish()
    index = (VIEWER / "index.html").read_text(encoding="utf-8")
    text = json.dumps(documents.small()).replace("<", "\\u003c")
    element = f'<script type="application/json" id="document" data-name="demo">{text}</script>'
    site.texts["/one.html"] = index.replace("<body>", f"<body>{element}")
    site.requests.clear()
    page.goto(f"{site.address}one.html#mode=step&at=4")
    page.locator("#stepping").wait_for()
    assert current_line(page) == 10
    assert not any(path.startswith("/traces/") for path in site.requests)


def test_opened_as_a_file_it_says_what_to_run():
    text = (VIEWER / "index.html").read_text(encoding="utf-8")
    sentence = re.search(r'<p class="notice" role="status" id="not-served">(.*?)</p>', text)
    assert sentence and "python -m http.server" in sentence[1]


def test_the_page_stays_where_it_is_behind_a_panel(page, show):
    show(page, documents.small())
    page.set_viewport_size({"width": 900, "height": 300})
    page.evaluate("scrollTo(0, 40)")
    page.keyboard.press("?")
    page.locator("dialog[open]").wait_for()
    page.mouse.move(5, 290)  # over what is behind
    page.mouse.wheel(0, 500)
    page.mouse.move(450, 150)
    page.mouse.wheel(0, 5000)
    painted(page)
    assert page.evaluate("scrollY") == 40
    page.keyboard.press("Escape")
    page.locator("dialog[open]").wait_for(state="hidden")
    page.mouse.wheel(0, 500)
    assert any(painted(page) or page.evaluate("scrollY") > 40 for _ in range(200))


POWERS = '''
import altair


def main():
    """Powers."""
    values = altair.Data(values=[{"x": 10.0**n, "y": n} for n in range(6, 28)])
    axis = altair.X("x:Q", scale=altair.Scale(type="log"))
    chart = altair.Chart(values).mark_point().encode(x=axis, y="y:Q")  # @inspect chart
'''


@pytest.mark.parametrize("width", [240, 300, 360, 390])
def test_labels_of_an_axis_stand_apart(width, page, show):
    page.set_viewport_size({"width": width, "height": 800})
    show(page, trace_source(POWERS))
    labels = page.locator('.chart .role-axis-label text:not([opacity="0"])')
    labels.first.wait_for(state="attached")
    boxes = [box for label in labels.all() if (box := label.bounding_box())["width"]]
    level = [box for box in boxes if abs(box["y"] - max(b["y"] for b in boxes)) < 2]
    level.sort(key=lambda box: box["x"])
    assert len(level) > 2
    for left, right in itertools.pairwise(level):
        assert right["x"] - left["x"] - left["width"] > 4


FLICKER = """() => {
    let time = 0;
    setInterval(() => {
        const isSettled = ++time % 2;
        for (const section of document.querySelectorAll(".section .section"))
            section.classList.toggle("settled", isSettled);
    }, 90);
}"""


def test_tests_read_texts_when_they_are_drawn(page, show):
    show(page, documents.small())
    titles = page.locator("#article .section-title")
    expected = [title.text_content() for title in titles.all()]
    page.evaluate(FLICKER)
    assert len(expected) > 1
    for _ in range(50):
        assert titles.all_inner_texts() == expected
        assert titles.last.inner_text() == expected[-1]
