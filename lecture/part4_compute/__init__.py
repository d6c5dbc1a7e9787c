"""Compute: FLOPs, the bytes they wait for, and the price of gradients."""
