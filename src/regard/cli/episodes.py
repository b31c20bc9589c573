"""What `regard classify` and `regard show` do with a model that is shown examples: a folder a class, then images."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

if TYPE_CHECKING:
    from regard.data.episodes import Episode
    from regard.tasks.episode_classifier import EpisodeClassifier, Recognition

Support = Annotated[
    Path | None,
    typer.Option(
        metavar="DIR",
        help="Of a model that learns from a few examples: a folder a class (DIR/alpha/1.png DIR/beta/1.png ...).",
    ),
]
LAYOUT = "Lay the examples out as DIR/alpha/1.png DIR/beta/1.png ... and add --support DIR."


def takes_support(model: Any, support: Path | None) -> bool:
    """Is it a model that is shown examples? Refuses them where it is not, and their lack where it is."""
    from regard.errors import UsageError
    from regard.tasks.episode_classifier import EpisodeClassifier

    if not isinstance(model, EpisodeClassifier):
        if support is not None:
            raise UsageError(
                "--support is for models that learn from a few examples; this one knows its classes.",
                hint="Leave it out.",
            )
        return False
    if support is None:
        raise UsageError(f"this model is shown examples first ({model.source.shape}); found none.", hint=LAYOUT)
    return True


def answer_episodes(
    model: EpisodeClassifier, images: Sequence[Path] | None, support: Path, form: str, *, top: int, attention: bool
) -> None:
    """Write a line for each image: its path, and the class that the examples tell."""
    from regard.cli.images import answer_images

    shown = model.shown(support)

    def line(answer: Recognition) -> str:
        return _json(answer, top) if form == "jsonl" else _line(answer, top, attention)

    record = attention or form == "jsonl"
    answer_images(images, lambda paths: [[each] for each in model.classify_by(paths, shown, record=record)], line, None)


def episodes_of(model: EpisodeClassifier, cells: Sequence[str], support: Path) -> list[Episode]:
    """Images to be asked about, each beside the examples."""
    from regard.data.episodes import Episode

    shown = model.shown(support)
    return [Episode(shown, cell) for cell in cells]


def _ranked(answer: Recognition, top: int) -> list[tuple[str, float]]:
    return sorted(answer.probabilities.items(), key=lambda each: -each[1])[:top]


def _line(answer: Recognition, top: int, attention: bool) -> str:
    from regard.chunks import one_line

    def cell(text: str) -> str:
        return one_line(text, columns=True)

    cells = [cell(str(answer.source.query))]
    cells += [part for name, share in _ranked(answer, top) for part in (cell(name), f"{share:.4f}")]
    if attention and answer.weights is not None:
        pairs = zip(answer.source.support, answer.weights.tolist(), strict=True)
        cells.append(" ".join(f"{cell(name)}:{weight:.3f}" for (_, name), weight in pairs))
    return "\t".join(cells)


def _json(answer: Recognition, top: int) -> str:
    from regard.chunks import one_json_line

    told: dict[str, Any] = {"image": str(answer.source.query), "label": answer.label}
    told |= {"probability": answer.probability}
    told["probabilities"] = dict(_ranked(answer, top if top > 1 else len(answer.probabilities)))
    told["support"] = [{"image": str(cell), "label": name} for cell, name in answer.source.support]
    if answer.attention:
        told["weights"] = answer.attention[-1].tolist()
        told["attention"] = [each.tolist() for each in answer.attention]
    return one_json_line(told)
