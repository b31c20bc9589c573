"""`regard segment MODEL IMAGE ... --out DIR`: the class of every pixel, as masks and as pictures."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from regard.cli.classify import Form, ModelFolder, opened
from regard.cli.images import Images, free_name, image_paths, in_groups, told_broken

if TYPE_CHECKING:
    from regard.tasks.segmentation import Segmentation
    from regard.tasks.segmenter import Segmenter

Out = Annotated[
    Path, typer.Option(metavar="DIR", help="The folder to write to: masks/NAME.png, overlays/NAME.png, gates/NAME.npz.")
]
Overlays = Annotated[
    bool, typer.Option("--overlays/--no-overlays", help="Write each image with its classes in colours over it.")
]
Tile = Annotated[
    int, typer.Option(min=2, metavar="N", help="Larger images are read by tiles of so many pixels a side.")
]
Overlap = Annotated[int, typer.Option(min=0, metavar="N", help="Pixels that neighbouring tiles share.")]
SaveGates = Annotated[
    bool, typer.Option("--save-attention", help="Write how far the gates of every size were open, as numbers.")
]


def segment(
    model: ModelFolder,
    images: Images = None,
    out: Out = Path("segmented"),
    overlays: Overlays = True,
    tile: Tile = 512,
    overlap: Overlap = 128,
    save_attention: SaveGates = False,
    form: Form = "text",
) -> None:
    """Find the class of every pixel of each image, and write a mask of the image's size.

    A mask is a PNG file in the values of the masks that the model learnt from, so that it can be learnt from again.
    Standard output has a line an image: its path, a tab, that of its mask, a tab, the share of each class; with
    --format jsonl the mean probability and the mean opening of every gate too. An image that cannot be read is named on
    standard error, the others are segmented, and the command ends with 1.

    Example: regard segment runs/nuclei photos/ --out found
    """
    from regard.cli.lines import write_line
    from regard.tasks.tiles import Tiling

    segmenter: Segmenter = opened(model, "segment")
    tiling = Tiling(tile, overlap)
    tiling.check(segmenter.unit)
    _make_folders(out, ["masks", *(["overlays"] if overlays else []), *(["gates"] if save_attention else [])])
    broken, taken = 0, set[str]()
    for group in in_groups(image_paths(images)):
        for path in group:
            if told_broken(path):
                broken += 1
                continue
            name = free_name(path, taken)
            found = segmenter.answer([str(path)], tiling=tiling)[0]
            mask = _keep(found, out, name, overlays=overlays, gates=save_attention)
            write_line(_json(found, mask) if form == "jsonl" else _line(found, mask))
    if broken:
        raise typer.Exit(1)


def _make_folders(out: Path, names: list[str]) -> None:
    """Before the work: where nothing can be written is told at once."""
    from regard.errors import UsageError

    try:
        for name in names:
            (out / name).mkdir(parents=True, exist_ok=True)
    except OSError as failure:
        raise UsageError(
            f"{out}: expected a folder that can be written to: {failure.strerror}.", hint="Choose another --out."
        ) from None


def _keep(found: Segmentation, out: Path, name: str, *, overlays: bool, gates: bool) -> Path:
    """Write what was asked for; the path of the mask."""
    import numpy as np

    mask = out / "masks" / f"{name}.png"
    found.image.save(mask)
    if overlays:
        found.overlay.save(out / "overlays" / f"{name}.png")
    if gates:
        kept: dict[str, Any] = {f"gate_{number}": each.numpy() for number, each in enumerate(found.gates, 1)}
        np.savez_compressed(out / "gates" / f"{name}.npz", **kept)
    return mask


def _line(found: Segmentation, mask: Path) -> str:
    from regard.chunks import one_line

    shares = ", ".join(f"{name} {share:.1%}" for name, share in found.shares.items())
    return "\t".join(one_line(each, columns=True) for each in (str(found.source), str(mask), shares))


def _json(found: Segmentation, mask: Path) -> str:
    from regard.chunks import one_json_line

    told: dict[str, Any] = {"image": str(found.source), "mask": str(mask), "size": list(found.classes.shape)}
    told |= {"shares": {name: round(share, 6) for name, share in found.shares.items()}}
    told |= {"probability": round(found.probability, 4)}
    told |= {"gates": [{"cells": list(each.shape), "mean": round(float(each.mean()), 4)} for each in found.gates]}
    return one_json_line(told)
