"""Models: from parameters at the start to the bill of a Transformer."""
