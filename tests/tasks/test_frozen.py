"""Captioners over a frozen network: trained on kept features, stopped and gone on with, used by themselves."""

import json

import numpy as np
import pytest
import torch
from PIL import Image
from safetensors.torch import load_file
from torch import nn

import regard
from regard import registry
from regard.data.features import FeatureCache
from regard.registry import part

RECIPE = """
[about]
title = "Captions over a frozen network"
[task]
verb = "caption"
source = { part = "image", size = [8, 12], proportion = true }
target = { part = "text", pieces = "words" }
[embed]
part = "pixels"
mean = 0.0
deviation = 1.0
[encode]
part = "frozen"
network = "blocks"
hidden = 7
[attend]
part = "attention"
score = "additive"
[predict]
part = "xu"
hidden = 11
embed = { part = "tokens", width = 5 }
[train]
tensorboard = false
tokens = 700
average = "ema"
"""
FETCHED = []


class Blocks(nn.Module):
    """Four colours of every 4 x 4 pixels; its weights are fetched."""

    width = 4

    def __init__(self, channels: int) -> None:
        super().__init__()
        self.see = nn.Conv2d(channels, self.width, 4, 4)

    def forward(self, pixels):
        return self.see(nn.functional.pad(pixels, (0, -pixels.shape[3] % 4, 0, -pixels.shape[2] % 4)))

    def fetch(self):
        FETCHED.append(self)
        with torch.no_grad():
            self.see.weight.copy_(torch.linspace(-1, 1, self.see.weight.numel()).view_as(self.see.weight))
            self.see.bias.zero_()


@pytest.fixture(autouse=True, scope="module")
def own_network():
    """Known here alone: other tests walk the registry."""
    registry.load()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(registry, "_parts", {kind: dict(parts) for kind, parts in registry._parts.items()})
        part("network", "blocks")(Blocks)
        yield


@pytest.fixture(scope="module")
def home(tmp_path_factory):
    """Images wide and high, with two captions each, and a run of five updates."""
    folder = tmp_path_factory.mktemp("frozen")
    (folder / "data").mkdir()
    rows = []
    for number in range(40):
        shape = ((10, 20), (20, 10), (12, 18))[number % 3]
        pixels = np.random.default_rng(number).integers(0, 256, (*shape, 3), dtype=np.uint8)
        Image.fromarray(pixels).save(folder / "data" / f"{number}.png")
        rows += [{"file_name": f"{number}.png", "text": f"{word} picture {number % 3}"} for word in ("a", "one")]
    (folder / "data" / "metadata.jsonl").write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    (folder / "mine.toml").write_text(RECIPE)
    return folder


def run(home, name, **asked):
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("REGARD_CACHE", str(home / "cache"))
        return regard.train(home / "mine.toml", data=home / "data", out=home / name, **asked)


@pytest.fixture(scope="module")
def captioner(home):
    return run(home, "whole", steps=5)


def test_the_folder_stands_alone_with_the_weights_that_were_fetched(home, captioner):
    assert len(FETCHED) == 1, "by the training, and not by whoever opens the folder"
    expected = torch.linspace(-1, 1, 4 * 3 * 16).view(4, 3, 4, 4)
    kept = load_file(home / "whole" / "best" / "weights.safetensors")
    assert torch.equal(kept["encode.network.see.weight"], expected)
    assert captioner.source.features is None
    wide, high = (str(home / "data" / f"{number}.png") for number in (0, 1))
    found = captioner.caption([wide, high], max_length=5)
    assert [each.cells for each in found] == [(2, 3), (2, 1)]
    for each in found:
        assert each.grid.shape[1:] == each.cells and each.grid.sum((1, 2)) == pytest.approx(1, abs=1e-4)
    alone = captioner.caption(high, max_length=5)
    np.testing.assert_allclose(found[1].grid, alone.grid, atol=1e-4)
    assert found[1].text == alone.text


def test_features_were_computed_once_and_another_run_finds_them(home, captioner, monkeypatch):
    files = list((home / "cache" / "features").glob("*/*.safetensors"))
    assert sum(len(load_file(file)) for file in files) == 40 - held(home)
    monkeypatch.setattr(FeatureCache, "_keep", lambda self, missing: pytest.fail(f"computed anew: {missing}"))
    run(home, "second", steps=2)


def held(home):
    """Images of the test split, which a training never looks at."""
    from regard.data.corpus import Corpus

    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("REGARD_CACHE", str(home / "cache"))
        corpus = Corpus.open(home / "data", reads="image", wants="text")
    return len(set(corpus.split("test")["source"]))


def test_a_run_goes_on_without_fetching(home, captioner):
    before = len(FETCHED)
    run(home, "parts", steps=3)
    run(home, "parts", steps=5, resume=True)
    assert len(FETCHED) == before + 1
    ours, theirs = (load_file(home / name / "last" / "weights.safetensors") for name in ("parts", "whole"))
    assert all(torch.equal(ours[name], theirs[name]) for name in theirs)


def test_all_captions_of_an_image_are_its_references(home, captioner):
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("REGARD_CACHE", str(home / "cache"))
        report = captioner.evaluate(home / "data", beam=1)
    assert "nrefs:2" in report.scores[0].signature
    images = held(home)
    assert f"{images} images with {2 * images} captions" in report.title
    captioner.source.features = None
