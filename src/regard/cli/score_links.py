"""`regard score-links FOUND GOLD`: how well word links agree with gold ones, whoever found them."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from regard.cli.lines import read_lines


def score_links(
    found: Annotated[
        Path, typer.Argument(help="Links, a line a pair: 0-0 1-2 ... Plain or .gz; - reads standard input.")
    ],
    gold: Annotated[
        Path,
        typer.Argument(
            help="Gold links: 0-1 is sure, 0?1 or 0p1 possible; or a table whose last column has them. Plain or .gz."
        ),
    ],
    one_based: Annotated[
        bool, typer.Option("--one-based", help="The gold file counts words from 1, as the WPT 2003 sets do.")
    ] = False,
    as_json: Annotated[bool, typer.Option("--json", help="For machines.")] = False,
) -> None:
    """Score word links against gold links: AER, precision, recall and F1, with 95 % intervals.

    Example: regard align test.de test.en --statistical | regard score-links - test.gold
    """
    from regard.errors import BrokenData
    from regard.evaluate import Report, link_scores, read_gold_file, read_links

    known = read_gold_file(gold, first=1 if one_based else 0)
    name = "standard input" if str(found) == "-" else str(found)
    given = read_links((line for lines in read_lines(found) for line in lines), name)
    links = [(*sure, *possible) for sure, possible in zip(given.sure, given.possible, strict=True)]
    if len(links) != len(known.sure):
        raise BrokenData(
            f"expected as many lines in each file; {name} has {len(links):,}, {gold} has {len(known.sure):,}.",
            hint="Line n of both is about the same pair: look for lines lost or cut in two.",
        )
    count = sum(len(set(each)) for each in links)
    report = Report(
        title=f"{name} against {gold}: {len(links):,} pairs, {count:,} links",
        scores=link_scores(links, known.sure, known.possible),
    )
    typer.echo(report.as_json() if as_json else report.as_text())
