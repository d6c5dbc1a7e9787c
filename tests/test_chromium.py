"""Finding or installing a Chromium, with fakes: nothing is installed here."""

import os
import stat
import sys

import pytest

from tests import chromium

DOWNLOAD = "playwright install chromium"
LIBRARIES = "playwright install-deps chromium"
UPDATE = "apt-get update"
PACKAGE = "apt-get install -y chromium"

# what is said, what makes a Chromium ready (None: it is there already), what fails, whether apt
# may be used -> the commands that run, whether there is a Chromium in the end
CASES = [
    ("there already", None, [], True, [], True),
    ("downloaded", DOWNLOAD, [], False, [DOWNLOAD], True),
    ("libraries missing", LIBRARIES, [], True, [DOWNLOAD, LIBRARIES], True),
    ("libraries missing, not root", LIBRARIES, [], False, [DOWNLOAD], False),
    ("no download", PACKAGE, [DOWNLOAD], True, [DOWNLOAD, UPDATE, PACKAGE], True),
    ("no download, not root", PACKAGE, [DOWNLOAD], False, [DOWNLOAD], False),
    ("nothing helps", "nothing", [DOWNLOAD], True, [DOWNLOAD, UPDATE, PACKAGE], False),
]


@pytest.mark.parametrize(
    ("makes_ready", "fails", "may_use_apt", "commands", "found"),
    [case[1:] for case in CASES],
    ids=[case[0] for case in CASES],
)
def test_what_is_tried_in_which_order(makes_ready, fails, may_use_apt, commands, found):
    ran = []

    def run(*command):
        ran.append(" ".join(command).removeprefix(f"{sys.executable} -m "))
        return ran[-1] not in fails

    def ready():
        return makes_ready is None or makes_ready in ran

    assert chromium.make_sure(run, ready, lambda: may_use_apt) is found
    assert ran == commands


def put_on_path(folder, name, script):
    program = folder / name
    program.write_text(f"#!/bin/sh\n{script}\n")
    program.chmod(program.stat().st_mode | stat.S_IXUSR)
    return str(program)


@pytest.fixture
def empty_path(tmp_path, monkeypatch):
    monkeypatch.setenv("PATH", str(tmp_path))
    return tmp_path


posix = pytest.mark.skipif(os.name == "nt", reason="the fake programs are shell scripts")


@posix
def test_a_chromium_on_path_is_found(empty_path):
    path = put_on_path(empty_path, "google-chrome", "echo Chrome 1")
    assert chromium.find_chromium() == path


@posix
def test_the_first_name_wins(empty_path):
    put_on_path(empty_path, "google-chrome", "echo Chrome 1")
    path = put_on_path(empty_path, "chromium", "echo Chromium 1")
    assert chromium.find_chromium() == path


@posix
def test_a_stub_that_only_recommends_a_package_is_passed_over(empty_path):
    put_on_path(empty_path, "chromium-browser", "echo 'requires the snap' >&2; exit 1")
    assert chromium.find_chromium() is None


def test_none_stands_for_the_one_of_playwright(empty_path):
    assert chromium.find_chromium() is None


def test_without_any_there_is_one_sentence_and_status_1(monkeypatch, capsys):
    monkeypatch.setattr(chromium, "make_sure", lambda run: False)
    assert chromium.main() == 1
    assert capsys.readouterr() == ("", chromium.NONE_FOUND + "\n")


FAILING = (sys.executable, "-c", "print('a page of errors'); raise SystemExit(1)")


def test_what_installers_print_is_shown_if_nothing_helps(monkeypatch, capsys):
    monkeypatch.setattr(chromium, "make_sure", lambda run: run(*FAILING))
    assert chromium.main() == 1
    stderr = capsys.readouterr().err
    assert stderr.endswith(f"\na page of errors\n{chromium.NONE_FOUND}\n")


def test_no_page_of_errors_if_another_way_helps(monkeypatch, capfd):
    monkeypatch.setattr(chromium, "make_sure", lambda run: not run(*FAILING))
    assert chromium.main() == 0
    stdout, stderr = capfd.readouterr()
    assert (stdout, len(stderr.splitlines())) == ("", 1)


def test_with_one_nothing_is_said(monkeypatch, capsys):
    monkeypatch.setattr(chromium, "make_sure", lambda run: True)
    assert chromium.main() == 0
    assert capsys.readouterr() == ("", "")


# the command -> whether it succeeds
COMMANDS = [
    ((sys.executable, "-c", ""), True),
    ((sys.executable, "-c", "raise SystemExit(3)"), False),
    (("no such program",), False),
]


@pytest.mark.parametrize(("command", "success"), COMMANDS)
def test_a_command_that_fails_or_does_not_exist_is_told_from_one_that_works(command, success):
    assert chromium.succeeds(*command) is success
    assert chromium.Installer().run(*command) is success


def test_playwright_without_a_browser_is_not_taken_for_one(monkeypatch, tmp_path):
    monkeypatch.setenv("PLAYWRIGHT_BROWSERS_PATH", str(tmp_path))
    assert not chromium.playwright_starts()


def test_apt_is_for_root_only(monkeypatch):
    monkeypatch.setattr(chromium.shutil, "which", lambda name: f"/usr/bin/{name}")
    monkeypatch.setattr(os, "geteuid", lambda: 1000, raising=False)
    assert not chromium.may_use_apt()
    monkeypatch.setattr(os, "geteuid", lambda: 0, raising=False)
    assert chromium.may_use_apt()
