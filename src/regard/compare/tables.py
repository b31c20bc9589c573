"""The tables of a comparison, as rows of text: one row an arm, and one row a bucket of lengths."""

from __future__ import annotations

from collections.abc import Sequence

from regard.compare.results import Result
from regard.evaluate import Score, compare

Table = list[list[str]]  # the first row is the head


def main_table(results: Sequence[Result], references: Sequence[str]) -> Table:
    """Scores, size, speed and time of each arm, and how far it lies from the first."""
    head = [
        "arm",
        "BLEU",
        "against the first",
        "chrF2",
        "exact",
        "AER",
        "perplexity",
        "parameters",
        "updates",
        "minutes",
    ]
    rows = [[*head, "train tokens/s", "decode sentences/s"]]
    for result in results:
        bleu, chrf, exact = (_score(result, name) for name in ("BLEU", "chrF2", "exact match"))
        rows.append(
            [
                result.arm.label,
                f"{bleu.value:.1f} [{bleu.low:.1f}, {bleu.high:.1f}]",
                _against(results[0], result, references),
                f"{chrf.value:.1f}",
                f"{exact.value:.1f} %",
                "-" if result.aer is None else f"{result.aer:.1%}",
                _told(result.perplexity, ".2f"),
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


def _score(result: Result, name: str) -> Score:
    return result.scores[name]


def _against(first: Result, other: Result, references: Sequence[str]) -> str:
    if first is other:
        return "-"
    return compare(other.outputs, first.outputs, references).told()


def _told(value: int | float | None, form: str) -> str:
    return "-" if value is None else format(value, form)
