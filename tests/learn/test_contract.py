"""Parts of a user's own: a wrong shape is told with the part's place, name and file, before anything is written."""

from pathlib import Path

import pytest
import torch

from regard import registry
from regard.attend import Score
from regard.attend.choice import Choice
from regard.errors import RegardError, ShapeError, UsageError
from regard.learn.contract import PROMISES, held_to_contract, rehearse
from regard.learn.learner import Learner
from regard.learn.settings import TrainSettings
from regard.registry import find, part
from regard.types import Attended, Memory, Padded, Recurrent, Widths
from small import DECODERS, batch, model, overrides

FILE = Path(__file__).name


@pytest.fixture(autouse=True)
def _own_registry(monkeypatch):
    registry.load()
    monkeypatch.setattr(registry, "_parts", {kind: dict(parts) for kind, parts in registry._parts.items()})


def scored(made):
    """Register the score 'mine', which makes what the function makes."""

    @part("score", "mine")
    class Mine(Score):
        """A score of one's own."""

        def __init__(self, query: int, key: int) -> None:
            super().__init__()

        def forward(self, query, keys):
            return made(query, keys)


@pytest.mark.parametrize(
    ("made", "found"),
    [
        (lambda query, keys: (query @ keys.mT).sum(-1, keepdim=True), (2, 1, 1)),  # which would be broadcast
        (lambda query, keys: (query @ keys.mT).mT, (2, 5, 1)),
        (lambda query, keys: query, (2, 1, 8)),
        (lambda query, keys: None, "NoneType"),
    ],
)
def test_a_score_of_a_wrong_shape_is_named(made, found):
    scored(made)
    with pytest.raises(ShapeError) as error:
        Learner(model(["attend.score=mine"]), TrainSettings(), iter(()))
    assert error.value.message == (
        f"predict.attend.score (the score 'mine') of {FILE}: "
        f"expected scores (batch, queries, keys) of shape (2, 1, 5); found {found}."
    )


def test_a_part_that_fails_is_named_with_what_it_said():
    scored(lambda query, keys: query + keys.mT)
    with pytest.raises(ShapeError) as error:
        rehearse(model(["attend.score=mine"]))
    assert "failed in predict.attend.score (the score 'mine'): RuntimeError: The size of tensor a (8)" in str(
        error.value
    )
    assert f"parts that do not come with Regard: predict.attend.score (the score 'mine') of {FILE}." in str(error.value)


def test_a_shape_that_is_wrong_only_for_a_real_batch_is_told_at_the_first_update():
    """Three rows and seven words, where the rehearsal has two and five."""
    scored(lambda query, keys: (query @ keys.mT)[..., :5])
    learner = Learner(model(["attend.score=mine"]), TrainSettings(), iter([batch()]))
    with pytest.raises(ShapeError, match=r"of shape \(3, 1, 7\); found \(3, 1, 5\)"):
        learner.update()


def test_what_a_part_refuses_itself_is_passed_on():
    def refuse(query, keys):
        raise UsageError("this score wants more.")

    scored(refuse)
    with pytest.raises(UsageError, match=r"^this score wants more\.$"):
        rehearse(model(["attend.score=mine"]))


def test_a_part_that_cannot_be_built_is_named():
    @part("choice", "mine")
    class Mine(Choice):
        """A choice of one's own."""

        def __init__(self, key: int) -> None:
            super().__init__()
            self.table = torch.zeros(key, "three")

    with pytest.raises(UsageError, match=rf"^the choice 'mine' of {FILE} could not be built: TypeError: "):
        model(["attend.choice=mine"])


def test_our_own_failures_are_left_as_they_are():
    """A model without parts of a user's own that fails is our mistake, and its traceback is wanted."""
    with pytest.raises(ZeroDivisionError), held_to_contract(model()):
        raise ZeroDivisionError


def test_nothing_stays_behind():
    scored(lambda query, keys: query @ keys.mT)
    built = model(["attend.score=mine"])
    before = torch.get_rng_state()
    rehearse(built)
    assert torch.equal(torch.get_rng_state(), before)
    assert not built.predict.attend.score._forward_hooks
    assert not built.training


# One part of each kind that makes something else than it promises.
WRONG = {
    "choice": lambda part, made: made[..., :1],
    "attend": lambda part, made: Attended(made.context[..., :1], lambda: made.weights),
    "embed": lambda part, made: Padded(made.data[..., :1], made.mask),
    "encode": lambda part, made: Memory(made.keys, made.values[..., :1], made.mask, made.summary, made.final),
    "cell": lambda part, made: Recurrent(made.hidden[..., :1], made.cell[..., :1]),
}
OURS = {"choice": "soft", "attend": "attention", "embed": "tokens", "encode": "recurrent", "cell": "lstm"}


@pytest.mark.parametrize("kind", WRONG)
def test_every_kind_is_held_to_its_promise(kind, monkeypatch):
    cls = find(kind, OURS[kind])
    right = cls.forward
    monkeypatch.setattr("regard.learn.contract.is_own", lambda each: each is cls)
    rehearse(model())
    monkeypatch.setattr(cls, "forward", lambda self, *args, **kwargs: WRONG[kind](self, right(self, *args, **kwargs)))
    with pytest.raises(RegardError, match=rf"\(the {kind} '{OURS[kind]}'\) of .*: expected .*; found \("):
        rehearse(model())


@pytest.mark.parametrize("kind", PROMISES)
def test_our_parts_keep_what_they_promise(kind, monkeypatch):
    monkeypatch.setattr("regard.learn.contract.is_own", lambda each: True)
    for decoder in DECODERS:
        rehearse(model(overrides("predict", decoder)))
    rehearse(model(overrides("encode", "transformer", predict="transformer")))


def test_widths_that_an_encoder_does_not_keep_are_told():
    @part("encode", "mine")
    class Mine(torch.nn.Module):
        """An encoder of one's own."""

        def __init__(self, width: int) -> None:
            super().__init__()
            self.widths = Widths(keys=width, values=width, summary=3)

        def forward(self, source):
            return Memory(source.data, source.data, source.mask, source.data[:, 0])

    with pytest.raises(ShapeError, match=r"a summary \(batch, widths.summary\) of shape \(2, 3\); found \(2, 8\)"):
        rehearse(model(["encode.part=mine", "predict.bridge=zero"]))
