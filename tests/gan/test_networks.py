"""Generator and critic: shapes, places, classes, and what their norms see."""

import pytest
import torch
from torch import nn

from regard.errors import ShapeError
from regard.gan.blocks import Down, Up
from regard.gan.norm import ClassNorm
from regard.gan.spectral import Convolution, Embedding, Linear
from regard.model.gan import Gan
from regard.recipe import resolve
from regard.registry import maker
from regard.task import Spec

IMAGE = Spec(3, (16, 16))
GENERATOR = {"noise": 5, "widths": (8, 16, 8), "at": 8}
CRITIC = {"widths": (8, 16), "at": 8}


def gan(classes=0, layer="self-attention", target=IMAGE, **both):
    made = None if layer is None else maker("layer", layer)
    generator = maker("generator", "residual", **GENERATOR, layer=made, **both)
    return Gan(
        Spec(classes), target, generator=generator, critic=maker("critic", "residual", **CRITIC, layer=made, **both)
    )


@pytest.mark.parametrize("layer", ["self-attention", "residual", None])
@pytest.mark.parametrize("classes", [0, 3])
def test_shapes(layer, classes):
    model = gan(classes, layer)
    labels = torch.tensor([0, 2, 1, 1]) if classes else None
    images = model.generate(torch.randn(4, 5), labels)
    assert images.shape == (4, 3, 16, 16)
    assert images.abs().max() <= 1
    assert model.judge(images, labels).shape == (4,)


def test_an_image_need_not_be_square():
    assert gan(target=Spec(1, (16, 24))).generate(torch.randn(2, 5)).shape == (2, 1, 16, 24)


def test_the_layer_stands_where_it_is_asked_for():
    model = gan()
    sizes = []
    for net in (model.generator, model.critic):
        net.layer.register_forward_hook(lambda module, given, made: sizes.append(tuple(made.shape[1:])))
    model.judge(model.generate(torch.randn(2, 5)))
    assert sizes == [(16, 8, 8), (8, 8, 8)]


@pytest.mark.parametrize(
    ("settings", "told"),
    [
        ({"at": 4}, r"at = 4: the generator has grids of 8, 16 rows, and none of 4.*\n.*at = 8"),
        ({"widths": (8, 8, 8, 8, 8, 8)}, r"of 5 blocks .*multiples of 32; found 16 x 16"),
        ({"widths": (8,)}, "two widths or more"),
    ],
)
def test_what_does_not_fit_is_told(settings, told):
    made = maker("generator", "residual", **{**GENERATOR, "layer": maker("layer", "residual"), **settings})
    with pytest.raises(ShapeError, match=told):
        Gan(0, IMAGE, generator=made)


def test_a_critic_that_does_not_fit_is_told():
    for settings, told in (({"at": 16}, "the critic has grids of 8, 4 rows"), ({"widths": ()}, "one width or more")):
        made = maker("critic", "residual", **{**CRITIC, "layer": maker("layer", "residual"), **settings})
        with pytest.raises(ShapeError, match=told):
            Gan(0, IMAGE, generator=maker("generator", "residual", **GENERATOR), critic=made)


def test_a_text_is_no_image():
    with pytest.raises(ShapeError, match="images of one height and width"):
        Gan(0, 31)


def test_a_class_norm_by_hand():
    norm = ClassNorm(2, 3)
    with torch.no_grad():
        norm.scale.weight.copy_(torch.tensor([[1.0, 1.0], [2.0, 3.0], [0.0, 0.0]]))
        norm.shift.weight.copy_(torch.tensor([[0.0, 0.0], [5.0, 7.0], [1.0, 2.0]]))
    data = torch.randn(3, 2, 4, 4)
    plain = nn.BatchNorm2d(2, affine=False)(data)
    found = norm(data, torch.tensor([1, 0, 2]))
    assert torch.allclose(
        found[0], plain[0] * torch.tensor([2.0, 3.0])[:, None, None] + torch.tensor([5.0, 7])[:, None, None]
    )
    assert torch.allclose(found[1], plain[1])
    assert torch.equal(found[2, 0], torch.ones(4, 4)) and torch.equal(found[2, 1], 2 * torch.ones(4, 4))


def test_classes_matter_in_both():
    model = gan(3).eval()
    with torch.no_grad():
        for each in model.modules():
            if isinstance(each, ClassNorm) and each.scale is not None:
                each.scale.weight.normal_()
    noise = torch.randn(1, 5)
    one, two = (model.generate(noise, torch.tensor([label])) for label in (0, 1))
    assert not torch.allclose(one, two)
    assert model.judge(one, torch.tensor([0])) != model.judge(one, torch.tensor([1]))


def test_projection_adds_the_product_of_the_class_and_what_was_seen():
    critic, images = gan(3).critic.eval(), torch.randn(2, 3, 16, 16)
    labels, kept = torch.tensor([2, 0]), []
    critic.score.register_forward_hook(lambda module, given, made: kept.append(given[0]))
    score = critic(images, labels)
    right = critic.score(kept[0]).squeeze(1) + (critic.project(labels) * kept[0]).sum(1)
    assert torch.allclose(score, right)


def test_the_critic_judges_each_image_by_itself():
    critic, images = gan().critic.eval(), torch.randn(5, 3, 16, 16)
    assert torch.allclose(critic(images)[2:3], critic(images[2:3]), atol=1e-5)


def test_in_use_a_sample_does_not_depend_on_those_beside_it():
    model = gan()
    model.generate(torch.randn(7, 5))
    noise = torch.randn(5, 5)
    model.eval()
    assert torch.allclose(model.generate(noise)[2:3], model.generate(noise[2:3]), atol=1e-5)


def test_every_weight_of_both_is_normed_or_none():
    normed, plain = gan(3), gan(3, spectral=False)
    for model, wanted in ((normed, True), (plain, False)):
        layers = [each for each in model.modules() if isinstance(each, Convolution | Linear | Embedding)]
        assert len(layers) > 15
        assert all((each.sigma is not None) == wanted for each in layers)
    one = gan()
    one = Gan(
        0,
        IMAGE,
        generator=maker("generator", "residual", **GENERATOR, spectral=False),
        critic=maker("critic", "residual", **CRITIC),
    )
    assert not any("sigma" in key for key in one.generator.state_dict())
    assert any("sigma" in key for key in one.critic.state_dict())


def test_a_skip_commutes_with_the_change_of_size():
    """It is where it multiplies least: 1 x 1 after halving, before doubling."""
    up, down, data = Up(4, 6, 0, False), Down(4, 6, False), torch.randn(2, 4, 8, 8)
    doubled = nn.functional.interpolate(data, scale_factor=2.0)
    assert torch.allclose(up.skip(doubled), nn.functional.interpolate(up.skip(data), scale_factor=2.0), atol=1e-6)
    halved = nn.functional.avg_pool2d(data, 2)
    assert torch.allclose(nn.functional.avg_pool2d(down.skip(data), 2), down.skip(halved), atol=1e-6)


def test_a_block_by_hand():
    """Bend, convolve, bend, convolve, halve, and the skip; the first does not bend pixels."""
    data = torch.randn(2, 4, 8, 8)
    for first in (True, False):
        down = Down(4, 6, False, first=first)
        bent = data if first else data.relu()
        right = nn.functional.avg_pool2d(down.second(down.first(bent).relu()), 2)
        assert torch.allclose(down(data), right + down.skip(nn.functional.avg_pool2d(data, 2)), atol=1e-5)
    last = Down(4, 4, False, halves=False)
    assert torch.allclose(last(data), data + last.second(last.first(data.relu()).relu()), atol=1e-5)
    up = Up(4, 6, 0, False).eval()
    wide = nn.functional.interpolate(up.first_norm(data, None).relu(), scale_factor=2.0)
    right = up.second(up.second_norm(up.first(wide), None).relu()) + nn.functional.interpolate(
        up.skip(data), scale_factor=2.0
    )
    assert torch.allclose(up(data, None), right, atol=1e-5)


def test_what_the_log_keeps():
    model = gan()
    with torch.no_grad():
        model.generator.layer.gamma.fill_(0.25)
    assert model.noted() == {"gamma_generator": 0.25, "gamma_critic": 0.0}
    assert gan(layer="residual").noted() == {}
    kept = [name for name in model.state_dict() if model.is_averaged(name)]
    assert kept and all(name.startswith("generator.") for name in kept)


def test_the_published_sizes():
    recipe = resolve("sagan-paper")
    settings = {side: recipe.model.settings[side].settings for side in ("generator", "critic")}
    assert settings["generator"]["widths"] == (1024, 1024, 512, 256, 128, 64)
    assert settings["critic"]["widths"] == (64, 128, 256, 512, 1024)
    assert all(each["at"] == 32 and each["layer"].settings["pool"] for each in settings.values())
    assert recipe.task.settings["target"].settings["size"] == (128, 128)
    assert recipe.train.settings["rate"] == 1e-4
    assert recipe.task.settings["goal"].settings["critic_rate"] == 4.0
    assert recipe.train.settings["optimiser"].settings["betas"] == (0.0, 0.9)
