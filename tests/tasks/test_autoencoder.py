"""Auto-encoders: what they learn is what theory says, and what they give is what they were asked for."""

import json
import math

import numpy as np
import pytest
import torch
from PIL import Image

import regard
from regard.data.batches import Batches
from regard.errors import RegardError, UsageError
from regard.evaluate.images import count_mse, count_noise, count_psnr
from regard.learn.learner import Learner
from regard.learn.settings import TrainSettings
from regard.recipe import resolve
from regard.registry import maker
from regard.task import Spec, Task, TaskParts
from regard.tasks.codes import Plane, nearest_others, steps_between
from regard.tasks.goals.reconstruct import image_loss
from regard.types import Codes, Grid, Rendered

HEIGHT, WIDTH, RANK = 5, 7, 3
SIDES = [f"task.source.size=[{HEIGHT},{WIDTH}]", f"encode.code={RANK}"]
SMALL = [*SIDES, "encode.hidden=[11]", "predict.hidden=[11]"]

pytestmark = pytest.mark.usefixtures("one_thread", "unchecked")


def gaussian(count, seed=0):
    """Images of pixels that lie near a space of `RANK` dimensions, with a rest that is as large as a third of them."""
    dice = np.random.default_rng(seed)
    basis = np.random.default_rng(7).normal(size=(RANK, HEIGHT * WIDTH))
    rows = dice.normal(size=(count, RANK)) * [3, 2.5, 2] @ basis + 2 * dice.normal(size=(count, HEIGHT * WIDTH))
    return (128 + 6 * rows).clip(0, 255).round().astype(np.uint8).reshape(count, HEIGHT, WIDTH)


class Rows:
    """Images, as a split."""

    def __init__(self, images):
        self.images = images

    def __len__(self):
        return len(self.images)

    def __getitem__(self, rows, /):
        return {"source": [self.images[row] for row in rows], "target": [""] * len(rows)}


def made(name, settings):
    """The parts of a recipe, and its model."""
    recipe = resolve(name, settings)
    parts = TaskParts.build(recipe.task())
    torch.manual_seed(3)
    return parts, recipe.build(*parts.specs)


def trained(name, settings, images, steps, rate=0.01):
    parts, model = made(name, settings)
    batches = Batches(Rows(list(images)), parts.goal, tokens=64 * HEIGHT * WIDTH, mixed=True)
    for share in (rate, rate / 10):
        settings, aims = TrainSettings(rate=share), parts.goal.objectives(model)
        learner = Learner(model, settings, batches.forever(), objectives=aims)
        for _ in range(steps // 2):
            learner.update()
    learner.rest()
    return parts, parts.goal.person(model)


def principal(images, rank):
    rows = images.reshape(len(images), -1) / 255
    mean = rows.mean(0)
    return mean, np.linalg.svd(rows - mean, full_matrices=False)[2][:rank]


def test_a_linear_one_finds_principal_components():
    """The error within 2 %, and the same space to ten degrees: what is read, and what is made, once it is centred."""
    train, test = gaussian(512), gaussian(256, seed=1)
    parts, model = trained("autoencoder-linear", SIDES, train, steps=1600)
    mean, basis = principal(train, RANK)
    rows = test.reshape(len(test), -1) / 255
    best = np.square(rows - mean - (rows - mean) @ basis.T @ basis).mean()
    sources, right = parts.goal.questions(list(test), [""] * len(test))
    error = count_mse(model.answer(sources), right).value()
    assert error == pytest.approx(best, rel=0.02)
    weights = model.model.predict.layers[0].weight.detach().double().numpy()
    cosines = np.linalg.svd(np.linalg.qr(weights)[0].T @ basis.T, compute_uv=False).clip(-1, 1)
    assert max(math.degrees(math.acos(each)) for each in cosines) < 10
    uncentred = np.linalg.svd(rows, full_matrices=False)[2][:RANK]
    assert np.square(rows - rows @ uncentred.T @ uncentred).mean() > 1.02 * best, "the mean is not to be forgotten"


def test_it_has_no_bend_and_no_other_layer():
    _, model = made("autoencoder-linear", SIDES)
    one, two = torch.rand(2, 4, 1, HEIGHT, WIDTH)
    mask = torch.ones(4, HEIGHT, WIDTH, dtype=torch.bool)
    both, first, second, none = (
        model.image(Grid(data, mask)).pixels for data in (one + two, one, two, torch.zeros_like(one))
    )
    assert torch.allclose(both, first + second - none, atol=1e-5)


@pytest.mark.parametrize("kind", ["gaussian", "salt", "patches"])
def test_what_is_made_of_a_damaged_image_is_nearer_to_the_clean_one(kind):
    settings = [*SMALL, f"task.goal.noise={kind}", "task.goal.strength=0.3", "task.goal.patch=2"]
    parts, model = trained("autoencoder-denoising", settings, gaussian(512), steps=600)
    sources, right = parts.goal.questions(list(gaussian(128, seed=1)), [""] * 128)
    assert count_noise(model.answer(sources), right).value() < 60


def test_noise_is_drawn_by_row_and_epoch_and_the_target_stays_clean():
    images = list(gaussian(6))
    parts, _ = made("autoencoder-denoising", SMALL)
    batches = Batches(Rows(images), parts.goal, tokens=10**6)
    epochs = [{row: (batch, place) for batch in batches for place, row in enumerate(batch.rows)} for _ in range(2)]
    for row, image in enumerate(images):
        noisy = []
        for epoch in epochs:
            batch, place = epoch[row]
            clean = batch.target.data[place]
            assert torch.equal(clean, torch.from_numpy(image)[None] / 255)
            assert not torch.equal(batch.source.data[place], clean)
            noisy.append(batch.source.data[place])
        assert not torch.equal(*noisy), "another one in every epoch"
    again = Batches(Rows(images), parts.goal, tokens=10**6)
    first = next(iter(again))
    place = first.rows.index(3)
    batch, where = epochs[0][3]
    assert torch.equal(first.source.data[place], batch.source.data[where])
    asked, right = parts.goal.questions(images, [""] * 6)
    twice, _ = parts.goal.questions(images, [""] * 6)
    assert all(np.array_equal(one, two) for one, two in zip(asked, twice, strict=True))
    assert all(np.array_equal(one[..., 0], two) for one, two in zip(right, images, strict=True))


def test_without_noise_what_is_read_is_what_is_wanted():
    parts, _ = made("autoencoder", SMALL)
    batch = next(iter(Batches(Rows(list(gaussian(3))), parts.goal)))
    assert batch.target is batch.source and batch.weights == (1, 1, 1) and batch.count == 3


# --- the loss ---------------------------------------------------------------------------------------------------


def grids(sizes=((5, 7), (3, 4))):
    mask = torch.zeros(len(sizes), 5, 7, dtype=torch.bool)
    for row, (height, width) in enumerate(sizes):
        mask[row, :height, :width] = True
    torch.manual_seed(1)
    return Grid(torch.rand(len(sizes), 2, 5, 7) * mask[:, None], mask)


@pytest.mark.parametrize("likely", [False, True])
def test_the_loss_is_a_mean_over_real_pixels_and_then_over_images(likely):
    """Each image alone, cut to what is real of it, beside all of them padded."""
    right, numbers = grids(), torch.randn(2, 2, 6, 8)
    alone = []
    for row, (height, width) in enumerate(((5, 7), (3, 4))):
        wanted, found = right.data[row, :, :height, :width], numbers[row, :, :height, :width]
        light = found.sigmoid()
        plain = -(wanted * light.log() + (1 - wanted) * (1 - light).log()) if likely else (wanted - light).square()
        alone.append(plain.mean())
    assert image_loss(Rendered(numbers, True), right, likely=likely) == pytest.approx(float(sum(alone)) / 2, rel=1e-5)


def test_what_is_made_of_padding_costs_nothing():
    right = grids()
    one = torch.zeros(2, 2, 5, 7)
    other = torch.where(right.mask[:, None], one, torch.full_like(one, 9.0))
    assert image_loss(Rendered(one), right) == image_loss(Rendered(other), right)


def test_whole_and_padded_losses_are_the_same_where_nothing_is_padded():
    right = grids(((5, 7), (5, 7)))
    numbers = torch.randn(2, 2, 5, 7)
    whole = image_loss(Rendered(numbers), right)
    assert whole == pytest.approx(float((numbers - right.data).square().mean()), rel=1e-6)


@pytest.mark.parametrize("likely", [False, True])
@pytest.mark.parametrize("sizes", [((5, 7), (5, 7)), ((5, 7), (3, 4))])
def test_gradients(likely, sizes):
    right = grids(sizes)
    exact = Grid(right.data.double(), right.mask)
    numbers = torch.randn(2, 2, 5, 7, dtype=torch.double, requires_grad=True)
    assert torch.autograd.gradcheck(lambda each: image_loss(Rendered(each, True), exact, likely=likely), numbers)


@pytest.mark.parametrize("settings", [SMALL, [*SIDES, "encode.convolve=[3,4]", "predict.convolve=[4,3]"]])
def test_gradients_of_the_whole(settings):
    _, model = made("autoencoder", [*settings, "encode.activation=tanh", "predict.activation=tanh"])
    model = model.double()
    mask = torch.ones(2, HEIGHT, WIDTH, dtype=torch.bool)
    data = torch.rand(2, 1, HEIGHT, WIDTH, dtype=torch.double, requires_grad=True)
    assert torch.autograd.gradcheck(lambda each: model.image(Grid(each, mask)).pixels, data)


# --- images in proportion ---------------------------------------------------------------------------------------


def test_images_in_proportion_are_padded_and_masked(tmp_path):
    parts, model = made("autoencoder", [*SMALL, "task.source.proportion=true"])
    person = parts.goal.person(model)
    images = [np.full((HEIGHT, WIDTH), 90, np.uint8), np.full((2, 8), 40, np.uint8), np.full((9, 3), 10, np.uint8)]
    together = person.answer(images)
    assert [each.values.shape[:2] for each in together] == [(5, 7), (2, 7), (5, 2)]
    for one, image in zip(together, images, strict=True):
        alone = person.answer([image])[0]
        assert np.allclose(alone.values, one.values, atol=1e-6) and np.allclose(alone.code, one.code, atol=1e-5)
    items = parts.source.encode(images)
    batch = parts.goal.collate([parts.example(image, None, row) for row, image in enumerate(images)])
    narrow = parts.goal.collate([parts.example(images[1], None, 1)])
    assert batch.source.mask.sum((1, 2)).tolist() == [item.shape[1] * item.shape[2] for item in items]
    whole = [float(parts.goal.objectives(model)[0].loss(model, each, 1).total.detach()) for each in (batch, narrow)]
    rest = [parts.goal.collate([parts.example(images[row], None, row)]) for row in (0, 2)]
    others = [float(parts.goal.objectives(model)[0].loss(model, each, 1).total.detach()) for each in rest]
    assert whole[0] == pytest.approx((whole[1] + sum(others)) / 3, rel=1e-5)


# --- what is refused --------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("settings", "told"),
    [
        (["task.target=label"], "its target is what it read"),
        (["task.goal.noise=salt", "task.goal.strength=1.0"], "share below 1"),
        (["task.goal.loss=cross_entropy", "predict.output=linear"], "light between 0 and 1"),
    ],
)
def test_what_means_nothing_is_refused(settings, told):
    with pytest.raises(UsageError, match=told):
        parts, model = made("autoencoder", [*SMALL, *settings])
        parts.goal.objectives(model)


def test_noise_and_attention_are_not_for_texts():
    with pytest.raises(UsageError, match="are those of images"):
        TaskParts.build(
            Task(
                source=maker("side", "text"),
                target=maker("side", "nothing"),
                goal=maker("goal", "reconstruct", noise="salt"),
            )
        )
    recipe = resolve("autoencoder-text", ["predict.part=luong", "attend.part=attention", "predict.bridge=project"])
    parts = TaskParts.build(recipe.task())
    parts.source.fit(["a b c", "c b a"])
    with pytest.raises(UsageError, match="copies the text word by word"):
        parts.goal.objectives(recipe.build(*parts.specs))


def test_a_frame_must_be_known():
    with pytest.raises(RegardError, match="expected the height and width"):
        resolve("autoencoder").build(Spec(1), Spec(1))
    own = resolve("autoencoder", ["encode.frame=[9,9]", "predict.frame=[9,9]"]).build(Spec(1), Spec(1))
    assert own.image(Grid(torch.rand(1, 1, 9, 9), torch.ones(1, 9, 9, dtype=torch.bool))).pixels.shape == (1, 1, 9, 9)
    with pytest.raises(RegardError, match="at most 9 x 9"):
        own.read(Grid(torch.rand(1, 1, 10, 9), torch.ones(1, 10, 9, dtype=torch.bool)))


# --- as people use it -------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    """A training on a few images that was stopped and went on, and one that was not."""
    home = tmp_path_factory.mktemp("auto")
    for split, count in (("train", 24), ("val", 6), ("test", 8)):
        for number, image in enumerate(gaussian(count, seed=len(split))):
            path = home / "data" / split / "ab"[number % 2] / f"{number}.png"
            path.parent.mkdir(parents=True, exist_ok=True)
            Image.fromarray(image).save(path)
    settings = [*SMALL, "train.tokens=280", "train.tensorboard=false", "train.validate_steps=0"]
    asked = {"data": home / "data", "settings": settings, "seed": 5}
    regard.train("autoencoder-denoising", out=home / "cut", steps=4, **asked)
    regard.train("autoencoder-denoising", out=home / "cut", steps=9, resume=True, **asked)
    regard.train("autoencoder-denoising", out=home / "whole", steps=9, **asked)
    return home


def test_a_training_goes_on_as_if_it_had_not_stopped(run):
    one, two = (regard.load(run / name / "last") for name in ("cut", "whole"))
    for (name, first), second in zip(one.model.named_parameters(), two.model.parameters(), strict=True):
        assert torch.equal(first, second), name


def test_codes_and_images_go_both_ways(run):
    model = regard.load(run / "whole")
    files = sorted(map(str, (run / "data" / "test").rglob("*.png")))
    codes = model.encode(files)
    assert codes.shape == (8, RANK) and model.encode(files[2]).shape == (RANK,)
    assert np.allclose(model.encode(files[2]), codes[2], atol=1e-5)
    answers = model.reconstruct(files)
    assert np.array_equal(model.decode(codes), np.stack([each.image for each in answers]))
    assert np.array_equal(model.decode(codes[1]), answers[1].image)
    walk = model.interpolate(files[0], files[1], 5)
    assert np.array_equal(walk[0], answers[0].image) and np.array_equal(walk[-1], answers[1].image)
    middle = model.decode((codes[0] + codes[1]) / 2)
    assert np.abs(walk[2].astype(int) - middle).max() <= 1
    assert model.reconstruct(files[0]).text == answers[0].text
    for wrong in ([[1.0] * (RANK + 1)], [math.nan] * RANK, 3.0):
        with pytest.raises(UsageError, match=f"a code of {RANK} numbers"):
            model.decode(wrong)
    with pytest.raises(UsageError, match="two steps or more"):
        model.interpolate(files[0], files[1], 1)
    with pytest.raises(AttributeError, match="trained to reconstruct"):
        model.classify(files[0])


def test_it_is_evaluated_with_intervals_and_neighbours(run):
    report = regard.load(run / "whole").evaluate(run / "data")
    scores = {each.name: each for each in report.scores}
    assert {"MSE", "noise left", "PSNR", "nearest neighbour"} == {*scores}
    assert scores["MSE"].low <= scores["MSE"].value <= scores["MSE"].high
    assert scores["PSNR"].value == pytest.approx(-10 * math.log10(scores["MSE"].value))
    assert json.loads(report.as_json())["scores"][0]["name"] == "MSE"


# --- codes ------------------------------------------------------------------------------------------------------


def test_the_nearest_other_code():
    codes = np.array([[0, 0], [0, 1], [5, 5], [5, 4.5], [0, 1.2]], np.float32)
    assert nearest_others(codes) == [1, 4, 3, 2, 1]
    many = np.random.default_rng(1).normal(size=(1500, 4)).astype(np.float32)
    apart = np.linalg.norm(many[:, None] - many[None], axis=-1) + np.diag(np.full(1500, np.inf))
    assert nearest_others(many) == apart.argmin(1).tolist()


def test_steps_are_equal_and_both_ends_are_there():
    assert steps_between(np.zeros(2, np.float32), np.array([3, 6], np.float32), 4).tolist() == [
        [0, 0],
        [1, 2],
        [2, 4],
        [3, 6],
    ]


def test_the_plane_is_that_in_which_codes_differ_most():
    dice = np.random.default_rng(2)
    codes = (dice.normal(size=(400, 3)) * [1, 5, 3] + [7, 8, 9]).astype(np.float32)
    plane = Plane.of(codes)
    points = plane.points(codes)
    assert abs(plane.axes[0, 1]) > 0.99 and abs(plane.axes[1, 2]) > 0.99
    assert np.allclose(points.mean(0), 0, atol=1e-3)
    lattice = plane.lattice(points, 3)
    assert lattice.shape == (9, 3)
    back = plane.points(lattice)
    assert (np.diff(back[:3, 0]) > 0).all(), "a row goes to the right"
    assert back[0, 1] > back[3, 1] > back[6, 1], "rows go down"
    assert np.allclose(back[4], [np.percentile(points[:, axis], [5, 95]).mean() for axis in (0, 1)], atol=1e-3)


def test_codes_of_two_numbers_are_drawn_as_they_are_and_one_number_as_a_line():
    codes = np.array([[1, 2], [3, 5]], np.float32)
    assert np.allclose(Plane.of(codes).points(codes), codes - codes.mean(0))
    line = np.array([[1], [3]], np.float32)
    assert Plane.of(line).points(line).tolist() == [[-1, 0], [1, 0]]
    assert Plane.of(line).lattice(Plane.of(line).points(line), 2).shape == (4, 1)


# --- metrics ----------------------------------------------------------------------------------------------------


class Made:
    """An answer: what was made, and what was read."""

    def __init__(self, values, read):
        self.values, self.read = (
            np.array(values, np.float32).reshape(1, -1, 1),
            np.array(read, np.uint8).reshape(1, -1, 1),
        )


def test_errors_by_hand():
    answers = [Made([0.5, 1.0], [255, 255]), Made([0.0, 0.0], [0, 255])]
    right = [np.array([[[0], [255]]], np.uint8), np.array([[[0], [0]]], np.uint8)]
    assert count_mse(answers, right).value() == pytest.approx(0.25 / 4, abs=1e-6)
    assert count_mse(answers, right).take(np.array([1])).value() == 0
    assert count_psnr(answers, right).value() == pytest.approx(-10 * math.log10(0.0625), abs=1e-3)
    assert count_psnr(answers[1:], right[1:]).value() == 100
    assert count_noise(answers, right).value() == pytest.approx(100 * 0.25 / 2, abs=1e-3)
    with pytest.raises(RegardError, match="one size"):
        count_mse(answers, [each[:, :1] for each in right])


def test_reading_codes_gives_them_back():
    codes = torch.randn(3, 5)
    _, model = made("autoencoder", SMALL)
    memory = model.read(Codes.of(codes))
    assert torch.equal(memory.summary, codes) and memory.keys.shape == (3, 1, 5) and memory.mask.all()
    assert torch.equal(Codes.of(codes).take(slice(1, 3)).data[:, 0], codes[1:])
