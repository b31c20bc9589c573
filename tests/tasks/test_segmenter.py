"""Segmenting: losses by hand, tiles, answers, pictures, and the command."""

import json
from itertools import pairwise

import numpy as np
import pytest
import torch
from PIL import Image as Pillow
from typer.testing import CliRunner

import regard
from regard.cli import app
from regard.data.masks import mask_of
from regard.data.sides.image import Image
from regard.data.sides.mask import Mask
from regard.errors import UsageError
from regard.model import save
from regard.recipe import resolve
from regard.task import TaskParts
from regard.tasks.goals.segment import pixel_nll, soft_dice
from regard.tasks.segmenter import Segmenter
from regard.tasks.tiles import Tiling
from regard.types import UNLABELLED, Batch, Masks

SETTINGS = ("encode.hidden=4", "encode.levels=3")


def pixels(height, width, seed=0):
    return np.random.default_rng(seed).integers(0, 256, (height, width), dtype=np.uint8)


def segmenter(recipe="attention-unet", *settings, values=("0", "255")):
    torch.manual_seed(5)
    found = resolve(recipe, [*SETTINGS, *settings])
    task = found.task()
    target = Mask("target")
    target.names = values
    parts = TaskParts.build(task, task.source("source"), target)
    model = found.build(*parts.specs)
    for module in model.modules():
        if hasattr(module, "variance"):
            torch.nn.init.uniform_(module.variance, 0.5, 2.0)
    return Segmenter(model, parts.source, parts.target), parts


def test_dice_by_hand():
    """Probabilities 0.5 of class 1 at four pixels, two of which are right: (2 * 1 + 1) / (2 + 2 + 1)."""
    chances = torch.full((1, 2, 2, 2), 0.5)
    wanted = torch.tensor([[[1, 1], [0, 0]]])
    assert soft_dice(chances, wanted, 1.0)[0].tolist() == pytest.approx([3 / 5, 3 / 5])
    wanted = torch.tensor([[[1, 1], [0, UNLABELLED]]])
    assert soft_dice(chances, wanted, 1.0)[0].tolist() == pytest.approx([2 / 3.5, 3 / 4.5])


def test_an_empty_mask_that_is_found_empty_overlaps_wholly_and_gradients_stay_finite():
    logits = torch.zeros(1, 2, 3, 3)
    logits[:, 0] = 40.0
    logits.requires_grad_()
    wanted = torch.zeros(1, 3, 3, dtype=torch.long)
    found = soft_dice(logits.softmax(1), wanted, 1.0)
    assert found[0].tolist() == pytest.approx([1.0, 1.0])
    found.sum().backward()
    assert logits.grad.isfinite().all()
    nothing = torch.full((1, 3, 3), UNLABELLED)
    assert pixel_nll(logits, nothing) == 0 and soft_dice(logits.softmax(1), nothing, 1.0).isfinite().all()


def test_deep_supervision_is_a_mean_of_the_sizes_by_weight():
    _, parts = segmenter("attention-unet", "encode.levels=4", "task.goal.deep=0.5")
    model, goal = resolve("attention-unet", [*SETTINGS, "encode.levels=4"]).build(*parts.specs), parts.goal
    batch = Batch(
        parts.source.collate([torch.randint(0, 255, (1, 13, 11), dtype=torch.uint8)]),
        Masks(torch.randint(0, 2, (1, 13, 11))),
        (0,),
        weights=(143,),
    )
    found = model.train().segment(batch.source)
    assert len(found.deep) == 2
    with torch.no_grad():
        every = [goal._total(found.logits, batch.target.data)]
        every += [goal._total(s, batch.target.data[:, :: 2**k, :: 2**k]) for k, s in enumerate(found.deep, 1)]
    wanted = (every[0] + 0.5 * every[1] + 0.25 * every[2]) / 1.75
    assert float(goal.loss(model, batch).total.detach()) == pytest.approx(float(wanted), rel=1e-5)
    goal.deep = 0.0
    assert float(goal.loss(model, batch).total.detach()) == pytest.approx(float(every[0]), rel=1e-5)


@pytest.mark.parametrize("recipe", ["unet", "attention-unet", "attention-unet-monai"])
def test_an_image_by_tiles_is_the_image_at_once(recipe):
    """Where the receptive field ends within the quarter of the overlap that counts for nothing."""
    merge = ["predict.merge=double"] if recipe.endswith("monai") else []  # a mean over the image is no local thing
    found, _ = segmenter(recipe, "encode.levels=2", *merge)
    image = found.source.pixels(pixels(150, 203))
    with torch.inference_mode():
        whole, gates = found.scores(image, Tiling(512, 128))
        tiled, parts = found.scores(image, Tiling(96, 48))
    assert torch.allclose(whole, tiled, atol=1e-4)
    assert len(gates) == len(parts)
    for one, other in zip(gates, parts, strict=True):
        assert one.shape == other.shape and torch.allclose(one, other, atol=1e-4)


def test_tiles_cover_every_pixel_and_begin_at_whole_cells():
    tiling = Tiling(64, 16)
    for length in (1, 63, 64, 65, 100, 257):
        places = tiling.cut(length, 8)
        assert places[0][0] == 0 and places[-1][1] == length
        assert all(start % 8 == 0 for start, _ in places)
        assert all(one[1] - two[0] >= 16 for one, two in pairwise(places))
        weights = torch.zeros(length, dtype=torch.float64)
        for start, end in places:
            weights[start:end] += tiling.weights((slice(start, end), slice(0, 1)), length, 1)[:, 0]
        assert (weights > 0.1).all()
    for wrong in (Tiling(8, 4), Tiling(64, 40)):
        with pytest.raises(UsageError, match="expected tiles"):
            wrong.check(8)


def test_an_answer_has_the_size_of_its_image_and_its_gates():
    found, _ = segmenter(values=("0", "100", "255"))
    answer = found.segment(pixels(21, 34))
    assert answer.classes.shape == (21, 34)
    assert mask_of(answer.text)[0].tolist() == answer.classes.tolist()
    assert answer.probabilities.shape == (3, 21, 34)
    assert np.allclose(answer.probabilities.sum(0), 1, atol=1e-5)
    assert answer.probability == pytest.approx(float(answer.probabilities.max(0).mean()), abs=1e-5)
    assert [tuple(each.shape) for each in answer.attention] == [(1, 1, 6 * 9)]
    assert set(np.unique(np.asarray(answer.image))) <= {0, 100, 255}
    assert sum(answer.shares.values()) == pytest.approx(1)
    assert found.answer([pixels(21, 34)], record=False)[0].attention == ()
    assert found.answer([pixels(21, 34)], record=False)[0].text == answer.text
    assert found.segment([pixels(21, 34), pixels(9, 9)])[0].text == answer.text


def test_images_that_are_brought_to_a_size_have_masks_of_their_own():
    found, _ = segmenter("unet", "task.source.windows=false")
    assert found.segment(pixels(50, 30)).classes.shape == (50, 30)


def test_what_was_found_can_be_drawn(tmp_path):
    found, _ = segmenter()
    right = np.zeros((21, 34), np.uint8)
    right[5:9, 5:20] = 255
    Pillow.fromarray(right).save(tmp_path / "right.png")
    answer = found.segment(pixels(21, 34))
    for name in ("seen.png", "seen.html", "seen.txt"):
        assert answer.save(tmp_path / name, right=str(tmp_path / "right.png")).stat().st_size > 100
    text = (tmp_path / "seen.txt").read_text()
    assert "Dice" in text and "gate of 6 x 9 cells" in text
    seen = answer.compared(right)
    both, sizes = ((answer.classes == 1) & (right > 0)).sum(), (answer.classes == 1).sum() + (right > 0).sum()
    assert seen.overlap == pytest.approx(2 * both / sizes)
    assert seen.overlay().shape == (21, 34, 3)
    assert answer.overlay.size == (34, 21)
    assert "<img" in answer._repr_html_() or "iframe" in answer._repr_html_()


def opened(path):
    with Pillow.open(path) as image:
        return np.asarray(image)


@pytest.fixture
def folder(tmp_path):
    found, parts = segmenter()
    save(found.model, tmp_path / "model", parts.files())
    for number in range(2):
        Pillow.fromarray(pixels(20 + number, 33, number)).save(tmp_path / f"{number}.png")
    (tmp_path / "broken.png").write_bytes(b"no image")
    return tmp_path


def test_the_command_writes_masks_and_overlays(folder):
    images = [str(folder / f"{number}.png") for number in range(2)]
    run = CliRunner().invoke(app, ["segment", str(folder / "model"), *images, "--out", str(folder / "out")])
    assert run.exit_code == 0, run.output
    lines = [line.split("\t") for line in run.stdout.splitlines()]
    assert [line[0] for line in lines] == images
    found = regard.load(folder / "model")
    assert isinstance(found, Segmenter)
    for line, image in zip(lines, images, strict=True):
        mask = opened(line[1])
        assert np.array_equal(mask, np.asarray(found.segment(image).image))
        assert opened(folder / "out" / "overlays" / line[1].split("/")[-1]).shape == (*mask.shape, 3)


def test_the_command_as_json_with_gates_and_a_broken_image(folder):
    asked = ["segment", str(folder / "model"), str(folder / "broken.png"), str(folder / "0.png"), "--format", "jsonl"]
    run = CliRunner().invoke(app, [*asked, "--out", str(folder / "out"), "--save-attention", "--no-overlays"])
    assert run.exit_code == 1
    assert "broken.png" in run.stderr
    (told,) = map(json.loads, run.stdout.splitlines())
    assert told["size"] == [20, 33] and set(told["shares"]) == {"0", "255"} and told["gates"][0]["cells"] == [5, 9]
    assert np.load(folder / "out" / "gates" / "0.npz")["gate_1"].shape == (5, 9)
    assert not (folder / "out" / "overlays").exists()


def test_what_is_asked_wrongly_is_told(folder):
    small = CliRunner().invoke(app, ["segment", str(folder / "model"), str(folder / "0.png"), "--tile", "4"])
    assert isinstance(small.exception, UsageError)
    with pytest.raises(UsageError, match="a segmenter has"):
        Segmenter(regard.load(folder / "model").model, Image("source"), Image("target"))
    with pytest.raises(AttributeError, match="cannot classify"):
        regard.load(folder / "model").classify("x")


def test_evaluate_measures_masks_of_a_corpus(folder):
    for split in ("train", "test"):
        for number in range(3):
            for kind, seed in (("images", number), ("masks", number + 7)):
                (folder / "data" / split / kind).mkdir(parents=True, exist_ok=True)
                drawn = pixels(17, 19, seed) if kind == "images" else (pixels(17, 19, seed) > 128) * np.uint8(255)
                Pillow.fromarray(drawn).save(folder / "data" / split / kind / f"{number}.png")
    report = regard.evaluate(folder / "model", data=folder / "data")
    assert [each.name for each in report.scores] == ["Dice", "IoU", "pixel recall", "pixel precision", "boundary F1"]
    found = regard.load(folder / "model")
    images = sorted((folder / "data" / "test" / "images").iterdir())
    seen = [
        each.compared(str(folder / "data" / "test" / "masks" / path.name)).overlap
        for path, each in zip(images, found.answer([str(path) for path in images]), strict=True)
    ]
    assert report.scores[0].value == pytest.approx(100 * sum(seen) / 3, abs=1e-3)
    run = CliRunner().invoke(
        app, ["show", str(folder / "model"), "--data", str(folder / "data"), "--out", str(folder / "page.html")]
    )
    assert run.exit_code == 0, run.exception
    assert "Dice" in (folder / "page.html").read_text()
