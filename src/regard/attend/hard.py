"""Hard attention: look at one key only (Xu et al. 2015, section 4.1).

In training one key z is drawn with the softmax probabilities a, in use the best key is taken. Drawing has no
derivative, so the scores learn from an estimate of it. The score-function estimator (REINFORCE) is unbiased: the term

    - (R_t - b_t) log a_tz  -  entropy * H[a_t]

goes to the loss through `hooks.LossTerm`. R_t is log p of all pieces that the look at step t bears on: of a decoder's
looks those from t on, of others the whole output. b_t is the baseline: the number of those pieces times a guess at
log p of one, which is a moving average, or that and what a linear layer knows from the query; or the mean of R_t over
other samples of the item. None depends on the draw, so the mean stays right; without b the estimate is far too noisy.

The straight-through estimators go back through other weights than forward: quieter, and biased.

    straight_through:  a                   (Bengio et al. 2013; right where the output is linear in the weights)
    gumbel:            softmax((log a + g) / temperature), of which z is the greatest    (Jang et al. 2017)
"""

from __future__ import annotations

from typing import Literal

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor, nn
from torch.nn import functional as F

from regard import masks
from regard.attend.choice import Allowed, Choice, Gates, Scores
from regard.errors import UsageError
from regard.hooks import LossTerm, Reward, tell, written
from regard.registry import part
from regard.types import Count, Positive, Probability, Whole

KEPT = 0.9  # of the moving average, below a learned baseline
BY_PIECE = 2.0  # marks an average of log p of a piece; that of a whole item, which older runs kept, is marked with 1
# Weight of the baseline's squared error. Adam makes its steps as large whatever it is, and a clipped gradient is not
# filled by it.
ERROR = 0.01


@part("choice", "hard")
class Hard(Choice):
    """One key: drawn in training, the best one in use.

    Settings:
        estimator: how scores learn from draws. "reinforce" is unbiased; "straight_through" and "gumbel" take the
            derivative of soft weights, which is quieter and biased.
        baseline: what a reward is compared with: how much of its moving average is kept at each step, 0 for nothing;
            "learned", where a linear layer of the query says how far it is from the average; or that of the "others",
            the samples of the same item.
        samples: how often each item is drawn for in an update; of decoders that are taught without a guide.
        entropy: weight of the entropy term, which keeps the model looking around.
        expected: share of training steps that take the soft weights instead of draws (Xu et al. use 0.5); all looks
            of a step do, or none.
        harden: updates until that share has fallen from 1 to `expected`, in a straight line; 0 begins with it.
        warmup: updates before it begins to fall.
        reward: weight of the score-function term against the likelihood (the paper's lambda_r).
        discount: how much less of each further piece a look is judged by: 1 is unbiased; less is quieter, and knows
            less of what a look does for pieces to come.
        temperature: of "gumbel"; lower is nearer to the draw and noisier.
    """

    average: Tensor
    seen: Tensor
    updates: Tensor

    def __init__(
        self,
        key: int,
        *,
        estimator: Literal["reinforce", "straight_through", "gumbel"] = "reinforce",
        baseline: Literal["learned", "others"] | Probability = 0.9,
        samples: Count = 1,
        entropy: float = 0.002,
        expected: Probability = 0.0,
        harden: Whole = 0,
        warmup: Whole = 0,
        reward: float = 1.0,
        discount: Probability = 1.0,
        temperature: Positive = 1.0,
    ) -> None:
        super().__init__()
        _check(warmup, harden, baseline, samples)
        self.estimator, self.temperature = estimator, temperature
        self.takes_queries = baseline == "learned" and estimator == "reinforce"
        self.samples, self.others = samples, baseline == "others"
        self.keep = KEPT if isinstance(baseline, str) else baseline
        self.entropy, self.reward = entropy, reward
        self.discount = discount
        self.expected, self.harden, self.warmup = expected, harden, warmup
        self.judge: nn.Linear | None = None
        self.register_buffer("average", torch.zeros(()))
        self.register_buffer("seen", torch.zeros(()))
        # Told anew before every update, so there is nothing to save.
        self.register_buffer("updates", torch.zeros(()), persistent=False)
        self._soft: bool | None = None  # what was drawn for the looks at a memory; None before there was one

    def meet(self, query: int) -> None:
        """Build the learned baseline, which begins as the moving average."""
        if self.takes_queries:
            self.judge = nn.Linear(query, 1)
            nn.init.zeros_(self.judge.weight)
            nn.init.zeros_(self.judge.bias)

    def progress(self, number: int, share: float | None) -> None:
        """Hear how many updates were made. The share of the budget is not asked: a count repeats itself exactly."""
        self.updates.fill_(number)

    @property
    def softness(self) -> float:
        """The share of soft updates now."""
        if not self.harden:
            return self.expected
        left = (self.harden - float(self.updates)) / (self.harden - self.warmup)
        return self.expected + (1 - self.expected) * min(1.0, max(0.0, left))

    @property
    def wanted_samples(self) -> int:
        """How many samples of an item an update should have now."""
        return 1 if self.softness == 1 else self.samples

    def prepare(self, keys: Float[Tensor, "*B K D"], mask: Bool[Tensor, "*#B K"]) -> None:
        """A memory to look at: draw whether all of that shall be soft."""
        self._soft = self.training and self._draws_soft()

    def _draws_soft(self) -> bool:
        share = self.softness
        return bool(share and torch.rand(()) < share)

    def forward(
        self,
        scores: Scores,
        allowed: Allowed,
        gates: Gates = None,
        real: Bool[Tensor, "*#B Q"] | None = None,
        query: Float[Tensor, "*B Q D"] | None = None,
    ) -> Scores:
        """All the weight on one allowed key; none where no key is allowed."""
        shares = masks.softmax(scores, allowed)
        if not self.training:
            best = F.one_hot(shares.argmax(-1), shares.shape[-1])
            return best.to(scores.dtype) * allowed
        if self._draws_soft() if self._soft is None else self._soft:
            self._rest()
            return shares
        some = allowed.any(-1)
        counts = some if real is None else some & real
        if self.estimator == "reinforce":
            chosen = _one_hot(_drawn(shares, some), shares) * allowed
            self._tell(shares, chosen, counts, self._judged(query))
            return chosen
        smooth = shares if self.estimator == "straight_through" else self._perturbed(shares, allowed)
        index = _drawn(shares, some) if smooth is shares else smooth.argmax(-1)
        self._tell(shares, None, counts, None)
        return _one_hot(index, shares) * allowed + (smooth - smooth.detach())

    def _perturbed(self, shares: Scores, allowed: Allowed) -> Scores:
        """Relaxed draws: the greatest is z with the probability that z has."""
        noise = -torch.empty_like(shares).exponential_().log()
        return masks.softmax((_logs(shares) + noise) / self.temperature, allowed)

    def _judged(self, query: Float[Tensor, "*B Q D"] | None) -> Float[Tensor, "*B Q"] | None:
        """What the linear layer adds to the moving average. Its error does not reach what made the query."""
        if not self.takes_queries:
            return None
        if self.judge is None or query is None:
            raise UsageError(
                'baseline = "learned" reads the queries, and this choice was built outside of an attention.',
                hint='Build the whole attention: regard.part("attend", "attention", ...).',
            )
        return self.judge(query.detach()).squeeze(-1).float()

    def _rest(self) -> None:
        """Many processes wait for the gradient of every weight, also in a soft update."""
        if self.judge is not None:
            nothing = 0.0 * (self.judge.weight.sum() + self.judge.bias.sum())
            tell(LossTerm(self, lambda reward: nothing))

    def _tell(
        self,
        shares: Scores,
        chosen: Scores | None,
        counts: Bool[Tensor, "*#B #Q"],
        judged: Float[Tensor, "*B Q"] | None,
    ) -> None:
        first, logs = written(), _logs(shares)
        spread = (-(shares * logs).sum(-1) * counts).sum() / len(shares)
        if chosen is None:
            tell(LossTerm(self, lambda reward: -self.entropy * spread))
            return
        picked = (chosen * logs).sum(-1) * counts

        def term(reward: Reward) -> Float[Tensor, ""]:
            gained, left = reward.to_go(first, picked.shape[-1], self.discount)
            others = reward.of_others(gained) if self.others and reward.samples > 1 else None
            gained, left = _among_heads(gained, picked), _among_heads(left, picked)
            rate, wrong = self._rate(reward), picked.new_zeros(())
            if judged is not None:
                rate = rate + judged
                wrong = ERROR * ((left * rate - gained) / left.clamp(min=1)).square().mul(counts).sum() / len(picked)
            expected = left * rate.detach() if others is None else _among_heads(others, picked)
            learnt = self.reward * ((gained - expected) * picked).sum() / len(picked)
            return wrong - learnt - self.entropy * spread

        tell(LossTerm(self, term, self._settle if self.keep else None))

    def _rate(self, reward: Reward) -> Float[Tensor, ""]:
        """The moving average of log p of a piece before this update; of the first one, its own."""
        if self.keep == 0:
            return torch.zeros_like(reward.mean)
        return self.average if self.seen == BY_PIECE else reward.mean

    def _settle(self, reward: Reward) -> None:
        """Move the average, once a training step, after the step's draws were judged by the one before."""
        self.average.copy_(self.keep * self._rate(reward) + (1 - self.keep) * reward.mean)
        self.seen.fill_(BY_PIECE)


def _check(warmup: int, harden: int, baseline: str | float, samples: int) -> None:
    if baseline == "others" and samples < 2:
        raise UsageError(
            'baseline = "others" compares the samples of an item, and there is one.',
            hint="Write samples = 2, or more.",
        )
    if warmup and warmup >= harden:
        raise UsageError(
            f"updates harden from warmup = {warmup} to harden = {harden}, which must be later.",
            hint=f"Write harden = {2 * warmup}, or a smaller warmup.",
        )


def _drawn(shares: Scores, some: Bool[Tensor, "*#B #Q"]) -> Int[Tensor, "*B Q"]:
    """A key of each look, as likely as its share; any where there is none to look at."""
    chances = (shares + ~some.unsqueeze(-1)).flatten(0, -2)
    return torch.multinomial(chances.float(), 1).view(shares.shape[:-1])


def _one_hot(index: Int[Tensor, "*B Q"], like: Scores) -> Scores:
    return F.one_hot(index, like.shape[-1]).to(like.dtype)


def _logs(shares: Scores) -> Scores:
    return torch.log(shares.clamp(min=torch.finfo(shares.dtype).tiny))


def _among_heads(each: Tensor, looks: Tensor) -> Tensor:
    """What is the same for all heads, beside their looks: B Q as B 1 Q."""
    return each.view(len(each), *(1,) * (looks.dim() - 2), each.shape[-1])
