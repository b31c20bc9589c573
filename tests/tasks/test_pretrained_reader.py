"""A reader of formulas goes on from another: encoder and decoder are taken, pieces by what they are, not by number."""

import pytest
import torch

from regard.data.corpus import Corpus
from regard.errors import ModelError
from regard.model import load
from regard.recipe import resolve
from regard.tasks.job import TrainJob, silent
from regard.tasks.setup import set_up

SMALL = (
    *("encode.features=16", "encode.hidden=14", "predict.hidden=17", "predict.embed.width=11"),
    *("train.tokens=8192", "train.precision=fp32", "train.tensorboard=false", "train.schedule=constant"),
)

pytestmark = pytest.mark.usefixtures("one_thread", "unchecked")


@pytest.fixture(scope="module")
def reader(tmp_path_factory):
    """A run of a few updates over few formulas, which have few kinds of tokens."""
    out = tmp_path_factory.mktemp("pretrained") / "reader"
    settings = (*SMALL, "train.validate_steps=3")
    TrainJob("latex", "formulas-short", out, steps=3, size=60, settings=settings).train()
    return out


def prepared(reader, *settings, seed=3, told=silent):
    """All that a training over more formulas needs before its first update."""
    recipe = resolve("latex", [*SMALL, f"task.from={reader}", *settings])
    return set_up(recipe, Corpus.open("formulas-short", size=90, reads="image", wants="text"), None, seed, told)


def test_all_that_is_known_goes_along_and_new_pieces_begin_anew(reader):
    told = []
    made, other = prepared(reader, told=told.append), prepared(reader, seed=5)
    assert any(line.startswith(f"started from {reader}") and "decoder" in line for line in told)
    theirs, ours, also = load(reader / "best").state_dict(), made.model.state_dict(), other.model.state_dict()
    assert set(theirs) == set(ours)
    known = _pieces(reader / "best" / "target.tokenizer.json")
    now = {piece: number for number, piece in enumerate(_named(made.parts.target.tokenizer))}
    both, new = [piece for piece in now if piece in known], [piece for piece in now if piece not in known]
    assert len(both) > 40 and new, "the corpora share tokens, and one has more"
    assert any(known[piece] != now[piece] for piece in both), "numbered otherwise"
    rows = {"predict.embed.table.weight", "predict.readout.score.weight", "predict.readout.score.bias"}
    for name, weight in ours.items():
        if name not in rows:
            assert torch.equal(weight, theirs[name]), name
            continue
        for piece in both:
            assert torch.equal(weight[now[piece]], theirs[name][known[piece]]), (name, piece)
        if name.endswith("weight"):
            assert not any(torch.equal(weight[now[piece]], also[name][now[piece]]) for piece in new)


def test_what_is_written_otherwise_takes_the_encoder_alone(reader):
    recipe = resolve("latex", [*SMALL, f"task.from={reader}", "task.target=text", "predict.hidden=19"])
    made = set_up(recipe, Corpus.open("formulas-short", size=60, reads="image", wants="text"), None, 3, silent)
    theirs, ours = load(reader / "best").state_dict(), made.model.state_dict()
    assert all(torch.equal(ours[name], theirs[name]) for name in ours if name.startswith("encode."))
    assert ours["predict.join.weight"].shape[0] == 19


def test_another_width_is_told(reader):
    with pytest.raises(ModelError, match=r"predict.cells.0.recur.weight: 76 x 19 here, 68 x 17 there") as error:
        prepared(reader, "predict.hidden=19")
    assert "[predict]" in error.value.hint
    with pytest.raises(ModelError, match=r"predict.embed.table.weight: \d+ x 13 here, \d+ x 11 there"):
        prepared(reader, "predict.embed.width=13")


def test_a_run_goes_on_without_the_one_it_began_from(reader, tmp_path):
    settings = (*SMALL, f"task.from={reader}", "train.validate_steps=2")
    job = {"recipe": "latex", "data": "formulas-short", "out": tmp_path / "run", "size": 60, "settings": settings}
    TrainJob(**job, steps=2).train()
    TrainJob(**job, steps=3, resume=True).train()
    assert '"number": 3' in (tmp_path / "run" / "log.jsonl").read_text(encoding="utf-8")


def _pieces(path):
    from regard.data.tokenizer import Tokenizer

    return {piece: number for number, piece in enumerate(_named(Tokenizer.load(path)))}


def _named(tokenizer):
    return [tokenizer.backend.id_to_token(number) for number in range(len(tokenizer))]
