"""The tables of a comparison, as rows of text: one row an arm, and one row a bucket of lengths."""

from __future__ import annotations

from collections.abc import Sequence

from regard.compare.results import Result
from regard.evaluate import METRICS, compare
from regard.evaluate.metrics import WRITTEN

Table = list[list[str]]  # the first row is the head


def main_table(results: Sequence[Result], references: Sequence[str]) -> Table:
    """Scores, size, speed and time of each arm, and how far it lies from the first."""
    first, *others = (METRICS[each] for each in WRITTEN)
    more = [METRICS[each] for each in ("aer", "perplexity")]
    head = ["arm", first.label, "against the first", *(each.label for each in (*others, *more))]
    head += ["parameters", "updates", "minutes"]
    rows = [[*head, "train tokens/s", "decode sentences/s"]]
    for result in results:
        found = result.scores[first.label]
        rows.append(
            [
                result.arm.label,
                f"{first.told(found.value)} [{first.told(found.low)}, {first.told(found.high)}]",
                _against(results[0], result, references),
                *(each.told(result.scores[each.label].value) for each in others),
                *(each.told(getattr(result, each.name)) for each in more),
                f"{result.parameters:,}",
                _told(result.updates, ",.0f"),
                _told(None if result.seconds is None else result.seconds / 60, ".1f"),
                _told(result.pieces_per_second, ",.0f"),
                f"{result.sentences_per_second:.1f}",
            ]
        )
    return rows


def length_table(results: Sequence[Result]) -> Table:
    """BLEU by source length: a row a bucket, a column an arm, and the first arm's lead over the last where two are."""
    rows = [["words", "sentences", *(result.arm.label for result in results)]]
    two = len(results) == 2
    if two:
        rows[0].append("difference")
    for number, bucket in enumerate(results[0].lengths):
        found = [result.lengths[number].score.value for result in results]
        row = [bucket.label, f"{bucket.count:,}", *(f"{value:.1f}" for value in found)]
        rows.append([*row, f"{found[0] - found[1]:+.1f}"] if two else row)
    return rows


def markdown(table: Table) -> str:
    """A table as Markdown."""
    lines = ["| " + " | ".join(cell.replace("|", "\\|") for cell in row) + " |" for row in table]
    return "\n".join([lines[0], "| " + " | ".join("---" for _ in table[0]) + " |", *lines[1:]])


def _against(first: Result, other: Result, references: Sequence[str]) -> str:
    if first is other:
        return "-"
    return compare(other.outputs, first.outputs, references).told()


def _told(value: int | float | None, form: str) -> str:
    return "-" if value is None else format(value, form)
