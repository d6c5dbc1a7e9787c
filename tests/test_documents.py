"""Documents: valid, the same each time, the same on every Python, complete on failure."""

import io
import json
import os
import re
import signal
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import jsonschema
import pytest

from tests.tracing import lines, record_source, trace_source
from trace.contract import VIEWER, json_schema, main, viewer_files
from trace.document.build import build
from trace.document.decoding import decode
from trace.document.encoding import encode, write
from trace.options import Options
from trace.record.run import record
from trace.target import find_target

SAMPLES = sorted((Path(__file__).parent / "samples").glob("*.py"))


def trace_file(file: Path) -> bytes:
    return encode(build(record(find_target(str(file)), Options())))


@pytest.mark.parametrize("sample", SAMPLES, ids=lambda file: file.stem)
def test_samples_equal_their_golden_document(sample: Path, golden, capsys) -> None:
    data = trace_file(sample).decode()
    jsonschema.validate(json.loads(data), json_schema())
    assert data == trace_file(sample).decode(), "two runs give the same bytes"
    version = f'"python":"{sys.version_info.major}.{sys.version_info.minor}"'
    assert data.count('"environment":{') == 1
    environment = re.compile(r'^"environment":\{.*\}', re.MULTILINE)
    assert version in environment.search(data)[0]
    golden(f"{sample.stem}.json", environment.sub('"environment":{"python":"3.11"}', data))


def test_the_schema_refuses_what_is_not_a_document() -> None:
    document = trace_source("def main(): pass")
    for change in ({"version": "1"}, {"events": ["a"]}, {"nothing": 1}, {"claims": {}}):
        with pytest.raises(jsonschema.ValidationError):
            jsonschema.validate(document | change, json_schema())


def test_every_field_of_the_schema_is_described() -> None:
    for name, definition in json_schema()["$defs"].items():
        assert definition["description"], name
        rows = {row["title"]: row for row in definition.get("prefixItems", [])}
        for field, schema in definition.get("properties", rows).items():
            assert schema["description"], f"{name}.{field}"


def test_the_viewers_copy_of_the_contract_is_current() -> None:
    written = {path: (VIEWER / path).read_text(encoding="utf-8") for path in viewer_files()}
    assert written == viewer_files(), "python -m trace.schema --viewer writes it anew"


def test_the_contract_is_written_by_one_command(tmp_path, monkeypatch, capsys) -> None:
    (tmp_path / "model").mkdir()
    monkeypatch.setattr("trace.contract.VIEWER", tmp_path)
    monkeypatch.setattr(sys, "argv", ["schema", "--viewer"])
    main()
    assert (tmp_path / "model/contract.js").read_text() == viewer_files()["model/contract.js"]
    assert capsys.readouterr().out == ""
    monkeypatch.setattr(sys, "argv", ["schema"])
    main()
    assert json.loads(capsys.readouterr().out) == json_schema()


def test_every_reference_of_the_schema_leads_to_a_list_of_it() -> None:
    facts = viewer_files()["model/contract.js"]
    lists = json.loads(re.search(r"LISTS = (\[[^]]*\])", facts)[1].replace(",\n]", "]"))
    references = re.findall(r'^  \["(\w+)", "(\w+)", "(\w+)", (-?\d)\],$', facts, re.MULTILINE)
    assert {target for _, _, target, _ in references} <= set(lists)
    assert ("statements", "enclosing", "statements", "-1") in references
    assert ("claims", "operands", "values", "0") in references


def test_the_step_limit_cuts_at_exactly_that_step() -> None:
    document = trace_source(
        """
        def main():
            n = 0
            while True:
                n += 1  # @inspect n
        """,
        max_steps=1000,
    )
    assert len(lines(document)) == 1000
    failure = document["failure"]
    assert failure["kind"] == "step limit"
    assert "more than 1,000 steps" in failure["message"]
    assert "the loop at sample.py:3" in failure["message"]
    assert "@stepover" in failure["message"]
    assert max(document["inspections"]["at"]) <= len(document["events"])


OBJECT = "<object object at #1>"
FAILURES = {
    "an exception": ("raise ValueError('no')", "exception", "ValueError", "no"),
    "sys.exit with a status": ("import sys; sys.exit(3)", "exit", "SystemExit", "3"),
    "an interrupt": ("raise KeyboardInterrupt", "interrupt", "KeyboardInterrupt", ""),
    "an object in the message": ("raise ValueError(object())", "exception", "ValueError", OBJECT),
    "an AssertionError that is no claim": (
        "raise AssertionError('x')",
        "exception",
        "AssertionError",
        "x",
    ),
}


@pytest.mark.parametrize(("body", "kind", "error", "message"), FAILURES.values(), ids=FAILURES)
def test_failures_are_in_the_document(body: str, kind: str, error: str, message: str) -> None:
    failure = trace_source(f"def main():\n    {body}\n")["failure"]
    assert (failure["kind"], failure["type"], failure["message"]) == (kind, error, message)
    assert failure["step"] == body.count(";")


def test_sys_exit_without_a_status_is_no_failure() -> None:
    assert trace_source("import sys\ndef main(): sys.exit()")["failure"] is None


def test_output_is_shown_live_and_booked_on_its_step(capsys) -> None:
    document = trace_source(
        """
        import sys

        def main():
            print("a")
            print("b", file=sys.stderr)
            f()

        def f():
            print("c")
        """
    )
    assert [(row["step"], row["stream"], row["text"]) for row in document["output"]] == [
        (0, "stdout", "a\n"),
        (1, "stderr", "b\n"),
        (3, "stdout", "c\n"),
    ]
    assert capsys.readouterr() == ("a\nc\n", "b\n")


def test_nothing_of_this_machine_reaches_the_document(tmp_path: Path) -> None:
    document = trace_source(
        """
        import os, pathlib, tempfile

        def main():
            here = os.path.abspath(__file__)  # @inspect here
            home = str(pathlib.Path.home())  # @inspect home
            print(tempfile.gettempdir())
            open(here + ".nothing")
        """
    )
    text = json.dumps(document)
    assert document["failure"]["type"] == "FileNotFoundError"
    assert str(Path.home()) not in text.replace(str(Path(__file__).parents[1]), "")
    assert f"{tmp_path.parents[2]}/" not in text


def test_images_beside_the_source_are_embedded(tmp_path: Path) -> None:
    (tmp_path / "inside.svg").write_text("<svg/>")
    (tmp_path.parent / "outside.svg").write_text("<svg/>")
    (tmp_path / "pictures.py").write_text(
        "def main():\n    # ![a](inside.svg) ![b](../outside.svg) ![c](https://a.org/x.png)\n"
        "    pass\n"
    )
    document = json.loads(trace_file(tmp_path / "pictures.py"))
    assert document["assets"] == {"inside.svg": {"mime": "image/svg+xml", "base64": "PHN2Zy8+"}}
    assert document["warnings"] == [
        f"pictures.py:2: the image {name} is not in the folder of the source file."
        for name in ("https://a.org/x.png", "../outside.svg")
    ]


# what prose names -> the names of embedded images, warnings
IMAGES = [
    ("![a](größe.svg)", ["größe.svg"], []),
    ("![a](two%20words.PNG 'title') ![b](./größe.svg)", ["two%20words.PNG", "./größe.svg"], []),
    ("![a](größe.svg) ![b](größe.svg)", ["größe.svg"], []),
    ("![a](nix.svg) ![b](nix.svg)", [], ["nix.svg is not in the folder of the source file."]),
    ("![a](pictures.py)", [], ["pictures.py is of no known kind: .bmp, .gif, .jpeg, .jpg, .png,"]),
    ("![a](two words.PNG)", [], ["two words.PNG has spaces in its name: write each as %20."]),
    ("![a](/größe.svg)", [], ["/größe.svg is not in the folder of the source file."]),
    ("![a](data:image/gif;base64,R0==)", [], []),
    ('<img width="9" src="größe.svg" alt="a">', ["größe.svg"], []),
    (
        "<IMG alt='a' src='two%20words.PNG'/> <img src=größe.svg>",
        ["two%20words.PNG", "größe.svg"],
        [],
    ),
    ('<img src="nix.svg">', [], ["nix.svg is not in the folder of the source file."]),
    ('<img src="https://a.org/x.png">', [], ["https://a.org/x.png is not in the folder of the so"]),
    ("<span src=größe.svg></span> <img data-src=größe.svg>", [], []),
    ("![a](.)", [], [". is of no known kind: .bmp, .gif, .jpeg,"]),
]


@pytest.mark.parametrize(("text", "names", "warnings"), IMAGES)
def test_images_are_found_by_the_name_in_the_text(text, names, warnings, tmp_path) -> None:
    for name in ("größe.svg", "two words.PNG"):
        (tmp_path / name).write_text("<svg/>")
    source = f"def main():\n    # {text}\n    pass\n"
    (tmp_path / "pictures.py").write_text(source, encoding="utf-8")
    document = json.loads(trace_file(tmp_path / "pictures.py"))
    assert list(document["assets"]) == names
    assert len(document["warnings"]) == len(warnings)
    for said, expected in zip(document["warnings"], warnings, strict=True):
        assert said.startswith(f"pictures.py:2: the image {expected}")


FILES = "leads to a file, and files beside a lecture are not published."
SCHEMES = "is not shown: a page has links to http://, https://, mailto: and to its own places."
# what prose links to -> a warning, if any
LINKS = [
    ("[a](https://a.org/) [b](http://b.org 'title') [c](mailto:c@d.org)", None),
    ("[a](#main) [b](#part) [c](#doc=other) [d](#doc=other&at=main) [e](#a:main:1.1)", None),
    ("[a](#nowhere)", "#nowhere leads to no function of the lecture."),
    ("[a](penguins.csv)", f"penguins.csv {FILES}"),
    ("two [a](https://a.org/) and [b](slides/a.pdf 'my slides')", f"slides/a.pdf {FILES}"),
    ("[a](ftp://a.org/)", f"ftp://a.org/ {SCHEMES}"),
    ("![a](größe.svg)", None),
    ("`f[0](x)` and ``[a](b) `` and $f[i](x)$", None),
    ("an escaped \\[a](b)", None),
    ("[![a](größe.svg)](https://a.org)", None),
]


@pytest.mark.parametrize(("text", "warning"), LINKS)
def test_links_that_lead_nowhere_are_warned_of(text, warning, tmp_path) -> None:
    (tmp_path / "größe.svg").write_text("<svg/>")
    source = f"def main():\n    # A text\n    # {text}\n    part()\n\n\ndef part():\n    pass\n"
    (tmp_path / "links.py").write_text(source, encoding="utf-8")
    document = json.loads(trace_file(tmp_path / "links.py"))
    assert document["warnings"] == ([f"links.py:3: the link {warning}"] if warning else [])


def test_where_a_run_failed_a_section_may_be_unknown(tmp_path) -> None:
    source = "def main():\n    # [a](#nowhere) [b](a.csv)\n    1 / 0\n"
    (tmp_path / "links.py").write_text(source)
    document = json.loads(trace_file(tmp_path / "links.py"))
    assert document["warnings"] == [f"links.py:2: the link a.csv {FILES}"]


@pytest.mark.parametrize("same", [True, False])
def test_two_images_of_one_name_are_not_mixed_up_in_silence(same, tmp_path) -> None:
    for name in ("a", "b"):
        (tmp_path / f"course/{name}").mkdir(parents=True)
        (tmp_path / f"course/{name}/__init__.py").write_text("'![x](dot.svg)'")
        (tmp_path / f"course/{name}/dot.svg").write_text(
            "<svg/>" if same else f"<svg id='{name}'/>"
        )
    (tmp_path / "course/__init__.py").write_text("from . import a, b\ndef main(): pass\n")
    document = json.loads(trace_file(tmp_path / "course/__init__.py"))
    complaint = "the image dot.svg is not the dot.svg of another file: rename it."
    assert document["warnings"] == ([] if same else [f"course/b/__init__.py:1: {complaint}"])
    assert list(document["assets"]) == ["dot.svg"]


def test_the_interpreter_is_left_as_it_was() -> None:
    import builtins

    def state() -> tuple:
        return (
            dict(vars(builtins)),
            list(sys.path),
            list(sys.meta_path),
            sys.stdout,
            "sample" in sys.modules,
        )

    before = state()
    trace_source("def main(): raise ValueError")
    assert state() == before


def test_what_outlives_the_run_goes_on_as_written() -> None:
    recording = record_source(
        """
        import builtins

        def main():
            g = count()  # @inspect g
            builtins.left_over = g, next(g), work

        def count():
            for i in range(3):
                yield i

        def work(n):
            assert n == 1, "one"
            return n  # @inspect n
        """
    )
    import builtins

    generator, first, work = builtins.left_over
    del builtins.left_over
    inspections = list(recording.recorder.inspections)
    assert [first, *generator] == [0, 1, 2]
    assert work(1) == 1
    with pytest.raises(AssertionError, match="one"):
        work(2)
    assert recording.recorder.inspections == inspections
    assert recording.recorder.claims == []


def test_a_lecture_without_torch_does_not_load_it(tmp_path: Path) -> None:
    import subprocess

    (tmp_path / "plain.py").write_text(
        "import sys\ndef main():\n    assert 'torch' not in sys.modules\n"
        "    assert 'numpy' not in sys.modules\n"
    )
    command = [sys.executable, "-m", "trace", str(tmp_path / "plain.py"), "-q"]
    command += ["-o", str(tmp_path / "plain.json")]
    root = Path(__file__).parents[1]
    assert subprocess.run(command, cwd=root, timeout=120).returncode == 0


def test_only_folders_of_this_machine_are_replaced(monkeypatch) -> None:
    monkeypatch.setenv("HOME", "/root")
    texts = ["https://example.org/root/a", "/rooted /root-2", "'/root/a' at /root"]
    document = trace_source(f"def main():\n    x = {texts}  # @inspect x\n")
    assert [item["value"] for item in document["values"][0]["items"]] == [
        *texts[:2],
        "'~/a' at ~",
    ]


def test_what_a_value_prints_while_it_is_read_the_lecture_does_not(capsys) -> None:
    document = trace_source(
        """
        class Chatty:
            def __repr__(self):
                print("read")
                return "Chatty"

        def main():
            x = Chatty()  # @inspect x
            print("main")
        """
    )
    assert [row["text"] for row in document["output"]] == ["main\n"]
    assert capsys.readouterr().out == "main\n"


def test_a_stream_kept_while_the_lecture_is_imported_is_recorded(capsys) -> None:
    document = trace_source(
        """
        import logging, sys

        log = logging.Logger("sample")
        log.addHandler(logging.StreamHandler(sys.stdout))
        log.error("import")

        def main():
            log.error("main")
        """
    )
    assert [row["text"] for row in document["output"]] == ["main\n"]
    assert capsys.readouterr().out == "import\nmain\n"


def test_what_a_stream_refuses_is_not_recorded() -> None:
    document = trace_source(
        """
        import sys

        def main():
            print("a")
            sys.stdout.write(5)
        """
    )
    assert [row["text"] for row in document["output"]] == ["a\n"]
    assert "must be" in document["failure"]["message"]


def test_reading_a_value_takes_no_warning_from_the_lecture(recwarn) -> None:
    document = trace_source(
        """
        import warnings

        class Old:
            @property
            def name(self):
                warnings.warn("old")
                return "old"

        def main():
            warnings.simplefilter("default")
            x = Old()  # @inspect x.name
            for i in range(2):
                x.name
        """
    )
    assert {"type": "str", "value": "old"} in document["values"]
    assert [str(warning.message) for warning in recwarn] == ["old"]


def test_long_texts_are_not_kept_alive() -> None:
    recording = record_source("def main():\n    s = 'x' * 100_000  # @inspect s\n")
    assert recording.recorder.values[0]["length"] == 100_000
    assert not any(recording.recorder._scalars.values())


def test_an_attribute_that_ends_the_program_or_never_ends_has_no_value(monkeypatch) -> None:
    monkeypatch.setattr("trace.record.recorder.MAX_PICTURE_SECONDS", 0.1)
    document = trace_source(
        """
        class Odd:
            @property
            def leaves(self):
                raise SystemExit

            @property
            def stays(self):
                while True:
                    pass

        def main():
            odd = Odd()  # @inspect odd.leaves odd.stays
            print("done")
        """
    )
    assert [row["text"] for row in document["output"]] == ["done\n"]
    assert document["warnings"] == [
        "sample.py:12: odd.leaves has no value.",
        "sample.py:12: odd.stays has no value.",
    ]


@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="there are no alarms")
def test_an_alarm_of_the_lecture_waits_until_a_value_is_read() -> None:
    document = trace_source(
        """
        import signal, time

        class Ring(Exception):
            pass

        class Rings:
            def __repr__(self):
                signal.raise_signal(signal.SIGALRM)
                return "Rings"

        def ring(number, frame):
            raise Ring

        def main():
            before = signal.signal(signal.SIGALRM, ring)
            try:
                x = Rings()  # @inspect x
                time.sleep(10)
            except Ring:
                print("rang")
            finally:
                signal.signal(signal.SIGALRM, before)
        """
    )
    assert {"type": "Rings", "text": "Rings"} in document["values"]
    assert [row["text"] for row in document["output"]] == ["rang\n"]


def test_a_stream_put_in_place_while_the_lecture_is_imported_is_recorded(monkeypatch) -> None:
    monkeypatch.setattr(sys, "stdout", io.TextIOWrapper(io.BytesIO()))
    monkeypatch.setattr(sys, "stderr", sys.stderr)
    document = trace_source(
        """
        import io, sys

        sys.stdout = io.TextIOWrapper(sys.stdout.detach(), encoding="utf-8")

        def main():
            print("é")
            sys.stderr = io.StringIO()
        """
    )
    assert [row["text"] for row in document["output"]] == ["é\n"]
    sys.stdout.flush()
    assert sys.stdout.buffer.getvalue().decode().split() == ["é"]
    assert type(sys.stderr) is not io.StringIO


# where syllabus.py lies, relative to the lecture course/main.py -> the topics of the document
SYLLABI = {
    "course/syllabus.py": {"views": "Views share memory"},
    "syllabus.py": {},
    "course/inner/syllabus.py": {},
}


@pytest.mark.parametrize("place", SYLLABI)
def test_topics_are_those_of_a_syllabus_beside_the_lecture(place, tmp_path):
    files = {
        "course/__init__.py": "",
        "course/main.py": "def main():  # views\n    pass\n",
        place: 'TOPICS = {"views": "Views share memory"}\n',
    }
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    document = build(record(find_target(str(tmp_path / "course/main.py")), Options()))
    assert document.topics == SYLLABI[place]
    assert document.functions[0].marks == ["views"]


def test_of_a_file_in_which_nothing_ran_only_source_and_functions_are_kept(tmp_path: Path) -> None:
    course = tmp_path / "course"
    course.mkdir()
    (course / "__init__.py").write_text(
        '"""Prose."""\n# Words.\ndef never():\n    if 1:\n        assert 2\n'
    )
    (course / "idle.py").write_text(
        "def idle(n):\n    # Prose.\n    assert n  # @hide\n    return 1\n"
    )
    (course / "used.py").write_text(
        "def used(n):\n    # Prose.\n    if n:\n        assert n == 1\n    return n\n"
    )
    (course / "main.py").write_text(
        "from course import idle, used\n\ndef main():\n    for i in range(2):\n"
        "        n = used.used(i)  # @inspect n\n    assert n == 1\n"
    )
    document = decode(trace_file(course / "main.py"))
    ran = {"course/main.py": True, "course/used.py": True}
    assert len(document.files) == 4
    for index, file in enumerate(document.files):
        assert file.source == (tmp_path / file.path).read_text()
        assert bool(file.tokens) == ran.get(file.path, False)
        assert any(row.file == index for row in document.statements) == bool(file.tokens)
        assert file.hidden == []
    assert [function.name for function in document.functions] == [
        *("never", "main", "idle", "used"),
    ]
    place = [f"{document.files[row.file].path}:{row.first_line}" for row in document.statements]
    assert [place[event - 1] for event in document.events if event > 0] == [
        *("course/main.py:4", "course/main.py:5", "course/used.py:3", "course/used.py:5"),
        *("course/main.py:4", "course/main.py:5", "course/used.py:3", "course/used.py:4"),
        *("course/used.py:5", "course/main.py:4", "course/main.py:6"),
    ]
    enclosing = {place[i]: row.enclosing for i, row in enumerate(document.statements)}
    assert place[enclosing["course/used.py:4"]] == "course/used.py:3"
    assert enclosing["course/used.py:5"] == -1
    claimed = [(place[row["statement"]], row["text"]) for row in document.assertions]
    assert claimed == [("course/main.py:6", "n == 1"), ("course/used.py:4", "n == 1")]
    assert [place[row] for row in document.claims.statement] == [
        *("course/used.py:4", "course/main.py:6"),
    ]


def test_what_is_no_file_is_written_into(tmp_path):
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    with ThreadPoolExecutor() as pool:
        read = pool.submit(pipe.read_bytes)
        write(b"all of it", pipe)
        assert read.result() == b"all of it"
    assert pipe.is_fifo()


def test_a_link_stays_one(tmp_path):
    (tmp_path / "elsewhere").mkdir()
    link, file = tmp_path / "link.json", tmp_path / "elsewhere/file.json"
    link.symlink_to(file)
    for data in (b"before there was a file", b"and after"):
        write(data, link)
        assert (link.is_symlink(), file.read_bytes()) == (True, data)
    assert [path.name for path in file.parent.iterdir()] == [file.name]
