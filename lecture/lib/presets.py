"""Models whose shapes are known by a name."""

from lecture.facts import (
    GPT2_CONTEXT_TOKENS,
    GPT2_SIZES,
    GPT2_VOCABULARY,
    LLAMA3_CONTEXT_TOKENS,
    LLAMA3_ROTATION_BASE,
    LLAMA3_SIZES,
    LLAMA3_VOCABULARY,
    LLAMA_VOCABULARY,
    MIXTRAL_ACTIVE_EXPERTS,
    MIXTRAL_CONTEXT_TOKENS,
    MIXTRAL_EXPERTS,
    MIXTRAL_ROTATION_BASE,
    MIXTRAL_SIZES,
)
from lecture.lib.transformer import TransformerConfig

# Layers, width and heads of the four GPT-2 models, in the parts of `lecture/lib/transformer.py`,
# with a feed-forward network four times as wide.
_GPT2 = {
    f"gpt2-{name}": TransformerConfig(
        vocabulary=GPT2_VOCABULARY,
        context=GPT2_CONTEXT_TOKENS,
        layers=layers,
        width=width,
        heads=heads,
        feed_forward=4 * width,
    )
    for name, (layers, width, heads) in GPT2_SIZES.items()
}

# Llama 3 and Mixtral have these very parts: the parameters are theirs, to the last one.
_LLAMA3 = {
    f"llama-3-{name}": TransformerConfig(
        vocabulary=LLAMA3_VOCABULARY,
        context=LLAMA3_CONTEXT_TOKENS,
        layers=layers,
        width=width,
        heads=heads,
        feed_forward=feed_forward,
        key_value_heads=key_value_heads,
        rotation_base=LLAMA3_ROTATION_BASE,
    )
    for name, (layers, width, heads, key_value_heads, feed_forward) in LLAMA3_SIZES.items()
}
_LAYERS, _WIDTH, _HEADS, _KEY_VALUE_HEADS, _FEED_FORWARD = MIXTRAL_SIZES
_MIXTRAL = {
    "mixtral-8x7b": TransformerConfig(
        vocabulary=LLAMA_VOCABULARY,
        context=MIXTRAL_CONTEXT_TOKENS,
        layers=_LAYERS,
        width=_WIDTH,
        heads=_HEADS,
        feed_forward=_FEED_FORWARD,
        key_value_heads=_KEY_VALUE_HEADS,
        experts=MIXTRAL_EXPERTS,
        active_experts=MIXTRAL_ACTIVE_EXPERTS,
        rotation_base=MIXTRAL_ROTATION_BASE,
    )
}

PRESETS = _GPT2 | _LLAMA3 | _MIXTRAL
