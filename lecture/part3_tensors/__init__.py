"""Tensors: what numbers are made of, where they lie, and what is done with them."""
