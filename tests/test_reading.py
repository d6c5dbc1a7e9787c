"""What the lecture offers to who reads actively: a short path, predictions, exercises, terms."""

import ast
import inspect
import re
from pathlib import Path

import lecture
from tests import sections
from trace.rewrite.short_path import marked_functions

ROOT = Path(__file__).parent.parent / "lecture"
CHAPTERS = sorted(ROOT.glob("part*/m[0-9]*.py"))
CONTENTS = sorted(ROOT.glob("part*/contents.py"))
SECTIONS = sections.find_sections(lecture)
CORE = {name for file in CHAPTERS for name in marked_functions(file, "core")}
EXERCISES = {name for file in CHAPTERS for name in marked_functions(file, "exercise")}

WORDS_IN_A_MINUTE = 180
SECONDS_OF_A_LINE = 4
MOST_MINUTES = 75

# Words that have to be defined: in italics, in the sentence that says what they mean.
TERMS = (
    *("parameter", "weight", "batch size", "hyperparameter", "scalar", "self-attention"),
    *("multi-head attention", "pre-norm", "backpropagation", "Jacobian-vector product"),
    *("arithmetic intensity", "memory-bound", "compute-bound", "latency", "throughput", "prefill"),
    *("decode", "KV cache", "HBM", "SRAM", "warp", "streaming multiprocessor", "kernel"),
    *("launch latency", "overfitting", "scaling law", "Chinchilla", "fine-tuning"),
    *("data parallelism", "all-reduce", "sharding"),
)
# Words that are in italics to be stressed, which bold letters do as well.
STRESSED = {
    *("is", "are", "was", "were", "not", "would", "all", "every", "one", "both", "holds", "total"),
    *("average", "independent", "logarithmic", "logical", "memory", "arithmetic", "numbers"),
    *("per token", "queries", "running", "square", "fine-tune"),
}


def source_of(function) -> str:
    """A section with the comments after its last statement."""
    lines = Path(inspect.getsourcefile(function)).read_text(encoding="utf-8").split("\n")
    code = inspect.getsource(function).rstrip("\n")
    end = function.__code__.co_firstlineno - 1 + code.count("\n") + 1
    while end < len(lines) and (not lines[end].strip() or lines[end].startswith("    #")):
        code += "\n" + lines[end]
        end += 1
    return code


def minutes_of(source: str) -> float:
    """How long one reads a section: its words, without notes for the speaker, and its lines."""
    source = sections.without_notes(source)
    function = sections.parse_function(source)
    docstring = function.body[0]
    lines = [line for line in source.split("\n")[1:] if line.strip()]
    prose = [line.strip("# ") for line in lines if line.lstrip().startswith("#")]
    words = len((ast.get_docstring(function) or "").split()) + sum(len(p.split()) for p in prose)
    text = ast.get_source_segment(source, docstring) or ""
    said = sum(1 for line in text.split("\n") if line.strip())
    code = len(lines) - len(prose) - said
    return words / WORDS_IN_A_MINUTE + code * SECONDS_OF_A_LINE / 60


def bridges() -> list[str]:
    """What the short path says in place of what it leaves out."""
    found = []
    for file in CONTENTS:
        blocks = re.findall(r"# @bridge (.+(?:\n +# .+)*)", file.read_text(encoding="utf-8"))
        found += [re.sub(r"\s+#\s+", " ", block) for block in blocks]
    return found


def italics() -> set[str]:
    """The terms in italics, in small letters."""
    found = set()
    for section in SECTIONS:
        prose = re.sub(r"\n\s*(?:#\s?)?", " ", source_of(section))
        prose = re.sub(r"`[^`]*`|\$[^$]*\$", " ", prose)
        terms = re.findall(r"(?<![*\w\\])\*(?![\s*])([^*]{1,60}?)(?<!\s)\*(?![*\w])", prose)
        found |= {re.sub(r"\[([^\]]*)\]\S*", r"\1", term).strip(" ,.:;?").lower() for term in terms}
    return found


def test_the_short_path_takes_75_minutes():
    core = [section for section in SECTIONS if section.__name__ in CORE]
    assert 40 <= len(core) <= 45
    words = sum(len(bridge.split()) for bridge in bridges())
    minutes = sum(minutes_of(source_of(section)) for section in core) + words / WORDS_IN_A_MINUTE
    assert MOST_MINUTES - 5 < minutes < MOST_MINUTES + 1


def test_the_minutes_of_a_section_are_those_of_its_words_and_lines():
    text = '"""Title.\n\n    ' + "word " * 179 + '\n    """\n'
    note = f"    # @note {'word ' * 180}\n    # {'word ' * 180}\n    #\n"
    source = f"def f():\n    {text}{note}    # {'word ' * 180}\n    x = 1\n"
    assert minutes_of(source) == 2 + 4 / 60


def test_bridges_stand_where_something_is_left_out():
    assert len(bridges()) >= 15
    for file in CONTENTS:
        assert "@bridge" not in "".join(re.findall(r"# #.*(?:\n +# .*)*", file.read_text()))


def test_readers_are_asked_often():
    marked = [
        line for file in CHAPTERS for line in file.read_text().split("\n") if "@predict" in line
    ]
    assert len(marked) >= 150


def test_every_chapter_ends_with_exercises():
    assert len(EXERCISES) >= 60
    lacking = []
    for file in CONTENTS:
        chapters = re.split(r"\n +# ## ", file.read_text(encoding="utf-8"))[1:]
        for chapter in chapters:
            calls = re.findall(r"\.(\w+)\(\)", chapter)
            if calls[-1] not in EXERCISES:
                lacking.append(chapter.split("\n")[0])
    assert set(lacking) <= {"Before we start", "The sheet"}


def test_every_chapter_says_who_may_skip_it():
    silent = []
    for file in CONTENTS:
        for chapter in re.split(r"\n +# ## ", file.read_text(encoding="utf-8"))[1:]:
            if "# Skip it if " not in chapter:
                silent.append(chapter.split("\n")[0])
    assert silent == ["Before we start", "The sheet"]


def test_later_chapters_say_what_they_build_on():
    """By their links the map of the chapters is drawn. These can be read first."""
    first = ("Before we start", "Why count", "From text to bytes", "Learning a vocabulary")
    others = ("Tensors and their bytes", "Axes with names")
    sources = {section.__name__: source_of(section) for section in SECTIONS}
    before, alone = set(), []
    for file in CONTENTS:
        for chapter in re.split(r"\n +# ## ", file.read_text(encoding="utf-8"))[1:]:
            calls = re.findall(r"\.(\w+)\(\)", chapter)
            links = re.findall(r"\]\(#(\w+)\)", " ".join(sources.get(name, "") for name in calls))
            if not before & set(links):
                alone.append(chapter.split("\n")[0])
            before.update(calls)
    assert set(alone) <= {*first, *others}


def test_every_term_is_defined_once_in_italics():
    found = italics()
    assert [term for term in TERMS if not {term.lower(), f"{term.lower()}s"} & found] == []


def test_italics_are_for_terms():
    assert italics() & STRESSED == set()


def test_italics_are_found_across_lines(monkeypatch):
    monkeypatch.setitem(globals(), "SECTIONS", [with_a_term])
    assert italics() == {"cache line"}


def with_a_term():
    """Title.

    A `*kernel*` loads a *cache
    line*, and 2 * 3 * 4.
    """
