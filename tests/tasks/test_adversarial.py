"""The adversarial goal in the real loop: losses by hand, what moves and what rests, averages, kills, samples."""

import json
import os
import signal
from random import Random

import pytest
import torch
from torch.nn import functional as F

from learn.group import ended, start, together, train_setup
from learn.test_processes import assert_same
from regard.data.corpus import Corpus
from regard.data.sides.image import Image
from regard.data.sides.label import Label
from regard.data.sides.nothing import Nothing
from regard.data.sides.text import Text
from regard.errors import UsageError
from regard.gan.spectral import Sigma
from regard.learn.events import Step
from regard.learn.learner import Learner
from regard.recipe import resolve
from regard.task import Example
from regard.tasks.goals.adversarial import NOISE, Adversarial, drawn_noise, noise_of
from regard.tasks.job import TrainJob, silent
from regard.tasks.objects import open_model
from regard.tasks.setup import set_up

pytestmark = pytest.mark.usefixtures("one_thread", "unchecked")
SMALL = (
    *("generator.widths=[8,8,8]", "generator.noise=5", "generator.at=8", "critic.widths=[8,8]", "critic.at=8"),
    *(
        "task.target.size=[16,16]",
        "train.tokens=1792",
        "train.precision=fp32",
        "train.tensorboard=false",
        "train.log=1",
    ),
)
STEPS = 5


def setup(settings=(), recipe="sagan", size=23, seed=3):
    found = resolve(recipe, [*SMALL, *settings])
    reads = found.task.settings["source"].name
    return set_up(found, Corpus.open("mirror", size=size, reads=reads, wants="image"), None, seed, silent)


def learner(settings=(), **asked):
    made = setup(settings, **asked)
    return Learner(made.model, made.settings, made.batches.forever(), objectives=made.aims.objectives)


def vectors(model):
    return {name: each.u.clone() for name, each in model.named_modules() if isinstance(each, Sigma)}


# --- losses -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("loss", ["hinge", "logistic"])
def test_losses_by_hand(loss):
    made = setup([f"task.goal.loss={loss}"])
    model, batch = made.model.eval(), next(iter(made.batches))
    critic, generator = made.aims.objectives
    real = model.judge(2 * batch.target.data - 1)
    false = model.judge(model.generate(noise_of(batch, model)))
    if loss == "hinge":
        right = (F.relu(1 - real) + F.relu(1 + false)).mean(), -false.mean()
    else:
        right = -(F.logsigmoid(real) + F.logsigmoid(-false)).mean(), -F.logsigmoid(false).mean()
    for objective, wanted in zip((critic, generator), right, strict=True):
        found = objective.loss(model, batch, 1)
        assert found.total.item() == pytest.approx(wanted.item(), abs=1e-5)
        assert found.count == len(batch) and found.nll == found.total.detach()


def test_the_generator_learns_nothing_of_the_critics_step_nor_the_critic_of_its():
    made = setup()
    batch = next(iter(made.batches))
    critic, generator = made.aims.objectives
    critic.loss(made.model, batch, 1).total.backward()
    assert all(each.grad is None for each in made.model.generator.parameters())
    assert all(each.grad is not None for each in made.model.critic.parameters())
    made.model.zero_grad()
    found = Learner(made.model, made.settings, iter(()), objectives=made.aims.objectives)
    with found.minimisers[1].alone():
        generator.loss(made.model, batch, 1).total.backward()
    assert all(each.grad is None for each in made.model.critic.parameters())
    assert all(each.grad is not None for each in made.model.generator.parameters())


def test_each_moves_its_own_weights_at_its_own_rate():
    found = learner(["train.optimiser=sgd", "train.clip=0.01", "train.rate=0.1"])
    before = {name: each.detach().clone() for name, each in found.model.named_parameters()}
    update = found.update()
    assert list(update.losses) == ["critic", "generator"]
    for name, rate in (("critic", 0.4), ("generator", 0.1)):
        moved = [each - before[key] for key, each in found.model.named_parameters() if key.startswith(f"{name}.")]
        assert torch.cat([each.flatten() for each in moved]).norm().item() == pytest.approx(rate * 0.01, rel=1e-2)


@pytest.mark.parametrize("steps", [1, 3])
def test_vectors_turn_once_a_forward(steps, monkeypatch):
    """The critic's once in each of its own steps, real and made images in one pass, and once in the generator's."""
    found = learner([f"task.goal.critic_steps={steps}"])
    turns = {"generator": 0, "critic": 0}
    for name in turns:
        sigma = getattr(found.model, name).blocks[0].first.sigma
        held = sigma.forward

        def counted(weight, held=held, name=name):
            turns[name] += 1
            return held(weight)

        monkeypatch.setattr(sigma, "forward", counted)
    found.update()
    assert turns == {"generator": steps + 1, "critic": steps + 1}


def test_a_validation_moves_nothing():
    made = setup()
    found = Learner(made.model, made.settings, made.batches.forever(), objectives=made.aims.objectives)
    found.update()
    before, kept = vectors(made.model), {name: each.clone() for name, each in made.model.state_dict().items()}
    with found.averaged() as model, torch.no_grad():
        values = made.validator(model)
    after = vectors(made.model)
    assert all(torch.equal(after[name], each) for name, each in before.items())
    assert all(torch.equal(made.model.state_dict()[name], each) for name, each in kept.items())
    assert set(values.values) == {"frechet", "diversity"}, "there is no likelihood"
    assert values.picture.startswith(b"\x89PNG") and values.samples == ()


def test_after_fifty_updates_every_weight_has_a_largest_singular_value_of_one():
    found = learner(["train.rate=0.0005"])
    for _ in range(50):
        found.update()
    found.model.eval()
    owners = [each for each in found.model.modules() if getattr(each, "sigma", None) is not None]
    assert len(owners) > 20
    for each in owners:
        largest = torch.linalg.svdvals((each.weight / each.sigma(each.weight)).detach().flatten(1))[0].item()
        assert 0.9 <= largest <= 1.1


def test_gamma_alone_learns_of_an_attention_at_first():
    found = learner()
    layer = found.model.generator.layer
    before = {name: each.detach().clone() for name, each in layer.named_parameters()}
    update = found.update()
    assert update.noted == {
        "gamma_generator": layer.gamma.item(),
        "gamma_critic": found.model.critic.layer.gamma.item(),
    }
    moved = {name for name, each in layer.named_parameters() if not torch.equal(each, before[name])}
    assert moved == {"gamma"}
    found.update()
    moved = {name for name, each in layer.named_parameters() if not torch.equal(each, before[name])}
    assert len(moved) == 5


def test_the_average_is_of_the_generator_alone():
    found = learner(["train.rate=0.01"])
    for _ in range(3):
        found.update()
    assert set(found.average.kept) == {name for name in found.model.state_dict() if name.startswith("generator.")}
    own = {name: each.clone() for name, each in found.model.state_dict().items()}
    with found.averaged() as model:
        used = {name: each.clone() for name, each in model.state_dict().items()}
    assert all(torch.equal(used[name], own[name]) for name in own if name.startswith("critic."))
    assert any(not torch.equal(used[name], own[name]) for name in own if name.startswith("generator."))
    assert all(torch.equal(each, own[name]) for name, each in found.model.state_dict().items())


def test_half_precision():
    made = setup()
    found = Learner(made.model, made.settings, made.batches.forever(), objectives=made.aims.objectives, bf16=True)
    for _ in range(2):
        update = found.update()
    assert all(torch.isfinite(each).all() for each in made.model.state_dict().values())
    assert all(each.dtype != torch.bfloat16 for each in made.model.state_dict().values())
    assert torch.isfinite(torch.tensor(list(update.losses.values()))).all()


# --- noise and sides ----------------------------------------------------------------------------------------


def test_noise_is_drawn_by_the_dice_that_prepare_is_given():
    goal = Adversarial(Nothing("source"), Image("target"))
    one, two, other = (
        goal.prepare(Example(None, torch.zeros(3, 4, 4), row), Random(dice)) for row, dice in ((0, 1), (7, 1), (0, 2))
    )
    assert one.extra == two.extra != other.extra
    rows = drawn_noise([one.extra[NOISE], other.extra[NOISE], one.extra[NOISE]], 401)
    assert torch.equal(rows[0], rows[2]) and not torch.equal(rows[0], rows[1])
    assert abs(rows.mean()) < 0.1 and abs(rows.std() - 1) < 0.1


def test_sides_that_do_not_go_with_it_are_refused():
    image, nothing = Image("target"), Nothing("source")
    for source, target in ((Text("source"), image), (nothing, Label("target")), (Image("source"), image)):
        with pytest.raises(UsageError, match="the goal 'adversarial' makes images"):
            Adversarial(source, target)
    with pytest.raises(UsageError, match="images of one size"):
        Adversarial(nothing, Image("target", proportion=True))
    with pytest.raises(UsageError, match="a generator and a critic"):
        Adversarial(nothing, image).objectives(torch.nn.Linear(2, 2))


# --- runs ---------------------------------------------------------------------------------------------------


def whole(folder, resume=False, kill=None):
    """A run, in a process of its own."""

    def tell(event):
        if isinstance(event, Step) and event.number == kill:
            os.kill(os.getpid(), signal.SIGKILL)

    made = setup(["train.save_steps=2", "train.validate_steps=0"])
    train_setup(folder, made, steps=STEPS, resume=resume, tell=tell)


def test_killed_and_resumed_it_is_the_same(tmp_path):
    """Weights, both optimisers, the average, running norms and singular vectors, to the last bit."""
    assert together(1, whole, str(tmp_path / "alone")) == [0]
    assert ended(start(1, whole, str(tmp_path / "run"), kill=4)) == [-signal.SIGKILL]
    assert together(1, whole, str(tmp_path / "run"), resume=True) == [0]
    assert_same(tmp_path / "run", tmp_path / "alone")


@pytest.fixture(scope="module", params=["nothing", "label"])
def trained(request, tmp_path_factory):
    folder = tmp_path_factory.mktemp("sampler")
    settings = (*SMALL, f"task.source={request.param}", "train.validate_steps=2", "train.schedule=constant")
    model = TrainJob("sagan", "mirror", folder / "run", steps=3, size=29, settings=settings).train()
    return request.param, folder / "run", model


def test_a_run_logs_and_keeps_pictures(trained):
    reads, run, model = trained
    lines = [json.loads(line) for line in (run / "log.jsonl").read_text().splitlines()]
    steps = [line for line in lines if line["event"] == "step"]
    assert all({"critic", "generator", "gamma_generator", "gamma_critic"} <= set(line) for line in steps)
    assert [each.name for each in sorted((run / "samples").iterdir())] == ["000002.png", "000003.png"]
    assert model.reads == reads and model.verb == "sample"


def test_samples_depend_on_seed_and_number_alone(trained):
    _, run, model = trained
    found = model.sample(7, seed=5)
    again = open_model(run).sample(70, seed=5)
    assert all(torch.equal(one.pixels, two.pixels) for one, two in zip(found, again, strict=False))
    assert not torch.equal(found[0].pixels, model.sample(1, seed=6)[0].pixels)
    assert found[0].pixels.dtype == torch.uint8 and found[0].array.shape == (16, 16, 3)
    assert [each.number for each in found] == list(range(7))
    assert not model.sample(2, record=False)[0].attention


def test_labels(trained):
    reads, _, model = trained
    if reads == "nothing":
        assert model.classes == () and model.sample(1)[0].label is None
        with pytest.raises(UsageError, match="trained without labels"):
            model.sample(1, label="circle")
        return
    assert [each.label for each in model.sample(5)] == ["circle", "cross", "square", "triangle", "circle"]
    assert {each.label for each in model.sample(3, label="cross")} == {"cross"}
    assert [each.text for each in model.answer(["square", "cross"])] == ["square", "cross"]
    with pytest.raises(UsageError, match=r"no class is called 'squre'.*\n.*square"):
        model.sample(1, label="squre")


def test_what_was_looked_at(trained):
    _, _, model = trained
    found = model.look()
    (weights,) = found.attention
    assert weights.shape == (64, 64) and found.grid == (8, 8)
    assert torch.allclose(weights.sum(-1), torch.ones(64), atol=1e-5)
    maps = found.looked_at([(0, 0), (15, 15), (3, 8)])
    assert maps.shape == (3, 8, 8)
    for place, cell in zip(maps, (0, 63, 1 * 8 + 4), strict=True):
        assert torch.allclose(torch.from_numpy(place).flatten(), weights[cell])
    with pytest.raises(UsageError, match="16 rows and 16 columns; row 16, column 0"):
        found.looked_at([(16, 0)])
    with pytest.raises(UsageError, match="1 image or more"):
        model.sample(0)


def test_it_is_evaluated(trained):
    _, _, model = trained
    report = model.evaluate("mirror")
    assert [each.name for each in report.scores] == ["Frechet distance", "diversity", "symmetry error"]
    assert "images themselves" in report.notes[0] and "1,000 images" in report.title


def test_features_are_of_a_classifier_of_images(trained, tmp_path):
    from regard.tasks.sampler import features_of

    _, run, model = trained
    settings = ("encode.hidden=8", "train.tensorboard=false", "train.precision=fp32", "train.schedule=constant")
    TrainJob("classify-images", "mirror", tmp_path / "eyes", steps=1, size=31, settings=settings).train()
    features = features_of(tmp_path / "eyes")
    rows = features.of(torch.stack([each.pixels for each in model.sample(3)]))
    assert rows.shape == (3, 8), "of another size than it was trained with"
    corpus = Corpus.open("mirror", size=31, reads=model.reads, wants="image")
    report = model.evaluate(corpus, features=tmp_path / "eyes")
    assert report.scores[0].signature.startswith("features:eyes|")
    with pytest.raises(UsageError, match="expected a classifier of images"):
        features_of(run)
    with pytest.raises(UsageError, match="for models that make images"):
        open_model(tmp_path / "eyes").evaluate("shapes", features=tmp_path / "eyes")
