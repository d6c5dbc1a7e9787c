"""From the first step to the last: what is logged, saved and said on the way."""

import time
from dataclasses import asdict, dataclass
from pathlib import Path

from lecture.tokenizer.progress import ProgressBar
from lecture.train import checkpoints, metrics, sharding
from lecture.train.corpus import Corpus
from lecture.train.ending import EndRequest
from lecture.train.errors import EndedFromOutside, TrainingError
from lecture.train.judging import (
    judge,
    levels_for,
    promised_flops_per_second,
    step_flops,
    tell,
    validation_loss,
)
from lecture.train.loop import Run, Step, train
from lecture.train.parallel import Alone

LOG, PICTURE = "metrics.jsonl", "metrics.svg"
SECONDS_BETWEEN_LINES = 30.0
"""Where no terminal shows a bar, a line says at least so often how far a run is."""


@dataclass(frozen=True)
class Plan:
    """How to train, as far as it is no part of what is trained."""

    precision: str
    micro_batches: int
    save_every: int
    validate_every: int


class Voice:
    """Says how far a run is: a bar on terminals, and lines everywhere."""

    def __init__(self, steps: int) -> None:
        self.steps = steps
        self.bar = ProgressBar()
        self.next_line_seconds = time.monotonic() + SECONDS_BETWEEN_LINES

    def __call__(self, row: metrics.Row) -> None:
        """Show a step. It gets a line of its own if it was validated, or if none came for long."""
        is_late = not self.bar.watched and time.monotonic() > self.next_line_seconds
        if "validation_loss" in row or is_late:
            self.bar.clear()
            print(line_for(row, self.steps), flush=True)
            self.next_line_seconds = time.monotonic() + SECONDS_BETWEEN_LINES
        self.bar("training", row["step"], self.steps)


def line_for(row: metrics.Row, steps: int) -> str:
    """Say in a line what is known after a step."""
    parts = [f"step {row['step']} of {steps}", f"loss {row['loss']:.4f}"]
    if "validation_loss" in row:
        parts.append(f"validation loss {row['validation_loss']:.4f}")
    return ", ".join([*parts, f"{row['tokens_per_second']:,.0f} tokens/s"])


def train_and_report(
    run: Run, corpus: Corpus, folder: Path, group: Alone, plan: Plan, request: EndRequest
) -> None:
    """Train to the end, with a log and checkpoints; only the first process writes."""
    voice = Voice(run.config.steps)
    try:
        with request.waiting():
            train_and_log(run, corpus, folder, group, plan, request, voice)
    finally:
        voice.bar.clear()
    if group.rank == 0 or group.sharded:
        report(run, corpus, folder, group.rank == 0)


def train_and_log(
    run: Run,
    corpus: Corpus,
    folder: Path,
    group: Alone,
    plan: Plan,
    request: EndRequest,
    voice: Voice,
) -> None:
    """Train until the last step is done, or until somebody asks for an end."""
    if group.rank == 0:
        metrics.forget_after(folder / LOG, run.step)
        print(describe(run, corpus, group, plan.precision), flush=True)
    promised = promised_flops_per_second(run.device, plan.precision)
    flops = step_flops(run.config) if promised is not None else 0
    start_seconds = time.perf_counter()
    for step in train(run, corpus.training, group, plan.precision, plan.micro_batches):
        seconds = time.perf_counter() - start_seconds
        is_ending = group.any(request.asked)
        if group.rank == 0 or group.sharded:
            row = asdict(step) | {"tokens_per_second": run.config.step_tokens / seconds}
            if promised is not None:
                row["mfu"] = flops / seconds / (promised * group.size)
            after_step(run, corpus, folder, group, plan, step, row, is_ending)
        if group.rank == 0:
            voice(row)
        if is_ending:
            raise EndedFromOutside(
                f"ended from outside; step {step.step} is saved, and --resume goes on there"
            )
        start_seconds = time.perf_counter()


def after_step(
    run: Run,
    corpus: Corpus,
    folder: Path,
    group: Alone,
    plan: Plan,
    step: Step,
    row: metrics.Row,
    is_ending: bool,
) -> None:
    """Validate, log and save, each when it is due; a model that is shared out takes all for it."""
    is_last = step.step == run.config.steps
    if step.step % plan.validate_every == 0 or is_last:
        row["validation_loss"] = validation_loss(run, corpus)
    if group.rank == 0:
        metrics.append_row(folder / LOG, row)
    is_due = step.step % plan.save_every == 0 or is_last or is_ending
    if is_due and group.sharded:
        sharding.save(folder, run)
    elif is_due:
        checkpoints.save(checkpoints.path_for(folder, step.step), run.state_dict())
        checkpoints.keep_newest(folder, 2)


def describe(run: Run, corpus: Corpus, group: Alone, precision: str) -> str:
    """Say what is about to happen."""
    parameters = sum(weight.numel() for weight in run.model.parameters())
    return (
        f"{parameters:,} parameters, {len(corpus.training):,} tokens, {run.device} in {precision}, "
        f"{group.size} process{'es' * (group.size > 1)}, steps {run.step} to {run.config.steps}"
    )


def report(run: Run, corpus: Corpus, folder: Path, is_heard: bool = True) -> None:
    """Judge the model by text it has not seen, draw the log, and let it tell something."""
    found, story = judge(run, corpus), tell(run, corpus)
    if not is_heard:
        return
    rows = metrics.read_rows(folder / LOG)
    svg = metrics.picture(rows, levels_for(corpus))
    (folder / PICTURE).write_text(svg, encoding="utf-8")
    print(f"loss on all of the validation text {found.nats_per_token:.4f} nats per token, ", end="")
    print(f"{found.nats_per_byte:.4f} nats per byte")
    print(f"{folder / LOG}, {folder / PICTURE}, {newest(folder)}")
    print(story)


def all_checkpoints_in(folder: Path) -> list[Path]:
    """Return the checkpoints of a folder, of one piece or of parts, the newest last."""
    found = [*checkpoints.checkpoints_in(folder), *sharding.shards_in(folder)]
    return sorted(found, key=lambda path: path.stem)


def newest(folder: Path) -> Path:
    """Return the newest checkpoint of a folder, of one piece or of parts."""
    found = all_checkpoints_in(folder)
    return found[-1] if found else checkpoints.newest(folder)


def check(path: Path) -> None:
    """Raise `TrainingError` if a checkpoint is damaged."""
    if path.suffix == sharding.SUFFIX:
        sharding.check(path)
    else:
        checkpoints.checked_contents(path)


def go_on(run: Run, folder: Path, group: Alone) -> None:
    """Take up the newest checkpoint. One of parts serves any number of processes."""
    path = newest(folder)
    if path.suffix == sharding.SUFFIX:
        sharding.load(path, run)
    elif group.sharded:
        raise TrainingError(f"{path} is of one piece; go on from it without --sharding")
    else:
        run.load_state_dict(checkpoints.load(path))
