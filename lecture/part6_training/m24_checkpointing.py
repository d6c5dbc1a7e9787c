"""Saving and resuming: what has to be kept of a run, and how to keep it safely."""

import contextlib
import io
import math
import pickle
import tempfile
from collections.abc import Callable, Collection
from pathlib import Path

import numpy as np
import torch
from jaxtyping import Float
from torch import Tensor, nn

from lecture.facts import (
    LLAMA3_70B_PARAMETERS,
    LLAMA3_INTERRUPTIONS,
    LLAMA3_INTERRUPTIONS_DAYS,
    SECONDS_PER_DAY,
)
from lecture.lib.layers import LinearStack
from lecture.lib.optim import SGD, AdamW
from lecture.lib.shapes import shape_checked
from lecture.part6_training import m24_figures as figures
from lecture.train import checkpoints
from lecture.train.config import CONFIGS
from lecture.train.errors import TrainingError
from lecture.train.loop import Run, train
from lecture.train.schedule import learning_rate


def a_checkpoint_holds_parameters_and_state():  # M24.1
    """A checkpoint holds parameters and state.

    Long runs crash. What has to be on disk so that the work is not lost? The parameters, the
    optimizer state, and some small things that the next section looks for. A file with all this is
    a *checkpoint*. How large is it, in bytes per parameter?
    """
    D, L = 64, 3
    model = LinearStack(D, L, torch.Generator().manual_seed(0))  # @stepover
    optimizer = AdamW(model.parameters(), lr=0.01)
    sum(weight.sum() for weight in model.parameters()).backward()
    optimizer.step()  # AdamW has averages from its first step on
    parameters = sum(weight.numel() for weight in model.parameters())
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "step-1.pt")
        torch.save(model.state_dict(), path)
        model_bytes = path.stat().st_size
        torch.save({"model": model.state_dict(), "optimizer": optimizer.state_dict()}, path)
        both_bytes = path.stat().st_size  # @inspect model_bytes both_bytes
        saved = torch.load(path)
    # The model alone takes four bytes per parameter, and some thousand for names, shapes and the
    # format of the file, an uncompressed ZIP archive.
    assert 0 < model_bytes - 4 * parameters < 5000
    # With [AdamW's two averages](#adamw_averages_both) it is three times as large: twelve bytes per
    # parameter. For 70 billion parameters that is 840 GB.
    assert 0 < both_bytes - 3 * 4 * parameters < 10_000
    assert both_bytes // parameters * LLAMA3_70B_PARAMETERS == 840e9
    # Load it into another model and another optimizer, and they are equal to the bit.
    other = LinearStack(D, L, torch.Generator().manual_seed(1))  # @stepover
    other_optimizer = AdamW(other.parameters())
    other.load_state_dict(saved["model"])
    other_optimizer.load_state_dict(saved["optimizer"])
    for weight, loaded in zip(model.parameters(), other.parameters(), strict=True):
        assert torch.equal(weight, loaded)
        kept, found = optimizer.state[weight], other_optimizer.state[loaded]
        assert all(torch.equal(kept[name], found[name]) for name in ("m", "v"))
    # Settings come from the file, too: the learning rate is the saved one, not the default.
    assert other_optimizer.param_groups[0]["lr"] == 0.01


@shape_checked
def all_weights(run: Run) -> Float[Tensor, " N"]:  # @stepover
    """Return all parameters as one vector."""
    return torch.cat([weight.detach().flatten() for weight in run.model.parameters()])


@shape_checked
def resumed_weights(
    tokens: np.ndarray, loaded: Collection[str], path: Path
) -> Float[Tensor, " N"]:  # @stepover
    """Train for 10 steps, save, and for 10 more in a new run that loads some parts of the file."""
    config = CONFIGS["tiny"]
    run = Run(config)
    steps = train(run, tokens)
    for _ in range(10):
        next(steps)
    checkpoints.save(path, run.state_dict())
    saved, run = checkpoints.load(path), Run(config)
    state = run.state_dict() | {part: saved[part] for part in loaded}
    run.load_state_dict(state)
    steps = train(run, tokens)
    for _ in range(10):
        next(steps)
    return all_weights(run)


def resuming_equals_never_stopping():  # M24.2 E100
    """Resuming equals never stopping.

    Is a checkpoint complete? There is a sharp test: 10 steps, a stop, and 10 steps from the file
    must give what 20 steps in one go give, to the last bit. We put a small Transformer to it, with
    [warm-up and cosine](#a_rate_rises_and_falls) and batches at random places. Guess which missing
    part hurts most.
    """
    generator = torch.Generator().manual_seed(0)
    tokens = torch.randint(300, (5000,), generator=generator).numpy()
    straight = Run(CONFIGS["tiny"])  # @stepover
    steps = [*train(straight, tokens)]  # @stepover
    # Our file has four parts that change: the model; the optimizer's averages; the state of the
    # generator that draws the batches, called "order" here; and the number of the step. We leave
    # out each once.
    parts = ("model", "optimizer", "order", "step")
    differences = {}
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "run.checkpoint")
        for left_out in ("nothing", *parts):
            loaded = [part for part in parts if part != left_out]
            weights = resumed_weights(tokens, loaded, path)
            differences[left_out] = (weights - all_weights(straight)).abs().max().item()
            assert checkpoints.load(path)["step"] == 10 == len(steps) // 2
    largest = figures.differences(differences)  # @inspect largest differences
    assert differences["nothing"] == 0
    # A common mistake is to save the parameters only. Without AdamW's averages the run goes on from
    # the right place with steps of another size.
    assert differences["optimizer"] > 0.01
    # Without the generator's state it reads the batches of the first ten steps again. Without the
    # step it warms up again. None of these raises an error, so run this test on your own loop.
    assert differences["order"] > 0.01
    assert differences["step"] > 0.01
    assert differences["model"] > max(differences[part] for part in parts[1:])


def rate(step: int) -> float:  # @stepover
    """Return the rate that [rises and falls](#a_rate_rises_and_falls)."""
    return learning_rate(step, max_lr=1.0, min_lr=0.1, warm_up_steps=7, end_step=21)


def new_scheduler(
    rate: Callable[[int], float],
) -> torch.optim.lr_scheduler.LambdaLR:  # @stepover
    """Make a scheduler of PyTorch's that follows this function of the step."""
    optimizer = SGD([nn.Parameter(torch.ones(()))], lr=1.0)
    return torch.optim.lr_scheduler.LambdaLR(optimizer, rate)


def rate_after(scheduler: torch.optim.lr_scheduler.LambdaLR, steps: int) -> float:  # @stepover
    """Make steps, and return the learning rate that comes after them."""
    for _ in range(steps):
        scheduler.optimizer.step()
        scheduler.step()
    return scheduler.get_last_lr()[0]


def schedules_and_scalers_have_a_state():  # M24.2
    """Schedules and scalers have a state.

    Our learning rate is a function of the step, and the step is in the file. PyTorch's schedulers
    count steps themselves. What if we leave a scheduler out of the file?
    """
    scheduler, restored, forgotten = (new_scheduler(rate) for _ in range(3))
    assert rate_after(scheduler, 14) == rate(14)
    restored.load_state_dict(scheduler.state_dict())
    rates = [rate_after(one, 1) for one in (scheduler, restored, forgotten)]  # @inspect rates
    # The restored one goes on. The forgotten one starts the warm-up anew.
    assert rates == [rate(15), rate(15), rate(1)]
    # Training in fp16 has one state more, the [loss scale](#a_scale_is_found_by_overflowing). A
    # scaler halves it when a gradient overflows and doubles it after so many good steps, here
    # three. So it depends on the past, and belongs in the file.
    scaler = torch.amp.GradScaler("cpu", init_scale=256.0, growth_interval=3)
    weight = nn.Parameter(torch.ones(2))
    optimizer = SGD([weight], lr=0.1)
    scales = []
    for gradient in (1.0, math.inf, 1.0, 1.0, 1.0, 1.0):
        scaler.scale((gradient * weight).sum()).backward()
        scaler.step(optimizer)
        scaler.update()
        optimizer.zero_grad()
        scales.append(scaler.get_scale())  # @inspect scales
    assert scales == [256, 128, 128, 128, 256, 256]
    # The scaler saves the scale and how many good steps it has had. The step that overflowed was
    # skipped.
    assert (scaler.state_dict()["scale"], scaler.state_dict()["_growth_tracker"]) == (256, 1)
    assert torch.allclose(weight, torch.full((2,), 1 - 5 * 0.1))


def steps_read(folder: Path) -> list[int]:  # @stepover
    """Load all files with the name of a checkpoint; return their steps, −1 where one is damaged."""
    steps = []
    for path in checkpoints.checkpoints_in(folder):
        try:
            steps.append(checkpoints.load(path)["step"])
        except TrainingError:
            steps.append(-1)
    return steps


def loads(path: Path, contents: bytes) -> bool:  # @stepover
    """Write these bytes to a file and tell whether they are a checkpoint."""
    path.write_bytes(contents)
    try:
        checkpoints.load(path)
    except TrainingError:
        return False
    return True


def with_a_bit_flipped(contents: bytes, byte: int) -> bytes:  # @stepover
    """Change the lowest bit of one byte."""
    changed = bytearray(contents)
    changed[byte] ^= 1
    return bytes(changed)


def a_file_gets_its_name_when_it_is_whole():  # M24.3
    """A file gets its name when it is whole.

    A process can die at any moment, also while it writes a checkpoint. What is on disk then? If it
    writes over its last checkpoint, the new one is half written and the old one is gone.
    """
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        path = checkpoints.path_for(folder, 1)
        checkpoints.save(path, {"step": 1})
        assert steps_read(folder) == [1]
        # Cut off anywhere, it does not load.
        whole = path.read_bytes()
        assert not any(loads(path, whole[:size]) for size in range(len(whole)))
        whole_loads = loads(path, whole)
        assert whole_loads
        # So we write under another name. Whatever has the name of a checkpoint is whole.
        unfinished = path.with_name("step-00000002.checkpoint.unfinished")
        for written in (b"", whole[: len(whole) // 2], whole):
            unfinished.write_bytes(written)
            assert steps_read(folder) == [1]
        # When it is written we rename it, which a POSIX file system does completely or not at all.
        # Before that we call `fsync`: the system may bring a new name to disk before the bytes, and
        # after a power cut the name would stand for nothing.
        checkpoints.save(checkpoints.path_for(folder, 2), {"step": 2})
        assert steps_read(folder) == [1, 2]
        # Disks err as well. A checksum in the first line notices one wrong bit in any byte. (The
        # last one tried stays, and reads as −1.)
        newest = checkpoints.path_for(folder, 2)
        assert not any(loads(newest, with_a_bit_flipped(whole, byte)) for byte in range(len(whole)))
        assert steps_read(folder) == [1, -1]
        # So keep two. `lecture.train --resume` sets a damaged one aside and goes on from the other.
        [said] = checkpoints.set_damaged_aside(checkpoints.checkpoints_in(folder))
        assert "going on from step-00000001" in said  # @inspect said
        assert steps_read(folder) == [1]


class Loud:
    """An object that has something printed when it is unpickled; it could be any call."""

    def __reduce__(self) -> tuple[object, tuple[str]]:
        return print, ("a line that nobody asked for",)


def printed_by(read: Callable[[bytes], object], contents: bytes) -> str:  # @stepover
    """Read something; return what that prints, or the kind of error that it raises."""
    output = io.StringIO()
    with contextlib.redirect_stdout(output):
        try:
            read(contents)
        except pickle.UnpicklingError:
            return "refused"
    return output.getvalue().strip()


def a_checkpoint_should_not_be_a_program():  # M24.3
    """A checkpoint should not be a program.

    Is it safe to load somebody else's file? `torch.save` writes a *pickle*, Python's format for
    objects. A pickle can contain any function call, and Python makes the call while it reads.
    """
    pickled = pickle.dumps({"weights": Loud()})
    reports = {"pickle": printed_by(pickle.loads, pickled)}
    # `torch.load` did the same for years. Since PyTorch 2.6 its default is `weights_only=True`: it
    # takes tensors and plain values and refuses the rest, but for what you allow by name. Our
    # `load` says so explicitly, so that it does not depend on a default.
    file = io.BytesIO()
    torch.save({"weights": Loud()}, file)
    readers = {
        "torch.load": lambda contents: torch.load(io.BytesIO(contents)),
        "weights_only=False": lambda contents: torch.load(io.BytesIO(contents), weights_only=False),
    }
    for name, read in readers.items():
        reports[name] = printed_by(read, file.getvalue())  # @inspect reports
    line = "a line that nobody asked for"
    assert reports == {"pickle": line, "torch.load": "refused", "weights_only=False": line}
    # A checkpoint needs no more: tensors, numbers, strings, lists, dictionaries.
    plain = {"step": 7, "order": torch.arange(3), "config": {"name": "tiny", "betas": [0.9, 0.95]}}
    file = io.BytesIO()
    torch.save(plain, file)
    loaded = torch.load(io.BytesIO(file.getvalue()))
    assert loaded.pop("order").tolist() == [0, 1, 2]
    assert loaded == {"step": 7, "config": {"name": "tiny", "betas": [0.9, 0.95]}}
    # So save settings as numbers and strings, not as objects of your own classes. Old files then
    # stay readable when a class has changed, too.


def seconds_per_interval(
    interval_seconds: float, save_seconds: float, between_failures_seconds: float
) -> float:  # @stepover
    """Let failures happen, and return how long an interval and its saving take on average."""
    generator = torch.Generator().manual_seed(0)
    draws = torch.empty(200_000, dtype=torch.float64)
    failures = draws.exponential_(1 / between_failures_seconds, generator=generator)
    # Each try ends with a failure, or when all is done and saved.
    tries = failures.clamp(max=interval_seconds + save_seconds)
    done = (failures > interval_seconds + save_seconds).sum()
    return float(tries.sum() / done)


def saving_has_a_best_interval():  # M24.3
    r"""Saving has a best interval.

    How often should a run save? Saving costs $c$ seconds each time. A failure costs what was done
    since the last time (and a restart, which we leave out). If failures are $m$ seconds apart on
    average, an interval near $\sqrt{2cm}$ loses least ([Young,
    1974](https://doi.org/10.1145/361147.361115)). Guess for a minute to save and a failure a day.
    """
    save_seconds = 60
    between_failures_seconds = SECONDS_PER_DAY
    # Failures come at any time, no matter when the last one was. Getting through an interval of $t$
    # seconds and the save after it then takes $m(e^{(t+c)/m}-1)$ seconds on average, repetitions
    # included. What exceeds $t$ is lost.
    overheads = {
        minutes: between_failures_seconds
        * math.expm1((60 * minutes + save_seconds) / between_failures_seconds)
        / (60 * minutes)
        - 1
        for minutes in range(5, 245, 5)
    }
    lost = figures.lost_time(overheads)  # @inspect lost
    # Failures drawn at random agree with the formula.
    for minutes in (25, 55, 240):
        seconds = seconds_per_interval(60 * minutes, save_seconds, between_failures_seconds)
        assert math.isclose(seconds / (60 * minutes), 1 + overheads[minutes], rel_tol=0.005)
    best_minutes = min(overheads, key=lambda minutes: overheads[minutes])
    young_minutes = math.sqrt(2 * save_seconds * between_failures_seconds) / 60
    assert abs(best_minutes - young_minutes) < 5  # @inspect best_minutes young_minutes
    # Young's rule is close. At the best interval half of the loss goes to saving and half to
    # failures, 4 % in all. Half or twice the interval loses one percentage point more, so we need
    # not be exact.
    assert math.isclose(
        overheads[best_minutes], 2 * save_seconds / (60 * best_minutes), rel_tol=0.06
    )
    assert round(overheads[best_minutes], 2) == 0.04
    assert max(overheads[25], overheads[110]) < overheads[best_minutes] + 0.015
    # More machines fail more often. On 16 384 GPUs, training [Llama
    # 3](https://arxiv.org/abs/2407.21783) had 419 unplanned interruptions in 54 days, one every
    # three hours. With a minute to save, that asks for a checkpoint every 19 minutes.
    llama_seconds = LLAMA3_INTERRUPTIONS_DAYS * 24 * 3600 / LLAMA3_INTERRUPTIONS
    assert round(math.sqrt(2 * save_seconds * llama_seconds) / 60) == 19
    # What we can do now: save all that a run consists of, its parameters, optimizer state,
    # generators and step; survive a crash at any moment, by the bit; and choose how often to save.


def exercise_a_checkpoint_that_takes_eight_minutes():  # M24.3 @exercise
    r"""Exercise: a checkpoint that takes eight minutes.

    405 billion parameters at 12 bytes each go to storage at 10 GB/s, and the run is interrupted
    every three hours. How often should it save? Try half and twice as often.
    """
    save_seconds = 405e9 * 12 / 10e9
    between_failures_seconds = 3 * 3600
    young_seconds = math.sqrt(2 * save_seconds * between_failures_seconds)  # @inspect young_seconds
    lost = {}
    for times in (0.5, 1, 2):
        interval = times * young_seconds
        needed = seconds_per_interval(interval, save_seconds, between_failures_seconds)
        lost[times] = needed / interval - 1  # @inspect lost
    # Every 54 minutes. An hour of useful work takes 22 minutes more nevertheless, over a quarter of
    # all time. It helps to copy from all ranks at once, into the machines' own memory, and to go on
    # while that is written to storage (`torch.distributed.checkpoint.async_save`).
    assert lost[1] < min(lost[0.5], lost[2])
    assert round(60 * lost[1]) == 22
