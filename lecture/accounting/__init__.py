"""A calculator of what a Transformer costs: `python -m lecture.accounting`."""
