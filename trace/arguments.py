"""What can be written on the command line."""

import argparse
import re
from collections.abc import Callable
from pathlib import Path
from typing import NoReturn

from . import __version__
from .errors import USAGE, UsageError
from .options import HOST, MAX_PORT, MAX_STEPS, Options
from .target import lectures_of
from .terminal import PROGRAM, complain

_ORIGIN = re.compile(r"https?://(\*\.)?[A-Za-z0-9.-]+(:\d+)?")
"""What browsers call the author of a page."""
_NEED_A_LECTURE = ("check", "convert", "is_current", "watch", "html", "site")
_TAKE_ONE_LECTURE = ("convert", "output", "html")
_EXCLUDE = [
    ("convert", ("serve", "watch", "html", "site", "check", "json"), "only writes a lecture"),
    ("watch", ("check", "html", "site", "json"), "shows a lecture while it is written"),
    (
        "new",
        ("serve", "watch", "open", "html", "site", "check"),
        "only writes a file to begin with",
    ),
    (
        "new_course",
        ("new", "serve", "watch", "open", "html", "site", "check"),
        "only writes a folder to begin with",
    ),
    ("check", ("html", "site", "serve"), "only compares"),
    ("is_current", ("watch", "check", "if_changed", "time"), "runs nothing"),
]


class _Parser(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        self.exit(complain(f"{message}; --help lists the options.", USAGE))


def parse(arguments: list[str] | None) -> argparse.Namespace:
    """Read the arguments. Raises UsageError where they contradict each other."""
    options = _parser().parse_args(arguments)
    options.lectures = [one for argument in options.lectures for one in lectures_of(argument)]
    _require_sense(options)
    return options


def _require_sense(options: argparse.Namespace) -> None:
    given = [name for name, value in vars(options).items() if value]
    if options.imported and options.lectures:
        raise UsageError(f"--import runs nothing: leave out {options.lectures[0]}.")
    if options.imported:
        return
    needs_a_lecture = not options.serve or any(name in given for name in _NEED_A_LECTURE)
    if options.new and options.lectures:
        raise UsageError(f"--new takes the one name behind it: leave out {options.lectures[0]}.")
    if options.new_course and options.lectures:
        raise UsageError(f"--new-course takes one name: leave out {options.lectures[0]}.")
    if needs_a_lecture and not (options.lectures or options.new or options.new_course):
        raise UsageError("name a lecture to run, such as lecture.main, or give --serve.")
    if options.draft and not (options.html or options.site):
        raise UsageError("--draft says how to publish: give --site or --html, too.")
    if options.frames and not (options.site or options.serve or options.watch):
        raise UsageError("--frames says who may show pages: give --site or --serve, too.")
    if options.convert and options.output is None:
        raise UsageError("--convert needs a place for the new lecture: give -o mine.py.")
    if len(options.lectures) > 1:
        for name in _TAKE_ONE_LECTURE:
            if name in given:
                raise UsageError(f"--{name} takes one lecture: name one, or leave it out.")
    for name, others, reason in _EXCLUDE:
        for other in others:
            if name in given and other in given:
                wrong = [f"--{option.replace('_', '-')}" for option in (name, other)]
                raise UsageError(f"{wrong[0]} {reason}: leave out {wrong[1]}.")


def _number(least: int, most: int) -> Callable[[str], int]:
    def number(text: str) -> int:
        if not least <= int(text) <= most:
            raise argparse.ArgumentTypeError(f"{text} is not one of {least:,} to {most:,}")
        return int(text)

    return number


def _host(text: str) -> str:
    name = text.removeprefix("*.")
    if not all(part and part.replace("-", "a").isalnum() for part in name.split(".")):
        raise argparse.ArgumentTypeError(f"{text} is no name of a host: write it as in an address")
    return text.lower()


def _origin(text: str) -> str:
    if text == "any":
        return "*"
    if not _ORIGIN.fullmatch(text):
        raise argparse.ArgumentTypeError(
            f"{text} is no origin: write https://example.org, https://*.example.org, or any"
        )
    return text.lower()


def _parser() -> argparse.ArgumentParser:
    parser = _Parser(
        prog=PROGRAM,
        description="Run a lecture, record it, and write one JSON document for the viewer.",
        epilog="Exit status: 0 done; 1 the lecture failed, --check differs or --strict warns; "
        "2 the command cannot be carried out; 130 interrupted.",
    )
    parser.add_argument(
        "lectures",
        nargs="*",
        metavar="lecture",
        help="module (lecture.main), path of a .py file with a main(), or folder with such files",
    )
    _add_ways_to_see(parser.add_argument_group("to see it").add_argument)
    _add_ways_to_publish(parser.add_argument_group("to publish it").add_argument)
    _add_choices(parser.add_argument_group("how it is run").add_argument)
    _add_what_is_said(parser.add_argument_group("what is said").add_argument)
    return parser


def _add_ways_to_see(add: Callable[..., object]) -> None:
    add("--new", type=Path, metavar="FILE", help="write a small lecture to begin with, and end")
    add("--new-course", type=Path, metavar="DIR", help="write a course to begin with, and end")
    add("--import", dest="imported", type=Path, metavar="FILE", help="show a trace of another tool")
    add(
        "--convert",
        action="store_true",
        help="write a lecture of another tool as one of ours to -o",
    )
    add("--serve", action="store_true", help="serve the viewer and print its address")
    add("--watch", action="store_true", help="serve, and run again after each saved change")
    add("--open", action="store_true", help="open a browser too, where there is a display")
    add(
        "--port",
        type=_number(0, MAX_PORT),
        default=8000,
        metavar="N",
        help="port to serve on; a busy one takes the next",
    )
    add("--host", default=HOST, metavar="ADDRESS", help=f"address to serve on ({HOST})")
    add(
        "--allow-host",
        action="append",
        default=[],
        type=_host,
        metavar="NAME",
        help="a name under which a proxy shows us; *.example.org: all below it",
    )


def _add_ways_to_publish(add: Callable[..., object]) -> None:
    add("-o", "--output", type=Path, metavar="PATH", help="where to write the document")
    add("--html", type=Path, metavar="FILE", help="also write one file that opens anywhere")
    add("--site", type=Path, metavar="DIR", help="also write the viewer and the documents there")
    add(
        "--frames",
        action="append",
        default=[],
        type=_origin,
        metavar="ORIGIN",
        help="who may show pages in a frame: https://example.org, or any; else nobody",
    )
    add("--draft", action="store_true", help="publish lectures that failed, too, up to there")
    add("--check", action="store_true", help="run again and compare with the written document")


def _add_choices(add: Callable[..., object]) -> None:
    add("--if-changed", action="store_true", help="run only if the sources of the document changed")
    add(
        "--is-current",
        action="store_true",
        help="run nothing: go on if the document is of these sources, else exit with 1",
    )
    add(
        "--max-steps",
        type=_number(1, MAX_STEPS),
        default=Options.max_steps,
        metavar="N",
        help="stop after this many steps",
    )
    add("--time", action="store_true", help="also write NAME.times.json: seconds, @timed values")
    add(
        "--path",
        choices=["core"],
        default="",
        help="run only the sections marked @core, as a document of their own",
    )
    add("--no-costs", action="store_true", help="do not meter FLOPs and memory")
    add("--no-locals", action="store_true", help="read no values but those of @inspect")
    add("--strict", action="store_true", help="warnings fail the run")
    add("--include", action="append", default=[], metavar="GLOB", help="trace only such paths")
    add("--download", action="store_true", help="fetch pictures that a lecture shows by address")
    add("--exclude", action="append", default=[], metavar="GLOB", help="do not trace such paths")
    add("--stand-by", action="append", default=[], help=argparse.SUPPRESS)  # `serve/standby.py`


def _add_what_is_said(add: Callable[..., object]) -> None:
    version = f"lecture-trace {__version__}"
    add("--version", action="version", version=version, help="print the version, and end")
    add("--json", action="store_true", help="print the summary as JSON")
    add("--progress", action="store_true", help="show progress though stderr is no terminal")
    add("-q", "--quiet", action="store_true", help="print nothing but errors")
    add("-v", "--verbose", action="store_true", help="list traced files and uncounted operators")
