"""From a recipe and data to a model folder: the whole way, in one call. `regard train` is this function."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import torch
from datasets import Dataset

from regard.data.batches import Batches, Examples
from regard.data.check import check
from regard.data.corpus import Corpus, column
from regard.data.example import Example
from regard.data.tokenizer import Tokenizer, train_pair
from regard.errors import ModelError, RegardError, UsageError
from regard.evaluate import bleu, choose_heads, chrf, exact_match, read_links
from regard.evaluate.corpus_links import held_out_links, training_links
from regard.learn.course import Budget
from regard.learn.events import Outcome, Tell, Validation, quiet
from regard.learn.guide import head_counts
from regard.learn.learner import Learner
from regard.learn.loss import sequence_loss
from regard.learn.pace import positions_a_second
from regard.learn.place import Place
from regard.learn.precision import use_bf16
from regard.learn.run import check_end, run
from regard.learn.settings import Standard
from regard.learn.team import Team
from regard.model import Model, save
from regard.recipe import Recipe, resolve
from regard.record import FILE as ALIGNER_FILE
from regard.record import Aligner
from regard.search import Options
from regard.show.terminal import draw
from regard.translator import SOURCE_FILE, TARGET_FILE, Translator

SIDES = ("source", "target")
EXAM = 500  # pairs of the validation split that are decoded each time
Say = Callable[[str], None]
Tokenizers = tuple[Tokenizer, Tokenizer]  # of source and target


def _silent(line: str) -> None:
    """Say nothing: of many processes, the main one does."""


def load(folder: str | Path, engine: str | None = None, threads: int | None = None) -> Translator:
    """The model of a model folder, the best one of a run folder, or an exported one, ready for use.

    The folder says which engine runs it (`regard export` writes folders for others than PyTorch); `engine` insists on
    one. `threads` is how many may compute; without it, as many as PyTorch takes.
    """
    return Translator.load(folder, engine, threads)


def train(
    recipe: str | Path,
    *,
    data: str | Path,
    out: str | Path,
    source: str | None = None,
    target: str | None = None,
    minutes: float | None = None,
    steps: int | None = None,
    seed: int = 0,
    resume: bool = False,
    settings: Sequence[str] = (),
    size: int | None = None,
    tokenizers: Tokenizers | None = None,
    tell: Tell = quiet,
    say: Say = _silent,
) -> Translator:
    """Train a recipe on a corpus in the run folder `out`; the best model comes back, ready for use.

    Args:
        recipe: a name that `regard systems` shows, or a file.
        data: a corpus, as `regard data` understands it; `source` and `target` pick its languages.
        minutes: how long to train, or `steps`: how many updates.
        resume: go on with the run in `out`.
        settings: changes of the recipe, as `-s` takes them: `["train.rate=0.002"]`.
        size: how many pairs a built-in corpus shall draw.
        tokenizers: those of source and target, if they shall not be learnt from the corpus.
        tell: hears every step, validation and save; `say` hears notes in words.

    Many processes that a launcher started call this alike, train as one, and all have the model.
    """
    team, place = Team(), Path(out)
    resolved, say = team.each(lambda: resolve(recipe, settings)), say if team.main else _silent
    corpus = team.first(lambda: Corpus.open(data, source=source, target=target, size=size, seed=seed))
    team.alone(lambda: _check(corpus, say))
    ready = _ready(resolved, corpus, place if resume else tokenizers, seed, say)
    home, budget = Place(place, resume, ready.files), Budget(minutes, steps)
    outcome = run(
        ready.model, ready.batches, ready.lessons, home, budget=budget, validate=ready.exam, seed=seed, tell=tell
    )
    say(f"stopped by {outcome.reason} after {outcome.number:,} updates; {ready.batches.tally}")
    team.alone(lambda: _complete(home, resolved, corpus, outcome, say))
    return Translator.load(place)


def rehearse(
    recipe: str | Path,
    *,
    data: str | Path,
    out: str | Path,
    source: str | None = None,
    target: str | None = None,
    minutes: float | None = None,
    steps: int | None = None,
    seed: int = 0,
    resume: bool = False,
    settings: Sequence[str] = (),
    size: int | None = None,
) -> Tokenizers:
    """Raise what `train` with these arguments would raise before its first update; the tokenizers it would have.

    What it reads from the cache is there afterwards. In the run folder, nothing is.
    """
    resolved, place = resolve(recipe, settings), Path(out)
    corpus = Corpus.open(data, source=source, target=target, size=size, seed=seed)
    _check(corpus, _silent)
    ready = _ready(resolved, corpus, place if resume else None, seed, _silent)
    check_end(ready.model, ready.lessons, Budget(minutes, steps), ready.exam)
    Learner(ready.model, ready.lessons, iter(()), bf16=use_bf16(ready.lessons.precision))
    Place(place, resume).prepare(0)
    return ready.tokenizers


def pace(
    recipe: str | Path,
    *,
    data: str | Path,
    out: str | Path,
    source: str | None = None,
    target: str | None = None,
    seed: int = 0,
    resume: bool = False,
    settings: Sequence[str] = (),
    size: int | None = None,
    tokenizers: Tokenizers | None = None,
) -> float:
    """How many target positions a second `train` would learn from with these arguments, which `rehearse` found sound.

    A few seconds of real updates are timed, in one process or in many that a launcher started. Nothing is written.
    """
    team = Team()
    resolved = team.each(lambda: resolve(recipe, settings))
    corpus = team.first(lambda: Corpus.open(data, source=source, target=target, size=size, seed=seed))
    ready = _ready(resolved, corpus, Path(out) if resume else tokenizers, seed, _silent)
    return positions_a_second(ready.model, ready.batches, ready.lessons)


@dataclass(frozen=True)
class _Ready:
    """All that a training needs for its first update."""

    lessons: Standard
    tokenizers: Tokenizers
    model: Model
    batches: Batches
    exam: Exam | None

    @property
    def files(self) -> dict[str, str]:
        """What goes into a model folder beside the model."""
        source, target = self.tokenizers
        return {SOURCE_FILE: source.backend.to_str(), TARGET_FILE: target.backend.to_str()}


def _ready(recipe: Recipe, corpus: Corpus, given: Tokenizers | Path | None, seed: int, say: Say) -> _Ready:
    """Make everything ready, with tokenizers that are given, those of a run that goes on, or new ones."""
    team, lessons = Team(), recipe.train()
    _check_share(recipe, lessons)
    pair = team.alone(lambda: _kept(given) if isinstance(given, Path) else given or _tokenizers(corpus, lessons))
    torch.manual_seed(seed)
    model = team.each(lambda: recipe.build(len(pair[0]), len(pair[1])))
    say(f"{_parameters(model):,} parameters, {len(pair[0]):,} source and {len(pair[1]):,} target pieces")
    batches = _batches(team.first(lambda: _lessons_of(corpus, pair, lessons, say)), pair, lessons, seed)
    return _Ready(lessons, pair, model, batches, Exam(corpus, *pair) if "val" in corpus.splits else None)


def _check_share(recipe: Recipe, lessons: Standard) -> None:
    """One table of vectors for both sides means nothing where a number is another piece on each side."""
    if recipe.model.settings["share"] and lessons.joint != "yes":
        raise UsageError(
            f'share = true needs one tokenizer for both sides; found train.joint = "{lessons.joint}".',
            hint='Write train.joint = "yes", or share = false.',
        )


def _tokenizers(corpus: Corpus, lessons: Standard) -> Tokenizers:
    columns = (column(corpus.split("train"), side) for side in SIDES)
    joint: bool | Literal["auto"] = "auto" if lessons.joint == "auto" else lessons.joint == "yes"
    return train_pair(
        *columns,
        joint=joint,
        kind=lessons.pieces,
        size=lessons.vocabulary or "auto",
        target_size=lessons.target_vocabulary or None,
    )


def _batches(split: Dataset, pair: Tokenizers, lessons: Standard, seed: int) -> Batches:
    longest = lessons.longest or None
    linked = lessons.guide != "none"
    return Batches(
        split, *pair, tokens=lessons.tokens, seed=seed, longest=longest, sample=lessons.sample, linked=linked
    )


def _lessons_of(corpus: Corpus, pair: Tokenizers, lessons: Standard, say: Say) -> Dataset:
    """The training pairs, with the links of a statistical aligner where these are to guide."""
    split = corpus.split("train")
    if lessons.guide != "reference":
        return split
    say("aligning the training pairs with a statistical aligner, to guide the attention (once: the links are kept)")
    links = training_links(corpus, pair)
    known = split.remove_columns("links") if "links" in split.column_names else split
    return known.add_column("links", links)


def _chosen_heads(best: Translator, corpus: Corpus, say: Say) -> Aligner | None:
    """Where alignments of this model are read, chosen on held-out pairs; None where there is nothing to choose by.

    A model with one head has no choice: it is measured if gold links are there, and spared an aligner's if not.
    """
    if "val" not in corpus.splits or not getattr(best.model.predict, "attends", False):
        return None
    rows = corpus.split("val").select(range(min(EXAM, len(corpus.split("val")))))
    if "links" in rows.column_names:
        gold, named = read_links(rows["links"], "val"), "gold links of the validation split"
    elif sum(head_counts(best.model)) > 1:
        say("choosing the heads that align: no gold links are there, so a statistical aligner makes some")
        lines, learnt = held_out_links(corpus, (best.source, best.target), len(rows))
        gold, named = read_links(lines), f"a statistical aligner's links (HMM, learnt from {learnt:,} pairs)"
    else:
        return None
    try:
        found = choose_heads(best, list(rows["source"]), list(rows["target"]), gold, reference=named).aligner
    except RegardError as error:
        say(f"the heads that align were not chosen: {error}")
        return None
    say(f"alignments are read from {found}")
    return found


def _check(corpus: Corpus, say: Say) -> None:
    """Errors of the corpus stop, doubts are told."""
    report = check(corpus)
    report.stop_on_errors()
    say(str(report))


def _kept(place: Path) -> Tokenizers:
    """The tokenizers of a run that goes on."""
    for folder in (place / "last", place / "best"):
        if (folder / SOURCE_FILE).is_file():
            return Tokenizer.load(folder / SOURCE_FILE), Tokenizer.load(folder / TARGET_FILE)
    raise ModelError(f"{place} holds no run to go on with.", hint="Leave --resume out to begin one.")


def _parameters(model: Model) -> int:
    return sum(weight.numel() for weight in model.parameters())


class Exam:
    """A validation: real decoding of held-out pairs, their surprise, and two of them drawn with their alignment."""

    def __init__(self, corpus: Corpus, source: Tokenizer, target: Tokenizer) -> None:
        rows = corpus.split("val").select(range(min(EXAM, len(corpus.split("val")))))
        self.sources, self.references = list(rows["source"]), list(rows["target"])
        self.source, self.target = source, target

    def __call__(self, model: Model) -> Validation:
        """Greedy outputs against their references."""
        translator = Translator(model, self.source, self.target)
        found = [best[0] for best in translator.search(self.sources, Options(beam=1), record=False)]
        outputs = [each.text for each in found]
        values = {
            "bleu": bleu(outputs, self.references).value,
            "chrf": chrf(outputs, self.references).value,
            "exact": exact_match(outputs, self.references).value,
            "surprise": self._surprise(model),
        }
        return Validation(values, tuple(self._drawn(translator, line) for line in self._shown()))

    def _surprise(self, model: Model) -> float:
        pairs = [Example(*pair) for pair in zip(self.sources, self.references, strict=True)]
        total, count = 0.0, 0
        with torch.no_grad():
            for batch in Batches(Examples(pairs), self.source, self.target, shuffle=False):
                loss = sequence_loss(model, batch)
                total, count = total + float(loss.surprise) * loss.pieces, count + loss.pieces
        return total / count

    def _shown(self) -> list[str]:
        """A short line and a middling one: what a person can take in at a glance."""
        by_length = sorted((line for line in self.sources if line.strip()), key=len)
        return [by_length[len(by_length) // 10], by_length[len(by_length) // 2]] if by_length else []

    def _drawn(self, translator: Translator, line: str) -> str:
        found = translator.translate(line, beam=1)
        head = f"{line}  ->  {found.text}"
        if found.alignment is None or len(found.alignment.source) > 40:
            return head
        labels = [f"{word} " for word in found.alignment.source]
        return f"{head}\n{draw(found.alignment.matrix[:-1], labels, found.alignment.target[:-1])}\n"


def _complete(home: Place, recipe: Recipe, corpus: Corpus, outcome: Outcome, say: Say) -> None:
    """Add to the best model where its alignments are read, its scores and a card."""
    best = Translator.load(home.folder)
    aligner = _chosen_heads(best, corpus, say)
    files = dict(home.files)
    if aligner is not None:
        files[ALIGNER_FILE] = json.dumps(aligner.to_json(), indent=2, ensure_ascii=False) + "\n"
    scores = {"metric": outcome.metric, "best": outcome.best, "updates": outcome.number, "seconds": outcome.seconds}
    card = (
        f"# {recipe.about.title}: {corpus.source} to {corpus.target}\n\n{recipe.about.paper}\n\n"
        f"Trained on `{corpus.name}` ({len(corpus.split('train')):,} pairs) for {outcome.seconds / 60:.1f} minutes, "
        f"{outcome.number:,} updates; {_parameters(best.model):,} parameters. On the validation split: "
        f"{outcome.metric} {outcome.best if outcome.best is None else round(outcome.best, 2)}.\n\n"
        '    import regard\n    model = regard.load("this folder")\n    model.translate("...").text\n\n'
        "Attention is evidence of what the model looked at, not proof of why it wrote what it wrote.\n"
    )
    save(best.model, home.best, {**files, "scores.json": json.dumps(scores, indent=2) + "\n", "README.md": card})
