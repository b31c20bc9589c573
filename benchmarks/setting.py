"""The setting of the speed benchmarks, the same for every side: text, pieces, shapes of models, untrained models.

One joint BPE of 8,000 pieces; two shapes. Other toolkits get the very same pieces as files of words, `p17` for the
piece of id 17, so that none of them can cut text in another way.
"""

from __future__ import annotations

from dataclasses import dataclass
from importlib import import_module
from pathlib import Path

import torch

from regard.data.corpus import Corpus
from regard.data.files import cache_folder, digest_file
from regard.data.tokenizer import Tokenizer, train_pair
from regard.data.tokenizer_train import SPECIAL
from regard.export.request import Wish
from regard.model import Model, save
from regard.recipe import resolve
from regard.recipe.resolve import Recipe
from regard.translate.translator import SOURCE_FILE, TARGET_FILE

PIECES = 8_000


@dataclass(frozen=True)
class Shape:
    """A model that every side builds: our recipe, and what is changed in it to be like the peers'."""

    recipe: str
    changes: tuple[str, ...] = ()

    def resolve(self) -> Recipe:
        """The recipe as it is measured."""
        return resolve(self.recipe, self.changes)


SHAPES = {
    # BiGRU 2 x 256, embeddings of 256, GRU 512, additive of 512, 512 numbers before an untied vocabulary.
    "rnn": Shape("rnnsearch", ("encode.hidden=512", "attend.score.hidden=512", "predict.readout.hidden=512")),
    # 3 + 3 layers, width 256, 1024 inside, 8 heads, dropout 0.1, one table of vectors.
    "transformer": Shape("transformer", ()),
}


def home() -> Path:
    """Where benchmarks keep what they prepare."""
    return cache_folder() / "benchmarks"


def corpus(data: str) -> Corpus:
    """The text, German to English; the built-in phrasebook, which reads English alone, is for quick looks."""
    if data == "phrasebook":
        return Corpus.open(data, source="en", target="de", size=2_000)
    return Corpus.open(data, source="de", target="en")


def pieces(text: Corpus) -> Tokenizer:
    """The joint tokenizer of a corpus, learnt once and kept."""
    path = home() / f"pieces-{text.key}.json"
    if not path.is_file():
        path.parent.mkdir(parents=True, exist_ok=True)
        columns = (text.split("train")[side] for side in ("source", "target"))
        train_pair(*columns, kind="bpe", size=PIECES, joint=True)[0].save(path)
    return Tokenizer.load(path)


def build(shape: str, size: int) -> Model:
    """An untrained model of a shape, always the same one."""
    torch.manual_seed(0)
    return SHAPES[shape].resolve().build(size, size)


def untrained(shape: str, data: str) -> Path:
    """The folder of such a model."""
    tokenizer = pieces(corpus(data))
    folder = home() / f"{shape}-{corpus(data).key}"
    if not (folder / "recipe.toml").is_file():
        text = tokenizer.backend.to_str(pretty=True)
        save(build(shape, len(tokenizer)), folder, {SOURCE_FILE: text, TARGET_FILE: text})
    return folder


def exported(model: Path, to: str, quantization: str) -> Path:
    """The folder of a model as it was exported for an engine, written once for the same weights."""
    folder = home() / "exports" / f"{digest_file(model / 'weights.safetensors')[:16]}-{to}-{quantization}"
    if not folder.is_dir():
        import_module(f"regard.export.{to}").export(model, folder, Wish(quantization))
    return folder


def test_text(data: str) -> tuple[Path, Path]:
    """The sentences of the test set, and their references, as files of lines."""
    text = corpus(data)
    paths = tuple(home() / f"test-{text.key}.{side}" for side in ("source", "target"))
    for path in paths:
        if not path.is_file():
            lines = text.split("test")[path.suffix[1:]]
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    return paths[0], paths[1]


def as_words(data: str) -> Path:
    """A folder with the corpus as words that stand for pieces: {train,test}.{source,target} and `vocabulary`."""
    text = corpus(data)
    tokenizer, folder = pieces(text), home() / f"words-{text.key}"
    if not (folder / "vocabulary").is_file():
        folder.mkdir(parents=True, exist_ok=True)
        for split in ("train", "test"):
            for side in ("source", "target"):
                ids = tokenizer.encode_ids(text.split(split)[side])
                lines = (" ".join(f"p{piece}" for piece in line) + "\n" for line in ids)
                (folder / f"{split}.{side}").write_text("".join(lines), encoding="utf-8")
        names = "".join(f"p{piece}\n" for piece in range(len(SPECIAL), len(tokenizer)))
        (folder / "vocabulary").write_text(names, encoding="utf-8")
    return folder
