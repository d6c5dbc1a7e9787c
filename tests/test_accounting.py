"""Every formula of the calculator against the meter, on the device `meta`; and the command."""

import json
import subprocess
import sys
from pathlib import Path

import pytest
import torch
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from lecture.accounting import formulas
from lecture.accounting.cli import main
from lecture.lib import optim
from lecture.lib.presets import PRESETS
from lecture.lib.transformer import LayerCache, TransformerConfig, TransformerLM, cross_entropy
from lecture.part6_training.m18a_training_memory import AdamWWithMaster
from trace.costs import measure

ROOT = Path(__file__).parent.parent
GPT2_SHAPES = {  # vocabulary, context, layers, width, heads, feed-forward
    "gpt2-small": TransformerConfig(50_257, 1024, 12, 768, 12, 3072),
    "gpt2-medium": TransformerConfig(50_257, 1024, 24, 1024, 16, 4096),
    "gpt2-large": TransformerConfig(50_257, 1024, 36, 1280, 20, 5120),
    "gpt2-xl": TransformerConfig(50_257, 1024, 48, 1600, 25, 6400),
    "gpt2-xl, long": TransformerConfig(50_257, 16_384, 48, 1600, 25, 6400),
}
DTYPES = {torch.float32: 4, torch.bfloat16: 2}
OPTIMIZERS = {
    "sgd": optim.SGD,
    "momentum": lambda parameters: optim.SGD(parameters, momentum=0.9),
    "adagrad": optim.AdaGrad,
    "adamw": optim.AdamW,
    "adamw-master": AdamWWithMaster,
}


def check(
    config: TransformerConfig, tokens: int, batch: int, dtype: torch.dtype, optimizer: str
) -> None:
    """Train a step, then compute the loss of the next with the gradients still there."""
    element_bytes = DTYPES[dtype]
    text = torch.zeros(batch, tokens, dtype=torch.int64, device="meta")
    with measure() as cost:
        model = TransformerLM(config, device="meta", dtype=dtype)
        stepping = OPTIMIZERS[optimizer](model.parameters())
        with measure() as forward:
            loss = cross_entropy(model(text), text)
        kept = forward.live_bytes
        with measure() as backward:
            loss.backward()
        stepping.step()
        loss = cross_entropy(model(text), text)
        live = cost.live_bytes
    assert loss.requires_grad
    assert sum(weight.numel() for weight in model.parameters()) == formulas.parameters(config)
    flops = forward.matmul_flops, backward.matmul_flops
    sizes = config, tokens, batch
    assert flops == (formulas.forward_flops(*sizes), formulas.backward_flops(*sizes))
    assert sum(flops) == formulas.step_flops(*sizes)
    parts = formulas.activation_bytes_by_part(*sizes, element_bytes)
    assert kept["activations"] == sum(parts.values())
    assert kept["other tensors"] == formulas.constant_bytes(*sizes)
    live["masks and positions"] = live.pop("other tensors")
    assert live == formulas.training_bytes_by_part(*sizes, element_bytes, optimizer)
    assert sum(live.values()) == formulas.training_bytes(*sizes, element_bytes, optimizer)


@pytest.mark.parametrize("name", GPT2_SHAPES)
def test_gpt2_shapes(name: str) -> None:
    config = GPT2_SHAPES[name]
    check(config, config.context, 1, torch.float32, "adamw")


def test_gpt2_xl_in_bf16() -> None:
    check(GPT2_SHAPES["gpt2-xl"], 1024, 3, torch.bfloat16, "adamw-master")


def test_the_presets_are_these_shapes() -> None:
    assert {**PRESETS, "gpt2-xl, long": GPT2_SHAPES["gpt2-xl, long"]} == GPT2_SHAPES


@st.composite
def configurations(draw: st.DrawFn) -> TransformerConfig:
    """Sizes from 2 on: a product with a side of 1 is computed by PyTorch element by element."""
    heads = draw(st.integers(1, 5))
    return TransformerConfig(
        vocabulary=draw(st.integers(2, 100)),
        context=draw(st.integers(2, 40)),
        layers=draw(st.integers(1, 2)),
        width=heads * 2 * draw(st.integers(1, 5)),
        heads=heads,
        feed_forward=draw(st.integers(2, 50)),
    )


@settings(max_examples=200)
@given(
    config=configurations(),
    batch=st.integers(1, 4),
    dtype=st.sampled_from(list(DTYPES)),
    optimizer=st.sampled_from(list(OPTIMIZERS)),
    data=st.data(),
)
def test_any_configuration(
    config: TransformerConfig,
    batch: int,
    dtype: torch.dtype,
    optimizer: str,
    data: st.DataObject,
) -> None:
    assume(optimizer != "adamw-master" or dtype != torch.float32)
    check(config, data.draw(st.integers(2, config.context)), batch, dtype, optimizer)


def test_every_optimizer_is_measured() -> None:
    assert set(OPTIMIZERS) == set(formulas.OPTIMIZER_NUMBERS)


@settings(max_examples=50)
@given(config=configurations(), batch=st.integers(1, 4), dtype=st.sampled_from(list(DTYPES)))
def test_the_cache_of_any_configuration(
    config: TransformerConfig, batch: int, dtype: torch.dtype
) -> None:
    model = TransformerLM(config, device="meta", dtype=dtype)
    text = torch.zeros(batch, config.context, dtype=torch.int64, device="meta")
    caches = [LayerCache() for _ in range(config.layers)]
    with torch.no_grad():
        model(text[:, :1], caches)
        model(text[:, 1:], caches)
    kept = [tensor for cache in caches for tensor in (cache.key, cache.value)]
    assert sum(tensor.untyped_storage().nbytes() for tensor in kept) == formulas.cache_bytes(
        config, config.context, batch, DTYPES[dtype]
    )


@given(config=configurations(), memory_bytes=st.integers(1, 10**9))
def test_one_sequence_more_than_the_largest_batch_does_not_fit(
    config: TransformerConfig, memory_bytes: int
) -> None:
    largest = formulas.largest_batch(config, config.context, memory_bytes)
    assert formulas.training_bytes(config, config.context, largest + 1) > memory_bytes
    if largest:
        assert formulas.training_bytes(config, config.context, largest) <= memory_bytes


def test_days_are_steps_times_seconds() -> None:
    config = GPT2_SHAPES["gpt2-small"]
    seconds_of_a_sequence = 3 * 349_630_365_696 / (0.25 * 1e13)  # forward, and twice that back
    days = formulas.training_days(config, 1024, 1024 * 1_000_000, 1e13, 0.25)
    assert days == pytest.approx(1_000_000 * seconds_of_a_sequence / (24 * 60 * 60))


# The command.

XL = ("--layers=48", "--width=1600", "--heads=25", "--feed-forward=6400")
XL_IN_FULL = (*XL, "--vocabulary=50257", "--context=1024")


def printed(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    assert main(arguments) == 0
    output, errors = capsys.readouterr()
    assert errors == ""
    return output


def test_the_sheet_in_full(capsys: pytest.CaptureFixture[str]) -> None:
    output = printed(capsys, *XL_IN_FULL, "--accelerator=a100-sxm", "--tokens=4.194304e11")
    rows = {line[:30].strip(): line[30:].strip() for line in output.splitlines()}
    assert rows["norms"].startswith("1 907 494 912")
    assert rows["training step"] == "13 540 009 574 400"
    assert rows["memory"] == "80 000 000 000  74.51 GiB"
    assert rows["largest batch"] == "3"
    assert rows["keys and values, per token"] == "614 400"
    assert rows["tokens"] == "419 430 400 000"
    assert rows["days"] == "8 229.45"
    assert output.splitlines()[-1] == "  on 1 × A100 SXM, MFU 0.4 of the dense fp32 peak"
    assert max(len(line) for line in output.splitlines()) <= 80


def test_without_a_device_there_are_no_days(capsys: pytest.CaptureFixture[str]) -> None:
    output = printed(capsys, "--shape=gpt2-small")
    assert "largest batch" not in output
    assert "days" not in output
    assert "matmul FLOPs" in output


def test_a_shape_says_the_same_as_its_sizes(capsys: pytest.CaptureFixture[str]) -> None:
    assert printed(capsys, "--shape=gpt2-xl") == printed(capsys, *XL_IN_FULL)


def test_sizes_change_a_shape(capsys: pytest.CaptureFixture[str]) -> None:
    changed = json.loads(printed(capsys, "--shape=gpt2-xl", "--context=16384", "--json"))
    assert sum(changed["forward_flops"].values()) == 149_522_795_724_800


def test_json_has_the_figures_of_the_formulas(capsys: pytest.CaptureFixture[str]) -> None:
    options = ("--dtype=bf16", "--optimizer=adamw-master", "--batch=3", "--memory-gib=80")
    sheet = json.loads(printed(capsys, "--shape=gpt2-xl", *options, "--json"))
    config = PRESETS["gpt2-xl"]
    assert sheet["parameters"] == formulas.parameters_by_part(config)
    assert sheet["forward_flops"] == formulas.forward_flops_by_part(config, 1024, 3)
    assert sheet["backward_flops"] == formulas.backward_flops(config, 1024, 3)
    assert sheet["activation_bytes"] == formulas.activation_bytes_by_part(config, 1024, 3, 2)
    assert sheet["training_bytes"] == formulas.training_bytes_by_part(
        config, 1024, 3, 2, "adamw-master"
    )
    assert sheet["cache_bytes_per_token"] == 307_200
    assert sheet["memory_bytes"] == 80 * 2**30
    assert sheet["largest_batch"] == formulas.largest_batch(
        config, 1024, 80 * 2**30, 2, "adamw-master"
    )
    assert sheet["training_tokens"] == 20 * formulas.parameters(config)
    assert sheet["training_flops"] == 13_540_009_574_400 // 1024 * sheet["training_tokens"]


def test_more_devices_need_fewer_days(capsys: pytest.CaptureFixture[str]) -> None:
    options = ("--shape=gpt2-xl", "--accelerator=h100-sxm", "--dtype=bf16", "--mfu=0.5", "--json")
    one, eight = (
        json.loads(printed(capsys, *options, f"--devices={devices}")) for devices in (1, 8)
    )
    assert one["training_days"] == pytest.approx(8 * eight["training_days"])
    seconds = one["training_flops"] / (0.5 * 989.5e12)
    assert one["training_days"] == pytest.approx(seconds / 86_400)


# arguments -> the sentence
IMPOSSIBLE = [
    (("--layers=48",), "Give --shape, or all sizes; what is missing: --width, --heads, "),
    (("--shape=gpt2-xl", "--heads=7"), "width must be a multiple of heads: 1600 features cannot"),
    (("--shape=gpt2-xl", "--layers=0"), "layers must be a whole number of at least 1, not 0."),
    (("--shape=gpt2-xl", "--width=25"), "a head must have an even number of features, as rotary"),
    (("--shape=gpt2-xl", "--batch=0"), "batch must be at least 1, not 0."),
    (("--shape=gpt2-xl", "--devices=-1"), "devices must be at least 1, not -1."),
    (("--shape=gpt2-xl", "--mfu=1.5"), "the MFU is a share of the peak, above 0 and at most 1"),
    (("--shape=gpt2-xl", "--mfu=0"), "the MFU is a share of the peak, above 0 and at most 1"),
    (("--shape=gpt2-xl", "--mfu=nan"), "the MFU is a share of the peak, above 0 and at most 1"),
    (("--shape=gpt2-xl", "--tokens=inf"), "--tokens must be a finite number, not inf."),
    (("--shape=gpt2-xl", "--tokens=0"), "training tokens must be at least 1, not 0."),
    (("--shape=gpt2-xl", "--memory-gib=-1"), "memory bytes must be at least 1, not -1073741824."),
    (("--shape=gpt2-xl", "--accelerator=b200"), "B200 has no fp32 rate on its data sheet."),
    (("--shape=gpt2-xl", "--optimizer=adamw-master"), "a master copy is for weights in fewer bits"),
    (("--shape=gpt2-xl", f"--layers={10**400}"), "These sizes are too large to compute with."),
]


@pytest.mark.parametrize(("arguments", "sentence"), IMPOSSIBLE)
def test_the_impossible_gets_one_sentence(
    arguments: tuple[str, ...], sentence: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(arguments) == 2
    output, errors = capsys.readouterr()
    assert output == ""
    assert errors.startswith(sentence)
    assert len(errors.splitlines()) == 1


def test_what_does_not_fit_at_all(capsys: pytest.CaptureFixture[str]) -> None:
    sheet = json.loads(printed(capsys, "--shape=gpt2-xl", "--memory-gib=1", "--json"))
    assert sheet["largest_batch"] == 0


def test_the_module_runs() -> None:
    command = [sys.executable, "-m", "lecture.accounting", "--shape=gpt2-small", "--heads=7"]
    finished = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    assert (finished.returncode, finished.stdout) == (2, "")
    assert finished.stderr.startswith("width must be a multiple of heads")
    by_file = [sys.executable, "lecture/accounting/__main__.py"]
    finished = subprocess.run(by_file, cwd=ROOT, capture_output=True, text=True)
    assert finished.returncode == 2
    assert finished.stderr == ("Run it from the repository root: python -m lecture.accounting\n")
