"""What a training adds to the best model: where alignments are read, how much length counts, its scores, a card."""

from __future__ import annotations

import json
from dataclasses import replace

from regard.align.corpus_links import held_out_links
from regard.align.heads import choose_heads
from regard.align.record import FILE as ALIGNER_FILE
from regard.align.record import Aligner
from regard.data.corpus import Corpus
from regard.errors import RegardError
from regard.evaluate import read_links
from regard.learn.events import Outcome
from regard.learn.folder import RunFolder
from regard.learn.guide import head_counts
from regard.model import parameters, save
from regard.recipe import Recipe, needs
from regard.tasks.lengths import Lengths, choose_alpha
from regard.tasks.setup import Say
from regard.tasks.validate import held_out
from regard.translator import LENGTHS_FILE, Translator


def complete(home: RunFolder, recipe: Recipe, corpus: Corpus, outcome: Outcome, say: Say) -> None:
    """Add to the best model what is best chosen once it is known, its scores and a card."""
    best = Translator.load(home.folder)
    aligner = _chosen_heads(best, corpus, say)
    files = dict(home.files)
    if (lengths := _chosen_lengths(best, corpus, say)) is not None:
        files[LENGTHS_FILE] = json.dumps(lengths.to_json(), indent=2) + "\n"
    if aligner is not None:
        files[ALIGNER_FILE] = json.dumps(aligner.to_json(), indent=2, ensure_ascii=False) + "\n"
    scores = {"metric": outcome.metric, "best": outcome.best, "updates": outcome.number, "seconds": outcome.seconds}
    needed = "".join(f"{line}\n\n" for line in needs(recipe))
    card = (
        f"# {recipe.about.title}: {corpus.source} to {corpus.target}\n\n{recipe.about.paper}\n\n"
        f"Trained on `{corpus.name}` ({len(corpus.split('train')):,} pairs) for {outcome.seconds / 60:.1f} minutes, "
        f"{outcome.number:,} updates; {parameters(best.model):,} parameters. On the validation split: "
        f"{outcome.metric} {outcome.best if outcome.best is None else round(outcome.best, 2)}.\n\n"
        '    import regard\n    model = regard.load("this folder")\n    model.translate("...").text\n\n'
        f"{needed}"
        "Attention is evidence of what the model looked at, not proof of why it wrote what it wrote.\n"
    )
    save(best.model, home.best, {**files, "scores.json": json.dumps(scores, indent=2) + "\n", "README.md": card})


def _chosen_lengths(best: Translator, corpus: Corpus, say: Say) -> Lengths | None:
    """How much the length of outputs counts, chosen on held-out pairs."""
    if "val" not in corpus.splits:
        return None
    rows = held_out(corpus)
    lengths = choose_alpha(best, list(rows["source"]), list(rows["target"]))
    if lengths is not None:
        say(str(lengths))
    return lengths


def _chosen_heads(best: Translator, corpus: Corpus, say: Say) -> Aligner | None:
    """Where alignments of this model are read, chosen on held-out pairs; None where there is nothing to choose by.

    A model with one head has no choice: it is measured if gold links are there, and spared an aligner's if not.
    """
    if "val" not in corpus.splits or not getattr(best.model.predict, "attends", False):
        return None
    rows = held_out(corpus)
    if "links" in rows.column_names:
        gold, named = read_links(rows["links"], "val"), "gold links of the validation split"
    elif sum(head_counts(best.model)) > 1:
        say("choosing the heads that align: no gold links are there, so a statistical aligner makes some")
        lines, learnt = held_out_links(corpus, (best.source, best.target), len(rows))
        gold = replace(read_links(lines), spaced=None)
        named = f"a statistical aligner's links (HMM, learnt from {learnt:,} pairs)"
    else:
        return None
    try:
        found = choose_heads(best, list(rows["source"]), list(rows["target"]), gold, reference=named).aligner
    except RegardError as error:
        say(f"the heads that align were not chosen: {error}")
        return None
    say(f"alignments are read from {found}")
    return found
