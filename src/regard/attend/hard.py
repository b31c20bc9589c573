"""Hard attention: look at one key only (Xu et al. 2015, section 4.1).

In training one key z is drawn with the softmax probabilities. Drawing has no derivative, so the scores learn
from the score-function estimator (REINFORCE): the term

    - (log p(y) - b) log a_z  -  entropy * H[a]

goes to the loss through `hooks.LossTerm`, where log p(y) is the item's log-likelihood under the whole model and b
the moving average of it. Without b the estimate is right on average and far too noisy to learn from. In use
the best key is taken.
"""

from __future__ import annotations

import torch
from jaxtyping import Bool, Float
from torch import Tensor
from torch.nn import functional as F

from regard import masks
from regard.attend.choice import Allowed, Choice, Gates, Scores
from regard.hooks import LossTerm, tell
from regard.registry import part
from regard.types import Probability


@part("choice", "hard")
class Hard(Choice):
    """One key: drawn in training, the best one in use.

    Settings:
        baseline: how much of the moving average of the reward is kept at each step; 0 uses no baseline.
        entropy: weight of the entropy term, which keeps the model looking around.
        expected: share of training steps that take the soft weights instead of draws (Xu et al. use 0.5); all looks
            of a step do, or none.
        reward: weight of the score-function term against the likelihood (the paper's lambda_r).
    """

    average: Tensor
    seen: Tensor

    def __init__(
        self,
        key: int,
        *,
        baseline: Probability = 0.9,
        entropy: float = 0.002,
        expected: Probability = 0.0,
        reward: float = 1.0,
    ) -> None:
        super().__init__()
        self.keep, self.entropy, self.expected, self.reward = baseline, entropy, expected, reward
        self.register_buffer("average", torch.zeros(()))
        self.register_buffer("seen", torch.zeros(()))
        self._soft: bool | None = None  # what was drawn for the looks at a memory; None before there was one

    def prepare(self, keys: Float[Tensor, "*B K D"], mask: Bool[Tensor, "*#B K"]) -> None:
        """A memory to look at: draw whether all of that shall be soft."""
        self._soft = self.training and self._draws_soft()

    def _draws_soft(self) -> bool:
        return bool(self.expected and torch.rand(()) < self.expected)

    def forward(
        self, scores: Scores, allowed: Allowed, gates: Gates = None, real: Bool[Tensor, "*#B Q"] | None = None
    ) -> Scores:
        """All the weight on one allowed key; none where no key is allowed."""
        shares = masks.softmax(scores, allowed)
        if not self.training:
            best = F.one_hot(shares.argmax(-1), shares.shape[-1])
            return best.to(scores.dtype) * allowed
        if self._draws_soft() if self._soft is None else self._soft:
            return shares
        some = allowed.any(-1, keepdim=True)
        drawn = torch.multinomial((shares + ~some).flatten(0, -2).float(), 1)
        chosen = F.one_hot(drawn.view(shares.shape[:-1]), shares.shape[-1]).to(scores.dtype) * allowed
        self._tell(shares, chosen, some.squeeze(-1) if real is None else some.squeeze(-1) & real)
        return chosen

    def _tell(self, shares: Scores, chosen: Scores, counts: Bool[Tensor, "*#B #Q"]) -> None:
        logs = torch.log(shares.clamp(min=torch.finfo(shares.dtype).tiny))
        picked = ((chosen * logs).sum(-1) * counts).flatten(1).sum(1)
        spread = (-(shares * logs).sum(-1) * counts).flatten(1).sum(1)

        def term(likelihood: Float[Tensor, " B"]) -> Float[Tensor, ""]:
            return -(self.reward * (likelihood - self._baseline(likelihood)) * picked + self.entropy * spread).mean()

        tell(LossTerm(self, term, self._settle))

    def _baseline(self, likelihood: Float[Tensor, " B"]) -> Float[Tensor, ""]:
        """The moving average of the rewards before this one; of the first reward, its own mean."""
        if self.keep == 0:
            return torch.zeros_like(likelihood.mean())
        return self.average if self.seen else likelihood.mean()

    def _settle(self, likelihood: Float[Tensor, " B"]) -> None:
        """Move the average, once a training step, after the step's draws were judged by the one before."""
        self.average.copy_(self.keep * self._baseline(likelihood) + (1 - self.keep) * likelihood.mean())
        self.seen.fill_(1.0)
