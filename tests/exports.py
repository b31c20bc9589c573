"""Small Transformers of every kind that CTranslate2 can express, as model folders."""

import json
from functools import cache

import torch

from regard.data.tokenizer import END, Tokenizer
from regard.model import save
from regard.translate.translator import SOURCE_FILE, TARGET_FILE
from small import model

LINES = ["der mann liest ein buch", "ja", "die frau und das kind lesen ein buch", "ein kind"]
OTHERS = ["the man reads a book", "yes", "the woman and the child read a book", "a child"]
SIZES = [
    "embed.width=12",
    "encode.part=transformer",
    "encode.layers=3",
    "encode.feed=13",
    "encode.attend.heads=2",
    "attend.part=heads",
    "attend.heads=4",
    "predict.part=transformer",
    "predict.layers=2",
    "predict.feed=17",
    "predict.self_attend.heads=4",
    "predict.embed.width=12",
]
KINDS = {
    "norm before": [],
    "norm after": ["encode.norm=after", "predict.norm=after"],
    "one norm each": ["encode.norm=after", "predict.norm=before"],
    "sinusoids, scaled": [
        *("embed.position=sinusoid", "embed.scale=true"),
        *("predict.embed.position=sinusoid", "predict.embed.scale=true"),
    ],
    "learned positions": ["embed.position=learned", "embed.position.longest=61", "predict.embed.position=learned"],
    "linear readout": ["predict.readout=linear"],
    "no bias": ["encode.attend.bias=false", "attend.bias=false", "predict.self_attend.bias=false"],
    "plain dot": ["attend.attend.score=dot"],
    "two widths": ["embed.width=10", "encode.attend.heads=5"],
}


@cache
def tokenizers():
    """Those of both sides; learning them takes longer than what most tests do with them."""
    return Tokenizer.train(LINES * 9, kind="bpe", size=293), Tokenizer.train(OTHERS * 9, kind="bpe", size=307)


def built(settings=(), seed=7, taste=3.0):
    """A random model with a taste for the end, so that outputs have many lengths; with distaste, none is empty."""
    torch.manual_seed(seed)
    made = model([*SIZES, *settings], *map(len, tokenizers()))
    with torch.no_grad():
        for weight in made.parameters():
            weight.mul_(2.0)
        readout = made.predict.readout
        (readout.bias if hasattr(readout, "bias") else readout.score.bias)[END] += taste
    return made


def saved(folder, settings=(), aligner=None, seed=7, taste=3.0):
    """Its model folder."""
    files = {name: each.backend.to_str() for name, each in zip((SOURCE_FILE, TARGET_FILE), tokenizers(), strict=True)}
    if aligner is not None:
        files["alignment.json"] = json.dumps(aligner.to_json())
    save(built(settings, seed, taste), folder, files)
    return folder
