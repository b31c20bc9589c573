"""Products in eight bits: by hand, row by row, in the places of a model's products, and where there are none."""

import pytest
import torch
from torch import nn

from regard.data.padding import pad
from regard.engine.pytorch import eight_bits
from regard.engine.pytorch.eight_bits import EightBits, in_eight_bits, kernel, restored, rounded, steps
from regard.errors import ModelError
from regard.predict.words import Apart
from regard.search import Options, beam_search, force
from regard.types import Batch
from search.tables import END, START, alone, sharp, some
from small import DECODERS, TARGET, batch, model, overrides

pytestmark = pytest.mark.skipif(
    "fbgemm" not in torch.backends.quantized.supported_engines, reason="this PyTorch has no products in eight bits"
)


@pytest.fixture
def all_worth_it(monkeypatch):
    """Small matrices too."""
    monkeypatch.setattr(eight_bits, "WORTH", 1)


@pytest.fixture
def seven_bits(monkeypatch):
    monkeypatch.setattr(eight_bits, "steps", lambda: 63)


def by_hand(rows, made):
    """The product with both sides rounded, in floating point."""
    largest = rows.abs().amax(-1, keepdim=True)
    seen = (rows / largest * made.steps).round() / made.steps * largest
    return seen @ made.weight.mT + (0 if made.bias is None else made.bias)


def test_a_matrix_by_hand():
    numbers, scales = rounded(torch.tensor([[1.0, -0.5, 0.25], [0.0, 0.0, 0.0], [0.02, 0.254, -0.001]]))
    assert numbers.tolist() == [[127, -64, 32], [0, 0, 0], [10, 127, 0]]  # halves go to the even number
    assert scales[[0, 2]].tolist() == pytest.approx([1 / 127, 0.002])
    assert restored(numbers, scales)[1].tolist() == [0.0, 0.0, 0.0]


def test_what_is_rounded_stays_as_it_is():
    numbers, scales = rounded(torch.randn(13, 11))
    again, same = rounded(restored(numbers, scales))
    assert torch.equal(again, numbers)
    assert torch.allclose(same, scales, rtol=1e-6)


@pytest.mark.parametrize("bias", [True, False])
def test_a_product_is_that_of_the_rounded_sides(bias):
    made = EightBits.of(torch.randn(17, 29), torch.randn(17) if bias else None)
    rows = torch.randn(3, 5, 29) * torch.tensor([1e-4, 1.0, 1e4]).view(3, 1, 1)
    found, expected = made(rows), by_hand(rows, made)
    assert found.shape == (3, 5, 17)
    for one, two in zip(found, expected, strict=True):
        assert torch.allclose(one, two, atol=1e-5 * float(two.abs().max()))
    assert (made.in_features, made.out_features) == (29, 17)


def test_with_seven_bits_nothing_overflows(seven_bits):
    made = EightBits.of(torch.ones(17, 1009), None)
    assert made.steps == 63
    assert made(torch.ones(2, 1009)).flatten().tolist() == pytest.approx([1009.0] * 34, rel=1e-6)
    rows = torch.randn(3, 1009)
    assert torch.allclose(made(rows), by_hand(rows, made), atol=1e-3)


def test_a_row_depends_on_no_other():
    made, rows = EightBits.of(torch.randn(17, 29), torch.randn(17)), torch.randn(7, 29)
    rows[3] *= 1000.0
    together = made(rows)
    assert all(torch.equal(made(rows[row : row + 1])[0], together[row]) for row in range(7))


def test_rows_of_nothing():
    bias = torch.randn(17)
    made = EightBits.of(torch.randn(17, 29), bias)
    assert torch.equal(made(torch.zeros(2, 29)), bias.expand(2, -1))
    assert made(torch.zeros(0, 29)).shape == (0, 17)


def test_some_of_the_outputs():
    made, rows = EightBits.of(torch.randn(17, 29), torch.randn(17)), torch.randn(3, 29)
    pieces = torch.tensor([16, 2, 3])
    few = made.narrow(pieces)
    assert torch.allclose(few(rows), made(rows)[:, pieces], atol=1e-5)
    assert torch.equal(few.narrow(torch.tensor([2, 0]))(rows), few(rows)[:, [2, 0]])


# --- in a model --------------------------------------------------------------------------------------------


def products(of):
    return [type(each) for each in of.modules() if isinstance(each, (nn.Linear, EightBits))]


@pytest.mark.parametrize("decoder", DECODERS)
def test_a_model_with_its_products_in_eight_bits(decoder, all_worth_it):
    built, same = sharp(decoder, target=TARGET), sharp(decoder, target=TARGET)
    in_eight_bits(same)
    assert set(products(same)) == {EightBits}
    assert isinstance(same.predict.readout, Apart)
    pairs = batch()
    with torch.no_grad():
        one, two = (each.teach(pairs).logits for each in (built, same))
    apart = (one - two).abs().max() / one.abs().max()
    assert 1e-5 < float(apart) < 0.1


def test_a_cell_that_splits_its_matrix_gets_the_matrix(all_worth_it):
    settings = [*overrides("predict", "bahdanau"), "predict.cell=cho"]
    torch.manual_seed(3)
    built = model(settings)
    weight = built.predict.cells[0].recur.weight
    found = in_eight_bits(built).predict.cells[0].recur
    assert torch.allclose(found.weight, weight, atol=float(weight.abs().max()) / 200)
    assert torch.isfinite(built.teach(batch()).logits).all()


def test_small_products_stay(monkeypatch):
    built = sharp("luong", target=TARGET)
    numbers = {name: each.weight.numel() for name, each in built.named_modules() if type(each) is nn.Linear}
    monkeypatch.setattr(eight_bits, "WORTH", numbers["predict.join"])
    in_eight_bits(built)
    kept = {name for name, each in built.named_modules() if type(each) is nn.Linear}
    assert type(built.predict.join) is EightBits
    assert isinstance(built.predict.readout, Apart)
    assert {name for name, count in numbers.items() if count < numbers["predict.join"]} == kept


def test_a_search_depends_on_no_other_sentence(all_worth_it):
    built, source = in_eight_bits(sharp("transformer")), some((7, 5, 2))
    options = Options(beam=3, nbest=2, max_length=9)
    together = beam_search(built, source, options, start=START, end=END)
    for row in range(3):
        (found,) = beam_search(built, alone(source, row), options, start=START, end=END)
        assert [each.ids for each in found] == [each.ids for each in together[row]]
        likelihoods = [each.likelihood for each in together[row]]
        assert [each.likelihood for each in found] == pytest.approx(likelihoods, abs=1e-3)


def test_what_was_found_is_as_likely_when_it_is_forced(all_worth_it):
    built, source = in_eight_bits(sharp("luong")), some((7,))
    ((best,),) = beam_search(built, source, Options(beam=2, max_length=7), start=START, end=END)
    (forced,) = force(built, Batch(source, pad([[START, *best.ids, END]])))
    assert forced.likelihood == pytest.approx(best.likelihood, abs=1e-3)


# --- machines ----------------------------------------------------------------------------------------------


def test_a_machine_without_them_is_told_so(monkeypatch):
    kernel.cache_clear()
    monkeypatch.setattr(eight_bits, "ENGINE", "abacus")
    try:
        with pytest.raises(ModelError, match=r"no products in eight bits(.|\n)*--quantization float32"):
            kernel()
    finally:
        kernel.cache_clear()


def test_eight_bits_of_a_row_only_where_they_do_not_overflow(monkeypatch):
    for able, expected in ((True, 127), (False, 63)):
        monkeypatch.setattr(torch.cpu, "_is_vnni_supported", lambda able=able: able, raising=False)
        steps.cache_clear()
        assert steps() == expected
    steps.cache_clear()


def test_the_users_choice_of_kernels_is_left_alone():
    before = torch.backends.quantized.engine
    EightBits.of(torch.randn(17, 29), None)
    assert torch.backends.quantized.engine == before
