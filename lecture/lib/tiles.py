"""A matmul, tile by tile."""

import itertools
import math

import torch
from einops import rearrange
from jaxtyping import Float
from torch import Tensor

from lecture.lib.shapes import shape_checked


@shape_checked
def product_by_tiles(
    x: Float[Tensor, "m n"], w: Float[Tensor, "n p"], tile: int
) -> tuple[Float[Tensor, "m p"], int]:
    """Multiply in square tiles, the last ones filled up with zeros; count products of tiles."""
    (m, n), p = x.shape, w.shape[1]
    rows, inner, columns = (math.ceil(size / tile) for size in (m, n, p))
    padded_x, padded_w = (
        torch.zeros(rows * tile, inner * tile),
        torch.zeros(inner * tile, columns * tile),
    )
    padded_x[:m, :n], padded_w[:n, :p] = x, w
    x_tiles = rearrange(padded_x, "(i r) (j s) -> i j r s", r=tile, s=tile)
    w_tiles = rearrange(padded_w, "(j s) (k c) -> j k s c", s=tile, c=tile)
    y_tiles = torch.zeros(rows, columns, tile, tile)
    products = 0
    for i, j, k in itertools.product(range(rows), range(inner), range(columns)):
        y_tiles[i, k] += x_tiles[i, j] @ w_tiles[j, k]
        products += 1
    y = rearrange(y_tiles, "i k r c -> (i r) (k c)")
    return y[:m, :p], products


@shape_checked
def product_by_slices(
    x: Float[Tensor, "n n"], w: Float[Tensor, "n n"], tile: int, depth: int
) -> tuple[Float[Tensor, "n n"], int]:  # @stepover
    """Multiply with one tile of the result at a time; count the numbers that are loaded for it.

    The tile stays near while slices of x and w, `depth` numbers deep, pass by.
    """
    y, loaded = torch.zeros_like(x), 0
    starts = range(0, len(x), tile)
    for row, column in itertools.product(starts, starts):
        sums = torch.zeros(tile, tile)
        for inner in range(0, len(x), depth):
            x_slice = x[row : row + tile, inner : inner + depth]
            w_slice = w[inner : inner + depth, column : column + tile]
            loaded += x_slice.numel() + w_slice.numel()
            sums += x_slice @ w_slice
        y[row : row + tile, column : column + tile] = sums
    return y, loaded


@shape_checked
def whole_numbers(rows: int, columns: int, seed: int) -> Float[Tensor, "rows columns"]:  # @stepover
    """Draw from -9 to 9: products of such numbers are not rounded."""
    generator = torch.Generator().manual_seed(seed)
    return torch.randint(-9, 10, (rows, columns), generator=generator).float()
