"""What can be the matter with plain text: one small function for each kind of fault."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from regard.data.plain.wanted import text_of
from regard.data.report import warning
from regard.data.rows import Row
from regard.data.survey import ODD, Survey
from regard.data.warnings import Case, case, duplicates, odd_characters, of_all, overlap, unknown

_LITTLE = 10_000  # words of train below which a language model learns hardly more than to repeat them
_REPEATED = 0.05  # share of lines that were there before, from which on it is worth a word


class TextSurvey(Survey):
    """What one split of plain text holds; `running` text has line feeds, and may repeat its lines."""

    def __init__(self, split: str) -> None:
        super().__init__(split)
        self.running = False
        self.characters = self.words = 0

    def see(self, row: Row) -> None:
        """Take one line."""
        text = text_of(row)
        self.running = self.running or text.endswith("\n")
        if ODD.search(text.rstrip("\n")):
            self.odd.add(self.pairs)
        self._sources.append(hash(text))
        self._pairs.append(hash(text))
        self.source.see(text)
        self.characters += len(text)
        self.words += len(text.split())


def text_warnings(surveys: Mapping[str, TextSurvey]) -> Iterator[Case]:
    """Every warning about plain text."""
    train = surveys.get("train")
    for survey in surveys.values():
        yield from odd_characters(survey)
        if not survey.running:
            yield from _repeated(survey)
        if train is not None and survey is not train:
            if not survey.running:
                yield from overlap(train, survey)
            yield from unknown("", train.source, survey.source, survey.split)
    if train is not None and train.words < _LITTLE:
        message = f"there are only {train.words:,} words to learn from."
        advice = "A language model of so little text repeats it: find more, or take a very small model."
        yield Case(warning("little-text", message, "train", advice=advice))


def _repeated(survey: TextSurvey) -> Iterator[Case]:
    """Lines that were there before, where they are many: a few short ones always are."""
    for found in duplicates(survey):
        again = survey.pairs - len(set(survey.pair_hashes.tolist()))
        if again > _REPEATED * survey.pairs:
            message = f"{of_all(again, survey, 'lines')} were there before, word for word."
            yield case("duplicates", message, survey, found.places, found.finding.advice)


def text_note(surveys: Mapping[str, TextSurvey]) -> str:
    """How much text there is, for the notes of a report."""
    told = [f"{split} {survey.words:,} words, {survey.characters:,} characters" for split, survey in surveys.items()]
    return "; ".join(told)
