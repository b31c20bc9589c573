"""What the verbs that read images share: paths in, an answer an image, broken ones told."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from regard.cli.lines import read_lines

if TYPE_CHECKING:
    from regard.tasks.captioner import Caption

TOGETHER = 64  # images that are answered at once
Images = Annotated[
    list[Path] | None,
    typer.Argument(metavar="IMAGE...", help="Images, or folders of them. Without any, paths on standard input."),
]
Attention = Annotated[
    Path | None,
    typer.Option(
        "--save-attention",
        metavar="DIR",
        help="Write what each word looked at: NAME.png, the image for each word, and NAME.npz, the numbers.",
    ),
]


def answer_images(
    images: Sequence[Path] | None,
    search: Callable[[list[str]], Sequence[Sequence[Any]]],
    line: Callable[[Any], str],
    keep: Path | None,
) -> None:
    """Write a line for each answer, image by image; what was looked at goes to the folder `keep`.

    An image that cannot be read is named, the others are answered, and the command ends with 1.
    """
    broken, taken = 0, set[str]()
    for group in in_groups(image_paths(images)):
        sound = [path for path in group if not told_broken(path)]
        broken += len(group) - len(sound)
        for path, answers in zip(sound, search([str(path) for path in sound]), strict=True):
            if keep is not None:
                keep_attention(answers[0], keep, free_name(path, taken))
            for each in answers:
                sys.stdout.buffer.write(f"{line(each)}\n".encode())
            sys.stdout.buffer.flush()
    if broken:
        raise typer.Exit(1)


def image_paths(given: Sequence[Path] | None) -> Iterator[Path]:
    """The images, one by one; those of a folder by name, and of standard input as they come."""
    from regard.data.labelled.images import is_image
    from regard.errors import MissingData

    if not given or [str(each) for each in given] == ["-"]:
        for lines in read_lines(None):
            yield from (Path(line.strip()) for line in lines if line.strip())
        return
    for path in given:
        if not path.is_dir():
            yield path
            continue
        inside = sorted(each for each in path.iterdir() if each.is_file() and is_image(each))
        if not inside:
            raise MissingData(f"{path}: expected a folder of images; found none in it.", hint="Give paths of images.")
        yield from inside


def in_groups(paths: Iterable[Path]) -> Iterator[list[Path]]:
    """Some at a time."""
    group: list[Path] = []
    for path in paths:
        group.append(path)
        if len(group) == TOGETHER:
            yield group
            group = []
    if group:
        yield group


def told_broken(path: Path) -> bool:
    """Say why an image cannot be read, if it cannot."""
    from regard.data.labelled.images import fault_of_image

    why = fault_of_image(path)
    if why:
        typer.echo(f"regard: {path}: the image cannot be read: {why}.", err=True)
    return bool(why)


def free_name(path: Path, taken: set[str]) -> str:
    """A file's name for an image: images of one name in two folders are told apart by a number."""
    number, name = 1, path.stem
    while name in taken:
        number += 1
        name = f"{path.stem}-{number}"
    taken.add(name)
    return name


def keep_attention(found: Caption, folder: Path, name: str) -> None:
    """The picture of what each word looked at, and the numbers of every layer and head."""
    import numpy as np

    folder.mkdir(parents=True, exist_ok=True)
    found.save(folder / f"{name}.png")
    kept: dict[str, Any] = {f"layer_{number}": each.numpy() for number, each in enumerate(found.attention, 1)}
    kept |= {} if found.word_grid is None else {"grid": found.word_grid}
    np.savez_compressed(folder / f"{name}.npz", words=np.array(found.words, dtype=str), **kept)
