"""What came out of a trial: the measure of each arm on test examples, with its interval, and what they differ by."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from jaxtyping import Int

from regard.data.corpus import Corpus
from regard.data.sides.text import Text
from regard.errors import UsageError
from regard.evaluate import Counted, Gold, read_links
from regard.evaluate.bootstrap import interval
from regard.evaluate.lengths import count_words
from regard.evaluate.metrics import counting, likely, metric, sampled
from regard.recipe.reproduce import Reproduce
from regard.tasks.reproduce.arms import Arm
from regard.tasks.using import Answerer


@dataclass(frozen=True)
class Measured:
    """A value and its 95 % interval, from drawing test examples anew."""

    value: float
    low: float
    high: float


@dataclass(frozen=True)
class Questions:
    """The test examples of a trial; `rows` are the places of those that the claim is about."""

    sources: list[Any]
    targets: list[str]
    gold: Gold | list[str] | None  # links between words; of images, where the words of captions are
    rows: Int[np.ndarray, " M"]


@dataclass(frozen=True)
class Answered:
    """An arm, used on the test examples: its answers and what the measure counts of those the claim is about."""

    arm: Arm
    answers: list[Any]
    counted: Counted


def first_questions(corpus: Corpus, table: Reproduce, arm: Arm | None = None) -> Questions:
    """The first examples of the test split; as the goal of an arm asks them, where one is given."""
    rows = corpus.split("test")
    rows = rows.select(range(min(table.tested, len(rows))))
    sources, targets = list(rows["source"]), list(rows["target"])
    if arm is not None:
        sources, targets = map(list, Answerer.load(arm.run).parts.goal.questions(sources, targets))
    needs = metric(table.measure).needs
    links = list(rows["links"]) if "links" in rows.column_names and needs in ("links", "places") else None
    gold = read_links(links) if links is not None and needs == "links" else links
    # An image has no length: its caption has.
    return Questions(sources, targets, gold, _rows_on(targets if corpus.source == "image" else sources, table.on))


def _rows_on(sources: Sequence[Any], on: str) -> Int[np.ndarray, " M"]:
    """The places of all sources, or of the longest third."""
    if on == "all":
        return np.arange(len(sources))
    lengths = [count_words(source) for source in sources]
    return np.sort(np.argsort(lengths, kind="stable")[-max(1, len(sources) // 3) :])


def answer(arm: Arm, tested: Questions, table: Reproduce) -> Answered:
    """Let the best model of an arm answer, greedily, and count; of a metric of likelihoods nothing is answered."""
    if metric(table.measure).count_likely is not None:
        return Answered(arm, [], _count_likely(arm, tested, table.measure).take(tested.rows))
    answers = Answerer.load(arm.run).answer(tested.sources)
    if metric(table.measure).needs == "links":
        return Answered(arm, answers, _count_links(arm, tested).take(tested.rows))
    if metric(table.measure).needs == "places":
        return Answered(arm, answers, _count_places(arm, tested).take(tested.rows))
    if metric(table.measure).count_samples is not None:
        return Answered(arm, answers, sampled([table.measure], answers, tested.targets)[table.measure])
    images = metric(table.measure).count_images
    if images is not None:
        return Answered(arm, answers, images(answers, tested.targets).take(tested.rows))
    texts = [each.text for each in answers]
    sure = [each.probability for each in answers] if metric(table.measure).count_sure is not None else None
    return Answered(arm, answers, counting(table.measure, sure)(texts, tested.targets).take(tested.rows))


def _count_likely(arm: Arm, tested: Questions, measure: str) -> Counted:
    """How likely the right texts are to a language model."""
    from regard.tasks.language_model import LanguageModel
    from regard.tasks.objects import open_model

    model = open_model(arm.run)
    if not isinstance(model, LanguageModel):
        raise UsageError(f"{measure} is measured of language models.", hint="Name another measure.")
    return likely([measure], model.likelihoods(tested.targets))[measure]


def _count_links(arm: Arm, tested: Questions) -> Counted:
    """The counts of the alignment error of the right targets' links."""
    from regard.translate.translator import Translator

    gold = tested.gold
    if not isinstance(gold, Gold):
        raise UsageError("the alignment error needs a corpus with gold links.", hint='Write data = "phrasebook".')
    forced = Translator.load(arm.run).force(tested.sources, tested.targets, spaced=(gold.spaced, gold.spaced))
    rows = []
    for each, sure, possible in zip(forced, gold.sure, gold.possible, strict=True):
        found, wanted, allowed = set(each.alignment.links() if each.alignment else ()), set(sure), set(possible)
        rows.append((len(found), len(found & (wanted | allowed)), len(found & wanted), len(wanted)))
    return Counted("AER", np.array(rows, np.int64), _error, lambda seed: f"seed:{seed}")


def _count_places(arm: Arm, tested: Questions) -> Counted:
    """The counts of how often the words of the right captions look at what they name."""
    from regard.tasks.captioner import Captioner

    if not isinstance(tested.gold, list):
        raise UsageError("pointing accuracy needs images whose words have places.", hint='Write data = "scenes".')
    counted = Captioner.load(arm.run).count_pointing(tested.sources, tested.targets, tested.gold)
    if counted is None:
        raise UsageError(f"{arm.label} does not attend, so that its words look nowhere.", hint="Measure another arm.")
    found: Counted = counted
    return found


def _error(sums: list[int]) -> float:
    links, right, hit, wanted = sums
    return 1 - (hit + right) / (links + wanted) if links + wanted else 0.0


def measured(counted: Counted) -> Measured:
    """A value with its interval."""
    return Measured(counted.value(), *interval(counted.drawn()))


def difference(ours: Counted, theirs: Counted) -> Measured:
    """What ours is more than theirs, both on the same draws of examples."""
    return Measured(ours.value() - theirs.value(), *interval(ours.drawn() - theirs.drawn()))


def is_text(arm: Arm) -> bool:
    """Whether an arm reads text, which has a length in words."""
    return isinstance(Answerer.load(arm.run).parts.source, Text)
