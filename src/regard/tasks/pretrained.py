"""Fine-tuning: a training starts from the embedding, the encoder and the tokenizer of another.

What was pretrained is read once, before the first update. The folder that comes out holds all it needs.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from torch import Tensor, nn

from regard.data.corpus import Corpus, column
from regard.data.sides.text import Text
from regard.engine.home import model_home
from regard.errors import ModelError, UsageError
from regard.model import Model, load, recipe_of
from regard.recipe import Recipe
from regard.task import Side, Task, TaskParts, side_of

STAGES = ("embed.", "encode.")  # what is taken
NEW = ("encode.pool.",)  # what may be missing on either side: it is pretrained with the second text alone


@dataclass(frozen=True)
class Pretrained:
    """A model that another starts from: where it lies, its recipe and its source."""

    folder: Path
    recipe: Recipe
    source: Text

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
        if not isinstance(source, Text):
            raise UsageError(f"task.from: only models that read text can be started from; {home} reads {made.name}.")
        found = cls(home, recipe, source)
        found.check(task.source("source"))
        return found

    def check(self, asked: Side) -> None:
        """Refuse a side that asks for another tokenizer than that of the model: its vectors would mean nothing."""
        ours, theirs = getattr(asked, "pieces", "auto"), self.source.tokenizer.kind
        size, known = getattr(asked, "vocabulary", 0), len(self.source.tokenizer)
        wrong = f'pieces = "{ours}"' if ours not in ("auto", theirs) else f"vocabulary = {size}"
        if ours not in ("auto", theirs) or size not in (0, known):
            raise UsageError(
                f"task.from: {self.folder} has a tokenizer of {known:,} {theirs}; this recipe asks for {wrong}.",
                hint="Leave pieces and vocabulary out of [task.source]: the tokenizer comes with the model.",
            )

    def fit_parts(self, task: Task, corpus: Corpus) -> TaskParts:
        """The parts of a task, the source with the tokenizer of the model, the target as the corpus teaches it."""
        parts, rows = TaskParts.build(task), corpus.split("train")
        if isinstance(parts.source, Text):
            parts.source.tokenizer = self.source.tokenizer
        parts.target.fit(column(rows, "target") if "target" in rows.column_names else ())
        return parts

    def start(self, model: Model) -> int:
        """Put what was learnt into a new model; how many numbers that is."""
        theirs = {name: weight for name, weight in load(self.folder).state_dict().items() if name.startswith(STAGES)}
        ours = {name: weight for name, weight in model.state_dict().items() if name.startswith(STAGES)}
        wrong = list(_differences(ours, theirs))
        if wrong:
            more = f"\n  and {len(wrong) - 5} more" if len(wrong) > 5 else ""
            told = "\n".join(f"  {line}" for line in wrong[:5])
            raise ModelError(
                f"task.from: the model of {self.folder} does not fit this recipe:\n{told}{more}",
                hint=f"Take its [embed] and [encode] as they are in {self.folder / 'recipe.toml'}.",
            )
        taken = {name: weight for name, weight in theirs.items() if name in ours}
        model.load_state_dict(taken, strict=False)
        return sum(weight.numel() for weight in taken.values())


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
