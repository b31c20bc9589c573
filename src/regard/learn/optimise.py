"""Optimisers: how gradients move the weights. Each is PyTorch's own, but for LAMB, with its settings."""

from __future__ import annotations

import re
from typing import Any, ClassVar

from torch import nn, optim

from regard.errors import UsageError
from regard.learn.distribute import is_sharded
from regard.learn.lamb import Lamb as LambOptimizer
from regard.learn.settings import TrainSettings
from regard.registry import part
from regard.types import AtLeastZero, Positive, Share

Groups = list[dict[str, Any]]


class Optimiser:
    """What every optimiser offers. `copies` is how many numbers it keeps for each weight."""

    copies: int = 2
    shards: ClassVar[bool] = True  # can it move weights that are divided among processes?

    def __init__(self, rate: float, weight_decay: float) -> None:
        self.rate, self.weight_decay = rate, weight_decay

    def of(self, groups: Groups, sharded: bool) -> optim.Optimizer:
        """PyTorch's optimiser of these groups of weights, `sharded` among processes or whole.

        The fused kernels take a tenth of the time of the plain ones on a CPU; some optimisers have none.
        """
        raise TypeError(f"{type(self).__name__} does not say which optimiser it is")


@part("optimiser", "adam")
class Adam(Optimiser):
    """Adam (Kingma and Ba 2015).

    Settings:
        betas: what is kept of the mean and of the square of the gradients.
        epsilon: keeps the step from dividing by zero.
        weight_decay: how strongly matrices are drawn to zero, as a term of the gradient; vectors never are.
    """

    kind: ClassVar[type[optim.Adam]] = optim.Adam

    def __init__(
        self,
        rate: float,
        *,
        betas: tuple[Share, Share] = (0.9, 0.999),
        epsilon: Positive = 1e-8,
        weight_decay: AtLeastZero = 0.0,
    ) -> None:
        super().__init__(rate, weight_decay)
        self.betas, self.epsilon = betas, epsilon

    def of(self, groups: Groups, sharded: bool) -> optim.Optimizer:
        """The fused one."""
        return self.kind(groups, lr=self.rate, betas=self.betas, eps=self.epsilon, fused=True)


@part("optimiser", "adamw")
class AdamW(Adam):
    """Adam whose weight decay stands apart from the gradient (Loshchilov and Hutter 2019).

    Settings:
        betas: what is kept of the mean and of the square of the gradients.
        epsilon: keeps the step from dividing by zero.
        weight_decay: how strongly matrices are drawn to zero at each update; vectors never are.
    """

    kind = optim.AdamW

    def __init__(
        self,
        rate: float,
        *,
        betas: tuple[Share, Share] = (0.9, 0.999),
        epsilon: Positive = 1e-8,
        weight_decay: AtLeastZero = 0.01,
    ) -> None:
        super().__init__(rate, betas=betas, epsilon=epsilon, weight_decay=weight_decay)


@part("optimiser", "sgd")
class SGD(Optimiser):
    """Stochastic gradient descent.

    Settings:
        momentum: what is kept of the step before.
        nesterov: look ahead by the momentum before the gradient counts (Nesterov 1983).
        weight_decay: how strongly matrices are drawn to zero, as a term of the gradient; vectors never are.
    """

    def __init__(
        self, rate: float, *, momentum: Share = 0.0, nesterov: bool = False, weight_decay: AtLeastZero = 0.0
    ) -> None:
        super().__init__(rate, weight_decay)
        if nesterov and not momentum:
            raise UsageError(
                "nesterov looks ahead by the momentum, and momentum is 0.",
                hint="Write momentum = 0.9, or nesterov = false.",
            )
        self.momentum, self.nesterov, self.copies = momentum, nesterov, int(momentum > 0)

    def of(self, groups: Groups, sharded: bool) -> optim.Optimizer:
        """The fused one, which cannot take divided weights."""
        return optim.SGD(groups, lr=self.rate, momentum=self.momentum, nesterov=self.nesterov, fused=not sharded)


@part("optimiser", "adadelta")
class Adadelta(Optimiser):
    """Adadelta (Zeiler 2012): steps as long as the steps before, whatever the gradient's scale.

    Settings:
        rho: what is kept of the squares of gradients and steps.
        epsilon: keeps the step from dividing by zero, and the first steps from being zero.
        weight_decay: how strongly matrices are drawn to zero, as a term of the gradient; vectors never are.
    """

    def __init__(
        self, rate: float, *, rho: Share = 0.9, epsilon: Positive = 1e-6, weight_decay: AtLeastZero = 0.0
    ) -> None:
        super().__init__(rate, weight_decay)
        self.rho, self.epsilon = rho, epsilon

    def of(self, groups: Groups, sharded: bool) -> optim.Optimizer:
        """The plain one."""
        return optim.Adadelta(groups, lr=self.rate, rho=self.rho, eps=self.epsilon)


@part("optimiser", "rmsprop")
class RMSprop(Optimiser):
    """RMSprop (Tieleman and Hinton 2012): the gradient divided by its own recent size.

    Settings:
        alpha: what is kept of the squares of the gradients.
        epsilon: keeps the step from dividing by zero.
        momentum: what is kept of the step before.
        weight_decay: how strongly matrices are drawn to zero, as a term of the gradient; vectors never are.
    """

    def __init__(
        self,
        rate: float,
        *,
        alpha: Share = 0.99,
        epsilon: Positive = 1e-8,
        momentum: Share = 0.0,
        weight_decay: AtLeastZero = 0.0,
    ) -> None:
        super().__init__(rate, weight_decay)
        self.alpha, self.epsilon, self.momentum, self.copies = alpha, epsilon, momentum, 1 + int(momentum > 0)

    def of(self, groups: Groups, sharded: bool) -> optim.Optimizer:
        """The plain one."""
        return optim.RMSprop(groups, lr=self.rate, alpha=self.alpha, eps=self.epsilon, momentum=self.momentum)


@part("optimiser", "adafactor")
class Adafactor(Optimiser):
    """Adafactor (Shazeer and Stern 2018): of a matrix's squared gradients only the sums of rows and columns are kept.

    Settings:
        weight_decay: how strongly matrices are drawn to zero at each update; vectors never are.
    """

    copies = 0  # next to nothing: a row and a column of each matrix
    shards = False

    def __init__(self, rate: float, *, weight_decay: AtLeastZero = 0.0) -> None:
        super().__init__(rate, weight_decay)

    def of(self, groups: Groups, sharded: bool) -> optim.Optimizer:
        """The plain one; its sums are of whole matrices."""
        return optim.Adafactor(groups, lr=self.rate)


@part("optimiser", "lamb")
class Lamb(Optimiser):
    """LAMB (You et al. 2020): Adam whose step for each matrix is as long as the matrix, times the rate.

    Settings:
        betas: what is kept of the mean and of the square of the gradients.
        epsilon: keeps the step from dividing by zero.
        weight_decay: how strongly matrices are drawn to zero at each update; vectors never are.
    """

    shards = False

    def __init__(
        self,
        rate: float,
        *,
        betas: tuple[Share, Share] = (0.9, 0.999),
        epsilon: Positive = 1e-6,
        weight_decay: AtLeastZero = 0.01,
    ) -> None:
        super().__init__(rate, weight_decay)
        self.betas, self.epsilon = betas, epsilon

    def of(self, groups: Groups, sharded: bool) -> optim.Optimizer:
        """Our own; its lengths are of whole matrices."""
        return LambOptimizer(groups, lr=self.rate, betas=self.betas, eps=self.epsilon)


def optimiser_for(model: nn.Module, settings: TrainSettings) -> optim.Optimizer:
    """The optimiser of all weights of a model that are to move; weight decay draws matrices only."""
    chosen: Optimiser = settings.optimiser(settings.rate)
    every, sharded = [each for each in model.parameters() if each.requires_grad], is_sharded(model)
    if sharded and not chosen.shards:
        raise UsageError(
            f'shard = true does not go with optimiser = "{settings.optimiser.name}", which looks at whole matrices.',
            hint="Take another optimiser, or shard = false.",
        )
    groups = [
        {"params": [each for each in some if (each.dim() > 1) == matrices], "weight_decay": decay, "scale": scale}
        for scale, some in _by_layer(model, every, settings.layer_decay)
        for matrices, decay in ((True, chosen.weight_decay), (False, 0.0))
    ]
    return chosen.of([group for group in groups if group["params"]], sharded)


def _by_layer(model: nn.Module, every: list[nn.Parameter], decay: float) -> list[tuple[float, list[nn.Parameter]]]:
    """Weights of one rate together, and which share of the rate it is: the less the lower their layer."""
    if decay == 1.0:
        return [(1.0, every)]
    depths = {id(weight): _depth(name) for name, weight in model.named_parameters()}
    layers = sorted({depth for depth in depths.values() if depth is not None})
    shares = {depth: decay ** (len(layers) - place) for place, depth in enumerate(layers)}
    found: dict[float, list[nn.Parameter]] = {}
    for each in every:
        depth = depths.get(id(each))
        found.setdefault(1.0 if depth is None else shares[depth], []).append(each)
    return sorted(found.items())


def _depth(name: str) -> int | None:
    """The layer of a weight, by its name: 0 of the embedding, then the layers of the encoder; None above them."""
    if name.startswith("embed."):
        return 0
    match = re.match(r"encode\.layers\.(\d+)\.", name)
    return None if match is None else int(match[1]) + 1


def copies_of(settings: TrainSettings) -> int:
    """How many numbers the optimiser keeps for each weight."""
    return int(settings.optimiser(settings.rate).copies)
