"""For tests of search: a decoder that is a table of random numbers, sharp small models, and one source at a time."""

from dataclasses import dataclass

import torch
from jaxtyping import Int
from torch import Tensor, nn

from regard.types import Attended, Padded, State, Stepped
from small import SOURCE, model, overrides, words

START, END = 1, 2
FEW = 11  # pieces of the target: few, so that outputs end by themselves


@dataclass(frozen=True)
class TableState(State):
    """Which sentence each row belongs to, as the length of its source; `width` is that of the whole batch."""

    width: int
    lengths: Int[Tensor, " B"]


class Table(nn.Module):
    """Log-probabilities and weights looked up by source length, step and piece; `rows` counts those of each step."""

    def __init__(self, size, longest=12, sources=8, sharpness=2.0):
        super().__init__()
        self.logits = torch.randn(sources + 1, longest + 1, size, size) * sharpness
        self.looks = torch.randn(sources + 1, longest + 1, size, sources)
        self.rows = []

    def start(self, memory):
        return TableState(0, memory.mask.shape[1], memory.mask.sum(1))

    def chances(self, length, step, piece):
        return torch.log_softmax(self.logits[length, step, piece], -1)

    def weights(self, length, step, piece):
        return torch.softmax(self.looks[length, step, piece][..., :length], -1)

    def step(self, token, state):
        self.rows.append(len(token))
        seen = self.looks[state.lengths, state.step, token][:, : state.width]
        hidden = torch.arange(state.width) >= state.lengths.unsqueeze(1)
        weights = torch.softmax(seen.masked_fill(hidden, -torch.inf), -1).unsqueeze(1)
        logits = self.logits[state.lengths, state.step, token]
        after = TableState(state.step + 1, state.width, state.lengths)
        return Stepped(logits, after, (Attended(weights, lambda: weights),))


def table_model(size, seed=0, **settings):
    """A model whose decoder is a table; its encoder only tells the lengths."""
    torch.manual_seed(seed)
    built = model(overrides("predict", "luong"), target=size)
    built.predict = Table(size, **settings)
    return built


def sharp(decoder, seed=0, target=FEW):
    """A small model of one decoder with large random weights, so that it has opinions."""
    torch.manual_seed(seed)
    built = model(overrides("predict", decoder), target=target)
    with torch.no_grad():
        for weight in built.parameters():
            weight.mul_(2.0)
    return built


def some(lengths, seed=0):
    """Random sources of the given lengths."""
    torch.manual_seed(seed)
    return words(SOURCE, lengths)


def alone(source, row):
    """One sentence of a batch, without its padding."""
    length = int(source.mask[row].sum())
    return Padded(source.data[row : row + 1, :length], source.mask[row : row + 1, :length])
