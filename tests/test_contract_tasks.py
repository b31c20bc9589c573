"""The contract of sides and goals: what every registered one must keep, and so the next one too."""

import inspect
from dataclasses import fields, is_dataclass
from random import Random

import numpy as np
import pytest
import torch
from PIL import Image

from regard.data.batches import Batches
from regard.data.episodes import Episode
from regard.errors import RegardError
from regard.evaluate.metrics import METRICS
from regard.recipe import resolve
from regard.registry import maker, names
from regard.task import Example, Goal, Side, Spec, Task, TaskParts, side_of
from regard.types import Batch
from small import RECIPE

SIDES, GOALS, PREDICTORS = names("side"), names("goal"), {**names("predict"), **names("model")}
ROLES = ("source", "target")
TEXTS = ["a b c d e", "b a", "c c a", "e d c b a d e", "d"]
CELLS = {
    "text": TEXTS,
    "label": ["no", "yes", "no", "maybe", "yes"],
    "tags": ["X Y X Y X", "Y X", "Z Z X", "X Y Z Y X Y X", "Y"],
    "segments": ["a b c d e", "b a\tc", "c c a", "e d c b a d e\td a", "d"],
    "latex": [r"a^2_i + \frac12", r"b \le a", r"\sqrt[3]{c}", r"x'' + \alpha \beta", "d"],
    "class": [(0,), (2,), (1,), (4,), (0,)],
    "nothing": [None] * 5,
}
CHANGED = {
    "image": {"size": (5, 7), "flip": True, "shift": 2},
    "episode": {"size": (16, 19), "channels": 3, "shift": 2},
    "formula": {"size": (40, 48), "margin": 3},
    "text": {"pieces": "characters"},
    "segments": {"pieces": "words"},
}
IMAGES = ("task.source=image", "task.target=nothing")
# What each goal reads and wants here, and what makes the small recipe fit it.
USED = {
    "write": ("text", "text", ()),
    "classify": ("text", "label", ("predict.part=label", "task.target=label")),
    "tag": ("text", "tags", ("predict.part=tag", "task.target=tags", "attend=none")),
    "fill": (
        "segments",
        "nothing",
        ("predict.part=fill", "task.source=segments", "task.target=nothing", "attend=none"),
    ),
    "segment": (
        "image",
        "mask",
        (
            *("predict.part=ladder", "encode.part=ladder", "encode.hidden=2", "encode.levels=2", "embed.part=pixels"),
            *("task.source=image", "task.target=mask", "attend=none"),
        ),
    ),
    "reconstruct": (
        "image",
        "nothing",
        ("predict.part=image", "embed.part=pixels", "encode.part=code", *IMAGES, "attend=none"),
    ),
    "encode": (
        "segments",
        "nothing",
        ("predict.part=vector", "task.source=segments", "task.target=nothing", "attend=none"),
    ),
    "adversarial": ("label", "image", ()),
}
# Of a model that is no flow of four stages.
MODELS = {
    "adversarial": (
        "sagan",
        (
            *("task.source=label", "task.target.size=[4,8]", "generator.widths=[3,5]", "generator.noise=2"),
            *("generator.at=4", "critic.widths=[5]", "critic.at=2"),
        ),
    )
}
LEARNT = [name for name in USED if name != "encode"]


@pytest.fixture(scope="module")
def cells(tmp_path_factory):
    """Cells of each kind of side; a kind that is not known here has to be added."""
    folder, found = tmp_path_factory.mktemp("images"), []
    for number in range(5):
        path = folder / f"{number}.png"
        pixels = np.random.default_rng(number).integers(0, 256, (11, 13, 3), dtype=np.uint8)
        Image.fromarray(pixels).save(path)
        found.append(str(path))
    masks = []
    for number in range(5):
        path = folder / f"mask-{number}.png"
        classes = np.random.default_rng(number).integers(0, 3, (11, 13), dtype=np.uint8) * 100
        Image.fromarray(classes).save(path)
        masks.append(str(path))
    shown = [tuple((found[(row + place) % 5], f"{place}") for place in range(5)) for row in range(5)]
    episodes = [Episode(each, found[row]) for row, each in enumerate(shown)]
    return {**CELLS, "image": found, "formula": found, "mask": masks, "episode": episodes}


def made(name, role="source", **settings):
    return SIDES[name](role, **{**CHANGED.get(name, {}), **settings})


@pytest.fixture(params=[(name, role) for name in SIDES for role in ROLES], ids=lambda each: "-".join(each))
def fitted(request, cells):
    name, role = request.param
    side = made(name, role)
    side.fit(cells[name])
    return name, side, cells[name]


def equal(one, two):
    """The same items, inputs or batches, to the last number."""
    if isinstance(one, torch.Tensor):
        return isinstance(two, torch.Tensor) and one.dtype == two.dtype and torch.equal(one, two)
    if is_dataclass(one):
        return type(one) is type(two) and all(equal(getattr(one, f.name), getattr(two, f.name)) for f in fields(one))
    if isinstance(one, dict):
        return one.keys() == two.keys() and all(equal(one[key], two[key]) for key in one)
    if isinstance(one, list | tuple):
        return len(one) == len(two) and all(map(equal, one, two))
    return one == two


def test_a_side_is_one(fitted):
    _, side, _ = fitted
    assert isinstance(side, Side)
    assert side.role in ROLES
    assert Spec.of(side.spec().to_json()) == side.spec()
    wanted = {name: inspect.signature(member) for name, member in inspect.getmembers(Side, inspect.isfunction)}
    for name in ("encode", "positions", "predictions", "fits", "collate", "files", "spec", "fit"):
        assert list(inspect.signature(getattr(type(side), name)).parameters) == list(wanted[name].parameters), name


def test_a_side_encodes_the_same_every_time_and_draws_by_what_it_is_given(fitted):
    _, side, given = fitted
    plain = side.encode(given)
    assert len(plain) == len(given)
    assert equal(plain, side.encode(given))
    assert equal(plain, [side.encode([cell])[0] for cell in given]), "a cell is encoded by itself"
    assert equal(side.encode(given, Random(3)), side.encode(given, Random(3)))
    state = torch.get_rng_state()
    side.encode(given, Random(3))
    assert torch.equal(state, torch.get_rng_state()), "it draws from what it is given and nothing else"


def test_what_a_side_counts_is_what_a_batch_has(fitted):
    _, side, given = fitted
    items = side.encode(given)
    assert all(isinstance(side.fits(item), bool) and side.fits(item) for item in items)
    assert all(side.predictions(item) >= 1 for item in items)
    whole = side.collate(items)
    if whole is None:
        assert side.spec() == Spec(0)
        return
    assert len(whole.data) == len(whole.mask) == len(items)
    places = [side.positions(item) for item in items]
    assert whole.mask.flatten(1).sum(1).tolist() == places or not any(places)
    assert equal(side.collate(items), whole)


@pytest.mark.parametrize("count", [1, 2, 3, 7])
def test_a_share_is_what_its_items_make(fitted, count):
    _, side, given = fitted
    items = side.encode(given)
    whole = side.collate(items)
    batch = Batch(None, whole if whole is not None else torch.zeros(5), tuple(range(5)), weights=(1, 2, 3, 5, 7))
    if whole is None:
        return
    for place in range(count):
        share = batch.share(place, count)
        if place >= len(items):
            assert share is None
            continue
        assert equal(share.target, side.collate(items[place::count]))
        assert share.rows == tuple(range(5))[place::count]
        assert share.weights == batch.weights[place::count]
        assert share.to(torch.device("cpu")) is share


def test_a_side_is_the_same_from_its_folder(fitted, tmp_path):
    name, side, given = fitted
    for file, text in side.files().items():
        assert file == (tmp_path / file).name
        (tmp_path / file).write_text(text, encoding="utf-8")
    again = side_of(maker("side", name, **CHANGED.get(name, {})), tmp_path, side.role)
    assert type(again) is type(side) and again.role == side.role
    assert again.spec() == side.spec()
    assert again.files() == side.files()
    assert equal(again.encode(given), side.encode(given))


def test_sides_of_both_roles_do_not_share_files(cells):
    for name in SIDES:
        sides = [made(name, role) for role in ROLES]
        for side in sides:
            side.fit(cells[name])
        assert not set(sides[0].files()) & set(sides[1].files())


@pytest.mark.parametrize(
    "name", [name for name in SIDES if name not in ("image", "formula", "nothing", "episode", "class")]
)
def test_what_was_not_fitted_says_so(name, cells, tmp_path):
    side = made(name)
    for use in (side.spec, side.files, lambda: side.encode(cells[name])):
        with pytest.raises(RegardError, match="Call fit"):
            use()
    with pytest.raises(RegardError):
        side_of(maker("side", name), tmp_path, "source")


# --- goals ----------------------------------------------------------------------------------------------------


def ready(name, cells, more=()):
    """A goal with fitted sides, and a tiny model for it."""
    reads, wants, settings = USED[name]
    changed = {"size": (4, 8)} if wants == "image" else {}
    source, target = made(reads, "source"), made(wants, "target", **changed)
    named, sizes = MODELS.get(name, (RECIPE, (f"task.goal={name}",)))
    recipe = resolve(named, [*sizes, *settings, *more])
    parts = TaskParts.build(recipe.task(), source, target)  # a goal may say what its sides shall know
    source.fit(cells[reads]), target.fit(cells[wants])
    torch.manual_seed(7)
    return parts, recipe.build(*parts.specs)


def batches(parts, cells, **settings):
    reads, wants, _ = USED[next(name for name, cls in GOALS.items() if type(parts.goal) is cls)]
    rows = Rows(cells[reads], cells[wants])
    return Batches(rows, parts.goal.for_validation(), shuffle=False, examples=parts.examples, **settings)


class Rows:
    """Two columns, as a split."""

    def __init__(self, source, target):
        self.columns = {"source": source, "target": target}

    def __len__(self):
        return len(self.columns["source"])

    def __getitem__(self, rows, /):
        return {name: [column[row] for row in rows] for name, column in self.columns.items()}


@pytest.mark.parametrize("name", GOALS)
def test_a_goal_says_what_it_needs(name):
    goal = GOALS[name]
    assert any(hasattr(cls, goal.predicts) for cls in PREDICTORS.values())
    assert goal.metrics and all(metric in METRICS for metric in goal.metrics)
    wanted = {member for member, _ in inspect.getmembers(Goal, inspect.isfunction) if not member.startswith("_")}
    for member in wanted:
        ours, theirs = (list(inspect.signature(getattr(cls, member)).parameters) for cls in (goal, Goal))
        assert ours == theirs, member
    assert name in USED, "say above what it reads and wants"


@pytest.mark.parametrize("name", LEARNT)
def test_a_goal_prepares_collates_and_is_minimised(name, cells):
    parts, model = ready(name, cells)
    sources, targets = (cells[each] for each in USED[name][:2])
    made = [parts.example(*pair, row) for row, pair in enumerate(zip(sources, targets, strict=True))]
    assert all(isinstance(each, Example) and each.weight >= 1 for each in made)
    assert equal(parts.example(sources[2], targets[2], 2), made[2]), "prepared by row it is always the same"
    batch = parts.goal.collate(made)
    assert (len(batch), batch.rows) == (5, (0, 1, 2, 3, 4))
    assert batch.count == sum(each.weight for each in made)
    for count in (2, 3):
        for place in range(count):
            assert equal(batch.share(place, count), parts.goal.collate(made[place::count]))
    objectives = parts.goal.objectives(model)
    assert len({each.name for each in objectives}) == len(objectives) >= 1
    moved = set()
    for each in objectives:
        loss = each.loss(model.train(), batch, 1)
        assert loss.count == batch.count
        chosen = list(each.parameters(model))
        gradients = torch.autograd.grad(loss.total, chosen, allow_unused=True)
        moved |= {id(one) for one, gradient in zip(chosen, gradients, strict=True) if gradient is not None}
    assert moved == {id(each) for each in model.parameters()}, "every weight moves for an objective"


@pytest.mark.parametrize("name", LEARNT)
def test_nll_is_the_mean_over_predictions(name, cells):
    """However the examples are batched, shared out and smoothed."""
    unsmoothed = ("tag", "fill", "segment", "adversarial", "reconstruct")
    smooth = ["task.goal.smoothing=0.3"] if name not in unsmoothed else []
    parts, model = ready(name, cells, smooth)
    model.eval()
    whole = next(iter(batches(parts, cells)))
    wanted = parts.goal.nll(model, whole)
    if wanted is None:
        return
    assert wanted.count == whole.count
    for found in (list(batches(parts, cells, tokens=1)), [whole.share(place, 3) for place in range(3)]):
        losses = [parts.goal.nll(model, each) for each in found]
        assert sum(each.count for each in losses) == whole.count
        total = sum(float(each.nll) * each.count for each in losses)
        assert total / whole.count == pytest.approx(float(wanted.nll), rel=1e-5)
    assert not wanted.nll.requires_grad
    if smooth:
        assert float(parts.goal.objectives(model)[0].loss(model, whole, 1).total.detach()) != pytest.approx(
            float(wanted.nll)
        )


@pytest.mark.parametrize("name", USED)
def test_a_goal_answers_and_draws(name, cells, tmp_path):
    parts, model = ready(name, cells)
    sources = cells[USED[name][0]]
    answers = parts.goal.answer(model.eval(), sources)
    assert len(answers) == len(sources)
    assert all(isinstance(each.text, str) for each in answers)
    alone = [parts.goal.answer(model, [cell])[0].text for cell in sources]
    assert [each.text for each in answers] == alone, "whoever stands beside it"
    assert isinstance(parts.goal.drawn(model, sources[0]), str)
    if name != "write":
        assert parts.goal.finish(tmp_path, None, print) == {}


def test_a_goal_that_is_not_learnt_says_so(cells):
    parts, model = ready("encode", cells)
    with pytest.raises(RegardError, match="the goal 'encode' is not trained"):
        parts.goal.objectives(model)
    assert parts.goal.nll(model, Batch(None, torch.zeros(1), (0,), weights=(1,))) is None


def test_sides_that_do_not_go_with_a_goal_are_refused():
    for goal, source, target in (
        ("classify", "text", "text"),
        ("classify", "episode", "label"),
        ("classify", "image", "class"),
        ("tag", "text", "label"),
        ("tag", "image", "tags"),
        ("fill", "image", "nothing"),
        ("fill", "text", "label"),
        ("encode", "text", "label"),
        ("segment", "image", "label"),
        ("segment", "text", "mask"),
        ("adversarial", "text", "image"),
        ("adversarial", "nothing", "label"),
        ("reconstruct", "text", "label"),
        ("reconstruct", "label", "nothing"),
    ):
        task = Task(source=maker("side", source), target=maker("side", target), goal=maker("goal", goal))
        with pytest.raises(RegardError, match=f"the goal '{goal}'"):
            TaskParts.build(task)
