"""The residual attention network: a module beside a plain one, masks by hand, what learning does, padding, sizes."""

import pytest
import torch
from torch import nn
from torch.nn import functional as F

import regard
from regard.encode.residual import AttentionModule, MaskBranch, ResidualEncoder, Wiring
from regard.encode.units import Frame
from regard.errors import RegardError
from regard.hooks import Masked, hook
from regard.model import parameters
from regard.recipe import resolve
from regard.types import Grid
from small import pictures

SIZES = [(13, 17), (11, 7), (1, 5)]


def whole(height, width, rows=2):
    return Frame.of(torch.ones(rows, height, width, dtype=torch.bool))


class PlainUnit(nn.Module):
    """A pre-activation unit, as PyTorch's own modules write it."""

    def __init__(self, width):
        super().__init__()
        self.norms = nn.ModuleList([nn.BatchNorm2d(width), nn.BatchNorm2d(width)])
        self.convolutions = nn.ModuleList([nn.Conv2d(width, width, 3, padding=1, bias=False) for _ in range(2)])

    def forward(self, data):
        first = self.convolutions[0](F.relu(self.norms[0](data)))
        return data + self.convolutions[1](F.relu(self.norms[1](first)))


class PlainModule(nn.Module):
    """Section 3 of the paper with p = 1, t = 2, r = 1 and two poolings, written out."""

    def __init__(self, width):
        super().__init__()
        self.units = nn.ModuleList([PlainUnit(width) for _ in range(9)])
        self.norms = nn.ModuleList([nn.BatchNorm2d(width) for _ in range(2)])
        self.mix, self.open = nn.Conv2d(width, width, 1, bias=False), nn.Conv2d(width, width, 1)

    def forward(self, data):
        before, one, two, first, second, skip, low, high, after = self.units
        start = before(data)
        trunk = two(one(start))
        upper = first(F.max_pool2d(start, 3, 2, 1))
        lower = low(second(F.max_pool2d(upper, 3, 2, 1)))
        raised = F.interpolate(lower, upper.shape[2:], mode="bilinear", align_corners=True) + skip(upper)
        raised = F.interpolate(high(raised), start.shape[2:], mode="bilinear", align_corners=True)
        mixed = self.mix(F.relu(self.norms[0](raised)))
        mask = torch.sigmoid(self.open(F.relu(self.norms[1](mixed))))
        return after((1 + mask) * trunk)


def copied(theirs, ours):
    """Our weights in the plain module."""
    branch = ours.branch
    units = [*ours.before, *ours.trunk, *branch.down[0], *branch.down[1], *branch.skips[0], *branch.up[0]]
    for plain, unit in zip(theirs.units, [*units, *branch.up[1], *ours.after], strict=True):
        for place in range(2):
            plain.convolutions[place].weight.data.copy_(unit.convolve[place].weight)
            plain.norms[place].weight.data.copy_(unit.activate[place].norm.weight)
            plain.norms[place].bias.data.copy_(unit.activate[place].norm.bias)
    for place in range(2):
        theirs.norms[place].weight.data.copy_(branch.activate[place].norm.weight)
        theirs.norms[place].bias.data.copy_(branch.activate[place].norm.bias)
    theirs.mix.weight.data.copy_(branch.mix.weight)
    theirs.open.load_state_dict(branch.open.state_dict())
    return theirs


@pytest.mark.parametrize("size", [(16, 16), (13, 7), (5, 1)])
def test_a_module_is_what_the_paper_draws(size):
    """Values and gradients, with odd sizes too, in training."""
    torch.manual_seed(0)
    ours = AttentionModule(5, 2, Wiring())
    for name, weight in ours.named_parameters():
        if "norm" in name:
            nn.init.uniform_(weight, 0.5, 1.5)
    theirs = copied(PlainModule(5), ours)
    data = torch.randn(3, 5, *size)
    mine, other = data.clone().requires_grad_(), data.clone().requires_grad_()
    found, expected = ours(mine, whole(*size, rows=3)), theirs(other)
    torch.testing.assert_close(found, expected, atol=1e-4, rtol=1e-4)
    aim = torch.randn_like(found)
    (found * aim).sum().backward(), (expected * aim).sum().backward()
    torch.testing.assert_close(mine.grad, other.grad, atol=1e-3, rtol=1e-3)
    torch.testing.assert_close(ours.branch.open.weight.grad, theirs.open.weight.grad, atol=1e-3, rtol=1e-3)


class Given(nn.Module):
    """A branch that makes the mask it was given."""

    def __init__(self, mask):
        super().__init__()
        self.mask = mask

    def forward(self, data, frame):
        return self.mask


def module_with(mask, learning):
    """A module of three channels whose mask is given, and whose units after it do nothing."""
    module = AttentionModule(3, 1, Wiring(learning=learning))
    module.branch, module.after = Given(mask), Given(None)
    module.after.forward = lambda data, frame: data
    return module


def test_a_mask_of_zeros_leaves_the_trunk_or_nothing():
    data, frame = torch.randn(2, 3, 5, 7), whole(5, 7)
    mask = torch.zeros(2, 3, 5, 7)
    residual, naive = (module_with(mask, learning) for learning in ("residual", "naive"))
    trunk = residual.trunk(residual.before(data, frame), frame)
    assert torch.allclose(residual(data, frame), trunk, atol=1e-6) and trunk.any()
    assert not naive(data, frame).any()


@pytest.mark.parametrize(("learning", "shares"), [("naive", (0.0, 0.25, 1.0)), ("residual", (1.0, 1.25, 2.0))])
def test_what_comes_back_to_the_trunk(learning, shares):
    """M times the gradient where attention is naive; where it is residual never less than the gradient itself."""
    for mask, share in zip((0.0, 0.25, 1.0), shares, strict=True):
        module, heard = module_with(torch.full((2, 3, 5, 7), mask), learning), []

        def keep(trunk, given, made, heard=heard):
            made.retain_grad()
            heard.append(made)

        module.trunk.register_forward_hook(keep)
        module(torch.randn(2, 3, 5, 7), whole(5, 7)).sum().backward()
        assert torch.allclose(heard[0].grad, torch.full((2, 3, 5, 7), share))


def test_modules_in_a_row_wear_a_naive_trunk_down():
    """Masks of one half: naive attention halves what passes each module, residual attention never."""
    kept = {}
    for learning in ("naive", "residual"):
        data = torch.ones(1, 3, 5, 7)
        for _ in range(4):
            module = module_with(torch.full((1, 3, 5, 7), 0.5), learning)
            module.before = module.trunk = module.after
            data = module(data, whole(5, 7, rows=1))
        kept[learning] = data.unique().item()
    assert kept == {"naive": 0.5**4, "residual": 1.5**4}


def test_masks_by_hand():
    """Each number by itself, its share of its cell's length, and its place beside all others of its channel."""
    scores = torch.tensor([[[[3.0, -1.0]], [[4.0, 5.0]]]])  # two channels, a row of two cells
    frame = whole(1, 2, rows=1)

    def opened(mask):
        return MaskBranch(2, 1, Wiring(mask=mask))._opened(scores, frame).squeeze()

    assert torch.allclose(opened("mixed"), torch.sigmoid(scores.squeeze()))
    length = 26**0.5
    assert torch.allclose(opened("channel"), torch.tensor([[0.6, -1 / length], [0.8, 5 / length]]))
    one = torch.sigmoid(torch.tensor(1.0)).item()
    expected = torch.tensor([[one, 1 - one], [1 - one, one]])
    assert torch.allclose(opened("spatial"), expected, atol=1e-4)


@pytest.mark.parametrize("mask", ["mixed", "channel", "spatial"])
@pytest.mark.parametrize("stem", ["small", "large"])
def test_padding_changes_nothing(mask, stem):
    """An image alone, and beside larger ones; what it sees of a batch in training is real too."""
    torch.manual_seed(0)
    settings = {"widths": (5, 7, 11), "modules": (1, 1, 1), "poolings": (3, 2, 1)}
    encoder = ResidualEncoder(3, **settings, mask=mask, stem=stem, bottleneck=stem == "large")
    source = pictures([(4 * h, 4 * w) for h, w in SIZES] if stem == "large" else SIZES)
    height, width = source.mask.shape[1:]
    wider = Grid(F.pad(source.data, (0, 9, 0, 6)), F.pad(source.mask, (0, 9, 0, 6)))
    found, again = encoder(source), encoder(wider)  # in training, where norms are those of the batch
    torch.testing.assert_close(found.summary, again.summary, atol=1e-4, rtol=1e-4)
    encoder.eval()
    together = encoder(source)
    for row, mask_of_row in enumerate(source.mask):
        h, w = int(mask_of_row.any(1).sum()), int(mask_of_row.any(0).sum())
        alone = encoder(Grid(source.data[row : row + 1, :, :h, :w], source.mask[row : row + 1, :h, :w]))
        torch.testing.assert_close(alone.keys[0], together.keys[row][together.mask[row]], atol=1e-4, rtol=1e-4)
        torch.testing.assert_close(alone.summary[0], together.summary[row], atol=1e-4, rtol=1e-4)
    assert together.grid == (-(-height // (16 if stem == "large" else 4)), -(-width // (16 if stem == "large" else 4)))
    assert not together.values[~together.mask].any()


@pytest.mark.parametrize("mask", ["mixed", "channel", "spatial"])
def test_gradients_of_a_masked_module(mask):
    torch.manual_seed(3)
    module = AttentionModule(2, 1, Wiring(mask=mask)).double().eval()
    frame = Frame.of(pictures([(3, 5), (2, 3)]).mask)
    data = torch.randn(2, 2, 3, 5, dtype=torch.double, requires_grad=True)
    real = frame.mask.unsqueeze(1)
    assert torch.autograd.gradcheck(lambda data: module(data, frame) * real, (data,))


def build(name, *changes):
    with torch.device("meta"):
        return resolve(name, [*changes]).build(3, 1000)


@pytest.mark.parametrize(("modules", "depth", "millions"), [("[1,1,1,0]", 56, 31.9), ("[1,2,3,0]", 92, 51.3)])
def test_the_published_sizes(modules, depth, millions):
    """Depth of the trunk and weights of Attention-56 and Attention-92 (table 2 of the paper)."""
    model = build("residual-attention-paper", f"encode.modules={modules}")
    trunk = [name for name, each in model.encode.named_modules() if isinstance(each, nn.Conv2d)]
    trunk = [name for name in trunk if "branch" not in name and "skip" not in name]
    assert len(trunk) + 1 == depth
    assert parameters(model) / 1e6 == pytest.approx(millions, rel=0.03)


def test_a_deeper_trunk_is_as_large_as_a_mask():
    for changes in ((), ("encode.modules=[0,2,2]",), ("encode.bottleneck=true",), ("encode.between=2",)):
        masked, plain = (build(f"residual-attention{name}", *changes) for name in ("", "-none"))
        assert not [name for name, _ in plain.named_parameters() if "branch" in name]
        assert parameters(plain) / parameters(masked) == pytest.approx(1, abs=0.03)
        shallow = build("residual-attention-none", *changes, "encode.deeper=false")
        assert parameters(shallow) < 0.8 * parameters(masked)


def test_what_is_watched():
    """A record of kind image, a layer a module; and the trunk before and after its mask."""
    model = resolve("residual-attention", ["encode.modules=[0,2,1]"]).build(3, 5).eval()
    source, masked = pictures([(32, 32), (32, 32)]), []
    with regard.watch(model) as seen, hook(Masked, masked.append):
        model.label(source)
    assert seen.kinds == {"image": 3}
    assert [seen.weights("image", layer).shape for layer in range(3)] == [(2, 1, 32, 256)] * 2 + [(2, 1, 64, 64)]
    for layer, each in enumerate(masked):
        assert torch.equal(seen.weights("image", layer)[:, 0], each.mask.flatten(2))
        assert torch.allclose(each.after, (1 + each.mask) * each.before, atol=1e-5)
    with hook(Masked, lambda event: pytest.fail("a trunk without a mask tells of none")):
        resolve("residual-attention-none").build(3, 5).eval().label(source)


def test_settings_that_do_not_go_together():
    with pytest.raises(RegardError, match="modules has 2"):
        ResidualEncoder(3, modules=(1, 1))
    with pytest.raises(RegardError, match="deeper = true"):
        ResidualEncoder(3, deeper=True)
    with pytest.raises(RegardError, match="one number for each stage"):
        ResidualEncoder(3, widths=(), strides=(), units=(), modules=(), poolings=())
