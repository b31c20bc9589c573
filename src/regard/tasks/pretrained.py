"""Fine-tuning: a training starts from what another has learnt.

Of a model that reads text these are its embedding, its encoder and its tokenizer. Where images are read and both models
write the same kind of text, the decoder comes along: pieces that both know keep their vectors and their scores, new
ones begin as they were drawn. What was pretrained is read once, before the first update. The folder that comes out
holds all it needs.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import torch
from torch import Tensor, nn

from regard.data.corpus import Corpus, column
from regard.data.sides.text import Text
from regard.data.tokenizer import Tokenizer
from regard.engine.home import model_home
from regard.errors import ModelError, UsageError
from regard.model import Model, load, recipe_of
from regard.recipe import Recipe
from regard.task import Side, Task, TaskParts, side_of

STAGES = ("embed.", "encode.")  # what is taken
DECODER = ("predict.",)  # taken too where images are read, and written as before
PIECES = ("predict.embed.", "predict.readout.")  # of which some have a row for each piece
NEW = ("encode.pool.",)  # what may be missing on either side: it is pretrained with the second text alone


@dataclass(frozen=True)
class Pretrained:
    """A model that another starts from: where it lies, its recipe and its source."""

    folder: Path
    recipe: Recipe
    source: Side
    target: Text | None = None  # whose pieces have rows in the decoder, where that is taken

    @classmethod
    def open(cls, task: Task) -> Pretrained | None:
        """What a task starts from, if it does; refused where its source is another."""
        if not task.pretrained:
            return None
        home = model_home(task.pretrained)
        recipe = recipe_of(home)
        made = recipe.task.settings["source"]
        if made.name != task.source.name:
            raise UsageError(
                f'task.from: {home} reads "{made.name}", and this recipe "{task.source.name}".',
                hint=f'Write source = "{made.name}" in [task].',
            )
        source = side_of(made, home, "source")
        if isinstance(source, Text):
            found = cls(home, recipe, source)
            found.check(task.source("source"), source)
            return found
        written = recipe.task.settings["target"]
        target = side_of(written, home, "target") if written.name == task.target.name else None
        return cls(home, recipe, source, target if isinstance(target, Text) else None)

    def check(self, asked: Side, read: Text) -> None:
        """Refuse a side that asks for another tokenizer than that of the model: its vectors would mean nothing."""
        ours, theirs = getattr(asked, "pieces", "auto"), read.tokenizer.kind
        size, known = getattr(asked, "vocabulary", 0), len(read.tokenizer)
        wrong = f'pieces = "{ours}"' if ours not in ("auto", theirs) else f"vocabulary = {size}"
        if ours not in ("auto", theirs) or size not in (0, known):
            raise UsageError(
                f"task.from: {self.folder} has a tokenizer of {known:,} {theirs}; this recipe asks for {wrong}.",
                hint="Leave pieces and vocabulary out of [task.source]: the tokenizer comes with the model.",
            )

    def fit_parts(self, task: Task, corpus: Corpus) -> TaskParts:
        """The parts of a task, the source with the tokenizer of the model, the target as the corpus teaches it."""
        parts, rows = TaskParts.build(task), corpus.split("train")
        if isinstance(parts.source, Text) and isinstance(self.source, Text):
            parts.source.tokenizer = self.source.tokenizer
        elif "source" in rows.column_names:
            parts.source.fit(column(rows, "source"))
        parts.target.fit(column(rows, "target") if "target" in rows.column_names else ())
        return parts

    @property
    def stages(self) -> tuple[str, ...]:
        """The weights that are taken, by how their names begin."""
        return STAGES if self.target is None else (*STAGES, *DECODER)

    @property
    def told(self) -> str:
        """What is taken, in words."""
        return "embedding and encoder" if self.target is None else "embedding, encoder and decoder"

    def start(self, model: Model, target: Side) -> int:
        """Put what was learnt into a new model, which writes `target`; how many numbers that is."""
        theirs = {name: each for name, each in load(self.folder).state_dict().items() if name.startswith(self.stages)}
        ours = {name: each for name, each in model.state_dict().items() if name.startswith(self.stages)}
        if self.target is not None and isinstance(target, Text):
            theirs = _with_pieces(ours, theirs, target.tokenizer, self.target.tokenizer)
        wrong = list(_differences(ours, theirs))
        if wrong:
            more = f"\n  and {len(wrong) - 5} more" if len(wrong) > 5 else ""
            tables = "[embed] and [encode]" if self.target is None else "[embed], [encode] and [predict]"
            told = "\n".join(f"  {line}" for line in wrong[:5])
            raise ModelError(
                f"task.from: the model of {self.folder} does not fit this recipe:\n{told}{more}",
                hint=f"Take its {tables} as they are in {self.folder / 'recipe.toml'}.",
            )
        taken = {name: weight for name, weight in theirs.items() if name in ours}
        model.load_state_dict(taken, strict=False)
        return sum(weight.numel() for weight in taken.values())


def _with_pieces(
    ours: Mapping[str, Tensor], theirs: Mapping[str, Tensor], new: Tokenizer, known: Tokenizer
) -> dict[str, Tensor]:
    """Their weights, those with a row for each piece brought to our pieces; of pieces new to them ours stay."""
    place = {piece: number for number, piece in enumerate(_written(known))}
    pairs = [(number, place[piece]) for number, piece in enumerate(_written(new)) if piece in place]
    to, of = torch.tensor(pairs).T
    found = dict(theirs)
    for name, weight in theirs.items():
        drawn = ours.get(name)
        if drawn is None or not name.startswith(PIECES) or drawn.shape[1:] != weight.shape[1:]:
            continue
        if (len(drawn), len(weight)) == (len(new), len(known)):
            found[name] = drawn.clone().index_copy_(0, to, weight[of])
    return found


def _written(tokenizer: Tokenizer) -> list[str]:
    """Every piece as the tokenizer names it."""
    return [str(tokenizer.backend.id_to_token(number)) for number in range(len(tokenizer))]


def _differences(ours: dict[str, Tensor], theirs: dict[str, Tensor]) -> list[str]:
    """Weights that one of two models has not, or has in another shape, in words."""
    found = []
    for name in dict.fromkeys((*ours, *theirs)):
        one, other = (_shape(each.get(name)) for each in (ours, theirs))
        if one != other and not (name.startswith(NEW) and (name not in ours or name not in theirs)):
            found.append(f"{name}: {one} here, {other} there")
    return found


def _shape(weight: Tensor | None) -> str:
    return "none" if weight is None else " x ".join(map(str, weight.shape))


def rest(model: Model, layers: int) -> None:
    """Let the embedding and the lowest layers of the encoder keep their weights."""
    if not layers:
        return
    stack = getattr(model.encode, "layers", None)
    if not isinstance(stack, nn.ModuleList) or layers > len(stack):
        there = len(stack) if isinstance(stack, nn.ModuleList) else 0
        raise UsageError(
            f"train.freeze: expected at most {there} layers, which the encoder has; found {layers}.",
            hint="Write freeze = 0 for none.",
        )
    for part in (model.embed, *stack[:layers]):
        for weight in part.parameters():
            weight.requires_grad_(False)
