"""U-Nets: sizes, padding, gates that are open, and MONAI's whole network."""

import pytest
import torch
from torch import nn

from regard.encode.ladder import LadderEncoder
from regard.errors import RegardError
from regard.predict.ladder import LadderDecoder
from regard.registry import maker
from regard.show.watch import watch
from regard.types import Grid, Widths

PAPER, MONAI = maker("gate", "attention"), maker("gate", "monai")


class Net(nn.Module):
    def __init__(self, channels=1, classes=3, hidden=4, levels=3, down="pool", **settings):
        super().__init__()
        self.encode = LadderEncoder(channels, hidden=hidden, levels=levels, down=down)
        self.predict = LadderDecoder(classes, self.encode.widths, None, **settings)

    def forward(self, source):
        return self.predict.segment(self.encode(source))


def images(*sizes, channels=1):
    height, width = (max(size[axis] for size in sizes) for axis in (0, 1))
    mask = torch.zeros(len(sizes), height, width, dtype=torch.bool)
    for row, (h, w) in enumerate(sizes):
        mask[row, :h, :w] = True
    return Grid(torch.randn(len(sizes), channels, height, width) * mask.unsqueeze(1), mask)


def settled(net):
    """Norms that have seen something."""
    torch.manual_seed(7)
    for each in net.modules():
        if hasattr(each, "variance"):
            nn.init.uniform_(each.variance, 0.5, 2.0), nn.init.normal_(each.mean, std=0.1)
            nn.init.normal_(each.bias, std=0.1)
    return net.eval().requires_grad_(False)


WAYS = {
    "plain": {},
    "gated": {"gate": PAPER, "deep": True},
    "bilinear": {"gate": PAPER, "up": "bilinear"},
    "monai": {"gate": MONAI, "down": "stride", "up": "convolve", "merge": "single"},
    "monai-bilinear": {"gate": MONAI, "up": "bilinear"},
}


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("size", [(16, 16), (13, 11), (5, 8), (1, 1)])
def test_any_size_survives(way, size):
    net = settled(Net(**WAYS[way]))
    found = net(images(size))
    assert found.logits.shape == (1, 3, *size)
    assert found.logits.isfinite().all() and found.deep == ()
    assert len(found.gates) == (0 if way == "plain" else 2 if "monai" in way else 1)


@pytest.mark.parametrize("way", WAYS)
def test_padding_changes_nothing(way):
    net, source = settled(Net(**WAYS[way])), images((16, 14), (9, 11))
    together = net(source)
    alone = net(Grid(source.data[1:, :, :9, :11], source.mask[1:, :9, :11]))
    assert torch.allclose(together.logits[1, :, :9, :11], alone.logits[0], atol=1e-5)
    assert torch.allclose(net(Grid(source.data[:1], source.mask[:1])).logits[0], together.logits[0], atol=1e-5)


def test_what_a_ladder_keeps():
    encode = LadderEncoder(2, hidden=4, levels=4)
    assert encode.widths == Widths(32, 32, 32, levels=(4, 8, 16, 32))
    memory = encode.eval()(images((13, 22), channels=2))
    assert [tuple(each.data.shape) for each in memory.levels] == [
        (1, 4, 13, 22),
        (1, 8, 7, 11),
        (1, 16, 4, 6),
        (1, 32, 2, 3),
    ]
    assert memory.grid == (2, 3)
    assert torch.equal(memory.values, memory.levels[-1].data.flatten(2).mT)
    twice = memory.reorder(torch.tensor([0, 0]))
    assert [len(each.data) for each in twice.levels] == [2, 2, 2, 2]


def test_gates_that_are_open_leave_a_plain_network():
    """With alpha = 1 and a join that does nothing, what is left is the U-Net."""
    torch.manual_seed(3)
    plain, gated = settled(Net()), settled(Net(gate=PAPER))
    gated.load_state_dict(plain.state_dict(), strict=False)
    with torch.no_grad():
        for rung in gated.predict.rungs:
            if rung.gate is not None:
                rung.gate.psi.weight.zero_(), rung.gate.psi.bias.fill_(30.0)
                rung.gate.join.weight.copy_(torch.eye(rung.gate.join.weight.shape[0])[:, :, None, None])
                rung.gate.norm.mean.zero_(), rung.gate.norm.variance.fill_(1 - 1e-5), rung.gate.norm.bias.zero_()
    source = images((12, 13))
    assert torch.allclose(gated(source).logits, plain(source).logits, atol=1e-4)


def test_the_top_skip_passes_freely_but_monais_does_not():
    paper, monai = Net(levels=4, gate=PAPER), Net(levels=4, gate=MONAI)
    assert [rung.gate is None for rung in paper.predict.rungs] == [False, False, True]
    assert [rung.gate is None for rung in monai.predict.rungs] == [False, False, False]
    assert paper.predict.signal is not None and monai.predict.signal is None


def test_the_lowest_gate_is_asked_with_the_signal_and_the_next_with_what_it_gave():
    net, seen = settled(Net(levels=4, gate=PAPER)), []
    for rung in net.predict.rungs[:2]:
        rung.gate.register_forward_hook(lambda module, given, made: seen.append(given[1].data))
        rung.merge.register_forward_hook(lambda module, given, made: seen.append(made))
    net.predict.signal.register_forward_hook(lambda module, given, made: seen.append(made))
    net(images((16, 16)))
    signal, first, merged, second, _ = seen
    assert torch.equal(signal, first) and torch.equal(merged, second)


def test_deep_scores_are_there_in_training_alone_and_half_the_size_each():
    net = Net(levels=4, gate=PAPER, deep=True)
    found = net.train()(images((13, 22), (13, 22)))
    assert [tuple(each.shape) for each in found.deep] == [(2, 3, 7, 11), (2, 3, 4, 6)]
    assert net.eval()(images((13, 22))).deep == ()


def test_who_watches_sees_every_gate_the_coarsest_first():
    net = settled(Net(levels=4, gate=PAPER))
    with watch(net) as seen:
        found = net(images((16, 24)))
    assert seen.kinds == {"image": 2}
    for layer, weights in enumerate(found.gates):
        assert torch.equal(seen.weights("image", layer)[0, 0, 0], weights[0].flatten())
    assert [tuple(each.shape[1:]) for each in found.gates] == [(2, 3), (4, 6)]


def test_a_ladder_needs_one():
    with pytest.raises(RegardError, match="a ladder goes up what an encoder went down"):
        LadderDecoder(2, Widths(4, 4, 4), None)
    with pytest.raises(RegardError):
        LadderDecoder(2, Widths(4, 4, 4, levels=(2, 4)), maker("attend", "attention"))


def test_the_whole_network_of_monai():
    nets = pytest.importorskip("monai.networks.nets.attentionunet", reason="monai is no dependency: parity only")
    torch.manual_seed(11)
    theirs = nets.AttentionUnet(2, 1, 3, channels=(4, 8, 16), strides=(2, 2)).requires_grad_(False)
    for each in theirs.modules():
        if isinstance(each, nn.BatchNorm2d):
            nn.init.uniform_(each.running_var, 0.5, 2.0), nn.init.normal_(each.running_mean, std=0.1)
    ours = Net(**WAYS["monai"]).eval().requires_grad_(False)
    copy_monai(ours, theirs.eval())
    source = images((16, 24))
    assert torch.allclose(ours(source).logits, theirs(source.data), atol=1e-5)


def copy_monai(ours, theirs):
    """The weights of MONAI's network, in ours; biases before a norm go into its mean."""

    def put(convolution, norm, block):
        convolution.weight.copy_(block.conv.weight)
        their_norm = block.adn.N
        norm.weight.copy_(their_norm.weight), norm.bias.copy_(their_norm.bias)
        norm.mean.copy_(their_norm.running_mean - block.conv.bias), norm.variance.copy_(their_norm.running_var)

    def pair(convolution, norm, sequence):
        convolution.weight.copy_(sequence[0].conv.weight)
        norm.weight.copy_(sequence[1].weight), norm.bias.copy_(sequence[1].bias)
        norm.mean.copy_(sequence[1].running_mean - sequence[0].conv.bias), norm.variance.copy_(sequence[1].running_var)

    head, layer, score = theirs.model
    blocks, layers = [head], []
    while True:
        layers.append(layer)
        if isinstance(layer.submodule, nn.Sequential):
            blocks.append(layer.submodule[0])
            layer = layer.submodule[1]
        else:
            blocks.append(layer.submodule)
            break
    for step, block in zip(ours.encode.steps, blocks, strict=True):
        (
            put(step.first.convolve, step.first.norm, block.conv[0]),
            put(step.second.convolve, step.second.norm, block.conv[1]),
        )
    for rung, each in zip(ours.predict.rungs, reversed(layers), strict=True):
        put(rung.up.convolve, rung.up.norm, each.upconv.up)
        pair(rung.gate.skip, rung.gate.skip_norm, each.attention.W_x)
        pair(rung.gate.gating, rung.gate.gating_norm, each.attention.W_g)
        pair(rung.gate.psi, rung.gate.psi_norm, each.attention.psi)
        rung.merge.convolve.load_state_dict(each.merge.conv.state_dict())
        rung.merge.slope.load_state_dict(each.merge.adn.A.state_dict())
    ours.predict.score.load_state_dict(score.conv.state_dict())
