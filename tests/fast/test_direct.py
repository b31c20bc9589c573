"""Products by oneDNN: the same numbers, for any number of rows, and only where nobody wants more than them."""

import pytest
import torch
from torch.nn import functional as F

from regard.fast import direct
from regard.hooks import Looked, hook

known = torch.backends.mkldnn.is_available() and hasattr(torch.ops.mkldnn, "_linear_pointwise")
pytestmark = pytest.mark.skipif(not known, reason="oneDNN is not in this build")
BENDS = {
    "none": lambda x: x,
    "relu": F.relu,
    "gelu": F.gelu,
    "gelu_tanh": lambda x: F.gelu(x, approximate="tanh"),
}


@pytest.fixture
def calls(monkeypatch):
    """oneDNN is asked on any processor; how many products it made."""
    found = []
    monkeypatch.setattr(direct, "helps", lambda: True)
    monkeypatch.setattr(direct, "_filled_up", lambda count, real=direct._filled_up: found.append(count) or real(count))
    return found


@pytest.mark.parametrize("columns", [False, True])
@pytest.mark.parametrize("shape", [(1,), (2,), (3, 5), (17,), (2, 70), (260,)], ids=str)
@pytest.mark.parametrize("bent", BENDS)
def test_it_is_the_same_product(calls, bent, shape, columns):
    rows, weight, bias = torch.randn(*shape, 24), torch.randn(37, 24), torch.randn(37)
    weight = weight.t().contiguous().t() if columns else weight
    with torch.no_grad():
        found = direct.product(rows, weight, bias, bent)
        wanted = BENDS[bent](F.linear(rows, weight, bias))
    torch.testing.assert_close(found, wanted, rtol=1e-5, atol=1e-5)
    assert found.is_contiguous()
    assert calls == ([] if columns and shape == (1,) else [rows.shape[:-1].numel()])


def test_who_wants_more_than_numbers_has_the_plain_product(calls):
    rows, weight = torch.randn(5, 8), torch.randn(7, 8, requires_grad=True)
    direct.product(rows, weight, None, "gelu").sum().backward()
    assert weight.grad is not None
    with torch.no_grad():
        with hook(Looked, lambda event: None):
            direct.product(rows, weight, None)
        with torch.autocast("cpu", torch.bfloat16):
            assert direct.product(rows, weight, None).dtype == torch.bfloat16
        assert direct.product(rows.double(), weight.double(), None).dtype == torch.float64
        assert direct.product(rows[:0], weight, None).shape == (0, 7)
        assert not calls
        direct.product(rows, weight, None)
    assert calls == [5]


def test_there_are_few_numbers_of_rows():
    """For each oneDNN writes and keeps code."""
    sizes = [direct._filled_up(count) for count in range(1, 16_385)]
    assert all(count <= size for count, size in enumerate(sizes, 1))
    assert all(size <= 1.125 * count + 1 for count, size in enumerate(sizes, 1) if count >= 128)
    assert len(set(sizes)) <= 5 + 15 + 8 * 6
