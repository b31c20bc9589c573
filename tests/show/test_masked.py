"""Images under masks: what is kept of each module, and how it is drawn in every form."""

import json

import numpy as np
import pytest
import torch
from PIL import Image

import regard
from regard.cli.classify import _class_json
from regard.hooks import Masked
from regard.recipe import resolve
from regard.serve.schema import Answer
from regard.serve.told import Wants, told
from regard.show.answers import answers_html, answers_text, embed_answers, save_answers
from regard.show.masked import DRAWN, MaskedImage, Masking
from regard.task import TaskParts
from regard.tasks.classifier import Classifier
from regard.tasks.seen import masking_at

SMALL = ("encode.widths=[3,5,7]", "task.source.size=[17,23]", "task.source.proportion=true")


def classifier(*changes):
    torch.manual_seed(0)
    recipe = resolve("residual-attention", [*SMALL, *changes])
    parts = TaskParts.build(recipe.task())
    parts.target.fit(["cat", "dog", "eel"])
    return Classifier(recipe.build(*parts.specs), parts.source, parts.target, "masks")


def pixels(height=17, width=23, seed=0):
    return np.random.default_rng(seed).integers(0, 256, (height, width, 3), np.uint8)


def masking(mask, **more):
    cells = np.array([mask], np.float32)
    return Masking(cells[0], (4,), cells, cells, 2 * cells, **more)


def test_the_telling_channels_are_kept_and_padding_is_not():
    """Of three channels the two whose mask varies most times what the trunk has there; of the real cells alone."""
    before, mask = torch.ones(2, 3, 3, 4), torch.full((2, 3, 3, 4), 0.5)
    mask[1, 0, 0, 0], mask[1, 2, 0, 0] = 0.9, 0.7
    before[1, 2] = 8.0
    real = torch.zeros(2, 3, 4, dtype=torch.bool)
    real[1, :2, :3] = True
    found = masking_at(Masked(None, before, mask, mask * before, real, "M F"), 1)
    assert found.channels == (2, 0) and found.formula == "M F"
    assert found.mask.shape == (2, 3) and found.before.shape == found.after.shape == (2, 2, 3)
    assert found.mask[0, 0] == pytest.approx((0.9 + 0.5 + 0.7) / 3)
    assert np.allclose(found.opened[0], mask[1, 2, :2, :3]) and np.allclose(found.after[0], 8 * mask[1, 2, :2, :3])


def test_light_goes_from_the_most_closed_to_the_most_open():
    assert masking([[0.25, 0.5], [0.75, 0.25]]).light.tolist() == [[0, 0.5], [1, 0]]
    assert masking([[0.5, 0.5]]).light.tolist() == [[1, 1]], "an even mask hides nothing"
    assert masking([[0.25, 0.5]]).told() == "1 x 2 cells, open from 0.25 to 0.50"


def test_an_answer_has_the_masks_of_its_own_image():
    """Of an image among larger ones as of it alone, to the last digits."""
    model = classifier("encode.modules=[0,2,1]")
    small = pixels(9, 23, seed=1)
    alone, (_, among) = model.classify(small), model.classify([pixels(), small])
    assert [each.mask.shape for each in alone.looked.masks] == [(5, 12), (5, 12), (3, 6)]
    for one, other in zip(alone.looked.masks, among.looked.masks, strict=True):
        np.testing.assert_allclose(one.mask, other.mask, atol=1e-5)
        assert len(one.channels) == DRAWN and one.formula == "(1 + M) F"
        np.testing.assert_allclose(one.after, (1 + one.opened) * one.before, atol=1e-5)
    assert [tuple(each.shape) for each in alone.attention] == [(1, 60), (1, 60), (1, 18)]
    assert model.answer([small], record=False)[0].attention == ()
    with regard.watch(model.model) as seen:
        (again,) = model.answer([small])
    assert again.probability == alone.probability
    np.testing.assert_allclose(seen.weights("image", 0)[0, 0].mean(0), alone.attention[0][0], atol=1e-6)


def test_naive_masks_say_so_and_a_trunk_alone_does_not_attend():
    assert {each.formula for each in classifier("encode.learning=naive").classify(pixels()).looked.masks} == {"M F"}
    found = classifier("encode.learning=none").classify(pixels())
    assert found.attention == () and "does not attend" in " ".join(found.seen.remarks())


def test_every_form_draws_them(tmp_path):
    found = classifier().classify(pixels())
    seen = found.compared("dog")
    assert isinstance(seen, MaskedImage)
    text = answers_text([seen])
    assert "module 1: 9 x 12 cells" in text and "module 2: 5 x 6 cells" in text
    assert seen.heading()[0] == found.label
    for name in ("a.png", "a.svg", "a.html", "a.txt"):
        assert save_answers([seen], tmp_path / name).stat().st_size > 100
    with Image.open(tmp_path / "a.png") as picture:
        assert picture.width > 2 * picture.height
    page = answers_html([seen])
    assert "data:image/png;base64," in page and "open from" in page and "(1 + M) F" in page
    assert "iframe" in embed_answers([seen])
    assert found.drawn().endswith(f"({found.probability:.0%})")


def test_of_many_modules_the_lowest_and_the_highest_are_drawn():
    every = tuple(masking([[0.1, number / 10]]) for number in range(9))
    drawn = MaskedImage(pixels(), every, "cat").drawn()
    assert [name for name, _ in drawn] == [f"module {number}" for number in (1, 2, 3, 7, 8, 9)]
    assert drawn[3][1] is every[6]


def test_masks_as_values():
    """A line of JSON, and what a server answers."""
    found = classifier().classify(pixels())
    line = json.loads(_class_json(found, 1))
    assert [np.shape(each) for each in line["masks"]] == [(9, 12), (5, 6)]
    sent = told(found, Wants(figure=True))
    assert [(each["rows"], each["columns"]) for each in sent["masks"]] == [(9, 12), (5, 6)]
    assert sent["image"].startswith("data:image/png") and "grid" not in sent
    assert Answer(**sent).masks[0].columns == 12, "a server sends no field that its schema has not"
    np.testing.assert_allclose(sent["masks"][1]["weights"][0], found.looked.masks[1].mask, atol=1e-6)
    assert "masks" not in told(found, Wants(alignment=False))
