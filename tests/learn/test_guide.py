"""Guided alignment: the term by hand, its gradient, what it teaches, and a run that resumes with it."""

import json
from dataclasses import replace
from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file

from learn.child import PAIRS, TOKENIZER, small_model, stream, writing
from regard.align.heads import choose_heads
from regard.attend import Attention
from regard.data.batches import InMemory
from regard.data.builtin import examples
from regard.data.pairs import pair_batches
from regard.data.sides.text import Text
from regard.errors import UsageError
from regard.evaluate import Gold
from regard.hooks import Looked, hook
from regard.learn.folder import RunFolder
from regard.learn.guide import Guide, guide_of, head_counts
from regard.learn.learner import Learner
from regard.learn.loss import sequence_loss
from regard.learn.run import Aims, Budget, Run
from regard.learn.settings import TrainSettings
from regard.learn.train import run
from regard.tasks.goals.write import Write
from regard.translate.translator import Translator
from regard.types import Attended, Batch
from small import batch, model, overrides

TRANSFORMER = ["attend.part=heads", "attend.heads=2", *overrides("predict", "transformer")]
SETTINGS = TrainSettings(
    rate=0.01, precision="fp32", tensorboard=False, validate_steps=0, save_steps=2, save_minutes=0.0
)


def goal(guide="links", **settings):
    """A goal that is guided."""
    return Write(Text("source"), Text("target"), guide=guide, **settings)


def linked(pairs):
    """A batch with links: piece t looks at source pieces t and t + 1 where both are there."""
    shape = pairs.target.mask.shape[1] - 1, pairs.source.mask.shape[1]
    goal = torch.eye(*shape) + torch.eye(*shape).roll(1, 1).triu()
    goal = goal * pairs.target.mask[:, 1:, None] * pairs.source.mask[:, None, :]
    return replace(pairs, links=goal / goal.sum(-1, keepdim=True).clamp(min=1))


def attended(weights):
    return Attended(torch.zeros(*weights.shape[:-1], 1), lambda: weights)


def test_the_term_by_hand():
    """Two pieces: one linked to both source pieces, one to the second; a third without a link costs nothing."""
    weights = torch.tensor([[[0.25, 0.75], [0.4, 0.6], [0.0, 1.0]]])
    pairs = Batch(batch().source, batch().target, links=torch.tensor([[[0.5, 0.5], [0.0, 1.0], [0.0, 0.0]]]))
    expected = -0.3 * torch.tensor([0.25, 0.75, 0.6]).log() @ torch.tensor([0.5, 0.5, 1.0])
    assert torch.isclose(Guide(0.3, 0, 0)((attended(weights),), pairs), expected)
    heads = torch.stack((torch.full_like(weights, 0.5), weights), 1)  # the second head of the second layer
    assert torch.isclose(Guide(0.3, 1, 1)((attended(weights), attended(heads)), pairs), expected)


def test_a_weight_of_zero_costs_much_but_not_infinitely_much():
    pairs = Batch(batch().source, batch().target, links=torch.ones(1, 1, 1))
    assert 10 < Guide(1.0, 0, 0)((attended(torch.zeros(1, 1, 1)),), pairs).item() < 100


def test_the_gradient():
    scores = torch.randn(2, 3, 5, 7, dtype=torch.float64, requires_grad=True)
    links = torch.rand(2, 5, 7)
    pairs = Batch(batch().source, batch().target, links=links)
    guide = Guide(0.7, 0, 2)

    def term(scores):
        return guide((attended(scores.softmax(-1)),), pairs)

    (found,) = torch.autograd.grad(term(scores), scores)
    # softmax and cross-entropy: sum of the goal times the weights, less the goal
    expected = 0.7 * (links.sum(-1, keepdim=True) * scores[:, 2].softmax(-1) - links)
    assert torch.allclose(found[:, 2], expected.to(found), atol=1e-6)
    assert not found[:, :2].any()


def test_the_step_after_is_drawn_to_the_piece_it_is_fed():
    """The same weights one step later, the same links: the same term."""
    weights, links = torch.rand(2, 3, 5, 7).softmax(-1), torch.rand(2, 5, 7)
    links[:, -1] = 0  # the end has none
    pairs = Batch(batch().source, batch().target, links=links)
    later = weights.roll(1, -2)
    assert torch.isclose(
        Guide(0.7, 0, 2)((attended(weights),), pairs), Guide(0.7, 0, 2, after=True)((attended(later),), pairs)
    )


@pytest.mark.parametrize("settings", [overrides("predict", "luong"), TRANSFORMER], ids=["luong", "transformer"])
def test_the_loss_has_the_term_and_the_report_has_not(settings):
    built, pairs = model(settings), linked(batch())
    guide = Guide(0.5, 0, 0)
    plain, guided = sequence_loss(built, pairs), sequence_loss(built, pairs, guide=guide)
    expected = guide(built.teach(pairs).looked, pairs) / pairs.count
    assert expected > 0.01
    assert torch.isclose(guided.total - plain.total, expected, rtol=1e-4)
    assert torch.equal(guided.nll, plain.nll)


@pytest.mark.parametrize("lengths", [((7, 5, 2), (6, 3, 5)), ((41, 37, 2), (43, 3, 5))], ids=["few keys", "many keys"])
def test_the_fused_way_has_the_gradient_of_the_open_one(lengths, kernel_calls, request):
    """Nobody watches in training: the guided weights are made anew beside the fused kernel."""
    if lengths[0][0] < Attention.short:
        request.getfixturevalue("fused")
    built, pairs, found = model(TRANSFORMER), linked(batch(*lengths)), []
    for watched in (False, True):
        kernel_calls.clear()
        built.zero_grad()
        with hook(Looked, lambda event: None) if watched else torch.enable_grad():
            sequence_loss(built, pairs, guide=Guide(0.5, 1, 1)).total.backward()
        found.append([each.grad.clone() for each in built.parameters() if each.grad is not None])
        assert len(kernel_calls) == (0 if watched else 4), "two layers, each over its past and over the memory"
    assert all(torch.allclose(one, other, atol=1e-5) for one, other in zip(*found, strict=True))
    assert found[0]


def test_which_head_is_guided():
    assert head_counts(model(overrides("predict", "luong"))) == [1]
    assert head_counts(model(TRANSFORMER)) == [2, 2]
    assert guide_of(model(), goal("none")) is None
    assert guide_of(model(), goal()) == Guide(0.1, 0, 0)
    assert guide_of(model(TRANSFORMER), goal()) == Guide(0.1, 0, 0)  # the last layer but one
    assert guide_of(model([*TRANSFORMER, "predict.layers=3"]), goal()).layer == 1
    chosen = goal(guide_layer=2, guide_head=2, guide_weight=0.7)
    assert guide_of(model(TRANSFORMER), chosen) == Guide(0.7, 1, 1)
    assert guide_of(model(TRANSFORMER), goal(guide_step="after")) == Guide(0.1, 0, 0, after=True)


def test_what_cannot_be_guided():
    with pytest.raises(UsageError, match="this decoder asks before it reads"):
        guide_of(model(overrides("predict", "bahdanau")), goal(guide_step="after"))
    with pytest.raises(UsageError, match="2 layers of 2 heads .* asked to guide layer 3, head 1"):
        guide_of(model(TRANSFORMER), goal(guide_layer=3))
    with pytest.raises(UsageError, match="asked to guide layer 1, head 3"):
        guide_of(model(TRANSFORMER), goal(guide_head=3))
    with pytest.raises(UsageError, match="this model does not attend"):
        guide_of(model(overrides("predict", "plain")), goal())
    with pytest.raises(UsageError, match='needs the right pieces fed; found forcing = "scheduled"'):
        guide_of(model(), goal(forcing="scheduled"))
    with pytest.raises(UsageError, match="its batches carry no links"):
        sequence_loss(model(), batch(), guide=Guide(1.0, 0, 0))


def test_a_guided_model_aligns_sooner():
    """The reverse toy, the same small model, weights, batches and steps, with and without the guide."""
    pairs = list(examples("reverse", split="train", size=211, seed=3))
    gold = Gold([pair.sure for pair in pairs[:53]], [pair.possible for pair in pairs[:53]])
    errors = {}
    for guide in ("none", "links"):
        built = small_model(["predict.hidden=16", "encode.hidden=16", "attend.score.hidden=16"])
        aims = goal(guide, guide_weight=1.0).objectives(built)
        batches = pair_batches(InMemory(pairs), TOKENIZER, TOKENIZER, tokens=797, seed=1, linked=guide == "links")
        learner = Learner(built, SETTINGS, batches.forever(), objectives=aims)
        for _ in range(240):
            learner.update()
        translator = Translator(built, TOKENIZER, TOKENIZER)
        texts = [pair.source for pair in pairs[:53]], [pair.target for pair in pairs[:53]]
        plain = [each.error for each in choose_heads(translator, *texts, gold).readings if not each.shift]
        errors[guide] = plain[0]
    assert errors["links"] < 0.7 * errors["none"], errors


def guided_run(folder, *, resume=False, steps=7, changes=()):
    place, built = RunFolder(Path(folder), resume=resume), small_model(["task.goal.guide=links", *changes])
    aims = Aims(writing(built))
    return run(built, stream(linked=True), SETTINGS, place, budget=Budget(steps=steps), aims=aims, seed=13)


def test_a_guided_run_resumes_bit_for_bit(tmp_path):
    assert all(pair.sure for pair in PAIRS)
    guided_run(tmp_path / "whole")
    guided_run(tmp_path / "parts", steps=3)
    with pytest.raises(UsageError, match="task.goal.guide_weight: was 0.1, is 0.2"):
        guided_run(tmp_path / "parts", resume=True, changes=["task.goal.guide_weight=0.2"])
    guided_run(tmp_path / "parts", resume=True)
    one, other = (load_file(tmp_path / each / "last" / "weights.safetensors") for each in ("whole", "parts"))
    assert all(torch.equal(one[name], other[name]) for name in one)


def test_a_run_from_before_a_setting_was_there_goes_on(tmp_path, monkeypatch):
    """What the run did not know it had left at its default."""
    folder = tmp_path / "old"
    plain = ["task.goal.guide=none"]
    terms = Run._terms
    with monkeypatch.context() as patch:
        patch.setattr(Run, "_terms", lambda self: {k: v for k, v in terms(self).items() if "guide" not in k})
        guided_run(folder, steps=2, changes=plain)
    guided_run(folder, resume=True, steps=3, changes=plain)
    lines = [json.loads(line) for line in (folder / "log.jsonl").read_text().splitlines()]
    assert lines[-1]["number"] == 3
