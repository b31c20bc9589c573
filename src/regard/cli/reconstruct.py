"""`regard reconstruct MODEL INPUT ...`: what an auto-encoder makes of images, or writes of texts, again."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from regard.cli.classify import ModelFolder, opened
from regard.cli.images import free_name, image_paths, in_groups, told_broken
from regard.cli.lines import read_lines

if TYPE_CHECKING:
    from regard.tasks.autoencoder import AutoEncoder
    from regard.tasks.sentence_autoencoder import SentenceAutoEncoder

ENDINGS = (".png", ".webp", ".bmp")
Inputs = Annotated[
    list[Path] | None,
    typer.Argument(
        metavar="INPUT...",
        help="Images, or folders of them; of a model of texts a file of lines. Else standard input: paths, or texts.",
    ),
]
Out = Annotated[
    Path | None,
    typer.Option(help="Of images: a folder for what is made, or a file (.png, .webp, .bmp) where it is one image."),
]
Between = Annotated[
    int | None,
    typer.Option(min=2, metavar="N", help="Of two inputs: N steps from one code to the other, both among them."),
]


def reconstruct(model: ModelFolder, inputs: Inputs = None, out: Out = None, between: Between = None) -> None:
    """Make each input again from its code: images into a folder, texts a line each.

    Of images, a line is printed for each: its path, the mean squared error of a number (white is 1) and the file that
    was written, with tabs between them. With --between 8, two inputs are the ends of a walk: of images a strip of 8 in
    one file, of texts 8 lines.

    Example: regard reconstruct runs/glyphs a.png b.png --between 8 --out strip.png
    """
    from regard.errors import UsageError

    found = opened(model, "reconstruct")
    if found.reads == "text":
        if out is not None:
            raise UsageError("--out is for images; texts go to standard output.", hint="Leave it out: ... > file.txt")
        _texts(found, inputs, between)
    elif between is not None:
        _strip(found, inputs, out, between)
    else:
        _images(found, inputs, out)


def _texts(model: SentenceAutoEncoder, files: list[Path] | None, between: int | None) -> None:
    """A line for each line."""
    from regard.errors import UsageError

    given: Sequence[Path | None] = files or [None]
    groups = (group for file in given for group in read_lines(file))
    if between is None:
        for group in groups:
            _write([best[0].text for best in model.search(group, record=False)])
        return
    lines = [line for group in groups for line in group]
    if len(lines) != 2:
        raise UsageError(f"--between walks from one line to another; found {len(lines)} lines.", hint="Give two.")
    _write(model.interpolate(lines[0], lines[1], between))


def _write(lines: Any) -> None:
    from regard.chunks import one_line

    sys.stdout.buffer.write("".join(f"{one_line(line)}\n" for line in lines).encode("utf-8"))
    sys.stdout.buffer.flush()


def _strip(model: AutoEncoder, images: list[Path] | None, out: Path | None, count: int) -> None:
    """The walk between two images, in one file."""
    from regard.errors import UsageError
    from regard.show.reconstructed import joined

    paths = list(image_paths(images))
    if len(paths) != 2:
        raise UsageError(f"--between walks from one image to another; found {len(paths)}.", hint="Give two.")
    if out is None or out.suffix.lower() not in ENDINGS:
        raise UsageError("--between writes one image.", hint="Add --out strip.png")
    _save(joined(model.interpolate(str(paths[0]), str(paths[1]), count), count), out)
    typer.echo(f"written: {out}, {count} images", err=True)


def _images(model: AutoEncoder, images: list[Path] | None, out: Path | None) -> None:
    """A file, and a line, for each image; without a folder the line alone."""
    from regard.errors import UsageError

    one_file = out is not None and out.suffix.lower() in ENDINGS
    if out is not None and not one_file and out.exists() and not out.is_dir():
        raise UsageError(f"{out}: expected a folder, or a name that ends in {', '.join(ENDINGS)}.")
    paths: Iterable[Path] = image_paths(images)
    if out is not None and one_file:
        paths = list(paths)
        if len(paths) != 1:
            told = f"{out} holds one image; found {len(paths)}."
            raise UsageError(told, hint=f"Name a folder: --out {out.with_suffix('')}")
    broken, taken = 0, set[str]()
    for group in in_groups(paths):
        sound = [path for path in group if not told_broken(path)]
        broken += len(group) - len(sound)
        for path, made in zip(sound, model.answer([str(path) for path in sound]), strict=True):
            file = out if one_file else None if out is None else out / f"{free_name(path, taken)}.png"
            if file is not None:
                _save(made.image, file)
            _write([_line(path, made.error, file)])
    if broken:
        raise typer.Exit(1)


def _line(path: Path, error: float, file: Path | None) -> str:
    from regard.chunks import one_line

    cells = [str(path), f"{error:.6f}", *([] if file is None else [str(file)])]
    return "\t".join(one_line(cell, columns=True) for cell in cells)


def _save(image: Any, path: Path) -> None:
    """Pixels as a file, there whole or not at all."""
    from PIL import Image

    from regard.show.place import fresh_file

    with fresh_file(path) as draft:
        Image.fromarray(image.squeeze(-1) if image.shape[-1] == 1 else image).save(draft, path.suffix[1:].upper())
