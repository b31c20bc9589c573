"""The pictures of a trial: the measure over the length of the source, and what was looked at in one example."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from regard.errors import RegardError
from regard.evaluate import by_length, draw_lengths
from regard.evaluate.lengths import count_words
from regard.evaluate.metrics import metric
from regard.show.sampled import save_sampled
from regard.tasks.reproduce.arms import Arm
from regard.tasks.reproduce.measure import Answered, Questions, is_text
from regard.tasks.sampler import Sample, Sampler

SAMPLES = 6  # of a generator
MIDDLING = 9  # words of an example that shows something and is read at a glance
MADE = 10  # images that are shown beside what was made of them
BY_LENGTH, LOOKED = "lengths.png", "looked.png"


def draw_pictures(answered: Sequence[Answered], tested: Questions, measure: str, out: Path) -> list[Path]:
    """Draw all that these answers can show."""
    found = []
    if is_text(answered[0].arm) and metric(measure).count is not None:
        found.append(_by_length(answered, tested, measure, out / BY_LENGTH))
    looked = _looked(answered[0], tested, out / LOOKED)
    return [*found, looked] if looked else found


def _by_length(answered: Sequence[Answered], tested: Questions, measure: str, path: Path) -> Path:
    series = {}
    for each in answered:
        texts = [answer.text for answer in each.answers]
        series[each.arm.label] = by_length(tested.sources, texts, tested.targets, metric=measure)
    return draw_lengths(series, path, title=f"{metric(measure).label} by source length")


def _looked(answered: Answered, tested: Questions, path: Path) -> Path | None:
    """A right and a wrong answer where they can be compared, a matrix where a text was written; else None."""
    if not answered.answers:
        return _text(answered.arm, tested, path)
    if isinstance(answered.answers[0], Sample):
        return _sampled(answered.arm, path)
    if hasattr(answered.answers[0], "values"):
        return _made(answered, path)
    if hasattr(answered.answers[0], "compared"):
        return _answers(answered, tested, path)
    if hasattr(answered.answers[0], "alignment"):
        return _matrix(answered.arm, _shown(answered, tested), path)
    return None


def _text(arm: Arm, tested: Questions, path: Path) -> Path | None:
    """What a language model looked back at in a text of middling length."""
    from regard.show.views import save_record
    from regard.tasks.objects import open_model

    try:
        record = open_model(arm.run).look(min(tested.targets, key=lambda line: abs(count_words(line) - MIDDLING)))
        return save_record(record, path, "What it looked at")
    except RegardError:  # it has no attention that could be shown
        return None


def _sampled(arm: Arm, path: Path) -> Path:
    """Some samples, and what five pixels of each looked at."""
    made = Sampler.load(arm.run).sample(SAMPLES)
    return save_sampled([each.seen() for each in made], path)


def _made(answered: Answered, path: Path) -> Path:
    """Some images beside what was made of them."""
    from regard.show.answers import save_answers

    seen = [each.compared(None) for each in answered.answers[:MADE]]
    return save_answers(seen, path, "What was read, and what was made of it")


def _shown(answered: Answered, tested: Questions) -> str:
    """A source of middling length, rightly answered if any is."""
    right = [
        source
        for source, target, answer in zip(tested.sources, tested.targets, answered.answers, strict=True)
        if answer.text == target
    ]
    return min(right or tested.sources, key=lambda line: abs(count_words(line) - MIDDLING))


def _matrix(arm: Arm, source: str, path: Path) -> Path | None:
    from regard.show.views import View, save_record
    from regard.translate.translator import Translator

    try:
        record = Translator.load(arm.run).look(source)
        one_word = len(record.target.labels) <= 2  # a date: its letters are what is written
        return save_record(record, path, "What it looked at", View(pieces=one_word))
    except RegardError:  # it has no attention that could be shown
        return None


def _answers(answered: Answered, tested: Questions, path: Path) -> Path:
    from regard.show.answers import one_right_one_wrong, save_answers
    from regard.show.shaded import Shaded

    every = [each.compared(right) for each, right in zip(answered.answers, tested.targets, strict=True)]
    shown = one_right_one_wrong(every)
    # A figure holds several shaded texts, but one image or one tagged text.
    return save_answers(shown if isinstance(shown[0], Shaded) else shown[:1], path, "What it looked at")
