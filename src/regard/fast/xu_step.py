"""Steps of Show, Attend and Tell for the few rows of one image, in as few calls and with as little to read as it takes.

The equations are those of `predict/xu.py`. For a few rows a step is mostly the reading of matrices and the calling of
operations:

- what the state before it is multiplied with (query, gate, recurrence) is one matrix, which lies column by column;
- what a word is multiplied with is kept, from the first time that it was written on;
- matrices that the context enters by are multiplied with the values, once an image: W sum a v = sum a W v.

The score is that of `attend/additive.py`: share = 1 / (1 + e^2q e^2k), and a softmax does not mind the constant that is
left out of v . tanh(q + k) = sum v - 2 v . share.

Letters: N rows, K cells of the image, A width of the score, D width of the state, W of a word, E of a context,
G = 4 D + W what enters the cell and the output, F several of these side by side.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, NamedTuple

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn

LIMIT = 2 * 43.0  # what is projected for the score beyond it counts as 43: e^2x of more is infinite in float32
CELL = (0, 1, 3, 2)  # enter, forget and leave, which are sigmoids, stand before new


class Layers(NamedTuple):
    """The layers of the decoder that steps are made of; `select` makes the gate, where there is one."""

    embed: Any
    query: nn.Linear
    vector: nn.Parameter
    select: nn.Linear | None
    word: nn.Linear
    context: nn.Linear
    recur: nn.Linear
    join: nn.Linear

    @property
    def known(self) -> tuple[tuple[int, int], ...]:
        """Where all weights lie, and how often they were changed."""
        modules = [each for each in self if isinstance(each, nn.Module)]
        weights = [self.vector, *(weight for each in modules for weight in each.parameters())]
        return tuple((each.data_ptr(), each._version) for each in weights)


class Stood(NamedTuple):
    """What a step leaves: the state, what the vocabulary is multiplied with, what was seen and with which weights."""

    hidden: Float[Tensor, "N D"]
    cell: Float[Tensor, "N D"]
    ready: Float[Tensor, "N W"]
    seen: Float[Tensor, "N E"]
    weights: Float[Tensor, "N K"]


@dataclass(frozen=True)
class Packed:
    """The matrices of all steps. `state` makes 2 W q, the gate if there is one, and U h; `context` what enters the cell
    and the deep output; `words` holds the same of each word that was `written`, with the output's bias and the word.
    """

    layers: Layers
    known: tuple[tuple[int, int], ...]
    state: Float[Tensor, "D F"]
    bias: Float[Tensor, " F"]
    context: Float[Tensor, "E G"]
    join: Float[Tensor, "D W"]
    vector: Float[Tensor, " A"]
    words: Float[Tensor, "V G"]
    written: set[int] = field(default_factory=set)

    @classmethod
    def of(cls, layers: Layers) -> Packed:
        """Those of some layers, as they are now."""
        gate = [] if layers.select is None else [layers.select]
        blocks = [2 * layers.query.weight, *(each.weight for each in gate), _cell(layers.recur.weight)]
        biases = [2 * layers.query.bias, *(each.bias for each in gate), _cell(layers.recur.bias + layers.word.bias)]
        width = layers.recur.in_features
        context = torch.cat((_cell(layers.context.weight), layers.join.weight[:, width:]))
        return cls(
            layers,
            layers.known,
            _columns(torch.cat(blocks)),
            torch.cat(biases).detach(),
            _columns(context),
            _columns(layers.join.weight[:, :width]),
            -2 * layers.vector.detach(),
            context.new_empty(layers.embed.size, len(context)),  # takes memory where it is written to
        )

    def of_words(self, token: Int[Tensor, " N"]) -> Float[Tensor, "N G"]:
        """What some words bring to the cell and to the output."""
        new = [each for each in token.tolist() if each not in self.written]
        if new:
            index = torch.tensor(new, device=token.device)
            vectors = self.layers.embed.vectors(index.unsqueeze(1))[:, 0]
            enters = _cell((vectors @ self.layers.word.weight.T).T).T
            self.words[index] = torch.cat((enters, vectors + self.layers.join.bias), 1)
            self.written.update(new)
        return self.words.index_select(0, token)


@dataclass(frozen=True)
class Image:
    """One image to be written about: e^2k of its cells, all of which may be looked at, and what their values make."""

    packed: Packed
    keys: Float[Tensor, "1 K A"]
    values: Float[Tensor, "K F"]

    @classmethod
    def of(cls, packed: Packed, keys: Float[Tensor, "1 K A"], values: Float[Tensor, "1 K E"]) -> Image:
        """Multiply its values."""
        return cls(packed, keys, torch.cat((values[0], values[0] @ packed.context), 1))

    def step(self, token: Int[Tensor, " N"], hidden: Float[Tensor, "N D"], cell: Float[Tensor, "N D"]) -> Stood:
        """Ask, gate, step, and make ready."""
        packed, width, asks = self.packed, cell.shape[1], self.keys.shape[2]
        found = torch.addmm(packed.bias, hidden, packed.state)
        power = found[:, :asks].clamp(-LIMIT, LIMIT).exp_()
        shares = torch.addcmul(power.new_ones(()), power.unsqueeze(1), self.keys).reciprocal_()
        weights = torch.softmax(shares @ packed.vector, 1)
        mixed = weights @ self.values
        seen, made = mixed[:, : packed.context.shape[0]], mixed[:, packed.context.shape[0] :]
        if packed.layers.select is not None:
            made = made * found[:, asks : asks + 1].sigmoid()
        made = made + packed.of_words(token)
        gates = found[:, -4 * width :] + made[:, : 4 * width]
        enter, forget, leave = gates[:, : 3 * width].sigmoid_().chunk(3, 1)
        cell = torch.addcmul(forget * cell, enter, gates[:, 3 * width :].tanh_())
        hidden = leave * cell.tanh()
        ready = torch.addmm(made[:, 4 * width :], hidden, packed.join).tanh_()
        return Stood(hidden, cell, ready, seen, weights)


def _cell(rows: Float[Tensor, "G ..."]) -> Float[Tensor, "G ..."]:
    """The four parts of a cell's rows, in our order."""
    parts = rows.chunk(4)
    return torch.cat([parts[place] for place in CELL])


def _columns(matrix: Float[Tensor, "V G"]) -> Float[Tensor, "G V"]:
    return matrix.detach().t().contiguous()
