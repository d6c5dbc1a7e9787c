"""What goes wrong with a tokenizer because of what it was given."""


class TokenizerError(ValueError):
    """A sentence that says what was wrong and what is possible."""
