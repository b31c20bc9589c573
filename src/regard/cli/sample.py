"""`regard sample MODEL`: images that a generator makes of noise."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from regard.cli.classify import ModelFolder, opened
from regard.errors import UsageError

if TYPE_CHECKING:
    from regard.tasks.sampler import Sample, Sampler

IMAGES = (".png", ".jpg", ".jpeg", ".webp", ".gif", ".bmp")
MOST = 8  # samples of which it is drawn what they looked at

Out = Annotated[
    Path,
    typer.Option(help="A file (.png .jpg .webp .gif .bmp) for all images side by side, or a folder for an image each."),
]
Class = Annotated[str | None, typer.Option("--class", metavar="NAME", help="Of which class; else they take turns.")]
Looks = Annotated[
    Path | None,
    typer.Option(
        "--save-attention",
        metavar="FILE",
        help="Draw what five pixels of the first images looked at: .png .svg .pdf .html .txt.",
    ),
]


def sample(
    model: ModelFolder,
    out: Out,
    count: Annotated[int, typer.Option(min=1, help="How many images.")] = 64,
    seed: Annotated[int, typer.Option(help="The same seed gives the same images.")] = 0,
    label: Class = None,
    save_attention: Looks = None,
) -> None:
    """Make images of noise, and write them to a file or a folder; their paths are printed.

    With a larger --count the first images stay the same.

    Example: regard sample runs/sagan --count 64 --seed 7 --out grid.png
    """
    from regard.show.canvas import check_name
    from regard.show.sampled import FILES, save_sampled

    _check_place(out)
    if save_attention is not None:
        check_name(save_attention, FILES)
    found: Sampler = opened(model, "sample")
    made = found.sample(count, seed, label, record=save_attention is not None)
    paths = [_grid(made, out)] if out.suffix.lower() in IMAGES else _files(made, out)
    if save_attention is not None:
        paths.append(save_sampled([each.seen() for each in made[:MOST]], save_attention))
    for path in paths:
        typer.echo(str(path))


def _check_place(out: Path) -> None:
    """Refuse a name before anything is made."""
    is_image = out.suffix.lower() in IMAGES
    if is_image and out.is_dir():
        raise UsageError(f"{out}: expected a file; found a folder.", hint="Choose another --out.")
    if not is_image and out.suffix and not out.is_dir():
        raise UsageError(
            f"{out}: no image is written to a {out.suffix} file.",
            hint=f"Write --out {out.with_suffix('.png')}, or a folder, as in --out {out.with_suffix('')}",
        )
    if not is_image and out.is_file():
        raise UsageError(f"{out}: expected a folder; found a file.", hint="Choose another --out, or end it in .png.")


def _grid(made: list[Sample], out: Path) -> Path:
    from regard.show.place import fresh_file
    from regard.show.sampled import mosaic

    with fresh_file(out) as draft:
        mosaic([each.array for each in made]).save(draft, format=_format(out))
    return out


def _files(made: list[Sample], folder: Path) -> list[Path]:
    """A file an image; those of a class are in a folder of its own, as other commands read them."""
    from regard.show.place import fresh_file

    paths = []
    for each in made:
        path = (folder / each.label if each.label else folder) / f"seed-{each.seed}-{each.number:05}.png"
        with fresh_file(path) as draft:
            each.image.save(draft, format="PNG")
        paths.append(path)
    return paths


def _format(out: Path) -> str:
    ending = out.suffix.lower()[1:]
    return {"jpg": "JPEG"}.get(ending, ending.upper())
