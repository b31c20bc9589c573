"""Small trained models that classify texts and images, tag words and write, for the tests that ask them something."""

import pytest

import regard

TAGGER = """
[about]
title = "Tagger"
[task]
verb = "tag"
target = "tags"
goal = "tag"
[embed]
part = "tokens"
width = 7
[encode]
part = "recurrent"
cell = "lstm"
direction = "both"
hidden = 6
[attend]
part = "attention"
score = "scaled_dot"
[predict]
part = "tag"
"""
IMAGES = """
[about]
title = "Images"
[task]
verb = "classify"
source = { part = "image", size = [20, 28] }
target = "label"
goal = "classify"
[embed]
part = "pixels"
[encode]
part = "grid"
hidden = 7
layers = 2
[attend]
part = "attention"
score = "additive"
[predict]
part = "label"
queries = 2
"""
SMALL = ("train.tensorboard=false", "train.tokens=256")
NARROW = {
    "needle": ("embed.width=7", "encode.hidden=6"),
    "agreement": (
        *("predict.embed.width=6", "predict.feed=11", "predict.layers=2", "predict.self_attend.heads=3"),
        *("predict.embed.position.longest=53", "task.examples.length=29", "task.target.pieces=words"),
    ),
    "repeats": ("predict.hidden=7", "predict.embed.width=5", "predict.layers=1", "task.examples.length=17"),
}
RECIPES = {
    "needle": 'extends = "classify"\n',
    "tagged": TAGGER,
    "shapes": IMAGES,
    "agreement": 'extends = "gpt2"\n',
    "repeats": 'extends = "lstm-lm"\n',
}


def trained(folder, kind):
    """A run of a few updates; its corpora are drawn into the folder."""
    recipe = folder / f"{kind}.toml"
    recipe.write_text(RECIPES[kind])
    settings = [*SMALL, *NARROW.get(kind, ())]
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("REGARD_CACHE", str(folder / "cache"))
        regard.train(recipe, data=kind, out=folder / kind, size=101, steps=3, settings=settings)
    return folder / kind
