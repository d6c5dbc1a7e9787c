"""Models: from parameters at the start to the cost of a Transformer."""
