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

    Long runs crash. What has to be on the disk so that the work is not lost? The parameters, what
    the optimizer keeps for each of them, and some small things that the next section looks for.
    A file with all this is a *checkpoint*.
    """
    D, L = 64, 3
    model = LinearStack(D, L, torch.Generator().manual_seed(0))  # @stepover
    optimizer = AdamW(model.parameters(), lr=0.01)
    sum(weight.sum() for weight in model.parameters()).backward()
    optimizer.step()  # AdamW has averages from its first step on
    parameters = sum(weight.numel() for weight in model.parameters())
    assert parameters == 3 * 64 * 64 + 64 == 12_352
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "step-1.pt")
        torch.save(model.state_dict(), path)
        model_bytes = path.stat().st_size
        torch.save({"model": model.state_dict(), "optimizer": optimizer.state_dict()}, path)
        both_bytes = path.stat().st_size  # @inspect model_bytes both_bytes
        saved = torch.load(path)
    # Four bytes for each parameter, and some thousand for names, shapes and the form of the file,
    # which is a ZIP archive without compression.
    assert 0 < model_bytes - 4 * parameters < 5000
    # AdamW keeps two averages for each parameter, in fp32: the file is three times as large, with
    # twelve bytes for each parameter. For 70 billion parameters it is 840 GB.
    assert 0 < both_bytes - 3 * 4 * parameters < 10_000
    assert both_bytes // parameters * LLAMA3_70B_PARAMETERS == 840e9
    # A model and an optimizer that began in another way are the same after loading, to the bit.
    other = LinearStack(D, L, torch.Generator().manual_seed(1))  # @stepover
    other_optimizer = AdamW(other.parameters())
    assert not torch.equal(other.final.weight, model.final.weight)
    other.load_state_dict(saved["model"])
    other_optimizer.load_state_dict(saved["optimizer"])
    for weight, loaded in zip(model.parameters(), other.parameters(), strict=True):
        assert torch.equal(weight, loaded)
        kept, found = optimizer.state[weight], other_optimizer.state[loaded]
        assert all(torch.equal(kept[name], found[name]) for name in ("m", "v"))
    # Settings come from the file, too: the learning rate is the old one.
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

    How good is a checkpoint? There is a sharp test: 10 steps, a stop, and 10 steps from the file
    should give what 20 steps in one go give, to the last bit. A small Transformer takes it here,
    with a rate that warms up and decays, on batches at random places.
    """
    generator = torch.Generator().manual_seed(0)
    tokens = torch.randint(300, (5000,), generator=generator).numpy()
    assert len(tokens) == 5000
    straight = Run(CONFIGS["tiny"])  # @stepover
    steps = [*train(straight, tokens)]  # @stepover
    assert len(steps) == 10 + 10
    # A file of ours has four parts that change: the model; the optimizer's averages; the state of
    # the generator that draws the batches, called "order" here; and the number of the step. Each is
    # left out once.
    parts = ("model", "optimizer", "order", "step")
    differences = {}
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "run.checkpoint")
        for left_out in ("nothing", *parts):
            loaded = [part for part in parts if part != left_out]
            weights = resumed_weights(tokens, loaded, path)
            differences[left_out] = (weights - all_weights(straight)).abs().max().item()
            assert checkpoints.load(path)["step"] == 10
    largest = figures.differences(differences)  # @inspect largest differences
    assert differences["nothing"] == 0
    # A common mistake is to think of the parameters only. Without the averages of AdamW the run
    # goes on from the right place, and with steps of another size.
    assert differences["optimizer"] > 0.01
    # Without the state of the generator it reads the batches of the first ten steps again. Without
    # the number of the step it warms up again. No error is raised in any of these cases.
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


def schedules_and_scalers_have_a_state():  # M24.3 M24.2
    """Schedules and scalers have a state.

    Our learning rate is a function of the step, and the step is in the file. PyTorch's schedulers
    count steps for themselves. What if they are left out of the file?
    """
    scheduler, restored, forgotten = (new_scheduler(rate) for _ in range(3))
    assert rate_after(scheduler, 14) == rate(14)
    restored.load_state_dict(scheduler.state_dict())
    rates = [rate_after(one, 1) for one in (scheduler, restored, forgotten)]  # @inspect rates
    # The one that was restored goes on. The other starts the warm-up anew.
    assert rates == [rate(15), rate(15), rate(1)]
    assert [round(one, 4) for one in rates] == [0.4499, 0.4499, 0.1429]
    # Whoever trains in fp16 multiplies the loss by a factor, the
    # [scale](#a_scale_is_found_by_overflowing). It is found by trying: halved when a gradient
    # overflows, doubled after so many good steps, here three. So it depends on what has been, and
    # belongs in the file.
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
    # Saved are the scale and how many good steps it has had. The step that overflowed was left out.
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

    A process can be ended at any moment, also while it writes a checkpoint. What is on the disk
    then? A common mistake is to write over the last checkpoint: when the new one is half written,
    the old one is gone.
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
        # So ours is written under another name, however far it gets. What has the name of a
        # checkpoint is whole.
        unfinished = path.with_name("step-00000002.checkpoint.unfinished")
        for written in (b"", whole[: len(whole) // 2], whole):
            unfinished.write_bytes(written)
            assert steps_read(folder) == [1]
        # Then it is renamed, which the file system does at once or not at all; a file that had the
        # name before makes way. Before that comes `fsync`: the system may bring a new name to the
        # disk before the bytes, and after a power cut the name would stand for nothing.
        # (The bytes here are still those of step 1, until a real second step is saved.)
        unfinished.replace(checkpoints.path_for(folder, 2))
        assert steps_read(folder) == [1, 1]
        checkpoints.save(checkpoints.path_for(folder, 2), {"step": 2})
        assert steps_read(folder) == [1, 2]
        # Disks err as well. A checksum in the first line of the file finds out, whichever byte it
        # is that has one bit wrong. The last one tried stays, and counts as −1.
        assert not any(loads(path, with_a_bit_flipped(whole, byte)) for byte in range(len(whole)))
        assert steps_read(folder) == [-1, 2]


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

    Is it safe to load a file from somebody else? Files of `torch.save` hold a pickle, Python's
    format for objects. A pickle can hold any call, and makes it while it is read.
    """
    pickled = pickle.dumps({"weights": Loud()})
    reports = {"pickle": printed_by(pickle.loads, pickled)}
    # `torch.load` did the same for years. Since PyTorch 2.6 it takes tensors and plain values, and
    # refuses the rest unless told not to look. Our `load` says `weights_only=True` in so many
    # words, so that it does not depend on a default.
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
    # What a checkpoint needs fits into that: tensors, numbers, strings, lists, dictionaries.
    plain = {"step": 7, "order": torch.arange(3), "config": {"name": "tiny", "betas": [0.9, 0.95]}}
    file = io.BytesIO()
    torch.save(plain, file)
    loaded = torch.load(io.BytesIO(file.getvalue()))
    assert loaded.pop("order").tolist() == [0, 1, 2]
    assert loaded == {"step": 7, "config": {"name": "tiny", "betas": [0.9, 0.95]}}
    # So a setting is saved as a number or a string and not as an object of a class of ours. That
    # also keeps old files readable when the class has changed.


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

    How often should a run save? Each time costs $c$ seconds. A failure costs what was done since
    the last time. With $m$ seconds from one failure to the next on average, the least time is lost
    near an interval of $\sqrt{2cm}$ ([Young, 1974](https://doi.org/10.1145/361147.361115)).
    """
    save_seconds = 60
    between_failures_seconds = SECONDS_PER_DAY
    # Failures come at any time, no matter when the last one was. To get through an interval of $t$
    # seconds and the saving after it then takes $m(e^{(t+c)/m}-1)$ seconds on average, with all
    # that has to be done again. What exceeds $t$ is lost.
    overheads = {
        minutes: between_failures_seconds
        * math.expm1((60 * minutes + save_seconds) / between_failures_seconds)
        / (60 * minutes)
        - 1
        for minutes in range(5, 245, 5)
    }
    lost = figures.lost_time(overheads)  # @inspect lost
    assert (len(overheads), max(overheads)) == (48, 240)
    # Failures drawn at random agree:
    for minutes in (25, 55, 240):
        seconds = seconds_per_interval(60 * minutes, save_seconds, between_failures_seconds)
        assert math.isclose(seconds / (60 * minutes), 1 + overheads[minutes], rel_tol=0.005)
    best_minutes = min(overheads, key=lambda minutes: overheads[minutes])
    young_minutes = math.sqrt(2 * save_seconds * between_failures_seconds) / 60
    assert (best_minutes, round(young_minutes, 1)) == (55, 53.7)
    # Young's rule is close. At the best place half of what is lost goes to saving and half to
    # failures, 4 % in all. Twice or half as often loses one percent more: one need not be exact.
    assert round(overheads[best_minutes], 3) == 0.038
    assert math.isclose(
        overheads[best_minutes], 2 * save_seconds / (60 * best_minutes), rel_tol=0.06
    )
    assert round(overheads[25], 2) == round(overheads[110], 2) == 0.05
    # More machines fail more often. On 16 384 GPUs, training [Llama
    # 3](https://arxiv.org/abs/2407.21783) was interrupted 419 times in 54 days without being
    # planned: every three hours. A minute for saving then asks for every 19 minutes.
    llama_seconds = LLAMA3_INTERRUPTIONS_DAYS * 24 * 3600 / LLAMA3_INTERRUPTIONS
    assert round(llama_seconds) == 11_135
    assert round(math.sqrt(2 * save_seconds * llama_seconds) / 60) == 19
    # This chapter in short: a run is its parameters, its optimizer's state, its generators and its
    # step. A checkpoint has them all, and gets its name only when it is whole.
