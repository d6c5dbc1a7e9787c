"""Models whose shapes are known by a name."""

from lecture.facts import GPT2_CONTEXT_TOKENS, GPT2_SIZES, GPT2_VOCABULARY
from lecture.lib.transformer import TransformerConfig

# Layers, width and heads of the four GPT-2 models, in the parts of `lecture/lib/transformer.py`,
# with a feed-forward network four times as wide.
PRESETS = {
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
