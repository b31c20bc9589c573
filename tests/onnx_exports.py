"""Every decoder as a small model of another kind, exported once for all tests: to trace a model takes seconds."""

import os
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import torch

from exports import LINES, tokenizers
from regard.data.tokenizer import END
from regard.export.onnx import export
from regard.export.request import Wish
from regard.model import Model, save
from regard.translate.translator import SOURCE_FILE, TARGET_FILE
from small import model, overrides

TRANSFORMER = [
    *("embed.width=12", "embed.position=learned", "embed.position.longest=61", "embed.scale=true"),
    *("encode.part=transformer", "encode.layers=1", "encode.feed=13", "encode.attend.heads=3"),
    *("attend.part=heads", "attend.heads=4", "attend.attend.score=additive"),
    *("predict.embed.width=12", "predict.layers=1", "predict.norm=after", "predict.self_attend.attend.scope=causal"),
]
KINDS = {
    "bahdanau": ["encode.direction=both", "encode.cell=gru", "attend.choice=hard", "predict.cell=cho"],
    "google": ["encode.direction=bottom", "encode.layers=2", "predict.layers=2", "predict.bridge=copy"],
    "luong": ["encode.direction=backward", "encode.cell=tanh", "attend.scope=local_p", "attend.scope.reach=2"],
    "plain": ["encode.layers=2", "predict.layers=2", "predict.bridge=copy"],
    "tutorial": ["attend.score=location", "attend.score.longest=67", "attend.scope=local_m", "attend.scope.reach=3"],
    "transformer": TRANSFORMER,
}
# For each a seed and a taste for the end with which its outputs have many lengths.
TASTES = {
    "bahdanau": (23, 2.0),
    "google": (11, 2.0),
    "luong": (7, 1.0),
    "plain": (13, 2.0),
    "tutorial": (17, 2.0),
    "transformer": (7, 0.5),
}
SAMPLE = Wish("float32", LINES)


@dataclass(frozen=True)
class Made:
    """A model, its folder, and the folder it was exported to."""

    model: Model
    home: Path
    folder: Path


@cache
def built(decoder):
    """A random model of its kind."""
    seed, taste = TASTES[decoder]
    torch.manual_seed(seed)
    made = model([*overrides("predict", decoder), *KINDS[decoder]], *map(len, tokenizers()))
    with torch.no_grad():
        for weight in made.parameters():
            weight.mul_(2.0)
        readout = made.predict.readout
        (readout.bias if hasattr(readout, "bias") else readout.score.bias)[END] += taste
    return made


def saved(folder, decoder):
    """Its model folder."""
    files = {name: each.backend.to_str() for name, each in zip((SOURCE_FILE, TARGET_FILE), tokenizers(), strict=True)}
    save(built(decoder), folder, files)
    return folder


def exported(decoder, factory):
    """The export of a decoder's model: made when it is first asked for, by whichever of the test processes."""
    base = factory.getbasetemp()
    place = (base.parent if "PYTEST_XDIST_WORKER" in os.environ else base) / f"onnx-{decoder}"
    if not place.is_dir():
        fresh = factory.mktemp(decoder)
        export(saved(fresh / "model", decoder), fresh / "out", SAMPLE)
        with suppress(OSError):  # another process was faster
            fresh.rename(place)
    return Made(built(decoder), place / "model", place / "out")
