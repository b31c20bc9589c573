"""The same test sentences as each arm answered them: the section of the report that depends on the task.

A `Drawing` makes that section. `DRAWINGS` has one for each task that shows more than text; any other task gets
`draw_answers`, which loads no model. To show what a model of another task looked at, write a function of this form and
name its task there.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias

from regard.align.record import Record
from regard.compare.measures import Pairs, metric_called
from regard.compare.page import answers_html, generated_html, seen_html, sentences_html
from regard.compare.plan import Plan
from regard.compare.results import ArmResult
from regard.errors import UsageError
from regard.search import Options
from regard.show.answers import STYLE, Drawable
from regard.show.document import MOST
from regard.show.page import SWITCHES
from regard.show.samples import STYLE as SAMPLES_STYLE
from regard.tasks.language_model import LanguageModel
from regard.tasks.objects import open_model
from regard.tasks.samples import draw_samples
from regard.translate.translator import Translation, Translator

SHOWN = 3  # test sentences that the report shows
READ, GIVEN = 24, 5  # words of a text that is looked back at, and of the prompt that is gone on from
WRITTEN = "What each arm wrote and looked at"
GENERATED = "What each arm writes, and looked back at"


@dataclass(frozen=True)
class Sentence:
    """A test sentence that is shown: its row in the split, so that an arm's `outputs[row]` is its answer."""

    row: int
    source: str
    reference: str


@dataclass(frozen=True)
class Section:
    """A heading, and the HTML below it; all text in it is escaped by whoever made it."""

    heading: str
    parts: Sequence[str]
    style: str = ""  # that its parts need beside that of the page


Drawing: TypeAlias = Callable[[Sequence[ArmResult], Sequence[Sentence], Plan], Section]


def draw_examples(arms: Sequence[ArmResult], pairs: Pairs, plan: Plan) -> Section:
    """Some sentences as each arm answers them, drawn as its task is."""
    drawing = DRAWINGS.get(arms[0].arm.task, draw_answers) if arms else draw_answers
    return drawing(arms, choose(pairs), plan)


def choose(pairs: Pairs, count: int = SHOWN) -> list[Sentence]:
    """A short, a middling and a longer sentence; where nothing is read, of those that are wanted."""
    lines = pairs.sources if any(pairs.sources) else pairs.references
    order = sorted((row for row in range(len(lines)) if lines[row].strip()), key=lambda row: len(lines[row]))
    shares = range(1, 2 * count, 2)
    rows = list(dict.fromkeys(order[len(order) * share // (2 * count)] for share in shares)) if order else []
    return [Sentence(row, lines[row], pairs.references[row]) for row in rows]


def draw_translations(arms: Sequence[ArmResult], sentences: Sequence[Sentence], plan: Plan) -> Section:
    """What the first model of each arm writes, with live figures of what it looked at."""
    options = Options(beam=plan.beam, alpha=plan.alpha)
    lines = [each.source for each in sentences]
    found: dict[str, list[Translation]] = {
        arm.arm.label: [best[0] for best in Translator.load(arm.first.model).search(lines, options)] for arm in arms
    }
    shown = [
        (each.source, each.reference, {label: answers[number] for label, answers in found.items()})
        for number, each in enumerate(sentences)
    ]
    return Section(WRITTEN, sentences_html(shown))


def draw_answers(arms: Sequence[ArmResult], sentences: Sequence[Sentence], plan: Plan) -> Section:
    """What the first model of each arm answered, as text."""
    shown = [
        (each.source, each.reference, {arm.arm.label: arm.first.outputs[each.row] for arm in arms})
        for each in sentences
    ]
    return Section("What each arm answered", answers_html(shown))


def with_questions(arms: Sequence[ArmResult], pairs: Pairs) -> list[ArmResult]:
    """The arms, each trial with what its model was asked, where models make their questions of the sentences.

    Such questions are of different lengths for different models: their scores by length are not of the same sentences.
    """
    return [arm if arm.arm.task != "fill" else _with_questions(arm, pairs) for arm in arms]


def _with_questions(arm: ArmResult, pairs: Pairs) -> ArmResult:
    asked = [open_model(each.model).questions(pairs.sources, pairs.references) for each in arm.trials]
    return replace(
        arm, trials=tuple(replace(each, asked=own, lengths=()) for each, own in zip(arm.trials, asked, strict=True))
    )


def draw_fillings(arms: Sequence[ArmResult], sentences: Sequence[Sentence], plan: Plan) -> Section:
    """What the first model of each arm found for the words that were hidden from it."""

    def told(arm: ArmResult, row: int) -> str:
        asked, right = arm.first.asked or ((), ())
        return f"{asked[row]}  →  {arm.first.outputs[row]}  (hidden: {right[row]})"

    shown = [(each.source, "", {arm.arm.label: told(arm, each.row) for arm in arms}) for each in sentences]
    return Section("What each arm found for hidden words", answers_html(shown))


def draw_generated(arms: Sequence[ArmResult], sentences: Sequence[Sentence], plan: Plan) -> Section:
    """What the first model of each arm writes after the same prompts, beside its score, and what it looked back at."""
    models: dict[str, LanguageModel] = {arm.arm.label: open_model(arm.first.model) for arm in arms}
    scores = {arm.arm.label: next(iter(arm.first.scores.values())) for arm in arms}
    columns = {
        label: f"{label} ({each.name} {metric_called(each.name).told(each.value)})" for label, each in scores.items()
    }
    parts = []
    for number, each in enumerate(sentences, 1):
        words = each.reference.split()[:READ]
        prompt = " ".join(words[: min(GIVEN, (len(words) + 1) // 2)])
        found = {columns[label]: draw_samples(model, prompt) for label, model in models.items()}
        records = {label: _looked(model, " ".join(words)) for label, model in models.items()}
        seen = {label: record for label, record in records.items() if record is not None}
        parts.append(generated_html(number, found, seen, MOST // (len(sentences) * len(arms))))
    live = any(model.attends for model in models.values())
    return Section(GENERATED, [SWITCHES, *parts] if live else parts, SAMPLES_STYLE)


def _looked(model: LanguageModel, text: str) -> Record | None:
    """What it looked back at; None where it does not attend, or cannot tell so many positions apart."""
    try:
        return model.look(text) if model.attends else None
    except UsageError:
        return None


def draw_seen(arms: Sequence[ArmResult], sentences: Sequence[Sentence], plan: Plan) -> Section:
    """What the first model of each arm answered, each beside what it looked at."""
    cells = [each.source for each in sentences]
    found: dict[str, list[Drawable]] = {
        arm.arm.label: [
            answer.compared(each.reference)
            for answer, each in zip(open_model(arm.first.model).answer(cells), sentences, strict=True)
        ]
        for arm in arms
    }
    shown = [
        (each.source, {label: answers[number] for label, answers in found.items()})
        for number, each in enumerate(sentences)
    ]
    return Section("What each arm answered and looked at", seen_html(shown), STYLE)


DRAWINGS: dict[str, Drawing] = {
    "translate": draw_translations,
    "fill": draw_fillings,
    "generate": draw_generated,
    "classify": draw_seen,
    "tag": draw_seen,
    "caption": draw_seen,
    "segment": draw_seen,
    "latex": draw_seen,
}
