"""Memory: a model that cannot fit is refused before it is built, with what it would need."""

import pytest
import torch

from regard.errors import ShapeError, UsageError
from regard.learn.settings import TrainSettings
from regard.model import parameters
from regard.recipe import resolve
from regard.registry import maker
from regard.tasks import memory_check
from regard.tasks.job import TrainJob
from regard.tasks.memory_check import check_memory
from small import RECIPE, model


@pytest.mark.parametrize(
    ("width", "told"),
    [
        (
            10_000_000,
            r"parameters with 3 more for each \(gradient, optimiser, average\): \d+ PB, and there are \d+ [GT]B",
        ),
        (10**11, "more numbers than can be counted"),
        (10**30, "more numbers than can be counted"),
    ],
)
def test_an_absurd_width_is_refused_with_what_it_needs(width, told):
    with pytest.raises(UsageError, match=told) as error:
        check_memory(resolve(RECIPE, [f"encode.hidden={width}", "predict.bridge=project"]), 31, 37, TrainSettings())
    assert error.value.hint.endswith(f"its largest setting is encode.hidden = {width}.")


def test_the_limit_by_hand(monkeypatch):
    """Each weight has a gradient, two moments of Adam and the mean of an ema: five numbers of four bytes."""
    count = parameters(model())
    settings = TrainSettings(average=maker("average", "ema"))
    monkeypatch.setattr(memory_check, "_memory", lambda: 5 * 4 * count)
    check_memory(resolve(RECIPE), 31, 37, settings)
    monkeypatch.setattr(memory_check, "_memory", lambda: 5 * 4 * count - 1)
    with pytest.raises(UsageError, match=f"{count:,} parameters with 4 more"):
        check_memory(resolve(RECIPE), 31, 37, settings)
    check_memory(resolve(RECIPE), 31, 37, TrainSettings(optimiser=maker("optimiser", "sgd")))
    monkeypatch.setattr(memory_check, "_memory", lambda: None)
    check_memory(resolve(RECIPE), 31, 37, settings)


def test_the_check_draws_nothing_and_passes_on_what_does_not_fit():
    before = torch.get_rng_state()
    check_memory(resolve(RECIPE), 31, 37, TrainSettings())
    assert torch.equal(torch.get_rng_state(), before)
    with pytest.raises(ShapeError):
        check_memory(resolve(RECIPE, ["predict.hidden=7", "attend.score=dot"]), 31, 37, TrainSettings())


def test_nothing_is_written(tmp_path):
    asked = TrainJob(
        "rnnsearch-characters", "copy", tmp_path / "run", steps=1, size=50, settings=["encode.hidden=9000000"]
    )
    with pytest.raises(UsageError, match="does not fit into the memory"):
        asked.train()
    assert not (tmp_path / "run").exists()
