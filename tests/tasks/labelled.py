"""Small trainings of a classifier and a tagger."""

from datasets import Dataset

from regard.data.builtin import examples
from regard.data.corpus import Corpus
from regard.recipe import resolve
from regard.tasks.job import silent
from regard.tasks.setup import set_up

SMALL = (
    *("embed.width=8", "encode.hidden=8", "task.source.pieces=words", "train.tokens=211", "train.rate=0.01"),
    *("train.precision=fp32", "train.average=ema", "train.validate_steps=3", "train.save_steps=2", "train.log=2"),
    *("train.optimiser.epsilon=1e-4", "train.tensorboard=false"),
)
STILL = ("embed.dropout=0", "predict.dropout=0")
TAGGER = (
    *("task.verb=tag", "task.target=tags", "task.goal=tag", "attend=none", "predict.part=tag", "predict.dropout=0.2"),
)
# The data, and what is changed in the recipe `classify`.
KINDS = {"classify": ("reviews", ()), "tag": ("tagged", TAGGER)}


def settings(kind, *more):
    """What is written over the recipe."""
    return (*SMALL, *KINDS[kind][1], *more)


def corpus(kind):
    """Some rows of the built-in data, in memory."""
    splits = {}
    for name, size in (("train", 97), ("val", 31)):
        rows = list(examples(KINDS[kind][0], split=name, size=size, seed=3))
        columns = {"source": [row.source for row in rows], "target": [row.target for row in rows]}
        splits[name] = Dataset.from_dict(columns)
    return Corpus(kind, "text", "label" if kind == "classify" else "tags", splits)


def setup(kind, *more, seed=5):
    """All that a training needs."""
    return set_up(resolve("classify", settings(kind, *more)), corpus(kind), None, seed, silent)
