"""Every decoder as two graphs that step, search and look as the model does, at sizes it was not traced with."""

from itertools import chain

import pytest
import torch

pytest.importorskip("onnxruntime", reason="onnxruntime is one of the dev dependencies")
pytest.importorskip("onnxscript", reason="onnxscript is one of the dev dependencies")

import onnxruntime

from exports import tokenizers
from onnx_exports import KINDS, built, exported
from regard.attend.additive import Additive
from regard.data.tokenizer import END, START
from regard.engine import MANIFEST
from regard.engine.onnx import Manifest, open_folder
from regard.errors import ModelError
from regard.export.onnx.flat import named_tensors, with_tensors
from regard.export.onnx.graphs import Layout, Step
from regard.export.onnx.trace import write_graph
from regard.search import Options, beam_search
from regard.search.penalty import heads_apart
from regard.types import Batch, Prepared, Recurrent
from small import DECODERS, model, overrides, words

EXACT = 1e-4


@pytest.fixture(params=KINDS)
def made(request, tmp_path_factory):
    return exported(request.param, tmp_path_factory)


def pairs(source, target):
    """A batch of random pairs of the given lengths."""
    sizes = [len(each) for each in tokenizers()]
    return Batch(words(sizes[0], source), words(sizes[1], target))


def test_every_decoder_is_tried():
    """But for those that do not translate: a language model's tape grows, and captions begin with an image."""
    assert sorted([*KINDS, "lstmn", "xu"]) == sorted(DECODERS)


@pytest.mark.parametrize(
    "source, target", [((5, 2, 7), (3, 11, 5)), ((1,), (2,)), ((13, 3, 1, 1, 17), (5, 2, 3, 7, 2))]
)
def test_the_graphs_step_as_the_model(made, source, target):
    batch, theirs = pairs(source, target), open_folder(made.folder).model
    states = made.model.start(batch.source), theirs.start(batch.source)
    for place in range(max(target) - 1):
        token = batch.target.data[:, place]
        with torch.no_grad():
            one, two = made.model.step(token, states[0]), theirs.step(token, states[1])
        states = one.state, two.state
        assert two.state.step == place + 1
        torch.testing.assert_close(two.logits, one.logits, atol=EXACT, rtol=EXACT)
        assert len(two.looked) == len(one.looked)
        for ours, other in zip(one.looked, two.looked, strict=True):
            torch.testing.assert_close(other.weights, heads_apart(ours.weights), atol=EXACT, rtol=EXACT)


def test_a_row_of_padding_alone(made):
    """It means nothing, but it must not disturb the rows beside it, nor be disturbed by its own content."""
    source = words(len(tokenizers()[0]), (4, 0, 2))
    with torch.no_grad():
        ours = dict(named_tensors(made.model.start(source)))
    theirs = open_folder(made.folder).model.start(source).tensors
    names = [name for name in Manifest.read(made.folder).step.inputs if name not in ("token", "step")]
    for name, found in zip(names, theirs, strict=True):
        if name in ours:
            torch.testing.assert_close(found, ours[name], atol=EXACT, rtol=EXACT)
        else:
            assert found.numel() == 0


def test_the_same_beam_search(made):
    batch, engine = pairs((5, 11, 2), (2, 2, 2)), open_folder(made.folder)
    options = Options(beam=3, nbest=3, max_length=13, alpha=0.7, beta=0.2 if made.model.predict.attends else 0.0)
    ours = beam_search(made.model, batch.source, options, start=START, end=END, record=True)
    ids = [row[mask].tolist() for row, mask in zip(batch.source.data, batch.source.mask, strict=True)]
    theirs = engine.search(ids, options, record=True)
    for one, two in zip(chain(*ours), chain(*theirs), strict=True):
        assert two.ids == one.ids
        assert two.score == pytest.approx(one.score, abs=EXACT)
        assert len(two.weights) == len(one.weights)
        for mine, other in zip(one.weights, two.weights, strict=True):
            torch.testing.assert_close(other, mine, atol=EXACT, rtol=EXACT)


def test_what_a_folder_holds_and_says(made):
    files = {"encoder.onnx", "step.onnx", "recipe.toml", "source.tokenizer.json", "target.tokenizer.json", MANIFEST}
    assert {path.name for path in made.folder.iterdir()} == files
    manifest = Manifest.read(made.folder)
    for graph in (manifest.encoder, manifest.step):
        session = onnxruntime.InferenceSession(str(made.folder / graph.file))
        for told, found in ((graph.inputs, session.get_inputs()), (graph.outputs, session.get_outputs())):
            assert [each.name for each in found] == list(told)
            assert [tuple(each.shape) for each in found] == [port.axes for port in told.values()]
            kinds = {"float32": "float", "int64": "int64", "bool": "bool"}
            assert [each.type for each in found] == [f"tensor({kinds[port.type]})" for port in told.values()]
    state = [name for name in manifest.step.inputs if name not in ("token", "step")]
    assert list(manifest.encoder.outputs) == state
    assert {name.removeprefix("next.") for name in manifest.step.outputs if name.startswith("next.")} <= set(state)


def test_what_does_not_change_is_not_handed_back(tmp_path_factory):
    manifest = Manifest.read(exported("luong", tmp_path_factory).folder)
    assert "memory.layers.0.keys" in manifest.step.inputs
    assert "next.memory.layers.0.keys" not in manifest.step.outputs
    assert manifest.step.outputs["next.layers.0.hidden"].axes == ("batch", 8)
    assert manifest.step.outputs["weights.0"].axes == ("batch", 1, 1, "source")


def test_a_past_grows_from_nothing(tmp_path_factory):
    manifest = Manifest.read(exported("transformer", tmp_path_factory).folder)
    axes = [graph[name].axes for graph, name in (
        (manifest.encoder.outputs, "past.0.keys"),
        (manifest.step.inputs, "past.0.keys"),
        (manifest.step.outputs, "next.past.0.keys"),
    )]  # fmt: skip
    assert axes == [("batch", 2, 0, 6), ("batch", 2, "past", 6), ("batch", 2, "past + 1", 6)]
    assert manifest.step.outputs["weights.0"].axes == ("batch", 4, 1, "source")


def test_limits_of_length_are_found(tmp_path_factory):
    found = {kind: Manifest.read(exported(kind, tmp_path_factory).folder).positions for kind in KINDS}
    assert found["transformer"][0] == 61  # learned positions
    assert found["transformer"][1] >= 1024  # sinusoids, as many as were written down
    assert found["tutorial"] == (67, None)  # the score 'location'
    assert found["luong"] == found["plain"] == (None, None)


# --- a state as named tensors ------------------------------------------------------------------------------


def test_a_state_taken_apart_and_put_together():
    state = (
        Recurrent(torch.ones(2, 3)),
        Prepared(torch.zeros(2, 5, 3), torch.ones(2, 5, 7), torch.ones(2, 1, 5).bool()),
    )
    found = dict(named_tensors(state))
    assert list(found) == ["0.hidden", "1.keys", "1.values", "1.mask"]
    again = with_tensors(state, {name: tensor + 1 if name != "1.mask" else tensor for name, tensor in found.items()})
    assert again[0].cell is None
    assert torch.equal(again[0].hidden, torch.full((2, 3), 2.0))
    assert torch.equal(again[1].keys, torch.ones(2, 5, 3))
    assert again[1].mask is state[1].mask


def test_axes_are_found_by_what_they_follow():
    layout = Layout.of(built("transformer"))
    assert layout.ports["memory.layers.0.keys"].axes == ("batch", 4, "source", 3)
    assert layout.ports["past.0.mask"].axes == ("batch", 1, 1, "past")
    assert layout.heads == (4,)
    assert not any(name.startswith("memory") for name in layout.fresh)


# --- what cannot be traced ----------------------------------------------------------------------------------


class Moody(Additive):
    """A score that a graph cannot have: what it does depends on what it finds."""

    def forward(self, query, keys):
        found = super().forward(query, keys)
        return found if float(found.sum()) > 0 else -found


def test_a_part_that_cannot_be_traced_is_named(tmp_path):
    made = model(overrides("predict", "luong"))
    made.predict.attend.score.__class__ = Moody
    step = Step(made, Layout.of(made))
    with pytest.raises(
        ModelError, match=r"step.onnx: predict.attend.score \(Moody\) cannot be written as an ONNX graph"
    ):
        write_graph(step, step.example, step.graph, tmp_path)
