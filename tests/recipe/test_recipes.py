"""Recipes that are right: every one that comes with Regard builds, runs and prints as itself; how others are read."""

import dataclasses

import pytest
import torch

from regard.errors import RecipeError
from regard.learn.loss import sequence_loss
from regard.learn.optimise import optimiser_for
from regard.recipe import NAMED, resolve, write
from regard.recipe.resolve import Recipe
from regard.registry import Maker, find, names, settings
from regard.types import Batch, PixelLogits, Rendered
from small import SOURCE, TARGET, built, episodes, forward, pictures, smaller, words

HEAD = 'extends = "rnnsearch"\n'


@pytest.fixture
def recipe(tmp_path):
    """Write a recipe's text; hand back its path."""

    def written(text):
        path = tmp_path / "mine.toml"
        path.write_text(text, encoding="utf-8")
        return path

    return written


def seeded(recipe):
    """The model of a recipe, not in training."""
    torch.manual_seed(5)
    return built(recipe).eval()


def outputs(model):
    """The scores of every step, or of every class, and what was looked at."""
    torch.manual_seed(7)
    with torch.no_grad():
        found = forward(model)
    if isinstance(found, PixelLogits | Rendered):
        return found.logits.movedim(1, -1), []
    return found.logits, [each.weights for each in found.looked]


@pytest.mark.parametrize("name", NAMED)
def test_a_recipe_says_what_it_is(name):
    about = resolve(name).about
    assert all(dataclasses.asdict(about).values()), f"{name}: title, paper, task and shows must all be told"


def test_no_two_recipes_have_one_title():
    titles = [resolve(name).about.title for name in NAMED]
    assert len(set(titles)) == len(titles)


@pytest.mark.parametrize("name", NAMED)
def test_a_recipes_file_begins_by_saying_what_it_is_for(name):
    assert NAMED[name].read_text(encoding="utf-8").startswith("# ")


@pytest.mark.parametrize("name", NAMED)
def test_a_printed_recipe_is_the_same_recipe(name, tmp_path):
    recipe = resolve(name)
    path = tmp_path / "printed.toml"
    path.write_text(write(recipe), encoding="utf-8")
    printed = resolve(path)
    assert printed == recipe


@pytest.mark.parametrize("name", NAMED)
def test_a_printed_recipe_makes_the_same_model(name, tmp_path):
    recipe = resolve(name)
    small = Recipe(recipe.about, smaller(recipe.model), recipe.train, recipe.task)
    path = tmp_path / "printed.toml"
    path.write_text(write(small), encoding="utf-8")
    ours, theirs = seeded(small), seeded(resolve(path))
    weights = theirs.state_dict()
    assert list(ours.state_dict()) == list(weights)
    assert all(torch.equal(value, weights[key]) for key, value in ours.state_dict().items())
    (logits, looked), (again, looked_again) = outputs(ours), outputs(theirs)
    assert torch.isfinite(logits).all()
    assert logits.shape[-1] == (1 if recipe.model.name == "gan" else ours.sizes[1])
    assert torch.equal(logits, again)
    assert len(looked) == len(looked_again)
    assert all(map(torch.equal, looked, looked_again))
    assert bool(looked) == (recipe.model.settings.get("attend") is not None)


@pytest.mark.parametrize("name", NAMED)
def test_a_recipes_model_learns_from_every_parameter(name):
    """Nothing is built that no gradient reaches."""
    recipe = resolve(name)
    model = seeded(Recipe(recipe.about, smaller(recipe.model), recipe.train, recipe.task))
    found = forward(model)
    follows = getattr(found, "follows", None)  # of two texts, which the summary tells
    (found.logits.square().sum() + (0 if follows is None else follows.square().sum())).backward()
    without = [key for key, value in model.named_parameters() if value.requires_grad and value.grad is None]
    if name.startswith(
        ("rnnsearch-hard", "caption-hard")
    ):  # in use the best key is taken: the scores learn in training only, from draws
        without = [
            key for key in without if not key.startswith(("predict.attend.score", "predict.attend.choice.judge"))
        ]
    if name == "ga-net":  # in use a gate is open or closed: what judges learns in training only, from draws between
        without = [key for key in without if not key.startswith(("encode.auxiliary", "encode.judge"))]
    if name.startswith("attention-unet"):  # the coarser sizes have scores in training only
        without = [key for key in without if not key.startswith("predict.scores")]
    assert without == []


PAPERS = [name for name in NAMED if name.endswith("-paper")]
# Recurrent and attention weights alone: the tables grow with the vocabulary, which is small here.
MILLIONS = {
    "albert-paper": (7, 8),
    "attention-unet-paper": (2.1, 2.3),
    "bert-paper": (86, 88),
    "caption-hard-paper": (12, 13),
    "caption-paper": (12, 13),
    "gnmt-paper": (150, 220),
    "latex-paper": (9, 9.4),
    "gpt2-paper": (85, 87),
    "luong-local-m-paper": (65, 85),
    "luong-local-p-paper": (65, 85),
    "luong-paper": (65, 85),
    "residual-attention-paper": (29, 31),
    "rnnsearch-hard-paper": (25, 40),
    "snail-paper": (3.1, 3.3),
    "rnnsearch-paper": (25, 40),
    "roberta-paper": (86, 87),
    "sagan-paper": (70.6, 70.8),
    "seq2seq-paper": (63, 66),
    "transformer-paper": (44, 45),
    "tutorial-paper": (0, 1),
}


@pytest.mark.parametrize("name", PAPERS)
def test_a_paper_has_its_size(name):
    with torch.device("meta"):  # shapes alone: nobody needs 200 million random numbers
        model = seeded(resolve(name))
    low, high = MILLIONS[name]
    assert low <= sum(weight.numel() for weight in model.parameters()) / 1e6 <= high


@pytest.mark.parametrize("name", [name for name in PAPERS if name != "sagan-paper"])
def test_a_papers_model_steps(name):
    """With its layers, cut down in width: an update by its own optimiser and rate changes the readout, all finite."""
    recipe = resolve(name)
    settings = recipe.train()
    model = seeded(Recipe(recipe.about, smaller(recipe.model), recipe.train, recipe.task)).train()
    sees = recipe.task.settings["source"].name in ("image", "formula")
    read = pictures(((16, 13), (7, 11))) if sees else words(SOURCE, (7, 2)) if model.encode else None
    if recipe.task.settings["source"].name == "episode":
        read = episodes()
    batch = Batch(read, words(TARGET, (5, 3)))
    optimiser = optimiser_for(model, settings)
    readout = getattr(model.predict, "readout", model.predict)
    before = [weight.clone() for weight in readout.parameters()]
    loss = (
        sequence_loss(model, batch).total if hasattr(model.predict, "teach") else forward(model).logits.square().mean()
    )
    loss.backward()
    if settings.clip:
        torch.nn.utils.clip_grad_norm_(model.parameters(), settings.clip)
    optimiser.step()
    after = list(readout.parameters())
    assert loss.isfinite()
    assert all(weight.isfinite().all() for weight in after)
    assert not all(map(torch.equal, before, after))


BIG = (
    *("embed.width=1024", "predict.embed.width=1024", "attend.heads=16"),
    *("encode.attend.heads=16", "predict.self_attend.heads=16"),
    *(f"{side}.{what}" for side in ("encode", "predict") for what in ("feed=4096", "dropout=0.3")),
)


@pytest.mark.parametrize(("settings", "millions"), [((), 63.1), (BIG, 214.2)], ids=["base", "big"])
def test_the_transformers_of_the_paper_have_its_size(settings, millions):
    """With 37,000 pieces, as systems are counted in the paper (65 and 213 there, rounded otherwise)."""
    with torch.device("meta"):  # shapes alone: nobody needs 214 million random numbers
        model = resolve("transformer-paper", settings).build(37000, 37000)
    assert sum(weight.numel() for weight in model.parameters()) / 1e6 == pytest.approx(millions, abs=0.3)


def test_the_systems_of_the_frame_are_there():
    papers = "gnmt luong luong-local-m luong-local-p rnnsearch rnnsearch-hard seq2seq transformer tutorial"
    wanted = f"{papers} classify transformer-fast transformer-guided transformer-tiny"
    assert set(NAMED) >= {*wanted.split(), *(f"{name}-paper" for name in papers.split())}
    assert list(NAMED) == sorted(NAMED)


def test_what_the_paper_recipes_say_of_themselves():
    """Skips from the third layer on, on both sides: Wu et al. 2016, figure 1. Half of the draws: Xu et al. 2015."""
    google = resolve("gnmt-paper")
    assert "skips from the third layer on" in google.about.shows
    assert google.model.settings["predict"].settings["residual_from"] == 3
    assert google.model.settings["encode"].settings["direction"] == "bottom"  # whose second layer reads twice the width
    hard, soft = (resolve(name).model.settings for name in ("rnnsearch-hard-paper", "rnnsearch-paper"))
    assert {key for key in hard if hard[key] != soft[key]} == {"attend"}
    choice = hard["attend"].settings["choice"]
    own = {"baseline": 0.9, "entropy": 0.002, "expected": 0.5, "reward": 1.0, "estimator": "reinforce", "harden": 0}
    assert choice.name == "hard" and choice.settings.items() >= own.items()
    assert resolve("rnnsearch-hard-paper").train == resolve("rnnsearch-paper").train


def test_a_recipe_from_before_a_setting_was_there_makes_the_same_model(tmp_path):
    """What was written when `scaled` and `residual_from` were not there yet is read with what was meant."""
    for name in ("luong", "gnmt"):
        recipe = resolve(name)
        small = Recipe(recipe.about, smaller(recipe.model), recipe.train, recipe.task)
        lines = [line for line in write(small).splitlines() if not line.startswith(("scaled", "residual_from"))]
        path = tmp_path / f"{name}.toml"
        path.write_text("\n".join(lines), encoding="utf-8")
        (logits, _), (again, _) = outputs(seeded(small)), outputs(seeded(resolve(path)))
        assert len(lines) == len(write(small).splitlines()) - 1
        assert torch.equal(logits, again)


@pytest.mark.parametrize(
    ("decoder", "refused"),
    [
        (["predict.part=bahdanau"], True),
        (["predict.part=google"], True),
        (["predict.part=google", "predict.context=fresh"], False),
        (["predict.part=luong"], False),
        (["predict.part=tutorial"], False),
        (["predict.part=transformer"], False),
    ],
)
@pytest.mark.parametrize("guide", ["none", "reference"])
def test_the_step_after_is_refused_for_decoders_that_ask_before_they_read(decoder, refused, guide):
    settings = [*decoder, f"train.guide={guide}", "train.guide_step=after"]
    if not refused:
        assert resolve("rnnsearch", settings).task.settings["goal"].settings["guide_step"] == "after"
        return
    with pytest.raises(RecipeError) as error:
        resolve("rnnsearch", settings)
    (found,) = error.value.problems
    assert found.key == "task.goal.guide_step"
    assert "asks before it reads" in found.message
    assert found.advice == 'Write guide_step = "writing".'
    assert resolve("rnnsearch", [*decoder, "train.guide=reference"])


# --- right recipes -----------------------------------------------------------------------------------------


def test_a_text_is_short_for_a_table(recipe):
    short = resolve(recipe(f'{HEAD}[attend]\nscore = "dot"\n'))
    long = resolve(recipe(f'{HEAD}[attend.score]\npart = "dot"\n'))
    assert short == long
    assert short.model.settings["attend"].settings["score"] == Maker("score", "dot", {})


def test_none_leaves_an_optional_part_out(recipe):
    path = recipe(f'{HEAD}attend = "none"\n[predict]\npart = "plain"\n')
    assert resolve(path).model.settings["attend"] is None
    assert resolve("transformer", ["embed.position=none"]).model.settings["embed"].settings["position"] is None


def test_a_whole_number_is_a_number(recipe):
    dropout = resolve(recipe(f"{HEAD}[encode]\ndropout = 0\n")).model.settings["encode"].settings["dropout"]
    assert (dropout, type(dropout)) == (0.0, float)


def test_every_default_is_filled_in():
    """Nothing is left for a constructor to fill in: what is printed is all there is."""

    def walk(made):
        assert set(made.settings) == set(settings(find(made.kind, made.name)))
        for value in made.settings.values():
            if isinstance(value, Maker):
                walk(value)

    for name in ("rnnsearch", "transformer", "classify"):
        walk(resolve(name).model)


def test_one_setting_of_a_default_part_may_be_changed():
    """predict.transformer has embed = tokens with a position and scale; naming a width keeps those."""
    made = resolve("transformer", ["predict.embed.width=12"]).model.settings["predict"].settings["embed"]
    assert made.settings["width"] == 12
    assert made.settings["scale"] is True
    assert made.settings["position"].name == "sinusoid"


def test_overrides_by_hand():
    made = resolve("rnnsearch", ["attend.score=dot", "encode.layers=3", "predict.cell=cho", "about.title=Mine"])
    assert made.about.title == "Mine"
    assert made.model.settings["attend"].settings["score"].name == "dot"
    assert made.model.settings["encode"].settings["layers"] == 3
    assert made.model.settings["predict"].settings["cell"].name == "cho"


def test_defaults_are_never_changed_by_a_recipe():
    before = repr(settings(names("predict")["transformer"]))
    resolve("transformer", ["predict.embed.width=12", "predict.self_attend.heads=2"])
    assert repr(settings(names("predict")["transformer"])) == before


@pytest.mark.parametrize(
    ("name", "settings", "size", "wanted"),
    [
        ("bert-paper", (), 30522, 109_482_240),
        (
            "bert-paper",
            ("embed.width=1024", "encode.layers=24", "encode.feed=4096", "encode.attend.heads=16"),
            30522,
            335_141_888,
        ),
        ("albert-paper", (), 30000, 11_683_584),
        ("albert-paper", ("encode.layers=1",), 30000, 11_683_584),
        # A table of 514 positions, one segment and a pooler are 592,896 more in the released model: 124,645,632.
        ("roberta-paper", (), 50265, 124_645_632 - 592_896),
    ],
)
def test_encoders_have_the_sizes_of_the_papers(name, settings, size, wanted):
    """Embedding, encoder and pooler, without the heads for pretraining."""
    with torch.device("meta"):
        model = resolve(name, settings).build(size, size)
    assert sum(weight.numel() for part in (model.embed, model.encode) for weight in part.parameters()) == wanted
