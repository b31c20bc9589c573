"""`regard caption MODEL IMAGE ...`: what a model writes of images."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from regard.cli.classify import Form, ModelFolder, opened
from regard.cli.lines import read_lines
from regard.cli.options import Alpha
from regard.cli.translate import BEAM, Sample, Seed, Temperature, TopK, TopP, sampling_of

if TYPE_CHECKING:
    from regard.tasks.captioner import Caption, Captioner

TOGETHER = 64  # images that are captioned at once
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


def caption(
    model: ModelFolder,
    images: Images = None,
    beam: Annotated[int | None, typer.Option(min=1, help="How many captions are followed at once; else 5.")] = None,
    nbest: Annotated[int, typer.Option(min=1, help="How many captions are printed for each image.")] = 1,
    form: Form = "text",
    max_length: Annotated[int, typer.Option(min=1, help="The most pieces a caption may have.")] = 200,
    alpha: Alpha = None,
    sample: Sample = False,
    temperature: Temperature = None,
    top_k: TopK = None,
    top_p: TopP = None,
    seed: Seed = None,
    save_attention: Attention = None,
) -> None:
    """Write a caption of each image: its path, a tab, the caption.

    With --nbest an image has several lines; --format jsonl has scores, words, what each word looked at (`grid`, the
    weights of all cells) and where most (`boxes`: left, top, right, bottom, from 0 to 1). An image that cannot be read
    is named on standard error, the others are captioned, and the command ends with 1.

    Example: regard caption runs/scenes photos/ --beam 5
    """
    from regard.search import Options

    drawing = {"temperature": temperature, "top_k": top_k, "top_p": top_p, "seed": seed}
    sampling = sampling_of(sample, nbest, drawing, beam)
    options = Options(max(beam or BEAM, nbest), nbest, max_length=max_length, alpha=alpha, sampling=sampling)
    captioner: Captioner = opened(model, "caption")
    record = form == "jsonl" or save_attention is not None
    broken, taken = 0, set[str]()
    for group in in_groups(image_paths(images)):
        sound = [path for path in group if not told_broken(path)]
        broken += len(group) - len(sound)
        found = captioner.search([str(path) for path in sound], options, record=record)
        for path, captions in zip(sound, found, strict=True):
            if save_attention is not None:
                keep_attention(captions[0], save_attention, free_name(path, taken))
            _write(captions, form)
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


def _write(captions: Sequence[Caption], form: str) -> None:
    from regard.chunks import one_line

    for each in captions:
        line = f"{one_line(str(each.source), columns=True)}\t{one_line(each.text, columns=True)}"
        sys.stdout.buffer.write(f"{_json(each) if form == 'jsonl' else line}\n".encode())
    sys.stdout.buffer.flush()


def _json(found: Caption) -> str:
    from regard.chunks import one_json_line

    told: dict[str, Any] = {"image": str(found.source), "text": found.text, "score": round(found.score, 4)}
    told |= {"likelihood": round(found.likelihood, 4), "pieces": found.pieces, "words": found.words}
    grid = found.word_grid
    if grid is not None:
        told["grid"] = [[[round(weight, 4) for weight in row] for row in cells] for cells in grid.tolist()]
        told["boxes"] = [[round(edge, 4) for edge in box] for box in found.boxes or ()]
    return one_json_line(told)


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
