"""Gates on skip connections: the paper's against one written out, MONAI's against MONAI's own."""

import math

import pytest
import torch
from torch import nn
from torch.nn import functional as F

from regard.attend.gate import AttentionGate, MonaiGate
from regard.grids import doubled
from regard.hooks import Looked, hook
from regard.types import Level


def level(channels, height, width, rows=2, real=None):
    mask = torch.zeros(rows, height, width, dtype=torch.bool)
    for row in range(rows):
        h, w = (height, width) if real is None else real[row]
        mask[row, :h, :w] = True
    return Level(torch.randn(rows, channels, height, width) * mask.unsqueeze(1), mask)


def settled(gate):
    """Norms that have seen something, and psi that is not all but constant."""
    for each in gate.modules():
        if hasattr(each, "variance"):
            nn.init.uniform_(each.variance, 0.5, 2.0), nn.init.normal_(each.mean)
            nn.init.normal_(each.weight), nn.init.normal_(each.bias)
    nn.init.normal_(gate.psi.weight)
    return gate.eval().requires_grad_(False)


def by_hand(gate, x, g):
    """q = psi(ReLU(W_x x + W_g g + b_g)) + b_psi; x^ = up(sigmoid(q)) x; then a convolution of one cell and a norm."""
    theta = F.conv2d(x, gate.skip.weight, stride=2)
    phi = F.conv2d(g, gate.gating.weight, gate.gating.bias)
    q = F.conv2d(F.relu(theta + phi), gate.psi.weight, gate.psi.bias)
    alpha = 1 / (1 + torch.exp(-q))
    passed = F.interpolate(alpha, size=x.shape[2:], mode="bilinear", align_corners=False) * x
    n = gate.norm
    y = F.conv2d(passed, gate.join.weight)
    shape = (1, -1, 1, 1)
    y = (y - n.mean.view(shape)) / torch.sqrt(n.variance.view(shape) + 1e-5)
    return alpha[:, 0], y * n.weight.view(shape) + n.bias.view(shape)


def test_the_papers_gate_is_what_the_paper_writes():
    torch.manual_seed(1)
    gate = settled(AttentionGate(5, 7, hidden=3))
    assert gate.skip.bias is None and gate.gating.bias is not None and gate.psi.bias is not None
    skip, gating = level(5, 6, 10), level(7, 3, 5)
    found = gate(skip, gating)
    alpha, wanted = by_hand(gate, skip.data, gating.data)
    assert torch.allclose(found.weights, alpha, atol=1e-6)
    assert torch.allclose(found.data, wanted, atol=1e-5)
    assert float(found.weights.min()) > 0 and float(found.weights.max()) < 1


def test_a_case_by_hand():
    """One channel, one cell that gates four: W_x sums them, so q = 2 * max(0, (1 + 2 + 3 + 4) - 9) - 1 = 1."""
    gate = AttentionGate(1, 1).eval().requires_grad_(False)
    with torch.no_grad():
        for each, value in ((gate.skip.weight, 1.0), (gate.gating.weight, -3.0), (gate.gating.bias, 0.0)):
            each.fill_(value)
        gate.psi.weight.fill_(2.0), gate.psi.bias.fill_(-1.0), gate.join.weight.fill_(1.0)
    here = torch.ones(1, 2, 2, dtype=torch.bool)
    found = gate(
        Level(torch.tensor([[[[1.0, 2.0], [3.0, 4.0]]]]), here), Level(torch.full((1, 1, 1, 1), 3.0), here[:, :1, :1])
    )
    alpha = 1 / (1 + math.exp(-1))
    assert found.weights.item() == pytest.approx(alpha)
    assert found.data.flatten().tolist() == pytest.approx([alpha * each / math.sqrt(1 + 1e-5) for each in (1, 2, 3, 4)])


@pytest.mark.parametrize("opening", [0.5, 0.95])
def test_it_begins_open(opening):
    torch.manual_seed(2)
    gate = AttentionGate(16, 32, opening=opening)
    found = gate(level(16, 8, 8), level(32, 4, 4)).weights
    assert (found - opening).abs().mean() < 0.1


@pytest.mark.parametrize("size", [(7, 9), (8, 5), (1, 1), (2, 3)])
def test_odd_sizes_survive(size):
    gate = settled(AttentionGate(3, 5))
    half = [(length + 1) // 2 for length in size]
    found = gate(level(3, *size), level(5, *half))
    assert found.data.shape == (2, 3, *size) and found.weights.shape == (2, *half)
    assert found.data.isfinite().all()


@pytest.mark.parametrize("kind", [AttentionGate, MonaiGate])
def test_padding_changes_nothing(kind):
    torch.manual_seed(3)
    gate = settled(kind(3, 5))
    sizes = [(8, 10), (5, 7)]
    halves = [((h + 1) // 2, (w + 1) // 2) for h, w in sizes]
    skip = level(3, 8, 10, real=sizes)
    gating = level(5, 4, 5, real=halves) if gate.coarse else level(5, 8, 10, real=sizes)
    together = gate(skip, gating)
    h, w = sizes[1]
    i, j = halves[1] if gate.coarse else sizes[1]
    alone = gate(
        Level(skip.data[1:, :, :h, :w], skip.mask[1:, :h, :w]),
        Level(gating.data[1:, :, :i, :j], gating.mask[1:, :i, :j]),
    )
    assert torch.allclose(together.data[1, :, :h, :w], alone.data[0], atol=1e-6)
    assert torch.allclose(together.weights[1, :i, :j], alone.weights[0], atol=1e-6)
    assert not together.data[1, :, h:].any() and not together.data[1, :, :, w:].any()


def test_doubling_is_bilinear_and_no_padding_gets_in():
    cells = Level(torch.randn(1, 2, 3, 5), torch.ones(1, 3, 5, dtype=torch.bool))
    wanted = F.interpolate(cells.data, scale_factor=2, mode="bilinear", align_corners=False)
    assert torch.allclose(doubled(cells.data, cells.mask), wanted)
    mask = torch.zeros(1, 4, 7, dtype=torch.bool)
    mask[:, :3, :5] = True
    wide = F.pad(cells.data, (0, 2, 0, 1), value=99.0)
    assert torch.allclose(doubled(wide, mask)[..., :6, :10], wanted, atol=1e-5)


@pytest.mark.parametrize("kind", [AttentionGate, MonaiGate])
def test_gradients(kind):
    torch.manual_seed(4)
    gate = settled(kind(2, 3)).double()
    skip = torch.randn(1, 2, 3, 5, dtype=torch.double, requires_grad=True)
    size = (2, 3) if gate.coarse else (3, 5)
    gating = torch.randn(1, 3, *size, dtype=torch.double, requires_grad=True)

    def passed(x, g):
        here, there = (torch.ones(1, *each.shape[2:], dtype=torch.bool) for each in (x, g))
        return gate(Level(x, here), Level(g, there)).data

    assert torch.autograd.gradcheck(passed, (skip, gating))


def test_who_watches_hears_of_it():
    gate, heard = settled(AttentionGate(3, 5)), []
    with hook(Looked, heard.append):
        found = gate(level(3, 6, 8), level(5, 3, 4))
    (event,) = heard
    assert event.module is gate
    assert torch.equal(event.weights, found.weights.flatten(1).unsqueeze(1))


def test_monais_gate_is_monais():
    nets = pytest.importorskip("monai.networks.nets.attentionunet", reason="monai is no dependency: parity only")
    torch.manual_seed(5)
    theirs = nets.AttentionBlock(spatial_dims=2, f_int=4, f_g=6, f_l=8).eval().requires_grad_(False)
    for each in theirs.modules():
        if isinstance(each, nn.BatchNorm2d):
            nn.init.uniform_(each.running_var, 0.5, 2.0), nn.init.normal_(each.running_mean)
            nn.init.normal_(each.weight), nn.init.normal_(each.bias)
    ours = MonaiGate(8, 6).eval().requires_grad_(False)
    with torch.no_grad():
        for name, (convolution, norm) in {
            "skip": (theirs.W_x[0].conv, theirs.W_x[1]),
            "gating": (theirs.W_g[0].conv, theirs.W_g[1]),
            "psi": (theirs.psi[0].conv, theirs.psi[1]),
        }.items():
            take(getattr(ours, name), getattr(ours, f"{name}_norm"), convolution, norm)
    x, g = level(8, 7, 9), level(6, 7, 9)
    assert torch.allclose(ours(x, g).data, theirs(g=g.data, x=x.data), atol=1e-6)


def take(convolution, norm, their_convolution, their_norm):
    """Weights of a convolution with a bias and of the norm behind it, in which the bias goes."""
    convolution.weight.copy_(their_convolution.weight)
    norm.weight.copy_(their_norm.weight), norm.bias.copy_(their_norm.bias)
    norm.mean.copy_(their_norm.running_mean - their_convolution.bias)
    norm.variance.copy_(their_norm.running_var)
