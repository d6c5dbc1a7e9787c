"""Models that several tests run."""

import torch
import torch.nn.functional as F
from torch import nn

GPT2_VOCABULARY = 50_257


class Block(nn.Module):
    """Attention written out and a gated feed-forward layer of width 4d, without biases."""

    def __init__(self, width: int, heads: int) -> None:
        super().__init__()
        self.heads = heads
        self.norms = nn.ModuleList(nn.RMSNorm(width) for _ in range(2))
        self.projections = nn.ModuleList(nn.Linear(width, width, bias=False) for _ in range(4))
        self.gate = nn.Linear(width, 4 * width, bias=False)
        self.up = nn.Linear(width, 4 * width, bias=False)
        self.down = nn.Linear(4 * width, width, bias=False)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = x + self.attend(self.norms[0](x))
        y = self.norms[1](x)
        return x + self.down(F.silu(self.gate(y)) * self.up(y))

    def attend(self, x: torch.Tensor) -> torch.Tensor:
        query, key, value = (
            projection(x).unflatten(-1, (self.heads, -1)).transpose(1, 2)
            for projection in self.projections[:3]
        )
        weights = (query @ key.mT).softmax(-1)
        return self.projections[3]((weights @ value).transpose(1, 2).flatten(2))


class ModelOfGpt2Shape(nn.Module):
    """Embedding, blocks, norm and an output layer of its own; no positions, which cost nothing."""

    def __init__(self, layers: int, width: int, heads: int) -> None:
        super().__init__()
        self.embedding = nn.Embedding(GPT2_VOCABULARY, width)
        self.blocks = nn.ModuleList(Block(width, heads) for _ in range(layers))
        self.norm = nn.RMSNorm(width)
        self.head = nn.Linear(width, GPT2_VOCABULARY, bias=False)

    def forward(self, tokens: torch.Tensor) -> torch.Tensor:
        x = self.embedding(tokens)
        for block in self.blocks:
            x = block(x)
        return self.head(self.norm(x))
