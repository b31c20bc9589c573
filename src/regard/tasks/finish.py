"""What a writer's folder gets at the end of a training: how much length counts, and where alignments are read."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

from regard.align.corpus_links import held_out_links
from regard.align.heads import choose_heads
from regard.align.record import FILE as ALIGNER_FILE
from regard.align.record import Aligner
from regard.data.corpus import Corpus
from regard.data.letters import FILE as LETTERS_FILE
from regard.data.letters import LINES, letters_text
from regard.engine import MANIFEST
from regard.errors import RegardError
from regard.evaluate import read_links
from regard.learn.guide import head_counts
from regard.tasks.frozen import keep_features
from regard.tasks.lengths import Lengths, Searches, choose_alpha
from regard.tasks.objects import open_model
from regard.tasks.references import once_each
from regard.tasks.setup import Say
from regard.tasks.using import TaskModel
from regard.tasks.validate import held_out
from regard.translate.translator import LENGTHS_FILE, Translator


def finish_writing(folder: Path, corpus: Corpus, say: Say) -> dict[str, str]:
    """The heads that align and the length penalty, chosen on held-out pairs; a translator's languages' letters."""
    best, files = open_model(folder), {}
    aligner = _chosen_heads(best, corpus, say) if isinstance(best, Translator) else None
    if (lengths := _chosen_lengths(best, corpus, say)) is not None:
        files[LENGTHS_FILE] = json.dumps(lengths.to_json(), indent=2) + "\n"
    if isinstance(best, Translator) and (letters := _letters(corpus)) is not None:
        files[LETTERS_FILE] = letters
    if aligner is not None:
        files[ALIGNER_FILE] = json.dumps(aligner.to_json(), indent=2, ensure_ascii=False) + "\n"
    return files


def _letters(corpus: Corpus) -> str | None:
    """What its languages are told by, where its tokenizer may be one for both."""
    if "train" not in corpus.splits:
        return None
    rows = corpus.split("train")
    rows = rows.select(range(min(len(rows), LINES)))
    return letters_text(corpus.source, corpus.target, (rows["source"], rows["target"]))


def finish_imported(folder: Path, corpus: Corpus, say: Say) -> None:
    """Choose on held-out pairs what an imported translator has no choice of yet, as at the end of a training."""
    if "val" not in corpus.splits:
        say("nothing was chosen: the corpus has no validation pairs (--validation cuts some off)")
        return
    if not (folder / MANIFEST).is_file():
        for name, text in finish_writing(folder, corpus, say).items():
            (folder / name).write_text(text, encoding="utf-8")
        return
    from regard.importing.ctranslate2.heads import as_translator, read_from

    try:
        aligner = _chosen_heads(as_translator(folder), corpus, say)
    except RegardError as error:
        say(f"the heads that align were not chosen, and stay the model's own: {error}")
        return
    if aligner is not None:
        read_from(folder, aligner)


def _chosen_lengths(best: Searches, corpus: Corpus, say: Say) -> Lengths | None:
    """How much the length of outputs counts, chosen on held-out pairs."""
    if "val" not in corpus.splits:
        return None
    rows, source = held_out(corpus), getattr(best, "source", None)
    if isinstance(best, TaskModel):
        keep_features(best.model, best.source)
    lengths = choose_alpha(best, *once_each(source, list(rows["source"]), list(rows["target"])))
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
