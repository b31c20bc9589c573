"""Gated attention: a small network opens or closes each key, and attention runs over the open ones (Xue et al. 2019).

Gates are 0 or 1. In training they are drawn by the Gumbel trick and passed straight through: 0 or 1 on the
way forward, the relaxed gate's gradient on the way back. The mean of the open probability, times `price`,
goes to the loss through `hooks.Side`: without a price nothing ever closes, with too high a price everything
does.
"""

from __future__ import annotations

import torch
from jaxtyping import Bool, Float
from torch import Tensor, nn

from regard import masks
from regard.attend.choice import Allowed, Choice, Gates, Scores
from regard.hooks import Side, tell
from regard.registry import Maker, part
from regard.types import Count, Padded, Positive


def draw_gates(logits: Float[Tensor, "*B"], temperature: float) -> Float[Tensor, "*B"]:
    """0 or 1, open with probability sigmoid(logits); gradients flow as through the relaxed gate."""
    uniform = torch.rand_like(logits).clamp(1e-6, 1 - 1e-6)
    relaxed = torch.sigmoid((logits + uniform.log() - (-uniform).log1p()) / temperature)
    return (relaxed > 0.5).to(logits.dtype) + (relaxed - relaxed.detach())


@part("choice", "gated")
class Gated(Choice):
    """softmax over the keys whose gate is open; an auxiliary network opens and closes them.

    Settings:
        hidden: the width of the network that judges a key.
        encode: an encoder that reads the keys in order before they are judged, as in the paper; without it
            each key is judged by itself.
        temperature: of the Gumbel draw; lower is nearer to 0 or 1 and noisier. Lower it while training.
        price: weight in the loss of the share of open gates.
    """

    def __init__(
        self,
        key: int,
        *,
        hidden: Count = 16,
        encode: Maker | None = None,
        temperature: Positive = 1.0,
        price: float = 0.0,
    ) -> None:
        super().__init__()
        self.encode = None if encode is None else encode(key)
        self.sequential = encode is not None
        width = key if self.encode is None else self.encode.widths.values
        last = nn.Linear(hidden, 1)
        self.judge = nn.Sequential(nn.Linear(width, hidden), nn.Tanh(), last)
        nn.init.ones_(last.bias)  # begin with most gates open: learning starts as soft attention
        self.temperature, self.price = temperature, price

    def prepare(self, keys: Float[Tensor, "*B K D"], mask: Bool[Tensor, "*#B K"]) -> Float[Tensor, "*B K"]:
        """The gates: drawn in training, open where more likely open than not in use."""
        logits = self.judge(self._read(keys, mask)).squeeze(-1)
        if not self.training:
            return (logits > 0).to(keys.dtype)
        share = (torch.sigmoid(logits) * mask).sum() / mask.expand_as(logits).sum().clamp(min=1)
        tell(Side(self, lambda likelihood: self.price * share))
        return draw_gates(logits, self.temperature)

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
        is_open = allowed & (gates > 0.5)
        highest = wide.detach().masked_fill(~is_open, torch.finfo(wide.dtype).min).amax(-1, keepdim=True)
        # A closed key may score far above every open one; its strength is only needed for the gate's gradient.
        strength = (wide - highest).clamp(max=30).exp() * allowed * gates
        return masks.normalise(strength).to(scores.dtype)
