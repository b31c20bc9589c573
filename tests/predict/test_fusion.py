"""Deep fusion of two LSTMNs: a step by hand, its limits, gradients, and what it refuses."""

import numpy as np
import pytest
import torch

import regard
from regard.encode.lstmn import LstmnEncoder
from regard.errors import ShapeError, UsageError
from regard.masks import from_lengths
from regard.recipe import resolve
from regard.registry import maker
from regard.types import Batch, Padded
from small import SOURCE, TARGET, batch, words
from test_contract import assert_teaching_is_stepping

WIDTH, HIDDEN = 5, 7
SMALL = (
    f"embed.width={WIDTH}",
    f"predict.embed.width={WIDTH}",
    f"encode.hidden={HIDDEN}",
    f"predict.hidden={HIDDEN}",
    "attend.score.hidden=3",
    "predict.self_attend.score.hidden=2",
)


def translator(*settings, recipe="lstmn-deep"):
    return resolve(recipe, (*SMALL, *settings)).build(SOURCE, TARGET).double().eval()


def sigmoid(x):
    return 1 / (1 + np.exp(-x))


def looked(named, score, query, keys):
    """The weights of an additive score, one query at a time."""
    asked = named[f"{score}.of_query.weight"] @ query + named.get(f"{score}.of_query.bias", 0)
    found = np.exp([named[f"{score}.vector"] @ np.tanh(asked + named[f"{score}.of_key.weight"] @ key) for key in keys])
    return found / found.sum()


def test_two_steps_by_hand():
    """The equations in NumPy, one row at a time: the gate, both tapes, and no join after the step."""
    built, pairs = translator(), batch()
    memory = built.read(pairs.source)
    named = {name: weight.detach().numpy() for name, weight in built.predict.named_parameters()}
    state, cell = built.predict.start(memory), "layers.0.cell"
    stepped = []
    for place in range(2):
        stepped.append(built.predict.step(pairs.target.data[:, place], state))
        state = stepped[-1].state
    for row, length in enumerate((7, 5, 2)):
        source = memory.values[row, :length].detach().numpy()
        kept = memory.kept[row, :length].detach().numpy()
        read, tape = np.zeros(HIDDEN), []
        before = [each[row].detach().numpy() for each in (memory.final[0].hidden, memory.final[0].cell)]
        for place in range(2):
            x = named["embed.table.weight"][pairs.target.data[row, place]]
            share = looked(named, "attend.score", np.concatenate((x, read)), source)
            read, entered = share @ source, share @ kept
            gate = sigmoid(named["gate.gate.weight"] @ np.concatenate((read, x)) + named["gate.gate.bias"])
            # The tape of the second step has one state on it, which gets all the weight.
            hidden, keeps = tape[0] if tape else before
            gates = named[f"{cell}.project.0.weight"] @ x + named[f"{cell}.project.0.bias"]
            enter, forget, new, leave = np.split(
                gates + named[f"{cell}.recur.weight"] @ hidden + named[f"{cell}.recur.bias"], 4
            )
            keeps = gate * entered + sigmoid(forget) * keeps + sigmoid(enter) * np.tanh(new)
            tape.append((sigmoid(leave) * np.tanh(keeps), keeps))
            assert np.allclose(stepped[place].looked[0].weights[row, 0, :length].detach().numpy(), share, atol=1e-10)
            shown = stepped[place].state.layers[0].hidden[row]
            assert np.allclose(shown.detach().numpy(), tape[-1][0], atol=1e-10)
            assert torch.allclose(stepped[place].rows[row], shown), "nothing stands between the state and the readout"
        assert np.allclose(state.layers[0].cell[row].detach().numpy(), tape[-1][1], atol=1e-10)


@pytest.mark.parametrize("settings", [(), ("encode.layers=2", "predict.layers=2"), ("attend.scope=local_p",)])
def test_teaching_is_a_loop_of_steps(settings):
    assert_teaching_is_stepping(translator(*settings).float())


def test_a_closed_gate_lets_nothing_in():
    """With r = 0 it is the same decoder without a look at the source: shallow fusion without the term between."""
    deep, alone = translator(), translator("attend=none", recipe="lstmn-shallow")
    with torch.no_grad():
        deep.predict.gate.gate.weight.zero_()
        deep.predict.gate.gate.bias.fill_(-1e4)
    alone.load_state_dict({name: deep.state_dict()[name] for name in alone.state_dict()})
    pairs = batch()
    assert torch.allclose(deep.teach(pairs).logits, alone.teach(pairs).logits, atol=1e-12)  # its steps go two ways
    with torch.no_grad():
        deep.predict.gate.gate.bias.zero_()
    assert not torch.allclose(deep.teach(pairs).logits, alone.teach(pairs).logits, atol=1e-3)


def test_gradients():
    built, target = translator(), words(TARGET, (4, 2))
    vectors = torch.randn(2, 3, WIDTH, dtype=torch.float64, requires_grad=True)
    mask, gate = from_lengths(torch.tensor((3, 2))), built.predict.gate.gate.weight

    def run(some, _):
        return built.predict.teach(target, built.encode(Padded(some, mask))).logits

    assert torch.autograd.gradcheck(run, (vectors, gate), fast_mode=True)


def test_every_weight_learns_and_padding_changes_nothing():
    built, pairs = translator().float(), batch()
    together = built.teach(pairs).logits
    together.square().sum().backward()
    assert [name for name, weight in built.named_parameters() if weight.grad is None or not weight.grad.any()] == []
    for row, (long, short) in enumerate(zip((7, 5, 2), (6, 3, 5), strict=True)):
        one = Batch(
            Padded(pairs.source.data[row : row + 1, :long], pairs.source.mask[row : row + 1, :long]),
            Padded(pairs.target.data[row : row + 1, :short], pairs.target.mask[row : row + 1, :short]),
        )
        assert torch.allclose(built.teach(one).logits[0], together[row, : short - 1], atol=1e-5)


def test_a_state_is_reordered_and_both_looks_are_recorded():
    built, pairs = translator().float(), batch()
    index = torch.tensor([2, 2, 0, 1, 0])
    first = built.step(pairs.target.data[:, 0], built.start(pairs.source))
    straight = built.step(pairs.target.data[:, 1], first.state)
    with torch.no_grad():
        picked = built.step(pairs.target.data[index, 1], first.state.reorder(index))
    assert torch.allclose(picked.logits, straight.logits[index], atol=1e-6)
    with regard.watch(built) as seen:
        built.teach(pairs)
    assert seen.kinds == {"encoder-self": 1, "cross": 1, "decoder-self": 1}
    assert seen.weights("cross", 0).shape == (3, 1, 5, 7)


def test_the_encoder_hands_on_what_it_kept():
    encoder = LstmnEncoder(WIDTH, hidden=HIDDEN, layers=2).double()
    mask = from_lengths(torch.tensor((6, 4, 1)))
    memory = encoder(Padded(torch.randn(3, 6, WIDTH, dtype=torch.float64), mask))
    assert memory.kept.shape == (3, 6, HIDDEN) and encoder.widths.kept == HIDDEN
    for row, length in enumerate((6, 4, 1)):
        assert torch.equal(memory.kept[row, length - 1], memory.final[-1].cell[row])
        assert (memory.kept[row, length:] == 0).all()
    wide = memory.concatenate(encoder(Padded(torch.randn(1, 9, WIDTH, dtype=torch.float64), mask.new_ones(1, 9))))
    assert wide.kept.shape == (4, 9, HIDDEN) and torch.equal(wide.kept[:3, :6], memory.kept)
    assert LstmnEncoder(WIDTH, hidden=HIDDEN, cell=maker("cell", "gru")).widths.kept == 0


@pytest.mark.parametrize(
    ("settings", "error", "told"),
    [
        (("encode.part=recurrent",), UsageError, r"(?s)hands on no cells.*part = \"lstmn\".*fusion = \"shallow\""),
        (("encode.cell=gru", "predict.bridge=zero"), UsageError, "hands on no cells"),
        (("predict.cell=gru", "predict.bridge=zero"), UsageError, r"(?s)this cell keeps nothing.*cell = \"lstm\""),
        (("encode.hidden=6", "predict.bridge=zero"), ShapeError, r"(?s)encoder's are 6 wide, the decoder's 7.*same"),
        (("attend=none",), UsageError, "no .attend. table"),
        (("attend.part=heads", "attend.heads=2", "attend.width=8"), ShapeError, r"(?s)14 wide.*brings 8.*width = 14"),
    ],
)
def test_what_cannot_be_fused_is_told(settings, error, told):
    keep = [each for each in SMALL if not (each.startswith("attend.") and any("attend" in some for some in settings))]
    with pytest.raises(error, match=told):
        resolve("lstmn-deep", (*keep, *settings)).build(SOURCE, TARGET)
