"""The learning rate of each step: up in a straight line, then one of two ways down."""

import math


def learning_rate(
    step: int, *, max_lr: float, min_lr: float, warm_up_steps: int, end_step: int
) -> float:
    """Return the learning rate of a step, counted from 0.

    It rises from 0 to `max_lr` at step `warm_up_steps`, falls to `min_lr` at `end_step`, and stays
    there. Source: Loshchilov and Hutter, SGDR, https://arxiv.org/abs/1608.03983.
    """
    if step < warm_up_steps:
        return max_lr * step / warm_up_steps
    if step >= end_step:
        return min_lr
    done = (step - warm_up_steps) / (end_step - warm_up_steps)
    return min_lr + (max_lr - min_lr) * (1 + math.cos(math.pi * done)) / 2


def warm_up_stable_decay(
    step: int, *, max_lr: float, min_lr: float, warm_up_steps: int, decay_steps: int, end_step: int
) -> float:
    """Return the learning rate of a step, counted from 0.

    It rises from 0 to `max_lr`, stays there, and falls in a straight line over the last
    `decay_steps`. Where it ends matters to the last steps only, so a run can be made longer from a
    checkpoint before them. Source: Hu et al., MiniCPM, https://arxiv.org/abs/2404.06395.
    """
    if step < warm_up_steps:
        return max_lr * step / warm_up_steps
    left = min(max((end_step - step) / decay_steps, 0.0), 1.0)
    return min_lr + (max_lr - min_lr) * left
