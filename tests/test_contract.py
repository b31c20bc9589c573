"""The contract: what every registered part must keep, checked for all of them, and so for the next one too."""

import itertools

import pytest
import torch

from regard.attend import Attention, Heads
from regard.errors import ShapeError
from regard.hooks import loss_terms
from regard.model import load, save
from regard.registry import KINDS, maker, names, settings
from regard.types import Batch, Padded
from small import (
    ATTENDING,
    DECODERS,
    IMAGE_ENCODERS,
    ONE_VECTOR,
    TARGET,
    TEXT_ENCODERS,
    batch,
    episodes,
    model,
    overrides,
    pictures,
    words,
)

SCORES, SCOPES, CHOICES = names("score"), names("scope"), names("choice")
TRIPLES = list(itertools.product(SCORES, SCOPES, CHOICES))
WAYS = [(*triple, "open") for triple in TRIPLES]
WAYS += [
    (score, scope, "soft", "fused") for score in ("dot", "scaled_dot", "general") for scope in ("global", "causal")
]
APART = (
    "initialise",
    "task",
    "side",
    "examples",
    "goal",
    "train",
    "optimiser",
    "schedule",
    "average",
)  # they are no modules
OF_IMAGES = ("generator", "critic", "layer")  # of a model that makes images: tests/gan
EVERY_PART = [(kind, name) for kind in KINDS if kind not in (*APART, *OF_IMAGES) for name in names(kind)]
EVERY_PART.remove(("model", "gan"))
BATCH, QUERIES, KEYS, WIDTH, VALUES = 3, 5, 7, 2, 11


def attention(score, scope, choice, width=WIDTH, values=VALUES, kind=Attention):
    """A small attention of named parts; windows of one key to either side, so that they matter."""
    scope_settings = {"reach": 1} if "reach" in settings(SCOPES[scope]) else {}
    inner = {
        "score": maker("score", score),
        "scope": maker("scope", scope, **scope_settings),
        "choice": maker("choice", choice),
    }
    if kind is Attention:
        return Attention(width, width, values, **inner).double().eval()
    return Heads(width, width, values, heads=2, attend=maker("attend", "attention", **inner)).double().eval()


def tensors(width=WIDTH, values=VALUES, keys=KEYS):
    shapes = ((BATCH, QUERIES, width), (BATCH, keys, width), (BATCH, keys, values))
    return tuple(torch.randn(shape, dtype=torch.float64) for shape in shapes)


def ragged(keys=KEYS):
    """All keys, some keys, and none at all."""
    return torch.arange(keys) < torch.tensor([keys, 4, 0])[:, None]


@pytest.mark.parametrize("kind", [Attention, Heads])
@pytest.mark.parametrize(("score", "scope", "choice", "way"), WAYS)
class TestAttention:
    """Every score with every scope and every choice, alone and in heads; where PyTorch's kernel can, by it as well."""

    @pytest.fixture(autouse=True)
    def taken(self, way, kernel_calls, request):
        """The way that is named is the way that is gone."""
        if way == "fused":
            request.getfixturevalue("fused")
        yield
        assert bool(kernel_calls) == (way == "fused")

    def test_masks_shapes_and_empty_rows(self, score, scope, choice, kind):
        attend = attention(score, scope, choice, width=4, kind=kind)
        query, keys, values = (each.requires_grad_() for each in tensors(width=4))
        mask = ragged()
        looked = attend(query, attend.prepare(keys, values, mask))
        assert looked.context.shape == (BATCH, QUERIES, attend.width)
        assert looked.weights.shape == ((BATCH, QUERIES, KEYS) if kind is Attention else (BATCH, 2, QUERIES, KEYS))
        hidden = ~mask.view(BATCH, *[1] * (looked.weights.dim() - 2), KEYS).expand_as(looked.weights)
        assert (looked.weights[hidden] == 0).all(), "a masked key was looked at"
        assert (looked.weights[:2] > 0).any()
        nothing = looked.context[2] if kind is Attention else looked.context[2] - attend.join.bias
        assert torch.allclose(nothing, torch.zeros_like(nothing)), "an empty row brought something home"
        gradients = torch.autograd.grad(
            looked.context.sum() + looked.weights.sum(), (query, keys, values), allow_unused=True
        )
        assert all(torch.isfinite(each).all() for each in gradients if each is not None)

    def test_padding_changes_nothing(self, score, scope, choice, kind):
        attend = attention(score, scope, choice, width=4, kind=kind)
        query, keys, values = tensors(width=4)
        mask = ragged()
        # The queries stand where they stand, however many keys follow.
        alone = attend(query[1:2], attend.prepare(keys[1:2, :4], values[1:2, :4]), start=1)
        padded = attend(query, attend.prepare(keys, values, mask), start=1)
        assert torch.allclose(alone.context[0], padded.context[1], atol=1e-12)
        assert torch.allclose(alone.weights[0], padded.weights[1][..., :4], atol=1e-12)

    def test_order_matters_only_where_it_should(self, score, scope, choice, kind):
        attend = attention(score, scope, choice, width=4, kind=kind)
        query, keys, values = tensors(width=4)
        mask = torch.ones(BATCH, KEYS, dtype=torch.bool)
        order = torch.tensor([3, 0, 6, 1, 5, 2, 4])
        straight = attend(query, attend.prepare(keys, values, mask))
        mixed = attend(query, attend.prepare(keys[:, order], values[:, order], mask))
        same = torch.allclose(straight.context, mixed.context, atol=1e-10)
        positional = SCORES[score].positional or SCOPES[scope].positional
        assert same != positional
        if not positional:
            assert torch.allclose(straight.weights[..., order], mixed.weights, atol=1e-10)

    def test_half_precision_stays_finite(self, score, scope, choice, kind):
        for dtype in (torch.bfloat16, torch.float16):
            attend = attention(score, scope, choice, width=4, kind=kind).to(dtype)
            query, keys, values = ((30 * each).to(dtype).requires_grad_() for each in tensors(width=4))
            looked = attend(query, attend.prepare(keys, values, ragged()))
            assert looked.context.dtype == dtype
            (looked.context.float().sum()).backward()
            for each in (looked.context, looked.weights, query.grad, keys.grad, values.grad):
                assert each is None or torch.isfinite(each).all()


@pytest.mark.parametrize(("score", "scope", "choice"), TRIPLES)
def test_convex_where_it_must_be_and_only_there(score, scope, choice):
    attend = attention(score, scope, choice)
    query, keys, values = tensors()
    values = values + 1000 * torch.arange(1.0, BATCH + 1, dtype=torch.float64).view(-1, 1, 1)  # far from zero
    looked = attend(query, attend.prepare(keys, values))
    low, high = values.amin(1, keepdim=True), values.amax(1, keepdim=True)
    some = looked.weights.sum(-1) > 0  # gates may close every key
    assert some.any()
    inside = ((looked.context >= low - 1e-9) & (looked.context <= high + 1e-9)).all(-1)
    assert (inside | ~some).all() == (attend.scope.convex and attend.choice.convex)


@pytest.mark.parametrize(("score", "scope", "choice"), TRIPLES)
def test_gradients_are_right(score, scope, choice):
    attend = attention(score, scope, choice, values=2)
    mask = torch.arange(4) < torch.tensor([4, 2, 0])[:, None]
    query, keys, values = (
        each[:, :size].clone().requires_grad_() for each, size in zip(tensors(values=2), (3, 4, 4), strict=True)
    )
    learned = [each for each in attend.parameters() if each.requires_grad]

    def look(query, keys, values, *_):
        return attend.explicit(query, attend.prepare(keys, values, mask)).context

    assert torch.autograd.gradcheck(look, (query, keys, values, *learned), fast_mode=True, atol=1e-4)


@pytest.mark.parametrize("score", SCORES)
def test_a_key_is_scored_by_itself(score):
    part = SCORES[score](WIDTH, WIDTH).double()
    query, keys, _ = tensors()
    prepared = part.prepare(keys)
    whole = part(query, prepared)
    some = torch.tensor([5, 1, 2])
    assert whole.shape == (BATCH, QUERIES, KEYS)
    assert torch.allclose(part(query, prepared[:, some]), whole[..., some], atol=1e-12)


@pytest.mark.parametrize("choice", CHOICES)
@pytest.mark.parametrize("score", SCORES)
def test_one_key_gets_all_the_weight_and_equal_scores_share_it(score, choice):
    attend = attention(score, "global", choice)
    query, keys, values = tensors()
    one = attend.explicit(query, attend.prepare(keys[:, :1], values[:, :1]))
    total = one.weights.sum(-1)
    if attend.choice.convex:
        assert torch.allclose(total[total > 0], torch.ones_like(total[total > 0]))
    if choice == "soft":
        flat = attend.choice(torch.zeros(BATCH, QUERIES, KEYS), torch.ones(BATCH, 1, KEYS, dtype=torch.bool))
        assert torch.allclose(flat, torch.full_like(flat, 1 / KEYS))


@pytest.mark.parametrize("encoder", TEXT_ENCODERS)
def test_a_sentence_is_encoded_the_same_alone_and_in_a_batch(encoder):
    built = model(overrides("encode", encoder))
    source = words(31, (7, 5, 2))
    together = built.read(source)
    places = 1 if encoder in ONE_VECTOR else 7
    assert together.keys.shape == (3, places, built.encode.widths.keys)
    assert together.values.shape == (3, places, built.encode.widths.values)
    assert together.summary.shape == (3, built.encode.widths.summary)
    assert tuple(state.hidden.shape[1] for state in together.final) == built.encode.widths.final
    for row, length in enumerate((7, 5, 2)):
        alone = built.read(Padded(source.data[row : row + 1, :length], source.mask[row : row + 1, :length]))
        assert torch.allclose(alone.keys[0], together.keys[row, :length], atol=1e-5)
        assert torch.allclose(alone.values[0], together.values[row, :length], atol=1e-5)
        assert torch.allclose(alone.summary[0], together.summary[row], atol=1e-5)
        for one, many in zip(alone.final, together.final, strict=True):
            assert torch.allclose(one.hidden[0], many.hidden[row], atol=1e-5)


@pytest.mark.parametrize("encoder", IMAGE_ENCODERS)
def test_a_picture_is_encoded_the_same_alone_and_in_a_batch(encoder):
    built = model(overrides("encode", encoder), source=3)
    sizes = [(13, 17), (11, 7), (5, 12)]
    source = pictures(sizes)
    together = built.read(source)
    for row, (height, width) in enumerate(sizes):
        alone = built.read(
            type(source)(source.data[row : row + 1, :, :height, :width], source.mask[row : row + 1, :height, :width])
        )
        real = together.mask[row]
        assert alone.mask.all()
        assert torch.allclose(alone.keys[0], together.keys[row][real], atol=1e-5)
        assert torch.allclose(alone.summary[0], together.summary[row], atol=1e-5)


def taught_and_stepped(built, pairs):
    """The logits and weights of `teach`, and those of a loop of `step`."""
    taught = built.teach(pairs)
    state, logits, weights = built.start(pairs.source), [], []
    for column in range(pairs.target.data.shape[1] - 1):
        stepped = built.step(pairs.target.data[:, column], state)
        state = stepped.state
        logits.append(stepped.logits)
        weights.append([each.weights for each in stepped.looked])
    return taught, torch.stack(logits, 1), [torch.cat(layer, -2) for layer in zip(*weights, strict=True)]


def small_or_skip(decoder, place, name):
    try:
        return model([*overrides("predict", decoder), f"{place}={name}"])
    except ShapeError as error:  # the tutorial asks with word and state, which no key is as wide as
        pytest.skip(error.message)


@pytest.mark.parametrize(
    ("place", "name"),
    [
        *(("attend.score", name) for name in SCORES),
        *(("attend.scope", name) for name in SCOPES),
        *(("attend.choice", name) for name in CHOICES),
    ],
)
@pytest.mark.parametrize("decoder", ATTENDING)
def test_teaching_is_a_loop_of_steps(decoder, place, name):
    assert_teaching_is_stepping(small_or_skip(decoder, place, name))


@pytest.mark.parametrize(
    ("place", "name"),
    [
        *(("score", name) for name in SCORES),
        *(("scope", name) for name in SCOPES),
        *(("choice", name) for name in CHOICES),
    ],
)
def test_no_self_attention_sees_the_future(place, name):
    assert_teaching_is_stepping(
        model([*overrides("predict", "transformer"), f"predict.self_attend.attend.{place}={name}"])
    )


@pytest.mark.parametrize("scope", ["global", "causal"])
@pytest.mark.parametrize("score", ["dot", "scaled_dot", "general"])
def test_fused_teaching_is_a_loop_of_steps(score, scope, fused):
    """Both attentions of a Transformer's decoder by PyTorch's kernel; its steps go another way (`predict.straight`)."""
    inside = [f"{place}.attend.score={score}" for place in ("attend", "predict.self_attend")]
    heads = ["attend.part=heads", "attend.heads=2", f"predict.self_attend.attend.scope={scope}"]
    assert_teaching_is_stepping(model([*overrides("predict", "transformer"), *heads, *inside]))
    assert len(fused) >= 4


@pytest.mark.parametrize("encoder", ["recurrent", "transformer"])
def test_many_keys_are_encoded_and_taught_the_same_alone_and_in_a_batch(encoder, kernel_calls):
    """Sentences so long that the kernel is taken without being made to."""
    heads = ["attend.part=heads", "attend.heads=2", "attend.attend.score=scaled_dot"]
    built = model([*overrides("encode", encoder, predict="transformer"), *heads])
    pairs = batch((43, 37, 2), (41, 3, 5))
    together = built.teach(pairs).logits
    assert kernel_calls
    for row, (source, target) in enumerate(zip((43, 37, 2), (41, 3, 5), strict=True)):
        one = Batch(
            Padded(pairs.source.data[row : row + 1, :source], pairs.source.mask[row : row + 1, :source]),
            Padded(pairs.target.data[row : row + 1, :target], pairs.target.mask[row : row + 1, :target]),
        )
        assert torch.allclose(built.teach(one).logits[0], together[row, : target - 1], atol=1e-5)


@pytest.mark.parametrize(
    ("kind", "name"), [(kind, name) for kind, name in EVERY_PART if kind in ("cell", "bridge", "readout", "attend")]
)
def test_teaching_is_a_loop_of_steps_with_any_part(kind, name):
    extra = ["predict.cell=lstm"] if kind == "bridge" else []
    assert_teaching_is_stepping(model([*overrides(kind, name), *extra]))


def test_teaching_is_a_loop_of_steps_without_attention():
    assert_teaching_is_stepping(model(overrides("predict", "plain")))


def assert_teaching_is_stepping(built):
    pairs = batch()
    real = pairs.target.mask[:, 1:]
    taught, logits, weights = taught_and_stepped(built, pairs)
    assert taught.logits.shape == (3, 5, TARGET)
    assert torch.allclose(taught.logits[real], logits[real], atol=1e-5)
    assert len(taught.looked) == len(weights)
    for layer, stepped in zip(taught.looked, weights, strict=True):
        rows = real if stepped.dim() == 3 else real.unsqueeze(1).expand(stepped.shape[:3])
        assert torch.allclose(layer.weights[rows], stepped[rows], atol=1e-5)


@pytest.mark.parametrize("decoder", DECODERS)
def test_a_state_can_be_reordered_at_any_step(decoder):
    built, pairs = model(overrides("predict", decoder)), batch()
    index = torch.tensor([2, 2, 0, 1, 0])
    state = built.start(pairs.source)
    for column in range(4):
        straight = built.step(pairs.target.data[:, column], state)
        picked = built.step(pairs.target.data[index, column], state.reorder(index))
        assert torch.allclose(picked.logits, straight.logits[index], atol=1e-6)
        follow = pairs.target.data[:, column + 1]
        after = built.step(follow[index], straight.state.reorder(index))
        assert torch.allclose(after.logits, built.step(follow, straight.state).logits[index], atol=1e-6)
        state = straight.state


@pytest.mark.parametrize("decoder", DECODERS)
def test_a_target_is_taught_the_same_alone_and_in_a_batch(decoder):
    built, pairs = model(overrides("predict", decoder)), batch()
    together = built.teach(pairs).logits
    source, target = pairs.source, pairs.target
    for row, (long, short) in enumerate(zip((7, 5, 2), (6, 3, 5), strict=True)):
        one = Batch(
            Padded(source.data[row : row + 1, :long], source.mask[row : row + 1, :long]),
            Padded(target.data[row : row + 1, :short], target.mask[row : row + 1, :short]),
        )
        assert torch.allclose(built.teach(one).logits[0], together[row, : short - 1], atol=1e-5)


def sees_images(kind, name):
    """Is a part one of a model that reads images?"""
    makes = (kind, name) in (("embed", "pixels"), ("predict", "image"))
    return makes or kind in ("network", "gate") or name in IMAGE_ENCODERS


def run(built, kind, name):
    """Whatever the model predicts, for a fixed input."""
    torch.manual_seed(5)
    images = getattr(built.encode, "sees_images", False)
    source = pictures([(65, 97), (33, 31), (40, 70)]) if images else words(31, (7, 5, 2))
    if getattr(built.embed, "reads_episodes", False):
        source = episodes()
    if hasattr(built.predict, "vector"):
        return built.vector(source).vectors
    if hasattr(built.predict, "image"):
        return built.image(source).pixels
    if not hasattr(built.predict, "teach"):  # a label, or tags
        return built.predict(built.read(source)).logits
    return built.teach(Batch(source, words(TARGET, (6, 3, 5)))).logits


@pytest.mark.parametrize(("kind", "name"), EVERY_PART)
def test_saved_and_loaded_it_is_the_same(kind, name, tmp_path):
    extra = ["predict.cell=lstm"] if kind == "bridge" else []
    channels = 1 if (kind, name) == ("embed", "episode") else 3 if sees_images(kind, name) else 31
    built = model([*overrides(kind, name), *extra], source=channels)
    save(built, tmp_path / "model")
    dice = torch.get_rng_state()
    again = load(tmp_path / "model")
    assert torch.equal(torch.get_rng_state(), dice), "what is read need not be drawn"
    for (place, one), (other, two) in zip(built.named_buffers(), again.named_buffers(), strict=True):
        assert place == other and torch.equal(one, two)
    assert again.recipe == built.recipe
    assert torch.equal(run(again, kind, name), run(built, kind, name))


@pytest.mark.parametrize(("kind", "name"), EVERY_PART)
def test_every_weight_gets_a_gradient(kind, name):
    extra = ["predict.cell=lstm"] if kind == "bridge" else []
    channels = 1 if (kind, name) == ("embed", "episode") else 3 if sees_images(kind, name) else 31
    built = model([*overrides(kind, name), *extra], source=channels)
    with loss_terms() as extra:  # hard choices and gates learn by what they add to the loss
        found = run(built.train(), kind, name).square().flatten(1).sum(1)
    (found.sum() + extra(-found)).backward()
    learnt = {key: weight.grad for key, weight in built.named_parameters() if weight.requires_grad}
    idle = [key for key, grad in learnt.items() if grad is None or not grad.any()]
    # Location does not read the keys, and nothing crosses the bridge "zero": there the encoder learns by values alone.
    assert not idle
