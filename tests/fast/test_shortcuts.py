"""Who watches changes nothing: ways taken for speed alone find what the open way finds, and one place chooses."""

import re
from pathlib import Path

import pytest
import torch

import regard
from regard.fast import shortcuts
from regard.search import Options, beam_search, greedy_search
from regard.types import Batch
from search.tables import END, FEW, START
from small import ATTENDING, SOURCE, TARGET, model, overrides, words

pytestmark = pytest.mark.usefixtures("unchecked")
SOURCES = Path(regard.__file__).parent
LENGTHS = [3, 9, 1, 7, 5, 2, 6, 4] * 3  # more rows than are read together, of lengths that are far apart


def exact(decoder):
    """In double precision and with opinions, so that no output is as good as another by chance."""
    torch.manual_seed(7)
    built = model([*overrides("predict", decoder)], target=FEW)
    with torch.no_grad():
        for weight in built.parameters():
            weight.mul_(2.0)
    return built.double().eval()


@pytest.mark.parametrize("decoder", ATTENDING)
def test_a_search_that_is_watched_finds_the_same(decoder):
    built, source = exact(decoder), words(SOURCE, LENGTHS)
    for search, options in ((beam_search, Options(beam=3, max_length=7)), (greedy_search, Options(max_length=7))):
        plain = search(built, source, options, start=START, end=END)
        with regard.watch(built):
            watched = search(built, source, options, start=START, end=END)
        for one, two in zip(_each(plain), _each(watched), strict=True):
            assert one.ids == two.ids
            assert one.likelihood == pytest.approx(two.likelihood, rel=1e-9)


def _each(found):
    return [one for some in found for one in (some if isinstance(some, list) else [some])]


@pytest.mark.parametrize("decoder", ATTENDING)
def test_a_training_step_that_is_watched_has_the_same_scores(decoder):
    torch.manual_seed(7)
    built = model(overrides("predict", decoder)).double().eval()
    pairs = Batch(words(SOURCE, (41, 5, 2)), words(TARGET, (37, 3, 5)))  # enough keys for the fused kernel
    plain = built.teach(pairs).logits
    with regard.watch(built):
        assert torch.allclose(built.teach(pairs).logits, plain, rtol=1e-9)


def test_one_place_chooses():
    """What asks whether somebody watches is the seam, and what tells the watcher."""
    asking = {
        path.relative_to(SOURCES).as_posix()
        for path in SOURCES.rglob("*.py")
        if re.search(r"\bhooked\((?!kind|Weighed|Masked|Grown)", path.read_text(encoding="utf-8"))
    }
    telling = {"attend/attention.py", "attend/gate.py", "encode/residual.py"}
    assert asking == {"fast/__init__.py", *telling}
    told = (SOURCES / "attend" / "attention.py").read_text(encoding="utf-8")
    assert told.count("hooked(") - told.count("hooked(Weighed)") == 1  # who puts in other weights wants another result
    assert shortcuts()
    with regard.watch():
        assert not shortcuts()
    assert shortcuts()
