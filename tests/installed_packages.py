"""Packages that lie here anyway, for `python -m tests.standard_library`: nothing is fetched.

Each is copied beside a small lecture, so that it is recorded as if it were the lecture's own. One
that brings its tests runs some of them, of another a small program is run; what they say plainly
and under the recorder is compared. Packages that are not installed are left out.
"""

import shutil
import textwrap
from importlib.util import find_spec
from pathlib import Path

OWN_TESTS = {
    "einops": ["test_einsum.py", "test_packing.py", "test_parsing.py"],
    "jsonschema": ["test_types.py", "test_utils.py"],
    "referencing": ["test_core.py", "test_exceptions.py", "test_jsonschema.py"],
}
"""Files in the folder `tests` of a package."""

PROGRAMS = {
    "attr": """
        import attr

        @attr.s(auto_attribs=True, order=True)
        class Point:
            x: int
            y: float = attr.ib(default=0.0, validator=attr.validators.instance_of(float))
            rest: list = attr.Factory(list)

        def main():
            tell(Point(1, 2.0), attr.asdict(Point(3)), Point(1) < Point(2), attr.fields(Point))
            tell(attr.evolve(Point(1), y=4.0), hash(attr.make_class("C", ["a"], frozen=True)(1)))
            tell(attempt(Point, 1, "two"), attempt(Point))
        """,
    "click": """
        import click
        from click.testing import CliRunner

        @click.group()
        @click.option("--loud/--quiet", default=False)
        @click.pass_context
        def tool(context, loud):
            context.obj = loud

        @tool.command()
        @click.argument("names", nargs=-1)
        @click.option("--count", default=1, type=click.IntRange(1, 3))
        @click.pass_obj
        def greet(loud, names, count):
            for name in names * count:
                click.echo(f"hello {name}" + "!" * loud)

        def main():
            for given in (["greet", "a", "b"], ["--loud", "greet", "c", "--count", "2"],
                          ["greet", "--count", "9"], ["--help"], ["greet", "--help"], ["gret"]):
                result = CliRunner().invoke(tool, given)
                tell(result.exit_code, result.output)
        """,
    "idna": """
        import idna

        def main():
            names = ["b\\u00fccher.example", "\\u30c6\\u30b9\\u30c8", "xn--zckzah", "a..b"]
            for name in [*names, "\\u2665", "a" * 70]:
                tell(attempt(idna.encode, name), attempt(idna.decode, name))
        """,
    "jinja2": """
        import jinja2

        PAGE = (
            "{% macro row(x) %}<{{ x|upper }}>{% endmacro %}"
            "{% for x in xs if x %}{{ loop.index }}{{ row(x) }}{% else %}-{% endfor %}"
        )

        def main():
            page = jinja2.Environment(autoescape=True).from_string(PAGE)
            tell(page.render(xs=["a", "", "<b>"]), page.render(xs=[]))
            tell(list(page.generate(xs=["c"])), attempt(jinja2.Template, "{% if %}"))
            tell(attempt(jinja2.Template("{{ a.b.c }}").render))
        """,
    "packaging": """
        from packaging import markers, requirements, specifiers, version

        def main():
            named = "1.0 1.0.post1 1.0rc1 1.0.dev3 2!0.1 1.0+local.2 1.10 1.9".split()
            tell(sorted(map(version.Version, named)), attempt(version.Version, "one"))
            chosen = specifiers.SpecifierSet(">=1.0,!=1.9,~=1.4")
            tell(list(chosen.filter(["1.0", "1.4", "1.9", "1.10", "2.0"])), str(chosen))
            need = requirements.Requirement("x[y,z]>=2; python_version > '3.7' and os_name != 'q'")
            tell(need, sorted(need.extras), need.marker)
            tell(markers.Marker("extra == 'a'").evaluate({"extra": "a"}))
            tell(attempt(requirements.Requirement, "x >> 2"))
        """,
    "pluggy": """
        import pluggy

        spec, impl = pluggy.HookspecMarker("p"), pluggy.HookimplMarker("p")

        class Spec:
            @spec
            def add(self, a, b):
                "Adds."

        class One:
            @impl
            def add(self, a, b):
                return a + b

        class Around:
            @impl(wrapper=True, tryfirst=True)
            def add(self, a, b):
                try:
                    return [*(yield), "around"]
                except ZeroDivisionError as error:
                    return [str(error)]

        class Failing:
            @impl
            def add(self, a):
                return 1 / a

        def main():
            manager = pluggy.PluginManager("p")
            manager.add_hookspecs(Spec)
            for plugin in (One(), Around(), Failing()):
                manager.register(plugin, type(plugin).__name__)
            tell(manager.hook.add(a=1, b=2), manager.hook.add(a=0, b=2))
            tell(manager.list_name_plugin()[0][0])
            manager.unregister(name="Around")
            tell(attempt(manager.hook.add, a=0, b=2), attempt(lambda: manager.hook.add(a=0, b=2)))
        """,
    "pygments": """
        import pygments
        from pygments import formatters, lexers

        def main():
            for name, text in {"python": open(__file__).read(), "json": '{"a": [1, true, null]}',
                               "c": "int main(void) { return 0x1f; } // end"}.items():
                lexer = lexers.get_lexer_by_name(name)
                tokens = list(lexer.get_tokens(text))
                tell(len(tokens), tokens[:20])
                tell(pygments.highlight(text, lexer, formatters.HtmlFormatter())[:500])
            tell(attempt(lexers.get_lexer_by_name, "nothing"))
        """,
    "pyparsing": """
        import pyparsing as pp

        def main():
            number = pp.Word(pp.nums).set_parse_action(lambda found: int(found[0]))
            sums = pp.infix_notation(number, [
                (pp.one_of("* /"), 2, pp.OpAssoc.LEFT), (pp.one_of("+ -"), 2, pp.OpAssoc.LEFT),
            ])
            for text in ("1+2*3", "(1+2)*3-4", "7", "1+", "x"):
                tell(attempt(lambda: sums.parse_string(text, parse_all=True).as_list()))
        """,
    "sortedcontainers": """
        import operator, random
        from sortedcontainers import SortedDict, SortedKeyList, SortedList, SortedSet

        def main():
            dice = random.Random(0)
            numbers = SortedList(dice.choices(range(1000), k=3000))
            for _ in range(500):
                numbers.add(dice.randrange(1000))
                numbers.remove(numbers[dice.randrange(len(numbers))])
            tell(numbers[:10], numbers.bisect(500), list(numbers.irange(10, 20)), sum(numbers))
            keyed = SortedKeyList("sorted by what is last".split(), key=operator.itemgetter(-1))
            tell(keyed, SortedDict(b=2, a=1).peekitem(0), SortedSet("hello") & set("help"))
            tell(attempt(numbers.index, -1), attempt(SortedList, [1, "a"]))
        """,
    "tomlkit": """
        import tomlkit

        TEXT = (
            '# a\\n[x]  # b\\nlist = [1, 2.5, "three"]\\n[x.y]\\nday = 2020-01-02\\n'
            "[[z]]\\na = 1\\n[[z]]\\n"
        )

        def main():
            document = tomlkit.parse(TEXT)
            tell(document.unwrap(), tomlkit.dumps(document) == TEXT)
            document["x"]["new"] = {"k": [1]}
            document["x"]["list"].append(4)
            tell(tomlkit.dumps(document), attempt(tomlkit.parse, "a = "))
            tell(attempt(tomlkit.parse, "a=1\\na=2"))
        """,
    "yaml": """
        import yaml

        TEXT = "a: &x [1, 2.5, true, null]\\nb: *x\\nc: |\\n  text\\n  more\\nd: {e: 2020-01-02}\\n"

        def main():
            loaded = yaml.load(TEXT, yaml.SafeLoader)
            tell(loaded, loaded["a"] is loaded["b"], yaml.dump(loaded, Dumper=yaml.SafeDumper))
            tell([type(one).__name__ for one in yaml.parse(TEXT, yaml.SafeLoader)])
            tell(attempt(yaml.safe_load, "a: [1"), attempt(yaml.safe_load, "!!python/object:x {}"))
        """,
}
"""Programs that tell what they found, each for itself a test."""

RUNS_TESTS = """
import json, os, pytest

class Outcomes:
    def __init__(self):
        self.outcomes = {{}}

    def pytest_runtest_logreport(self, report):
        if report.when == "call" or report.outcome != "passed":
            self.outcomes[report.nodeid] = f"{{report.outcome}}: {{report.longrepr or ''}}"[:500]

def main():
    outcomes = Outcomes()
    options = ["-q", "--capture=no", "-pno:cacheprovider", "-pno:xdist", "-Wignore"]
    pytest.main([*{files}, *options], plugins=[outcomes])
    with open(os.environ["OUTCOMES"], "w") as file:
        json.dump(outcomes.outcomes, file)
"""

TELLS = """
import json, os

TOLD = []

def tell(*values):
    TOLD.extend(map(repr, values))

def attempt(function, *arguments, **named):
    try:
        return function(*arguments, **named)
    except Exception as error:
        return f"{type(error).__name__}: {error}"
"""

WRITES = """
work = main

def main():
    work()
    with open(os.environ["OUTCOMES"], "w") as file:
        told = [one.replace(":", ";") for one in TOLD]  # what is before a colon is compared
        json.dump({f"{__name__}.{number}": one for number, one in enumerate(told)}, file)
"""


def packages() -> list[str]:
    """Those that are installed."""
    return [name for name in sorted({*OWN_TESTS, *PROGRAMS}) if find_spec(name)]


def prepare(package: str, folder: Path) -> Path:
    """Copy a package into a folder, and write the lecture that runs it; returns its file."""
    spec = find_spec(package)
    [source] = spec.submodule_search_locations if spec else []
    shutil.copytree(source, folder / package, ignore=shutil.ignore_patterns("__pycache__", "*.so"))
    lecture = folder / f"runs_{package}.py"
    if package in OWN_TESTS:
        files = [f"{package}/tests/{name}" for name in OWN_TESTS[package]]
        found = [name for name in files if (folder / name).exists()]
        lecture.write_text(f"import {package}\n" + RUNS_TESTS.format(files=found))
    else:
        lecture.write_text(TELLS + textwrap.dedent(PROGRAMS[package]) + WRITES)
    return lecture
