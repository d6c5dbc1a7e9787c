"""Optimizers from scratch, with the interface of `torch.optim`.

They change the parameters in place, and besides what they keep they write no tensor with more
numbers than one parameter. What they keep is in fp32 also for parameters in fewer bits, and stays
so when it is loaded.
The names of the settings are PyTorch's.
"""

import math
from collections.abc import Callable, Iterable
from numbers import Real
from typing import Any

import torch
from jaxtyping import Float
from torch import Tensor

from lecture.lib.shapes import shape_checked

Parameters = Iterable[torch.nn.Parameter] | Iterable[dict[str, Any]]
Settings = dict[str, Any]


def check_number(name: str, value: object) -> None:
    """Refuse a setting that is no number or out of range."""
    fits = isinstance(value, Real) and value >= 0
    if name in ("momentum", "alpha", "betas"):  # the share of the past that is kept
        fits, bound = fits and value < 1, "of at least 0 and below 1"
    elif name == "dampening":
        fits, bound = fits and value <= 1, "from 0 to 1"
    else:
        fits, bound = fits and value < math.inf, "of at least 0 and finite"
    if not fits:
        raise ValueError(f"{name} has to be a number {bound}, and is {value!r}")


def check_settings(settings: Settings) -> None:
    """Refuse settings with which no step could be made."""
    for name, value in settings.items():
        if name == "betas":
            if not isinstance(value, tuple | list) or len(value) != 2:
                raise ValueError(f"betas has to be a pair of numbers, and is {value!r}")
            for beta in value:
                check_number(name, beta)
        elif name == "nesterov":
            if value and (not settings["momentum"] or settings["dampening"]):
                raise ValueError("nesterov needs a momentum above 0 and a dampening of 0")
        else:
            check_number(name, value)


@shape_checked
def zeros_for(weight: Float[Tensor, "*axes"]) -> Float[Tensor, "*axes"]:
    """Make room for a number per parameter, in fp32 or better."""
    return torch.zeros_like(weight, dtype=torch.promote_types(weight.dtype, torch.float32))


def plain(method: Callable[..., Any]) -> Callable[..., Any]:
    """Return a method of PyTorch's without the decorator that keeps its compiler away, and for that
    imports it, which takes as long as to import torch itself."""
    return getattr(method, "__wrapped__", method)


class Optimizer(torch.optim.Optimizer):
    """What all optimizers share: they visit each parameter that has a gradient.

    Parameters come in groups, and each group may have settings of its own. `state` has a dictionary
    for each parameter, which is empty before its first step.
    """

    def __init__(self, parameters: Parameters, **settings: object) -> None:  # @stepover
        super().__init__(parameters, settings)

    def add_param_group(self, param_group: dict[str, Any]) -> None:  # @stepover
        settings = {name: param_group.get(name, value) for name, value in self.defaults.items()}
        check_settings(settings)
        plain(torch.optim.Optimizer.add_param_group)(self, param_group)

    def zero_grad(self, set_to_none: bool = True) -> None:  # @stepover
        plain(torch.optim.Optimizer.zero_grad)(self, set_to_none)

    @torch.no_grad()
    def step(self, closure: Callable[[], float] | None = None) -> float | None:  # @stepover
        """Change the parameters; a closure computes the loss and its gradients before."""
        loss = None
        if closure is not None:
            with torch.enable_grad():
                loss = closure()
        for group in self.param_groups:
            for weight in group["params"]:
                if weight.grad is None:
                    continue
                if weight.grad.is_sparse or weight.grad.is_complex():
                    raise ValueError(f"{type(self).__name__} takes dense gradients of real numbers")
                self.update(weight, weight.grad, self.state[weight], group)
        return loss

    def update(self, weight: Tensor, gradient: Tensor, state: Settings, group: Settings) -> None:
        """Change one parameter, and what is kept for it.

        PyTorch has seen to it that a gradient has the shape of its parameter. To check it again
        would take ten times as long as the update of a small one.
        """
        raise NotImplementedError

    def state_dict(self) -> dict[str, Any]:  # @stepover
        return plain(torch.optim.Optimizer.state_dict)(self)

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:  # @stepover
        """Go on from a saved state. PyTorch turns what was kept into the format of the parameter
        and may share it with the dictionary; here it stays in its own, as a copy."""
        plain(torch.optim.Optimizer.load_state_dict)(self, state_dict)
        weights = [weight for group in self.param_groups for weight in group["params"]]
        numbers = [number for group in state_dict["param_groups"] for number in group["params"]]
        for weight, number in zip(weights, numbers, strict=True):
            for name, value in state_dict["state"].get(number, {}).items():
                if isinstance(value, Tensor):
                    self.state[weight][name] = value.to(weight.device, copy=True)


class SGD(Optimizer):
    """Go against the gradient, or with momentum against a sum in which old gradients fade."""

    def __init__(
        self,
        parameters: Parameters,
        lr: float = 1e-3,
        momentum: float = 0.0,
        dampening: float = 0.0,
        weight_decay: float = 0.0,
        nesterov: bool = False,
    ) -> None:  # @stepover
        super().__init__(
            parameters,
            lr=lr,
            momentum=momentum,
            dampening=dampening,
            weight_decay=weight_decay,
            nesterov=nesterov,
        )

    def update(self, weight: Tensor, gradient: Tensor, state: Settings, group: Settings) -> None:
        momentum = group["momentum"]
        if group["weight_decay"]:
            gradient = gradient.add(weight, alpha=group["weight_decay"])
        if momentum:
            if not state:
                state["velocity"] = zeros_for(weight).copy_(gradient)
            else:
                velocity = state["velocity"].mul_(momentum)
                velocity.add_(gradient, alpha=1 - group["dampening"])
            if group["nesterov"]:
                gradient = gradient.add(state["velocity"], alpha=momentum)
            else:
                gradient = state["velocity"]
        weight.add_(gradient, alpha=-group["lr"])


class AdaGrad(Optimizer):
    """Divide each gradient by the root of the sum of its squares so far."""

    def __init__(
        self, parameters: Parameters, lr: float = 1e-2, eps: float = 1e-10, weight_decay: float = 0
    ) -> None:  # @stepover
        super().__init__(parameters, lr=lr, eps=eps, weight_decay=weight_decay)

    def update(self, weight: Tensor, gradient: Tensor, state: Settings, group: Settings) -> None:
        """AdaGrad, for one parameter."""
        if not state:
            state["square_sum"] = zeros_for(weight)
        if group["weight_decay"]:
            gradient = gradient.add(weight, alpha=group["weight_decay"])
        state["square_sum"].addcmul_(gradient, gradient)
        divisor = state["square_sum"].sqrt().add_(group["eps"])
        weight.addcdiv_(gradient, divisor, value=-group["lr"])


class RMSProp(Optimizer):
    """Divide each gradient by the root of a running average of its squares."""

    def __init__(
        self,
        parameters: Parameters,
        lr: float = 1e-2,
        alpha: float = 0.99,
        eps: float = 1e-8,
        weight_decay: float = 0,
    ) -> None:  # @stepover
        super().__init__(parameters, lr=lr, alpha=alpha, eps=eps, weight_decay=weight_decay)

    def update(self, weight: Tensor, gradient: Tensor, state: Settings, group: Settings) -> None:
        if not state:
            state["square_average"] = zeros_for(weight)
        if group["weight_decay"]:
            gradient = gradient.add(weight, alpha=group["weight_decay"])
        average = state["square_average"].mul_(group["alpha"])
        average.addcmul_(gradient, gradient, value=1 - group["alpha"])
        divisor = average.sqrt().add_(group["eps"])
        weight.addcdiv_(gradient, divisor, value=-group["lr"])


class AdamW(Optimizer):
    """Divide a running average of gradients by the root of one of their squares, and shrink the
    weights apart from that."""

    def __init__(
        self,
        parameters: Parameters,
        lr: float = 1e-3,
        betas: tuple[float, float] = (0.9, 0.999),
        eps: float = 1e-8,
        weight_decay: float = 1e-2,
    ) -> None:  # @stepover
        super().__init__(parameters, lr=lr, betas=betas, eps=eps, weight_decay=weight_decay)

    def update(self, weight: Tensor, gradient: Tensor, state: Settings, group: Settings) -> None:
        """AdamW, for one parameter."""
        if not state:
            state.update(step=0, m=zeros_for(weight), v=zeros_for(weight))
        lr, (beta1, beta2), decay = group["lr"], group["betas"], group["weight_decay"]
        state["step"] += 1
        if decay:
            weight.mul_(1 - lr * decay)
        m = state["m"].lerp_(gradient.to(state["m"].dtype), 1 - beta1)
        v = state["v"].mul_(beta2).addcmul_(gradient, gradient, value=1 - beta2)
        # The averages start at zero and have to be divided by what they have seen.
        seen_of_m = 1 - beta1 ** state["step"]
        root_of_seen_of_v = math.sqrt(1 - beta2 ** state["step"])
        divisor = v.sqrt().div_(root_of_seen_of_v).add_(group["eps"])
        weight.addcdiv_(m, divisor, value=-lr / seen_of_m)


@shape_checked
def orthogonalized(
    matrix: Float[Tensor, "rows columns"], iterations: int = 5
) -> Float[Tensor, "rows columns"]:
    """Bring the singular values of a matrix near 1, but for tiny ones; keep its singular vectors.

    Each iteration applies the polynomial 3.4445 s - 4.775 s³ + 2.0315 s⁵ to the singular values, by
    matmuls alone (Newton and Schulz). Source: K. Jordan, https://kellerjordan.github.io/posts/muon.
    """
    is_tall = matrix.shape[0] > matrix.shape[1]
    x = matrix.T if is_tall else matrix
    x = x / (x.norm() + 1e-7)  # now no singular value is above 1
    for _ in range(iterations):
        gram = x @ x.T
        x = 3.4445 * x + (-4.775 * gram + 2.0315 * gram @ gram) @ x
    return x.T if is_tall else x


class Muon(Optimizer):
    """For matrices between hidden features: step along a sum of gradients whose singular values
    were brought near 1.

    A step is about as long as AdamW's would be, 0.2 of the rate in the root mean square.
    Source: Liu et al., Muon is scalable for LLM training, https://arxiv.org/abs/2502.16982.
    """

    def __init__(
        self,
        parameters: Parameters,
        lr: float = 1e-3,
        momentum: float = 0.95,
        weight_decay: float = 0.1,
    ) -> None:  # @stepover
        super().__init__(parameters, lr=lr, momentum=momentum, weight_decay=weight_decay)

    def update(self, weight: Tensor, gradient: Tensor, state: Settings, group: Settings) -> None:
        if weight.ndim != 2:
            raise ValueError(f"Muon takes matrices, and this parameter has {weight.ndim} axes")
        if not state:
            state["velocity"] = zeros_for(weight)
        velocity = state["velocity"].mul_(group["momentum"]).add_(gradient)
        direction = orthogonalized(velocity.mul(group["momentum"]).add_(gradient))
        if group["weight_decay"]:
            weight.mul_(1 - group["lr"] * group["weight_decay"])
        weight.add_(direction, alpha=-group["lr"] * 0.2 * math.sqrt(max(weight.shape)))
