"""`python -m lecture.generate`: a trained run writes, word by word."""

import subprocess
import sys
from pathlib import Path

import pytest
import torch

from lecture import stories
from lecture.generate import cli
from lecture.lib.generation import generate, stream
from lecture.tokenizer import Tokenizer
from lecture.train import checkpoints
from lecture.train.config import CONFIGS
from lecture.train.loop import Run

ROOT = Path(__file__).parent.parent
TINY = CONFIGS["tiny"]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A run that has not learned anything: it draws from all tokens."""
    folder = tmp_path_factory.mktemp("run")
    Tokenizer.train(stories.text(20_000), TINY.vocabulary, [stories.END]).save(
        folder / "tokens.vocab"
    )
    checkpoints.save(checkpoints.path_for(folder, 0), Run(TINY).state_dict())
    return folder


def written(capsys, *arguments):
    assert cli.main([*map(str, arguments)]) == 0
    return capsys.readouterr().out


def test_the_text_begins_with_the_prompt_and_is_that_of_generate(folder, capsys):
    text = written(capsys, folder, "--prompt", "One", "--temperature", 0)
    run, tokenizer = cli.open_run(folder)
    prompt = [tokenizer.special_ids[stories.END], *tokenizer.encode("One")]
    count = TINY.context - len(prompt)
    assert written(capsys, folder, "--prompt", "One", "--temperature", 1e-45) == text
    [row] = generate(run.model, torch.tensor([prompt]), count, temperature=0).tolist()
    new = row[len(prompt) :]
    if prompt[0] in new:
        new = new[: new.index(prompt[0])]
    assert text == "One" + tokenizer.decode(new) + "\n"


def test_a_seed_gives_the_same_text_and_another_seed_another(folder, capsys):
    texts = [written(capsys, folder, "--temperature", 1, "--seed", n) for n in (0, 0, 1)]
    assert texts[0] == texts[1] != texts[2]


def test_tokens_come_one_by_one(folder):
    run, _ = cli.open_run(folder)
    passes = []
    run.model.register_forward_hook(lambda *_: passes.append(1))
    drawn = stream(run.model, torch.zeros(1, 2, dtype=torch.int64), 3)
    for count in (1, 2, 3):
        next(drawn)
        assert len(passes) == count


def test_a_character_of_several_tokens_is_shown_whole(folder, monkeypatch, capsys):
    bytes_of_e = [torch.tensor([byte]) for byte in "é!".encode()]
    monkeypatch.setattr(cli, "stream", lambda *_, **__: iter(bytes_of_e))
    assert written(capsys, folder) == "é!\n"


# arguments -> what is said
REFUSED = [
    (["--temperature", "-1"], "temperature must be 0 or more"),
    (["--top-p", "0"], "top_p must be above 0"),
    (["--tokens", "99"], "do not fit into the model's context of 16"),
    (["--prompt", "word " * 20], "leaves no room in a context of 16"),
]


@pytest.mark.parametrize(("arguments", "words"), REFUSED)
def test_what_makes_no_text_is_refused_in_a_sentence(arguments, words, folder, capsys):
    assert cli.main([str(folder), *arguments]) == 2
    assert words in capsys.readouterr().err


def test_a_folder_without_a_run_is_named(tmp_path, capsys):
    assert cli.main([str(tmp_path / "nowhere")]) == 2
    assert "python -m lecture.train makes one" in capsys.readouterr().err
    assert cli.main([str(tmp_path)]) == 2
    assert "there is no checkpoint in" in capsys.readouterr().err


def test_the_program_runs(folder):
    command = [sys.executable, "-m", "lecture.generate", str(folder), "--prompt", "A", "--tokens=3"]
    finished = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, encoding="utf-8")
    assert finished.returncode == 0, finished.stderr
    assert finished.stdout.startswith("A")
