"""Text: from characters to the ids that a model reads."""
