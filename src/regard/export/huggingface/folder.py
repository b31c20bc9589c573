"""`regard export --to huggingface`: a folder that `transformers` loads. It is read back before it is put in place."""

from __future__ import annotations

import json
import tempfile
from dataclasses import dataclass
from pathlib import Path

import torch
from safetensors.torch import save_file

from regard.data.sides.text import Text
from regard.engine import MANIFEST
from regard.engine.home import holds_model, model_home
from regard.errors import MissingData, ModelError, UnknownName, UsageError
from regard.export.huggingface.config import config_of
from regard.export.huggingface.fitting import Fitted, fitted
from regard.export.huggingface.sentences import sentence_files
from regard.export.huggingface.tokenizer import tokenizer_files
from regard.export.huggingface.weights import weights_of
from regard.export.place import fresh_folder
from regard.export.request import FULL, Say, Wish
from regard.importing import import_model
from regard.importing.origin import Origin
from regard.model import Model, load, parameters, recipe_of
from regard.task import TaskParts

WEIGHTS = "model.safetensors"


@dataclass(frozen=True)
class Written:
    """What came of it: where it is, which class of `transformers` reads it, and its bytes."""

    folder: Path
    architecture: str
    size: int

    def told(self) -> str:
        """In a line."""
        return (
            f"{self.folder}: {self.architecture}, {self.size / 1e6:.1f} MB of weights; read back, bit for bit the same"
        )


def export(model: str | Path, out: str | Path, wish: Wish | None = None, say: Say = lambda line: None) -> Written:
    """Write the model of a folder as a folder of `transformers`; it is there only if it reads back as it was."""
    wish, out, home = wish or Wish(FULL), Path(out), model_home(model)
    _check(wish, home)
    recipe = recipe_of(home)
    ours, parts = load(home), TaskParts.load(recipe.task(), home)
    found = fitted(ours, recipe, Origin.read(home))
    say(f"{recipe.about.title}: {found.architecture}")
    with fresh_folder(out, source=home, force=wish.force) as fresh:
        _write(found, parts, fresh)
        _read_back(ours, fresh)
    return Written(out, found.architecture, (out / WEIGHTS).stat().st_size)


def _check(wish: Wish, home: Path) -> None:
    if wish.quantization != FULL:
        raise UnknownName("quantization for huggingface", wish.quantization, (FULL,))
    if wish.shortlist or wish.corpus or wish.lines:
        raise UsageError(
            "--shortlist, --data and --sample are for engines that translate.",
            hint="Leave them out: what is written for transformers is read back and compared by itself.",
        )
    if (home / MANIFEST).is_file():
        raise UsageError(f"{home} is itself an export.", hint="Export the model folder that it came from.")
    if not holds_model(home):
        raise MissingData(f"{home}: expected a model folder; there is none.", hint="Give a model folder, or a run.")


def _write(found: Fitted, parts: TaskParts, folder: Path) -> None:
    side = parts.target if found.family == "gpt2" else parts.source
    if not isinstance(side, Text):
        raise ModelError(f"expected a model of text; it reads {type(side).__name__}.")
    weights = weights_of(found)
    embed = found.model.predict.embed if found.family == "gpt2" else found.model.embed
    longest = len(embed.position.table)
    size = len(side.tokenizer) - (found.origin.added if found.origin else 0)
    config = config_of(found, size, tuple(getattr(parts.target, "names", ())))
    files = tokenizer_files(found, side.tokenizer, longest)
    files["config.json"] = json.dumps(config, ensure_ascii=False, indent=2) + "\n"
    files["README.md"] = _card(found)
    if found.goal == "encode":
        files |= sentence_files(found, getattr(side, "length", 0) or longest)
    for name, text in files.items():
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_text(text, encoding="utf-8")
    save_file(weights, folder / WEIGHTS, metadata={"format": "pt"})


def _read_back(ours: Model, folder: Path) -> None:
    """Import what was written, and hold it against the model."""
    with tempfile.TemporaryDirectory(dir=folder.parent, prefix=f"{folder.name}-") as draft:
        again = load(import_model(folder, Path(draft) / "again")).state_dict()
    before = ours.state_dict()
    wrong = [
        name
        for name in dict.fromkeys((*before, *again))
        if name not in before or name not in again or not torch.equal(before[name], again[name])
    ]
    if wrong:
        raise ModelError(f"what was written does not read back as the model: {', '.join(wrong[:5])}.")


def _card(found: Fitted) -> str:
    about = found.recipe.about
    tasks = {"fill": "fill-mask", "classify": "text-classification", "tag": "token-classification"}
    task = tasks.get(found.goal, "text-generation" if found.goal == "write" else "feature-extraction")
    cls = "AutoModel" if found.goal == "encode" else found.architecture
    paper = f"{about.paper}\n\n" if about.paper else ""
    return (
        f"---\nlibrary_name: transformers\npipeline_tag: {task}\ntags: [regard]\n---\n\n# {about.title}\n\n{paper}"
        f"Exported by Regard from a model of {parameters(found.model):,} parameters, as `{found.architecture}`.\n\n"
        f"    from transformers import AutoTokenizer, {cls}\n"
        f'    tokenizer = AutoTokenizer.from_pretrained("this folder")\n'
        f'    model = {cls}.from_pretrained("this folder", attn_implementation="eager")\n'
        f'    model(**tokenizer("...", return_tensors="pt"), output_attentions=True)\n\n'
        "Attention is evidence of what the model looked at, not proof of why it answered what it answered.\n"
    )
