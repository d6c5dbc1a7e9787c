"""Training: the parts of a step, what they refuse, and the command line."""

import io
import itertools
import json
import math
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from dataclasses import asdict, replace
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from lecture import stories
from lecture.facts import B200
from lecture.lib.transformer import TransformerConfig, TransformerLM, cross_entropy
from lecture.train import checkpoints, cli, corpus, judging, metrics, scoring, session, story_run
from lecture.train.clipping import clip_gradients, global_norm
from lecture.train.config import CONFIGS, TrainingConfig, read_config
from lecture.train.ending import EndRequest
from lecture.train.errors import EndedFromOutside, TrainingError
from lecture.train.judging import step_flops
from lecture.train.loop import Run
from lecture.train.loop import train as train_steps
from lecture.train.saving_memory import fuse_attention, recompute_blocks
from lecture.train.schedule import learning_rate, warm_up_stable_decay
from trace.costs import measure

ROOT = Path(__file__).parent.parent
TINY = CONFIGS["tiny"]
TOKENS = torch.randint(TINY.vocabulary, (3000,), generator=torch.Generator().manual_seed(0)).numpy()


# Learning rates


@given(st.integers(0, 50), st.integers(1, 100), st.floats(0, 1), st.integers(0, 300))
def test_a_rate_stays_between_its_ends(warm_up_steps, decay_steps, min_lr, step):
    end_step = warm_up_steps + decay_steps
    settings = {"max_lr": 1.0, "min_lr": min_lr, "end_step": end_step}
    rate = learning_rate(step, warm_up_steps=warm_up_steps, **settings)
    assert 0 <= rate <= 1
    assert step < warm_up_steps or rate >= min_lr
    assert step < end_step or rate == min_lr


def test_a_rate_is_that_of_pytorchs_schedulers():
    settings = {"max_lr": 0.5, "min_lr": 0.1, "warm_up_steps": 4, "end_step": 14}
    optimizer = torch.optim.SGD([torch.nn.Parameter(torch.ones(1))], lr=0.5)
    cosine = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, 10, eta_min=0.1)
    for step in range(4, 14):
        assert math.isclose(learning_rate(step, **settings), cosine.get_last_lr()[0])
        optimizer.step()
        cosine.step()


def test_a_stable_rate_falls_in_a_straight_line_at_the_end():
    settings = {"max_lr": 1.0, "min_lr": 0.2, "warm_up_steps": 2, "decay_steps": 4, "end_step": 10}
    rates = [warm_up_stable_decay(step, **settings) for step in range(12)]
    assert rates == pytest.approx([0, 0.5, 1, 1, 1, 1, 1, 0.8, 0.6, 0.4, 0.2, 0.2])


# Clipping


@given(st.lists(st.integers(-100, 100), min_size=1, max_size=9), st.floats(0.01, 100))
def test_clipping_is_that_of_pytorch(numbers, max_norm):
    ours, theirs = ([torch.nn.Parameter(torch.zeros(1)) for _ in numbers] for _ in range(2))
    for parameters in (ours, theirs):
        for weight, number in zip(parameters, numbers, strict=True):
            weight.grad = torch.tensor([float(number)])
    norm = clip_gradients(ours, max_norm)
    expected = torch.nn.utils.clip_grad_norm_(theirs, max_norm)
    assert math.isclose(norm, expected, rel_tol=1e-5, abs_tol=1e-30)
    for our, their in zip(ours, theirs, strict=True):
        assert torch.allclose(our.grad, their.grad, rtol=1e-3)
    assert global_norm([weight.grad for weight in ours]) <= max_norm * (1 + 1e-5)


def test_what_has_no_gradient_is_passed_over():
    weights = [torch.nn.Parameter(torch.ones(2)), torch.nn.Parameter(torch.ones(2))]
    weights[1].grad = torch.tensor([3.0, 4])
    assert clip_gradients(weights, 1.0) == 5
    assert weights[0].grad is None


# Configurations


def test_configurations_make_models():
    for config in CONFIGS.values():
        TransformerLM(config.model(), device="meta")


# settings -> the sentence
REFUSED = [
    ({"layers": 0}, "layers must be a whole number of at least 1, not 0"),
    ({"width": 10, "heads": 4}, "width must be a multiple of heads"),
    ({"batch": 0}, "batch has to be at least 1"),
    ({"steps": 2.5}, "steps has to be a whole number, and is 2.5"),
    ({"steps": True}, "steps has to be a whole number, and is True"),
    ({"seed": -1}, "seed has to be a whole number, and is -1"),
    ({"max_lr": -0.1}, "max_lr has to be a number from 0 up, and is -0.1"),
    ({"max_lr": math.nan}, "max_lr has to be a number from 0 up, and is nan"),
    ({"weight_decay": "much"}, "weight_decay has to be a number from 0 up, and is 'much'"),
    ({"steps": 10, "warm_up_steps": 10}, "warm_up_steps (10) has to be less than steps (10)"),
    ({"steps": 9, "warm_up_steps": 5, "decay_steps": 5}, "have to fit into steps (9)"),
]


@pytest.mark.parametrize(("settings", "sentence"), REFUSED)
def test_numbers_that_make_no_run_are_refused(settings, sentence):
    with pytest.raises(TrainingError) as error:
        TrainingConfig(**settings)
    assert sentence in str(error.value)


def test_a_file_changes_what_it_names(tmp_path):
    path = tmp_path / "mine.toml"
    path.write_text("steps = 900\nmax_lr = 0.02\n")
    assert read_config(str(path)) == replace(CONFIGS["lecture"], steps=900, max_lr=0.02)


# contents -> the sentence
FILES = [
    ("step = 900", "there is no setting 'step'; there are: vocabulary, context,"),
    ("steps =", "Invalid value"),
    ("steps = 0", "has to be less than steps (0)"),
]


@pytest.mark.parametrize(("contents", "sentence"), FILES)
def test_a_file_that_makes_no_run_is_refused(contents, sentence, tmp_path):
    path = tmp_path / "mine.toml"
    path.write_text(contents)
    with pytest.raises(TrainingError) as error:
        read_config(str(path))
    assert str(error.value).startswith(f"{path}: ")
    assert sentence in str(error.value)


# Steps


def test_a_step_is_what_pytorch_would_do():
    """The same run, written with what PyTorch has."""
    run, other = Run(TINY), Run(TINY)
    matrices = [weight for weight in other.model.parameters() if weight.ndim > 1]
    gains = [weight for weight in other.model.parameters() if weight.ndim == 1]
    groups = [
        {"params": matrices, "weight_decay": TINY.weight_decay},
        {"params": gains, "weight_decay": 0.0},
    ]
    optimizer = torch.optim.AdamW(groups, betas=(TINY.beta1, TINY.beta2))
    for step in itertools.islice(train_steps(run, TOKENS), 6):
        starts = torch.randint(len(TOKENS) - TINY.context, (TINY.batch,), generator=other.order)
        windows = [TOKENS[start : start + TINY.context + 1] for start in starts.tolist()]
        batch = torch.tensor(np.stack(windows))
        loss = torch.nn.functional.cross_entropy(
            other.model(batch[:, :-1]).flatten(0, 1), batch[:, 1:].flatten()
        )
        optimizer.zero_grad()
        loss.backward()
        norm = torch.nn.utils.clip_grad_norm_(other.model.parameters(), TINY.max_norm)
        for group in optimizer.param_groups:
            group["lr"] = step.lr
        optimizer.step()
        assert math.isclose(step.loss, loss.item(), rel_tol=1e-5)
        assert math.isclose(step.gradient_norm, norm, rel_tol=1e-4)
    for weight, expected in zip(run.model.parameters(), other.model.parameters(), strict=True):
        assert torch.allclose(weight, expected, atol=1e-4)


def test_the_rates_of_a_run_are_those_of_its_schedule():
    rates = [step.lr for step in train_steps(Run(TINY), TOKENS)]
    assert rates[:4] == [TINY.max_lr * n / 4 for n in (1, 2, 3, 4)]
    assert rates[-1] == TINY.min_lr


def test_the_seed_decides_weights_and_order_and_nothing_else_does():
    first, again = ([*train_steps(Run(TINY), TOKENS)] for _ in range(2))
    other = [*train_steps(Run(replace(TINY, seed=1)), TOKENS)]
    assert first == again
    assert first[0].loss != other[0].loss


@pytest.mark.parametrize("micro_batches", [1, 2, 4])
def test_micro_batches_make_the_same_steps(micro_batches):
    whole = [*itertools.islice(train_steps(Run(TINY), TOKENS), 5)]
    parts = [*itertools.islice(train_steps(Run(TINY), TOKENS, micro_batches=micro_batches), 5)]
    for found, expected in zip(parts, whole, strict=True):
        assert asdict(found) == pytest.approx(asdict(expected), rel=1e-4)


def test_parts_that_do_not_fit_are_refused():
    with pytest.raises(TrainingError, match="4 sequences of a batch cannot be cut evenly into 3"):
        next(train_steps(Run(TINY), TOKENS, micro_batches=3))


def test_recomputing_keeps_less_and_makes_the_same_steps():
    config = replace(TINY, layers=6)
    plain, lean = Run(config), Run(config)
    recompute_blocks(lean.model)
    kept_bytes = []
    for run in (plain, lean):
        with measure() as cost:
            loss = run.model(torch.zeros(2, TINY.context, dtype=torch.int64)).sum()
            kept_bytes.append(cost.live_bytes["activations"])
        del loss
    assert kept_bytes[1] < kept_bytes[0] / 3
    pairs = zip(train_steps(plain, TOKENS), train_steps(lean, TOKENS), strict=True)
    assert all(one == other for one, other in itertools.islice(pairs, 4))
    assert list(lean.model.state_dict()) == list(plain.model.state_dict())


def test_fused_attention_keeps_less_and_makes_the_same_steps():
    config = replace(TINY, context=64)
    plain, lean = Run(config), Run(config)
    fuse_attention(lean.model)
    kept_bytes = []
    for run in (plain, lean):
        with measure() as cost:
            loss = run.model(torch.zeros(2, 64, dtype=torch.int64)).sum()
            kept_bytes.append(cost.live_bytes["activations"])
        del loss
    assert kept_bytes[0] - kept_bytes[1] > 0.8 * 4 * 2 * TINY.heads * 64 * 64
    pairs = zip(train_steps(plain, TOKENS), train_steps(lean, TOKENS), strict=True)
    for one, other in itertools.islice(pairs, 4):
        assert asdict(one) == pytest.approx(asdict(other), rel=1e-3)


def test_a_run_with_a_stable_rate_can_be_made_longer_before_its_decay():
    config = replace(TINY, decay_steps=5)
    longer = replace(config, steps=40)
    first = [*itertools.islice(train_steps(Run(config), TOKENS), 15)]
    assert first == [*itertools.islice(train_steps(Run(longer), TOKENS), 15)]
    assert {step.lr for step in first[4:]} == {config.max_lr}


def test_too_few_tokens_are_refused():
    with pytest.raises(TrainingError, match="16 tokens are too few; a sequence takes 17"):
        next(train_steps(Run(TINY), TOKENS[:16]))
    next(train_steps(Run(TINY), TOKENS[:17]))


def test_a_gradient_that_is_not_finite_ends_the_run():
    run = Run(TINY)
    with torch.no_grad():
        run.model.head.weight[0, 0] = torch.inf
    with pytest.raises(TrainingError, match="the gradient of step 1 is not finite"):
        next(train_steps(run, TOKENS))


def test_bf16_is_for_products_only():
    run = Run(TINY)
    low = [*itertools.islice(train_steps(run, TOKENS, precision="bf16"), 3)]
    high = [*itertools.islice(train_steps(Run(TINY), TOKENS), 3)]
    assert low[0].loss != high[0].loss
    assert math.isclose(low[2].loss, high[2].loss, rel_tol=0.02)
    assert {weight.dtype for weight in run.model.parameters()} == {torch.float32}


# What a text costs


@pytest.fixture(scope="module")
def model():
    config = TransformerConfig(
        vocabulary=50, context=8, layers=1, width=8, heads=2, feed_forward=16
    )
    return TransformerLM(config, generator=torch.Generator().manual_seed(0))


@pytest.mark.parametrize("length", [1, 7, 8, 9, 12, 13, 30])
def test_each_token_is_predicted_from_most_of_what_is_before_it(model, length):
    tokens = np.arange(length) * 7 % 50
    found = scoring.model_nats(model, tokens, first=49)
    row = torch.tensor([[49, *tokens]])
    assert len(found) == length
    for place in range(length):
        # The windows start at 0, 4, 8, ...; the last one ends with the text.
        starts = [*range(0, max(length - 8, 0), 4), max(length - 8, 0)]
        start = next(start for start in starts if place < start + 8)
        logits = model(row[:, start : place + 1])
        expected = cross_entropy(logits[0, -1], row[0, place + 1])
        assert math.isclose(found[place], expected.item(), rel_tol=1e-4)
        assert place < 4 or place - start >= 3


def test_pairs_are_counted():
    training, tokens = np.array([0, 1, 0, 1, 0, 2]), np.array([1, 0, 2])
    found = scoring.pair_nats(training, tokens, first=0, vocabulary=3, added=0.5)
    # After 0: 1 twice, 2 once. After 1: 0 twice. Each count is half a count larger.
    expected = [-math.log(2.5 / 4.5), -math.log(2.5 / 3.5), -math.log(1.5 / 4.5)]
    assert found.tolist() == pytest.approx(expected)


def test_the_work_of_a_step_is_counted():
    wide = replace(TINY, batch=2 * TINY.batch)
    assert step_flops(wide) == 2 * step_flops(TINY)
    parameters = sum(weight.numel() for weight in Run(TINY).model.parameters())
    embedding = TINY.vocabulary * TINY.width  # looked up, not multiplied
    least = 6 * (parameters - embedding - 3 * TINY.width) * TINY.step_tokens
    attention = 12 * TINY.layers * TINY.width * TINY.context * TINY.step_tokens
    assert step_flops(TINY) == least + attention


# Logs


def test_a_line_that_was_cut_off_is_not_read(tmp_path):
    path = tmp_path / "log"
    for step in (1, 2, 3):
        metrics.append_row(path, {"step": step, "loss": step / 7})
    whole = path.read_bytes()
    for length in range(len(whole) + 1):
        path.write_bytes(whole[:length])
        rows = metrics.read_rows(path)
        assert rows == [{"step": n, "loss": n / 7} for n in range(1, len(rows) + 1)]
        assert len(rows) == whole[:length].count(b"\n")


def test_a_picture_has_a_line_for_each_number():
    rows = [{"step": n, "loss": 7 - n, "lr": n / 10, "gradient_norm": 1.0} for n in range(1, 6)]
    svg = ElementTree.fromstring(metrics.picture(rows, {"uniform": 7.0, "source": 0.9}))
    lines = svg.findall(".//{*}polyline")
    assert [len(line.get("points").split()) for line in lines] == [5, 5, 5]
    words = " ".join(svg.itertext())
    for word in ("loss", "learning rate", "gradient norm", "uniform 7", "source 0.9", "step 5"):
        assert word in words


# The command


def run_here(*arguments, folder):
    """Run the command in this process, without what it prints."""
    return cli.main([*arguments, "--output", str(folder), "--device", "cpu"])


@pytest.fixture(scope="module")
def text(tmp_path_factory):
    path = tmp_path_factory.mktemp("text") / "stories.txt"
    path.write_text(stories.text(30_000), encoding="utf-8")
    return path


@pytest.fixture(scope="module")
def finished(text, tmp_path_factory):
    folder = tmp_path_factory.mktemp("runs") / "tiny"
    arguments = ("--config", "tiny", "--text", str(text), "--save-every", "8")
    assert run_here(*arguments, folder=folder) == 0
    return folder


def state_of(folder):
    state = checkpoints.load(checkpoints.newest(folder))
    weights = [weight.tolist() for weight in state.pop("model").values()]
    return weights, repr(state)


def log_of(folder):
    """The log without what depends on the clock."""
    rows = metrics.read_rows(folder / "metrics.jsonl")
    assert all(row.pop("tokens_per_second") > 0 for row in rows)
    return rows


def test_a_run_leaves_tokens_checkpoints_a_log_and_a_picture(finished):
    names = sorted(path.name for path in finished.iterdir())
    assert names == [
        *("metrics.jsonl", "metrics.svg"),
        *("step-00000016.checkpoint", "step-00000020.checkpoint"),
        *("tokens.ids", "tokens.vocab"),
    ]
    rows = log_of(finished)
    assert [row["step"] for row in rows] == [*range(1, 21)]
    assert list(rows[0]) == ["step", "loss", "lr", "gradient_norm"]
    assert [row["step"] for row in rows if "validation_loss" in row] == [*range(2, 21, 2)]
    ElementTree.parse(finished / "metrics.svg")


def test_a_run_says_what_came_of_it(text, tmp_path, capsys):
    run_here("--config", "tiny", "--text", str(text), folder=tmp_path / "run")
    printed, errors = capsys.readouterr()
    assert printed.startswith(f"making tokens of {text}\n12,208 parameters, ")
    assert "cpu in fp32, 1 process, steps 0 to 20\nstep 2 of 20, loss 5." in printed
    assert len(re.findall(r"step \d+ of 20, loss [\d.]+, validation loss [\d.]+, ", printed)) == 10
    assert "\nloss on all of the validation text " in printed
    assert errors == ""


def test_a_killed_run_resumes_as_if_nothing_had_happened(finished, text, tmp_path, capsys):
    folder = tmp_path / "killed"
    command = [sys.executable, "-m", "lecture.train", "--config", "tiny", "--text", str(text)]
    command += ["--save-every", "3", "--device", "cpu", "--output", str(folder)]
    process = subprocess.Popen(command, cwd=ROOT, stdout=subprocess.DEVNULL)
    while not (folder / "step-00000006.checkpoint").exists():
        assert process.poll() is None
        time.sleep(0.005)
    process.send_signal(signal.SIGTERM if os.name == "nt" else signal.SIGKILL)
    assert process.wait() != 0
    assert run_here("--config", "tiny", "--resume", folder=folder) == 0
    assert log_of(folder) == log_of(finished)
    assert state_of(folder) == state_of(finished)


def wait_for(path, process):
    while not path.exists():
        assert process.poll() is None, process.communicate()
        time.sleep(0.01)


def long_run(text, folder):
    command = [sys.executable, "-m", "lecture.train", "--config", "tiny", "--text", str(text)]
    command += ["--steps", "100000", "--device", "cpu", "--output", str(folder)]
    return subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE)


@pytest.mark.skipif(os.name == "nt", reason="Windows ends a process without asking it")
def test_a_run_that_is_asked_to_end_saves_and_says_so_in_a_line(text, tmp_path):
    folder = tmp_path / "asked"
    process = long_run(text, folder)
    wait_for(folder / "metrics.jsonl", process)
    process.send_signal(signal.SIGTERM)
    _, errors = process.communicate()
    assert process.returncode == 1
    [step] = re.fullmatch(
        rb"ended from outside; step (\d+) is saved, and --resume goes on there\n", errors
    ).groups()
    newest = checkpoints.newest(folder)
    assert checkpoints.load(newest)["step"] == int(step)
    assert metrics.read_rows(folder / "metrics.jsonl")[-1]["step"] == int(step)


def test_a_signal_waits_for_the_end_of_a_step_and_the_second_one_does_not():
    request = EndRequest()
    with pytest.raises(EndedFromOutside), request.waiting():
        request(signal.SIGTERM, None)
        assert request.asked
        request(signal.SIGTERM, None)
    with pytest.raises(EndedFromOutside):
        EndRequest()(signal.SIGTERM, None)
    assert not issubclass(EndedFromOutside, Exception)  # shape checks turn these into their own


def test_a_damaged_checkpoint_gives_way_to_the_one_before(finished, tmp_path, capsys):
    folder = tmp_path / "damaged"
    shutil.copytree(finished, folder)
    newest = checkpoints.newest(folder)
    newest.write_bytes(newest.read_bytes()[:-1])
    assert run_here("--config", "tiny", "--resume", folder=folder) == 0
    printed = capsys.readouterr().out
    assert printed.startswith(f"{newest} is damaged or was cut off: its checksum is another; ")
    assert "going on from step-00000016.checkpoint\n" in printed
    assert "steps 16 to 20" in printed
    assert newest.with_name(newest.name + ".damaged").exists()
    assert log_of(folder) == log_of(finished)
    assert state_of(folder) == state_of(finished)


def test_a_finished_run_goes_on_when_it_is_given_more_steps(finished, tmp_path, capsys):
    folder = tmp_path / "longer"
    shutil.copytree(finished, folder)
    assert run_here("--config", "tiny", "--resume", "--steps", "24", folder=folder) == 0
    assert "steps 20 to 24" in capsys.readouterr().out
    assert log_of(folder)[:20] == log_of(finished)
    assert checkpoints.load(checkpoints.newest(folder))["step"] == 24
    assert run_here("--config", "tiny", "--resume", folder=folder) == 2
    assert "of another run (steps: 24, not 20)" in capsys.readouterr().err


def test_made_stories_are_as_many_as_the_steps_read():
    tiny, medium = (corpus.story_bytes_for(CONFIGS[name]) for name in ("tiny", "medium"))
    assert (tiny, medium) == (100_000, 5_000_000)
    lecture = corpus.story_bytes_for(CONFIGS["lecture"])
    assert lecture == 4 * CONFIGS["lecture"].steps * CONFIGS["lecture"].step_tokens


def test_a_line_comes_where_no_terminal_watches(capsys, monkeypatch):
    voice = session.Voice(9)
    row = {"step": 3, "loss": 1.25, "tokens_per_second": 1234.5}
    voice(row)
    assert capsys.readouterr().out == ""
    monkeypatch.setattr(session.time, "monotonic", lambda: math.inf)
    voice(row)
    assert capsys.readouterr().out == "step 3 of 9, loss 1.2500, 1,234 tokens/s\n"


def test_a_card_without_a_rate_for_a_format_has_no_peak(monkeypatch):
    card = replace(B200, dense_flops_per_second={"bf16": 2.25e15})
    monkeypatch.setattr(torch.cuda, "get_device_name", lambda device: "NVIDIA B200")
    monkeypatch.setattr(judging, "accelerator_named", lambda name: card)
    device = torch.device("cuda", 0)
    assert judging.promised_flops_per_second(device, "fp32") is None
    assert judging.promised_flops_per_second(device, "bf16") == 2.25e15


def test_progress_is_for_terminals(finished, monkeypatch, text, tmp_path):
    class Terminal(io.StringIO):
        def isatty(self):
            return True

    terminal = Terminal()
    monkeypatch.setattr(sys, "stderr", terminal)
    run_here("--config", "tiny", "--text", str(text), folder=tmp_path / "run")
    assert "training" in terminal.getvalue()
    assert "100%" in terminal.getvalue()


# arguments -> the sentence
BAD_INPUT = [
    (
        ["--config", "huge"],
        "there is no configuration and no file 'huge'; configurations are: tiny",
    ),
    (["--config", "tiny", "--text", "nowhere.txt"], "nowhere.txt: No such file or directory"),
    (["--config", "tiny", "--save-every", "0"], "--save-every has to be at least 1, and is 0"),
    (["--config", "tiny", "--validate-every", "0"], "--validate-every has to be at least 1"),
    (["--config", "tiny", "--micro-batches", "0"], "--micro-batches has to be at least 1"),
    (["--config", "tiny", "--steps", "2"], "warm_up_steps (4) has to be less than steps (2)"),
    (["--config", "tiny", "--resume"], "to go on from; start without --resume"),
    (["--resume", "--text", "a.txt"], "--resume goes on with the tokens in"),
]


@pytest.mark.parametrize(("arguments", "sentence"), BAD_INPUT)
def test_bad_input_gets_one_sentence(arguments, sentence, tmp_path, capsys):
    assert run_here(*arguments, folder=tmp_path / "run") == 2
    printed, error = capsys.readouterr()
    assert "steps" not in printed  # it has not come to training
    assert sentence in error
    assert error.count("\n") == 1


def test_a_finished_run_is_not_overwritten(finished, capsys):
    assert run_here("--config", "tiny", folder=finished) == 2
    assert "has checkpoints of a run; add --resume or choose another --output" in (
        capsys.readouterr().err
    )


def test_another_configuration_cannot_resume(finished, capsys):
    assert run_here("--config", "lecture", "--resume", folder=finished) == 2
    assert "the checkpoint is of another run (vocabulary: 300, not 1024;" in capsys.readouterr().err


def test_bytes_that_are_no_text_are_named(tmp_path, capsys):
    path = tmp_path / "image.png"
    path.write_bytes(b"\x89PNG")
    assert run_here("--config", "tiny", "--text", str(path), folder=tmp_path / "run") == 2
    assert str(path) in capsys.readouterr().err


@pytest.mark.skipif(torch.cuda.is_available(), reason="there is one")
def test_a_device_that_is_not_there_is_named(tmp_path, capsys):
    assert cli.main(["--device", "cuda", "--output", str(tmp_path)]) == 2
    assert capsys.readouterr().err == (
        "there is no cuda device here; --device auto takes what there is\n"
    )


def test_the_file_started_by_itself_says_how_to_start_it():
    command = [sys.executable, str(ROOT / "lecture/train/__main__.py")]
    finished = subprocess.run(command, capture_output=True, text=True)
    assert finished.returncode == 2
    assert finished.stderr == "Run it from the repository root: python -m lecture.train\n"


@pytest.mark.slow
def test_a_compiled_model_learns_the_same(text, finished, tmp_path):
    command = [sys.executable, "-m", "lecture.train", "--config", "tiny", "--text", str(text)]
    command += ["--compile", "--output", str(tmp_path / "run")]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    for row, expected in zip(log_of(tmp_path / "run"), log_of(finished), strict=True):
        assert math.isclose(row["loss"], expected["loss"], rel_tol=5e-3)


def test_a_log_is_json_on_each_line(finished):
    for line in (finished / "metrics.jsonl").read_text().splitlines():
        names = set(json.loads(line)) - {"validation_loss"}
        assert names == {"step", "loss", "lr", "gradient_norm", "tokens_per_second"}


@pytest.mark.parametrize("name", CONFIGS)
def test_settings_are_plain_values(name):
    assert {type(value) for value in asdict(CONFIGS[name]).values()} == {int, float}


# What a run is compared with


@pytest.fixture(scope="module")
def story_corpus(tmp_path_factory):
    folder = tmp_path_factory.mktemp("corpus")
    tokenizer = corpus.story_tokenizer(400, seed=1)
    corpus.write_corpus(folder, tokenizer, stories.pieces(200_000, 1))
    return corpus.open_corpus(folder)


def test_pairs_are_better_than_a_guess_and_the_source_is_better_than_pairs(story_corpus):
    levels = judging.levels_for(story_corpus)
    assert list(levels) == ["uniform", "pairs", "source"]
    assert levels["uniform"] == math.log(400)
    assert levels["source"] < levels["pairs"] / 1.5 < levels["uniform"] / 2


def test_other_text_has_no_known_source(tmp_path):
    path = tmp_path / "text.txt"
    path.write_text("One fish, two fish, red fish, blue fish.\n" * 200)
    corpus.prepare(tmp_path, TINY, path)
    found = corpus.open_corpus(tmp_path)
    assert list(judging.levels_for(found)) == ["uniform", "pairs"]
    assert isinstance(judging.tell(Run(TINY), found), str)


def test_the_last_twentieth_is_for_validation(story_corpus):
    validation, training = len(story_corpus.validation), len(story_corpus.training)
    assert validation == (training + validation) // 20
    text = story_corpus.tokenizer.decode([*story_corpus.training, *story_corpus.validation])
    assert text == stories.text(200_000, 1)


def test_a_run_on_stories_is_judged_story_by_story(monkeypatch):
    monkeypatch.setattr(story_run, "TRAINING_BYTES", 20_000)
    monkeypatch.setattr(story_run, "VALIDATION_BYTES", 3_000)
    config = replace(TINY, seed=7)
    found = story_run.run_on_stories(config)
    told = stories.text(3_000, 2).split(stories.END)[:-1]
    assert found.story_bytes.tolist() == [len(story) + len(stories.END) for story in told]
    assert {len(nats) for nats in found.nats.values()} == {len(told)}
    lengths = [len(found.tokenizer.encode(story + stories.END)) for story in told]
    assert sum(lengths) == found.validation_tokens
    assert found.nats["uniform"].tolist() == pytest.approx([n * math.log(300) for n in lengths])
    assert found.nats["source"].sum() == pytest.approx(
        stories.bits(stories.text(3_000, 2)) * math.log(2)
    )
    assert [step.step for step in found.log] == [*range(1, 21)]
    assert story_run.run_on_stories(config) is found
    assert found.tell(2, seed=0) == found.tell(2, seed=0) != found.tell(2, seed=1)


def test_a_story_begins_as_a_story_does():
    assert story_run.could_begin(next(stories.stories()))
    assert not story_run.could_begin("Once upon a time there was a kind boy named Lily.")
    assert not story_run.could_begin("Once upon a time")
