"""Gated attention: a small network opens or closes each key, and attention runs over the open ones (Xue et al. 2019).

A gate is open with probability p, the sigmoid of its log odds. In training it is drawn from the binary concrete
distribution (Maddison et al. 2017),

    g = sigmoid((log odds + log u - log(1 - u)) / temperature),  u uniform in (0, 1),

which is a number between 0 and 1 with a gradient, nearer to 0 or 1 the lower the temperature. In use it is 1 where
p > 0.5, and 0 elsewhere. The share of open gates, times `price`, goes to the loss through `hooks.LossTerm`: without a
price nothing ever has to close, with too high a price everything does. So training begins warm and without a price,
and ends cold and with all of it (`anneal`, `warmup`).

Where the log odds come from: a small network on the keys, or the memory, whose encoder has read the embedded source
with an auxiliary network for that purpose (`encode.gated`), as in the paper.
"""

from __future__ import annotations

from typing import Literal

import torch
from jaxtyping import Bool, Float
from torch import Tensor, nn

from regard import masks
from regard.attend.choice import Allowed, Choice, Gates, Scores
from regard.errors import UsageError
from regard.hooks import LossTerm, tell
from regard.registry import Maker, part
from regard.types import AtLeastZero, Count, Padded, Positive, Whole


def relaxed_gates(logits: Float[Tensor, "*B"], uniform: Float[Tensor, "*B"], temperature: float) -> Float[Tensor, "*B"]:
    """The binary concrete gates that uniform draws give: each is above 0.5 with probability sigmoid(logits)."""
    inner = uniform.clamp(1e-6, 1 - 1e-6)
    return torch.sigmoid((logits + inner.log() - (-inner).log1p()) / temperature)


def draw_gates(logits: Float[Tensor, "*B"], temperature: float, straight_through: bool = False) -> Float[Tensor, "*B"]:
    """Gates between 0 and 1; passed straight through, 0 or 1 with the gradient of those between."""
    relaxed = relaxed_gates(logits, torch.rand_like(logits), temperature)
    return (relaxed > 0.5).to(logits.dtype) + (relaxed - relaxed.detach()) if straight_through else relaxed


def density(gates: Float[Tensor, "*B K"], mask: Bool[Tensor, "*#B K"]) -> Float[Tensor, "*B"]:
    """The share of open gates among the real keys of each row; zero where it has none."""
    return (gates * mask).sum(-1) / mask.sum(-1).clamp(min=1)


@part("choice", "gated")
class Gated(Choice):
    """softmax over the keys whose gate is open; an auxiliary network opens and closes them.

    Settings:
        gates: where they come from: a small network judges the "keys", or the "memory" brings them (of the encoder
            'gated').
        hidden: the width of the network that judges a key; gates of the memory need none.
        encode: an encoder that reads the keys in order before they are judged; without it each key is judged by
            itself.
        temperature: of the draw, at the start of training; lower is nearer to 0 or 1 and noisier.
        final_temperature: what the temperature falls to.
        anneal: updates over which the temperature falls, in a straight line; 0 leaves it as it is.
        price: weight in the loss of the share of open gates.
        warmup: updates before the price begins to rise, to be whole when the temperature has fallen.
        straight_through: draw 0 or 1, with the gradient of the gate between them. Weights are shares, so gates
            between 0 and 1 can shrink all together to save the price, and then are all closed in use; these cannot.
    """

    updates: Tensor

    def __init__(
        self,
        key: int,
        *,
        gates: Literal["keys", "memory"] = "keys",
        hidden: Count = 16,
        encode: Maker | None = None,
        temperature: Positive = 1.0,
        final_temperature: Positive = 0.3,
        anneal: Whole = 0,
        price: AtLeastZero = 0.0,
        warmup: Whole = 0,
        straight_through: bool = False,
    ) -> None:
        super().__init__()
        _check(gates, encode, anneal, warmup)
        self.takes_gates = gates == "memory"
        self.encode = None if encode is None else encode(key)
        self.sequential = encode is not None
        if not self.takes_gates:
            self.judge = _judge(key if self.encode is None else self.encode.widths.values, hidden)
        self.temperatures, self.anneal = (temperature, final_temperature), anneal
        self.full_price, self.warmup, self.straight_through = price, warmup, straight_through
        # Told anew before every update, so there is nothing to save.
        self.register_buffer("updates", torch.zeros(()), persistent=False)

    def progress(self, number: int, share: float | None) -> None:
        """Hear how many updates were made. The share of the budget is not asked: a count repeats itself exactly."""
        self.updates.fill_(number)

    @property
    def temperature(self) -> float:
        """The temperature now."""
        first, last = self.temperatures
        done = min(1.0, float(self.updates) / self.anneal) if self.anneal else 0.0
        return first + (last - first) * done

    @property
    def price(self) -> float:
        """The price now."""
        if not self.anneal:
            return self.full_price
        return self.full_price * min(1.0, max(0.0, float(self.updates) - self.warmup) / (self.anneal - self.warmup))

    def prepare(self, keys: Float[Tensor, "*B K D"], mask: Bool[Tensor, "*#B K"]) -> Float[Tensor, "*B K"]:
        """The gates of keys that are judged here."""
        return self.draw(self.judge(self._read(keys, mask)).squeeze(-1), mask)

    def draw(self, logits: Float[Tensor, "*B K"], mask: Bool[Tensor, "*#B K"]) -> Float[Tensor, "*B K"]:
        """The gates: drawn in training, open where more likely open than not in use, and closed on padding."""
        if not self.training:
            return (logits > 0).to(logits.dtype) * mask
        gates = draw_gates(logits, self.temperature, self.straight_through) * mask
        paid = self.price * density(gates, mask.expand_as(gates)).mean()
        tell(LossTerm(self, lambda likelihood: paid))
        return gates

    def _read(self, keys: Float[Tensor, "*B K D"], mask: Bool[Tensor, "*#B K"]) -> Float[Tensor, "*B K E"]:
        if self.encode is None:
            return keys
        flat = keys.flatten(0, -3)
        memory = self.encode(Padded(flat, mask.expand(keys.shape[:-1]).reshape(flat.shape[:-1])))
        return memory.values.view(*keys.shape[:-1], -1)

    def forward(
        self, scores: Scores, allowed: Allowed, gates: Gates = None, real: Bool[Tensor, "*#B Q"] | None = None
    ) -> Scores:
        """softmax over the open keys: g exp(e) / sum g exp(e); all gates closed gives zeros."""
        if gates is None:
            return masks.softmax(scores, allowed)
        wide = scores if scores.dtype == torch.float64 else scores.float()
        least = torch.finfo(wide.dtype).min
        open_scores = (wide.detach() + gates.detach().to(wide.dtype).log()).masked_fill(~allowed, least)
        highest = open_scores.clamp(min=least).amax(-1, keepdim=True)
        # A closed key may score far above every open one; its strength is only needed for the gate's gradient.
        strength = (wide - highest).clamp(max=30).exp() * allowed * gates
        return masks.normalise(strength).to(scores.dtype)


def _judge(width: int, hidden: int) -> nn.Sequential:
    """The network that judges a key; most gates begin open, so that learning starts as soft attention."""
    last = nn.Linear(hidden, 1)
    nn.init.ones_(last.bias)
    return nn.Sequential(nn.Linear(width, hidden), nn.Tanh(), last)


def _check(gates: str, encode: Maker | None, anneal: int, warmup: int) -> None:
    if gates == "memory" and encode is not None:
        raise UsageError(
            'gates = "memory" are judged by the encoder of the memory, and the choice has an encode table of its own.',
            hint='Take the encode table out of the choice, or write gates = "keys".',
        )
    if warmup and warmup >= anneal:
        raise UsageError(
            f"the price rises from warmup = {warmup} to anneal = {anneal}, which must be later.",
            hint=f"Write anneal = {2 * warmup}, or a smaller warmup.",
        )
