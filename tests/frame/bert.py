"""A tiny BERT: pairs of sentences, pieces hidden in them, no target column."""

from dataclasses import dataclass, replace
from itertools import pairwise
from pathlib import Path

import torch
from datasets import Dataset
from jaxtyping import Bool, Int
from torch import Tensor, nn
from torch.nn import functional as F

from regard.data.corpus import Corpus
from regard.data.padding import pad
from regard.data.sides.text import Text
from regard.data.tokenizer import END, START
from regard.errors import UsageError
from regard.recipe import resolve
from regard.registry import Maker, maker, part
from regard.task import BaseGoal, Example, Loss, Objective
from regard.tasks.job import silent
from regard.tasks.setup import set_up
from regard.types import Batch, Count, Memory, Padded, Probability, Tagged, Widths

RECIPE = Path(__file__).with_name("bert.toml")
HIDDEN = START  # no source has this piece, so it can stand for a hidden one
SEEN = -1  # in the place of a piece that is not asked for


@dataclass(frozen=True)
class Parts(Padded):
    """Pieces, and which of two segments each belongs to."""

    segments: Int[Tensor, "B S"]

    def take(self, rows):
        some = super().take(rows)
        return Parts(some.data, some.mask, self.segments[rows, : some.mask.shape[1]].contiguous())


class Segments(Text):
    """Texts, of which an example may have two: each ends with its own end."""

    def positions(self, item):
        return sum(len(each) + 1 for each in item) if isinstance(item, tuple) else len(item) + 1

    def collate(self, items):
        both = [item if isinstance(item, tuple) else (item,) for item in items]
        ids = pad([[piece for each in item for piece in (*each, END)] for item in both])
        which = pad([[number for number, each in enumerate(item) for _ in range(len(each) + 1)] for item in both])
        return Parts(ids.data, ids.mask, which.data)


class Pairs:
    """Each row and the next of the pool, or another one drawn from it.

    Settings:
        next: how often it is the next.
    """

    def __init__(self, *, next: Probability = 0.5) -> None:
        self.next = next

    def __call__(self, pool, random):
        rows = sorted(pool, key=lambda each: each.row)
        found = []
        for first, second in pairwise(rows):
            follows = random.random() < self.next
            other = second if follows else random.choice(rows)
            found.append(Example((first.source, other.source), None, first.row, 1, {"next": int(follows)}))
        return found


class SegmentEmbedding(nn.Module):
    """The vector of a piece, with that of its segment.

    Settings:
        width: of the vectors.
        embed: the pieces.
    """

    def __init__(self, size: int, *, width: Count = 8, embed: Maker = maker("embed", "tokens")) -> None:
        super().__init__()
        self.embed = Maker("embed", embed.name, {**embed.settings, "width": width})(size)
        self.size, self.width, self.segment = size, width, nn.Embedding(2, width)

    def forward(self, source: Parts) -> Padded:
        return Padded(self.embed(source).data + self.segment(source.segments), source.mask)


class FillHead(nn.Module):
    """The score of every piece at every position, and whether the second segment follows the first."""

    attends = False

    def __init__(self, size: int, memory: Widths, attend: Maker | None) -> None:
        super().__init__()
        self.score, self.follows = nn.Linear(memory.values, size), nn.Linear(memory.summary, 2)

    def fill(self, memory: Memory) -> Tagged:
        return Tagged(self.score(memory.values))

    def forward(self, memory: Memory) -> Tagged:
        return self.fill(memory)


class Fill(BaseGoal):
    """Find the pieces that are hidden.

    Settings:
        hide: share of the pieces.
    """

    predicts = "fill"
    metrics = ("nll",)

    def __init__(self, source, target, *, hide: Probability = 0.15) -> None:
        super().__init__(source, target)
        self.hide = hide
        if not isinstance(source, Text):
            raise UsageError("only pieces can be hidden.")

    def specs(self):
        return self.source.spec(), self.source.spec()

    def prepare(self, example, random):
        segments, asked = [], []
        places = sum(map(len, example.source))
        least = random.randrange(places)  # one at least, so that there is something to learn
        for ids in example.source:
            hidden = [random.random() < self.hide or len(asked) - len(segments) + n == least for n in range(len(ids))]
            segments.append([HIDDEN if hide else piece for piece, hide in zip(ids, hidden, strict=True)])
            asked += [*(piece if hide else SEEN for piece, hide in zip(ids, hidden, strict=True)), SEEN]
        return replace(example, source=tuple(segments), target=asked, weight=sum(each != SEEN for each in asked))

    def collate(self, examples):
        follows = torch.tensor([each.extra["next"] for each in examples])
        return Batch(
            self.source.collate([each.source for each in examples]),
            pad([each.target for each in examples], SEEN),
            tuple(each.row for each in examples),
            weights=tuple(each.weight for each in examples),
            extra={"next": follows},
        )

    def objectives(self, model):
        return [Objective("loss", lambda model, batch, number: self._loss(model, batch))]

    def _loss(self, model, batch):
        memory = model.read(batch.source)
        filled = fill_loss(model, batch, memory)
        follows = F.cross_entropy(model.predict.follows(memory.summary), batch.extra["next"], reduction="sum")
        return replace(filled, total=filled.total + follows / batch.count)

    def nll(self, model, batch):
        return fill_loss(model, batch, model.read(batch.source))

    def answer(self, model, cells):
        raise UsageError("a tiny BERT is asked for nothing.")

    def drawn(self, model, cell):
        return str(cell)


def fill_loss(model, batch, memory):
    """The mean over hidden pieces of -log p."""
    logits = model.predict.fill(memory).logits
    asked: Bool[Tensor, "B S"] = batch.target.data != SEEN
    each = F.cross_entropy(logits[asked], batch.target.data[asked], reduction="sum") / batch.count
    return Loss(each, each.detach(), batch.count)


def register():
    """The parts above, by name."""
    part("side", "two_lines")(Segments)
    part("examples", "pairs")(Pairs)
    part("embed", "segments")(SegmentEmbedding)
    part("predict", "hidden")(FillHead)
    part("goal", "hidden")(Fill)


def lines(count):
    """Text in which a piece tells the next one."""
    return [" ".join(f"w{(start * 3 + place) % 11}" for place in range(3 + start % 5)) for start in range(count)]


def corpus():
    """Splits with one column."""
    splits = {name: Dataset.from_dict({"source": lines(count)}) for name, count in (("train", 97), ("val", 31))}
    return Corpus("lines", "segments", "nothing", splits)


def setup(settings=(), seed=5):
    """All that a training needs."""
    return set_up(resolve(RECIPE, settings), corpus(), None, seed, silent)
