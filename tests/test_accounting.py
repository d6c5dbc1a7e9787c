"""Every formula of the calculator against the meter, on the device `meta`."""

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from lecture.accounting import formulas as accounting
from lecture.transformer import TransformerConfig, TransformerLM, cross_entropy
from trace.costs import Cost, measure

GPT2_SHAPES = {  # vocabulary, context, layers, width, heads, feed-forward
    "small": TransformerConfig(50_257, 1024, 12, 768, 12, 3072),
    "medium": TransformerConfig(50_257, 1024, 24, 1024, 16, 4096),
    "large": TransformerConfig(50_257, 1024, 36, 1280, 20, 5120),
    "xl": TransformerConfig(50_257, 1024, 48, 1600, 25, 6400),
    "xl, long": TransformerConfig(50_257, 16_384, 48, 1600, 25, 6400),
}
DTYPES = {torch.float32: 4, torch.bfloat16: 2}


def measured(
    config: TransformerConfig, tokens: int, batch: int, dtype: torch.dtype
) -> tuple[Cost, Cost, Cost]:
    """What the meter finds in building, forward pass with loss, and backward pass."""
    with measure() as building:
        model = TransformerLM(config, device="meta", dtype=dtype)
    text = torch.zeros(batch, tokens, dtype=torch.int64, device="meta")
    with measure() as forward:
        loss = cross_entropy(model(text), text)
    with measure() as backward:
        loss.backward()
    return building, forward, backward


def check(config: TransformerConfig, tokens: int, batch: int, dtype: torch.dtype) -> None:
    building, forward, backward = measured(config, tokens, batch, dtype)
    element_bytes = DTYPES[dtype]
    parameters = sum(accounting.parameters_by_part(config).values())
    flops = sum(accounting.forward_flops_by_part(config, tokens, batch).values())
    kept = accounting.activation_bytes_by_part(config, tokens, batch, element_bytes)
    assert building.live_bytes["parameters"] == element_bytes * parameters
    assert forward.matmul_flops == flops
    assert backward.matmul_flops == accounting.backward_flops(config, tokens, batch)
    assert forward.live_bytes["activations"] == sum(kept.values())
    assert forward.live_bytes["other tensors"] == accounting.constant_bytes(config, tokens, batch)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("name", GPT2_SHAPES)
def test_gpt2_shapes(name: str, dtype: torch.dtype) -> None:
    config = GPT2_SHAPES[name]
    check(config, config.context, 1, dtype)


@st.composite
def configurations(draw: st.DrawFn) -> TransformerConfig:
    """Sizes from 2 on: a product with a side of 1 is computed by PyTorch element by element."""
    heads = draw(st.integers(1, 5))
    return TransformerConfig(
        vocabulary=draw(st.integers(2, 100)),
        context=draw(st.integers(2, 40)),
        layers=draw(st.integers(1, 3)),
        width=heads * 2 * draw(st.integers(1, 5)),
        heads=heads,
        feed_forward=draw(st.integers(2, 50)),
    )


@settings(max_examples=200, deadline=None)
@given(
    config=configurations(),
    batch=st.integers(1, 4),
    dtype=st.sampled_from(list(DTYPES)),
    data=st.data(),
)
def test_any_configuration(
    config: TransformerConfig, batch: int, dtype: torch.dtype, data: st.DataObject
) -> None:
    check(config, data.draw(st.integers(2, config.context)), batch, dtype)
