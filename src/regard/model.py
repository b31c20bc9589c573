"""The whole flow, embed -> encode -> attend -> predict, and the folder a model lives in."""

from __future__ import annotations

import json
import os
import shutil
import tempfile
from collections.abc import Mapping
from hashlib import sha256
from pathlib import Path
from typing import Any

from jaxtyping import Int
from safetensors import SafetensorError, safe_open
from safetensors.torch import load_model, save_model
from torch import Tensor, nn

from regard.errors import ModelError, RecipeError, RegardError, ShapeError, UsageError
from regard.recipe import Recipe, resolve, write
from regard.registry import Maker, part
from regard.task import Spec
from regard.types import Batch, Grid, Labelled, Memory, Padded, State, Stepped, Tagged, Taught, Widths

OURS = ("recipe.toml", "weights.safetensors")
NOTHING = Widths(0, 0, 0)  # of the memory that a model without a source has
TOKENIZER = ".tokenizer.json"  # how the name of a file ends whose checksum is kept with the weights


@part("model", "flow")
class Model(nn.Module):
    """Embed the source, encode it, attend to it, predict.

    Settings:
        embed: how the source becomes vectors; "none" for a model without a source.
        encode: how the vectors become a memory; "none" for a model without a source.
        attend: how the memory is looked at; "none" for a decoder that does not attend.
        predict: how the memory becomes an output.
        share: use one table for the vectors of source and target; they must share a vocabulary.
        initialise: how the weights begin; "none" leaves them as each part drew them.
    """

    recipe: Recipe | None = None

    def __init__(
        self,
        source: Spec | int,
        target: Spec | int,
        *,
        embed: Maker | None,
        encode: Maker | None,
        attend: Maker | None = None,
        predict: Maker,
        share: bool = False,
        initialise: Maker | None = None,
    ) -> None:
        super().__init__()
        self.specs = Spec.of(source), Spec.of(target)
        self.embed: Any = _made(embed, self.specs[0].size)
        self.encode: Any = _made(encode, getattr(self.embed, "width", 0))
        widths = getattr(self.encode, "widths", NOTHING)
        self.predict = predict(self.specs[1].size, widths, attend)
        if share:
            self._share()
        if initialise is not None:
            initialise()(self)

    @property
    def sizes(self) -> tuple[int, int]:
        """How many pieces, channels or classes source and target have."""
        return self.specs[0].size, self.specs[1].size

    def read(self, source: Padded | Grid) -> Memory:
        """The source as a memory."""
        return self.encode(self.embed(source))

    def nothing_read(self, rows: int) -> Memory:
        """The memory of a model without a source: no positions, and a summary of no numbers."""
        blank = next(self.parameters()).new_zeros(rows, 0)
        return Memory(blank.unsqueeze(-1), blank.unsqueeze(-1), blank.bool(), blank)

    def teach(self, batch: Batch) -> Taught:
        """Every step of the target at once: position t is predicted from the pieces before it."""
        seen = Padded(batch.target.data[:, :-1], batch.target.mask[:, 1:])
        memory = self.nothing_read(len(batch)) if batch.source is None else self.read(batch.source)
        return self.predict.teach(seen, memory)

    def label(self, source: Padded | Grid) -> Labelled:
        """The scores of the classes, for a model that predicts a label."""
        return self.predict.label(self.read(source))

    def tag(self, source: Padded | Grid) -> Tagged:
        """The scores of the classes at each position of the source, for a model that predicts tags."""
        return self.predict.tag(self.read(source))

    def start(self, source: Padded | Grid) -> State:
        """Read the source; the state before the first piece."""
        return self.predict.start(self.read(source))

    def step(self, token: Int[Tensor, " B"], state: State) -> Stepped:
        """One piece further."""
        return self.predict.step(token, state)

    def _share(self) -> None:
        source, target = (getattr(each, "table", None) for each in (self.embed, getattr(self.predict, "embed", None)))
        if source is None or target is None:
            raise ShapeError("share = true needs token vectors on both sides.", hint="Write share = false.")
        if source.weight.shape != target.weight.shape:
            raise ShapeError(
                f"share = true needs one vocabulary and one width; the source table is "
                f"{tuple(source.weight.shape)}, the target table {tuple(target.weight.shape)}.",
                hint="Use a joint tokenizer and the same width in [embed] and [predict.embed].",
            )
        target.weight = source.weight  # every module that holds the target's table now holds the source's numbers


def _made(part: Maker | None, given: int) -> Any:
    """The part, if there is to be one."""
    return None if part is None else part(given)


def parameters(model: Model) -> int:
    """How many numbers a model learns."""
    return sum(weight.numel() for weight in model.parameters())


def check_text(recipe: Recipe, named: str | Path) -> None:
    """Refuse a recipe whose model does not turn text into text: no engine but PyTorch runs others."""
    sides = [recipe.task.settings[side].name for side in ("source", "target")]
    if sides == ["text", "text"] and recipe.task.settings["goal"].name == "write":
        return
    raise UsageError(
        f"{named}: expected a model that reads text and writes text; it was made to {recipe.task.settings['verb']}, "
        f"from {sides[0]} to {sides[1]}.",
        hint=f"Use `regard {recipe.task.settings['verb']}`.",
    )


def save(model: Model, folder: str | Path, files: Mapping[str, str] | None = None) -> None:
    """Write the model folder: recipe and weights, and further text files by name (tokenizers, scores, card).

    All of it is written beside the folder and then renamed: a crash leaves the old folder or the new one.
    """
    folder = Path(folder)
    if model.recipe is None:
        raise ModelError(
            "only a model built from a recipe can be saved.",
            hint="Build it with regard.recipe.resolve(...).build(...).",
        )
    _check_place(folder, files or {})
    folder.parent.mkdir(parents=True, exist_ok=True)
    fresh = Path(tempfile.mkdtemp(prefix=f".{folder.name}-", dir=folder.parent))
    try:
        (fresh / "recipe.toml").write_text(write(model.recipe), encoding="utf-8")
        sizes = {name: json.dumps(each.to_json()) for name, each in zip(("source", "target"), model.specs, strict=True)}
        # The weights mean nothing with other tokenizers than these.
        texts = {name: text for name, text in (files or {}).items() if name.endswith(TOKENIZER)}
        sizes |= {name: sha256(text.encode()).hexdigest() for name, text in texts.items()}
        for each in model.parameters():
            each.data = each.data.contiguous()  # safetensors keeps no other order, and trips over a shared one
        save_model(model, str(fresh / "weights.safetensors"), metadata=sizes)
        for name, text in (files or {}).items():
            (fresh / name).write_text(text, encoding="utf-8")
        for path in (*fresh.iterdir(), fresh):
            settle(path)
        _swap(fresh, folder)
    except BaseException:
        shutil.rmtree(fresh, ignore_errors=True)
        raise


def settle(path: Path) -> None:
    """Readable for all, and on the disk: after a power cut, a name may be there before its content."""
    path.chmod(0o755 if path.is_dir() else 0o644)
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def _check_place(folder: Path, files: Mapping[str, str]) -> None:
    """Refuse to write over what is not ours, or outside the folder."""
    if folder.exists() and not (folder / "recipe.toml").is_file() and (folder.is_file() or any(folder.iterdir())):
        raise ModelError(f"{folder} is there already, and is no model folder.", hint="Save under another name.")
    for name in files:
        if not name or name != Path(name).name or name in OURS:
            raise ModelError(
                f"a model folder cannot hold a further file called '{name}'.",
                hint=f"Use a plain file name other than {' and '.join(OURS)}.",
            )


def _swap(fresh: Path, folder: Path) -> None:
    """Put the fresh folder in the old one's place; `load` undoes it if we die between the two renames."""
    old = old_of(folder)
    if folder.exists():
        shutil.rmtree(old, ignore_errors=True)
        folder.rename(old)
    fresh.rename(folder)
    shutil.rmtree(old, ignore_errors=True)


def old_of(folder: Path) -> Path:
    """Where a model folder lies while a new one takes its place; a kill between the two renames leaves it there."""
    return folder.with_name(f".{folder.name}.old")


def put_back(folder: Path) -> None:
    """Undo what a kill between the two renames left."""
    if not folder.exists() and old_of(folder).exists():
        old_of(folder).rename(folder)


def recipe_of(folder: Path) -> Recipe:
    """The recipe of a model folder; parts of somebody's own must be registered before."""
    try:
        return resolve(folder / "recipe.toml")
    except RecipeError as error:
        missing = [problem.part for problem in error.problems if problem.part]
        if not missing:
            raise
        raise ModelError(
            f"{folder} needs parts that are not registered: {', '.join(dict.fromkeys(missing))}.",
            hint="Name the file that registers them before the command, as in regard --parts FILE.py translate ... "
            "(in Python: regard.registry.load_file). The head of its recipe.toml names the file it was trained with.",
        ) from error


def load(folder: str | Path) -> Model:
    """The model in a folder, ready for use (not in training mode)."""
    folder = Path(folder)
    put_back(folder)
    for name in OURS:
        if not (folder / name).is_file():
            raise ModelError(
                f"{folder} is no model folder: it has no {name}.",
                hint="A model folder holds recipe.toml and weights.safetensors; a run keeps one in its best/.",
            )
    weights = folder / "weights.safetensors"
    try:
        with safe_open(weights, framework="pt") as file:
            sizes = file.metadata() or {}
        if not {"source", "target"} <= sizes.keys():
            raise ModelError(f"{weights} does not say the sizes of its vocabularies: it was not written by Regard.")
        model: Model = recipe_of(folder).build(*(Spec.of(json.loads(sizes[each])) for each in ("source", "target")))
        load_model(model, weights)
    except RegardError:
        raise
    except (SafetensorError, ValueError, RuntimeError, OSError) as error:
        raise ModelError(
            f"{weights} does not hold the weights of {folder / 'recipe.toml'}: {error}",
            hint="Copy the folder again, whole: its files belong together.",
        ) from error
    return model.eval()
