"""What a training adds to the best model: what its goal chooses once it is known, its scores, a card."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from regard.data.corpus import Corpus
from regard.data.plain.wanted import is_plain
from regard.evaluate.schema import read_scores, validation_scores, values_of
from regard.learn.events import Outcome
from regard.learn.folder import RunFolder
from regard.model import load, parameters, save
from regard.recipe import Recipe, needs
from regard.tasks.setup import Say

Finish = Callable[[Path, Corpus, Say], dict[str, str]]  # what a goal adds to the folder of its best model
USES = {
    "fill": '.fill("... [MASK] ...").filled',
    "generate": '.generate("...").text',
    "caption": '.caption("photo.png").text',
    "latex": '.latex("formula.png").latex',
    "classify": '.classify("...").label',
    "segment": '.segment("photo.png").image',
    "encode": '.encode(["...", "..."])',
    "reconstruct": '.reconstruct("...")',
    "tag": '.tag("...").tags',
    "translate": '.translate("...").text',
}


def complete(home: RunFolder, recipe: Recipe, corpus: Corpus, outcome: Outcome, finish: Finish, say: Say) -> None:
    """Add to the best model what is best chosen once it is known, its scores and a card."""
    files = {**home.files, **finish(home.folder, corpus, say)}
    best = load(home.best)
    scores = _scores(home.best, outcome)
    needed = "".join(f"{line}\n\n" for line in needs(recipe))
    sides = "plain text" if is_plain(corpus.source, corpus.target) else f"{corpus.source} to {corpus.target}"
    rows = "lines" if is_plain(corpus.source, corpus.target) else "pairs"
    card = (
        f"# {recipe.about.title}: {sides}\n\n{recipe.about.paper}\n\n"
        f"Trained on `{corpus.name}` ({len(corpus.split('train')):,} {rows}) for {outcome.seconds / 60:.1f} minutes, "
        f"{outcome.number:,} updates; {parameters(best):,} parameters. On the validation split: "
        f"{outcome.metric} {outcome.best if outcome.best is None else round(outcome.best, 2)}.\n\n"
        f'    import regard\n    model = regard.load("this folder")\n    model{_use(recipe)}\n\n'
        f"{needed}"
        "Attention is evidence of what the model looked at, not proof of why it wrote what it wrote.\n"
        f"{_samples(home.folder)}"
    )
    save(best, home.best, {**files, "scores.json": json.dumps(scores, indent=2) + "\n", "README.md": card})


def _samples(folder: Path) -> str:
    """What a language model writes, for its card; nothing of any other model."""
    from regard.tasks.language_model import LanguageModel
    from regard.tasks.objects import open_model, verb_of
    from regard.tasks.samples import draw_samples, samples_markdown

    if verb_of(folder) != "generate":
        return ""
    model = open_model(folder)
    return f"\n{samples_markdown(draw_samples(model))}\n" if isinstance(model, LanguageModel) else ""


def _scores(best: Path, outcome: Outcome) -> dict[str, Any]:
    """What the validation of the best model measured, and how long the whole training took."""
    values = {} if outcome.metric is None or outcome.best is None else {outcome.metric: outcome.best}
    path = best / "scores.json"
    if path.is_file():
        values = values_of(read_scores(path.read_text(encoding="utf-8"), str(path)))
    return validation_scores(values, outcome.number, seconds=outcome.seconds, metric=outcome.metric)


def _use(recipe: Recipe) -> str:
    verb = recipe.task.settings["verb"]
    return USES.get(verb, f'.{verb}("...")')
