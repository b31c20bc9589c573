"""The speed benchmarks (`make bench`): what they measure is what they say, on tiny models; no time is asserted."""

import json
import math
import os
import runpy
import subprocess
import sys
import time
import venv
from argparse import Namespace
from functools import partial
from importlib import import_module
from pathlib import Path

import pytest
import torch

from regard.attend import Attention
from regard.data.corpus import Corpus
from regard.search import Options
from regard.translate.translator import Translator
from small import RECIPE

sys.path.insert(0, str(Path(__file__).parents[1] / "benchmarks"))

import continuous
import corpora
import decode
import latency
import measure
import nearest
import ours
import scale
import setting
import train
import turns
import worker
from peers import buckets, compare, opennmt
from peers.environment import CONSTRAINTS, Peer

HOME = Path(__file__).parents[1] / "benchmarks"
PAIRS = 97
ASKED = {"alpha": None, "data": "folder", "quick": True, "batches": None, "sentences": 5, "model": None}


pytestmark = pytest.mark.usefixtures("one_thread", "unchecked")


@pytest.fixture(scope="module")
def text(tmp_path_factory):
    """A folder of made-up text; what is prepared from it lies in a cache beside it, once for all tests."""
    folder = tmp_path_factory.mktemp("benchmarks") / "text"
    folder.mkdir()
    corpora.write_text(folder, PAIRS)
    for language in ("de", "en"):
        (folder / f"test.{language}").write_text((folder / f"val.{language}").read_text())
    return folder


@pytest.fixture
def tiny(text, monkeypatch):
    """A setting of small shapes and made-up text."""
    monkeypatch.setenv("REGARD_CACHE", str(text.parent / "cache"))
    monkeypatch.setattr(setting, "PIECES", 311)
    monkeypatch.setattr(setting, "SHAPES", {"rnn": setting.Shape(str(RECIPE)), "transformer": SMALL_TRANSFORMER})
    return str(text)


SMALL_TRANSFORMER = setting.Shape(
    "transformer",
    (
        *("embed.width=8", "predict.embed.width=8", "encode.feed=11", "predict.feed=11"),
        *("encode.layers=1", "predict.layers=1"),
    ),
)


def asked(**more):
    """What a person asked for, unless said otherwise."""
    return Namespace(**{**ASKED, **more})


# --- what is measured --------------------------------------------------------------------------------------


def test_who_names_batch_sizes_gets_them(tiny):
    assert decode.job_of("decode", asked(data=tiny))["sizes"] != [64]
    assert decode.job_of("decode", asked(data=tiny, sizes=(64,)))["sizes"] == [64]


def test_batches_are_taken_evenly_from_short_to_long():
    lengths = [7, 3, 11, 5, 2, 13, 17, 19]
    assert worker.evenly(lengths, 4, lambda length: length) == [3, 7, 13, 19]
    assert worker.evenly(lengths, 1, lambda length: length) == [11]
    assert worker.evenly(lengths, 99, lambda length: length) == sorted(lengths)


def limited(limit, size):
    """Sentences of 2 to 19 pieces, five of each, side by side in batches of at most `limit` by somebody's counting."""
    batches = [[]]
    for length in sorted(list(range(2, 20)) * 5):
        if size([*batches[-1], length]) > limit and batches[-1]:
            batches.append([])
        batches[-1].append(length)
    return batches


@pytest.mark.parametrize(
    "size", [sum, lambda batch: 2 * len(batch) * max(batch), lambda batch: len(batch) * (max(batch) + 3)]
)
def test_batches_hold_as_many_target_pieces_whatever_a_limit_counts(size):
    found = worker.of_pieces(101, lambda limit: limited(limit, size), sum)
    assert sum(map(sum, found)) / len(found) == pytest.approx(101, rel=0.1)
    assert sum(map(sum, limited(101, size))) / len(limited(101, size)) < 96  # as many as the limit would be fewer


def test_of_batches_that_never_hold_as_many_the_nearest_are_taken():
    limits = iter([[3], [13], [5], [90], *([[1]] * 99)])
    assert worker.of_pieces(11, lambda _: next(limits), lambda pieces: pieces) == [13]


@pytest.mark.parametrize("shape", ["rnn", "transformer"])
def test_a_round_of_training_counts_the_pieces_that_are_predicted(tiny, shape):
    job = {**train.job(shape, 1, asked(data=tiny)), "pieces": 97, "batches": 3}
    about, work = ours.prepare(job)
    text = setting.corpus(tiny)
    tokenizer = setting.pieces(text)
    done = work()["done"]
    assert about["target pieces a batch"] == round(done / 3) == pytest.approx(97, rel=0.1)
    assert 0 < about["real target positions"] <= 1
    assert work()["done"] == done  # every round is the same work
    every = sum(len(ids) + 1 for ids in tokenizer.encode_ids(text.split("train")["target"]))
    assert done < every  # a part of the epoch, which stands for all of it


def test_training_moves_the_weights(tiny, monkeypatch):
    seen = []
    build = setting.build
    monkeypatch.setattr(setting, "build", lambda *given: seen.append(build(*given)) or seen[-1])
    _, work = ours.prepare({**train.job("rnn", 1, asked(data=tiny)), "pieces": 97})
    before = [each.clone() for each in seen[0].parameters()]
    work()
    assert not any(torch.equal(*pair) for pair in zip(before, seen[0].parameters(), strict=True))


@pytest.mark.parametrize("beam", [1, 3])
def test_an_untrained_model_writes_just_as_many_pieces_as_asked(tiny, beam, monkeypatch):
    found = []
    search = Translator.search
    monkeypatch.setattr(
        Translator, "search", lambda *given, **more: found.extend(search(*given, **more)) or found[-len(given[1]) :]
    )
    folder = setting.untrained("rnn", tiny)
    job = {**decode.job_of("decode", asked(data=tiny)), "threads": 1, "beam": beam, "model": str(folder), "sizes": [3]}
    about, work = ours.prepare(job)
    assert about["batch"] == 3
    assert work() == {"done": 5}
    assert {len(best[0].pieces) for best in found} == {decode.STEPS - 1}  # the end is the last step


def test_single_sentences_are_timed_one_by_one(tiny):
    job = {**decode.job_of("latency", asked(data=tiny)), "threads": 1, "beam": 2}
    _, work = ours.prepare({**job, "model": str(setting.untrained("transformer", tiny))})
    done = work()
    assert done["done"] == len(done["times"]) == 5
    assert min(done["times"]) > 0


@pytest.mark.parametrize(("shape", "uneven"), [("rnn", []), ("transformer", ["--uneven"])])
def test_continuous_and_batch_after_batch_write_the_same(tiny, shape, uneven, monkeypatch, tmp_path, capsys):
    monkeypatch.setattr(continuous, "MOST", 17)
    monkeypatch.setattr(continuous, "Options", partial(Options, max_length=17))  # untrained, it does not end by itself
    given = ["--model", str(setting.untrained(shape, tiny)), "--data", tiny, "--tokens", "64", "--beams", "2"]
    figures = ["--rounds", "1", "--sentences", "7", "--json", str(tmp_path / "continuous.json")]
    monkeypatch.setattr(sys, "argv", ["continuous.py", *given, *figures, *uneven])
    continuous.main()
    (row,) = json.loads((tmp_path / "continuous.json").read_text())
    assert row["same"] == row["of"] == (3 if uneven else 7)
    assert "| 64 | 2 |" in capsys.readouterr().out


def test_uneven_outputs_are_as_long_as_was_drawn():
    limits = continuous.Uneven(min_length=200).limits([7, 3, 7, 90])
    assert limits[0] == limits[2]
    assert len(set(limits)) > 1
    assert all(continuous.LEAST <= limit < continuous.MOST for limit in limits)


def test_peers_get_the_same_pieces_as_words(tiny):
    folder = setting.as_words(tiny)
    tokenizer, text = setting.pieces(setting.corpus(tiny)), setting.corpus(tiny).split("train")
    lines = (folder / "train.target").read_text().splitlines()
    assert len(lines) == PAIRS
    ids = [[int(word[1:]) for word in line.split()] for line in lines]
    assert [tokenizer.decode(each) for each in ids] == list(text["target"])
    names = (folder / "vocabulary").read_text().split()
    assert len(names) == len(set(names)) == len(tokenizer) - 4  # all but those that every toolkit has its own of
    assert {word for line in lines for word in line.split()} <= set(names)


def test_shapes_are_those_of_the_peers():
    """The sizes that docs/speed.md tells: BiGRU 2 x 256, GRU 512, additive 512, 512 x V; 3 + 3 layers of 256."""
    rnn = setting.build("rnn", 401)
    assert rnn.encode.widths.values == 512
    assert rnn.predict.readout.score.weight.shape == (401, 512)
    assert rnn.predict.readout.score.weight is not rnn.predict.embed.table.weight
    transformer = setting.build("transformer", 401)
    assert (len(transformer.encode.layers), len(transformer.predict.layers)) == (3, 3)
    assert transformer.embed.table.weight.shape == (401, 256)
    assert {layer.attend.heads for layer in transformer.predict.layers} == {8}


# --- processes in turn -------------------------------------------------------------------------------------

ECHO = """
from worker import serve

def prepare(job):
    print("this is no answer")
    rounds = iter(job["says"])
    return {"ready": True}, lambda: {"done": next(rounds), "clock": 2.0, "cpu": 4.0}

serve(prepare)
"""


def echo(tmp_path, name, says):
    (tmp_path / "echo.py").write_text(ECHO)
    return turns.Side(name, "echo", {"threads": 1, "says": says}, paths=(tmp_path,))


def test_sides_work_in_turn_and_the_first_round_does_not_count(tmp_path, capsys):
    first, second = turns.in_turn([echo(tmp_path, "a", [99, 2, 6, 4]), echo(tmp_path, "b", [99, 8, 8, 80])], 3)
    assert [each["done"] for each in first.rounds] == [2, 6, 4]
    assert first.about["ready"] and first.about["versions"]["Python"]
    assert first.rate() == 2.0 and first.rate("cpu") == 1.0  # the median of 1, 3, 2; half of that
    assert second.rate() == 4.0
    assert first.peak > 1
    turns.compared("both", (), [first, second])
    table = capsys.readouterr().out
    assert "| b | 4 | 2 |" in table and "| 2.00 | 2.00 |" in table
    turns.compared("both", (), [first, second], peers=True)
    assert "| 0.50 | 0.50 |" in capsys.readouterr().out


TRIES = """
from worker import serve

def prepare(job):
    held = bytearray(300 * 2**20 * (len(job["sizes"]) > 1))
    held[::4096] = bytes(len(held[::4096]))
    return {"batch": job["sizes"][-1], "tried": {}, "sizes": job["sizes"]}, lambda: {"done": 1, "held": len(held)}

serve(prepare)
"""


def test_sizes_are_tried_in_a_process_that_ends_so_that_trials_are_no_memory_of_the_work(tmp_path):
    (tmp_path / "tries.py").write_text(TRIES)
    side = turns.Side("a", "tries", {"work": "decode", "threads": 1, "sizes": [3, 7, 5]}, paths=(tmp_path,))
    (found,) = turns.in_turn([side], 1)
    assert found.about["sizes"] == [5]
    assert found.peak < 300


def test_one_size_is_not_tried():
    assert worker._fastest([7], lambda size: pytest.fail("tried")) == (7, {})


def test_our_side_finds_the_modules_that_we_found_and_a_peer_does_not(monkeypatch):
    monkeypatch.setenv("PYTHONPATH", "/some/where")
    own = turns.Side("a", "b", {"threads": 3})
    peer = turns.Side("a", "b", {"threads": 3}, "/another/python")
    assert own.environment["PYTHONPATH"].split(os.pathsep) == [str(HOME), "/some/where"]
    assert peer.environment["PYTHONPATH"] == str(HOME)
    assert own.environment["OMP_NUM_THREADS"] == "3"


def test_a_side_that_dies_is_told_by_name_with_its_last_words(tmp_path):
    with pytest.raises(SystemExit, match="(?s)b ended with 1.*StopIteration"):
        turns.in_turn([echo(tmp_path, "a", [1, 1]), echo(tmp_path, "b", [1])], 1)


def test_milliseconds_are_of_all_sentences_of_all_rounds():
    side = turns.Side("a", "b", {"threads": 1})
    found = turns.Measured(side, {}, [{"times": [1.0, 2.0, 3.0]}, {"times": [4.0, 5.0]}])
    assert found.milliseconds() == 3.0
    assert found.milliseconds(0.9) == pytest.approx(4.6)
    assert "times" not in found.told()["rounds"][0]


def test_a_report_says_what_it_holds_for(tmp_path, capsys):
    turns.report({"a": 1}, tmp_path / "new" / "file.json")
    told = json.loads((tmp_path / "new" / "file.json").read_text())
    assert told["a"] == 1
    assert {"processor", "cores", "command", "date"} <= told["machine"].keys()
    assert "processor" in capsys.readouterr().out


def test_peak_memory_is_the_process_own():
    """A child of a large parent is small."""
    held = torch.zeros(50_000_000)
    code = "import worker; print(worker.peak_bytes())"
    done = subprocess.run([sys.executable, "-c", code], cwd=HOME, capture_output=True, text=True, check=True)
    assert int(done.stdout) < held.nbytes


def test_a_long_calls_peak_is_that_of_the_profiler():
    def hold():
        held = torch.zeros(10_000_000)
        time.sleep(0.1)
        del held
        return torch.zeros(1_000_000)

    assert measure.peak(hold) == 40_000_000
    if measure._heap() is None:
        pytest.skip("the C library does not tell what it has given out")
    assert measure.sampled_peak(hold) == pytest.approx(40_000_000, rel=0.01)


# --- scale -------------------------------------------------------------------------------------------------


def test_the_power_of_a_curve():
    assert scale.power([2, 4, 8], [1.0, 9.0, 36.0]) == 2.0
    assert scale.power([2, 8], [5.0, 5.0]) == 0.0
    assert scale.power([2, 8], [0.0, 5.0]) == 0.0


def test_growth_by_length_and_beam(monkeypatch, capsys, tmp_path):
    monkeypatch.setattr(setting, "SHAPES", {"transformer": SMALL_TRANSFORMER})
    monkeypatch.setattr(scale, "PIECES", 61)
    found = {}
    for axis, sizes in (("length", [3, 7]), ("vocabulary", [53, 67]), ("beam", [1, 2])):
        curves = scale.grown(axis, sizes, ["transformer"], 1)
        scale.tables(axis, sizes, curves)
        assert all(len(values) == 2 for curve in curves.values() for values in vars(curve).values())
        found[axis] = (sizes, curves)
    lengths = found["length"][1]["transformer, update"]
    assert lengths.peak[0] < lengths.peak[1]  # more pieces, more memory
    assert "power" in capsys.readouterr().out
    scale.draw(found, tmp_path / "scale.svg")
    assert (tmp_path / "scale.svg").stat().st_size > 5_000


def test_growth_goes_on_from_the_axes_that_a_file_has(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(setting, "SHAPES", {"transformer": SMALL_TRANSFORMER})
    monkeypatch.setattr(scale, "PIECES", 61)
    for axis, sizes in (("beam", "1,2"), ("length", "3,5")):
        asked_for = ["--only", axis, "--sizes", sizes, "--shapes", "transformer", "--rounds", "1"]
        files = ["--json", str(tmp_path / "found.json"), "--picture", str(tmp_path / "found.png")]
        monkeypatch.setattr(sys, "argv", ["scale.py", *asked_for, *files])
        scale.main()
    found = scale.kept(tmp_path / "found.json")
    assert {axis: sizes for axis, (sizes, _) in found.items()} == {"length": [3, 5], "beam": [1, 2]}
    assert scale.kept(None) == {}
    assert (tmp_path / "found.png").stat().st_size > 5_000


def test_a_corpus_is_taken_in_by_a_process_of_its_own(tmp_path):
    corpora.write_text(tmp_path, PAIRS)
    job = {"folder": str(tmp_path), "cache": str(tmp_path / "cache"), "pairs": PAIRS, "pieces": 300, "batches": 2}
    (found,) = turns.in_turn([turns.Side("a", "corpora", {**job, "threads": 1})], 1, warm=0)
    done = found.rounds[0]
    assert done["batches"] == 2 and done["done"] == PAIRS
    assert [len(stage) for stage in done["stages"]] == [3, 3, 3]
    assert len(Corpus.open(tmp_path, source="de", target="en", cache=tmp_path / "cache").split("train")) == PAIRS


# --- teachers ----------------------------------------------------------------------------------------------


def test_of_a_teachers_outputs_the_nearest_is_taken_and_of_equals_the_likelier(tmp_path):
    """Line 1: three of four words in a row beat the likelier two; line 2: all are equally far."""
    references, offers = tmp_path / "train.de", tmp_path / "offers"
    references.write_text("ein hund bellt laut\nja\n", encoding="utf-8")
    offers.write_text("1\tein hund rennt weg\n1\tein hund bellt leise\n2\tnein\n2\tdoch\n", encoding="utf-8")
    assert list(nearest.nearest(references, offers)) == ["ein hund bellt leise", "nein"]


@pytest.mark.parametrize(
    ("offers", "told"),
    [
        ("1\tja\n", "expected outputs of line 2 next; found the end"),
        ("1\tja\n3\tja\n", "expected outputs of line 2 next; found 3"),
        ("1\tja\n2\tja\n3\tja\n", "ends before line 3"),
        ("ja\n", "offers:1: expected a number, a tab and an output; found 'ja'"),
    ],
)
def test_a_teacher_who_lost_a_line_is_told(offers, told, tmp_path):
    (tmp_path / "train.de").write_text("ja\nnein\n", encoding="utf-8")
    (tmp_path / "offers").write_text(offers, encoding="utf-8")
    with pytest.raises(ValueError, match=told):
        list(nearest.nearest(tmp_path / "train.de", tmp_path / "offers"))


# --- peers -------------------------------------------------------------------------------------------------


def test_every_peer_says_how_it_is_installed_and_what_it_can_do():
    for name in compare.PEERS:
        peer = compare.import_module(f"peers.{name}").PEER
        assert peer.module == f"peers.{name}"
        assert peer.works and {work for work, _ in peer.works} <= set(compare.WORKS)
        assert not any(package.startswith("torch=") for package in peer.packages)  # constraints.txt says which


def test_everybody_drops_the_same_shares():
    """What worker.py tells the peers is what our recipes have; inside a feed-forward nothing is dropped."""
    for shape, share in worker.DROPOUT.items():
        built = setting.build(shape, 401)
        looks = {each for each in built.modules() if isinstance(each, Attention)}
        others = {each for each in built.modules() if hasattr(each, "dropout")} - looks
        assert {each.dropout for each in others} - {0.0} == {share}  # one recurrent layer has nothing to drop
        assert {each.dropout for each in looks} == {worker.ATTENTION_DROPOUT}
    assert opennmt.SHAPES["transformer"]["attention_dropout"] == worker.ATTENTION_DROPOUT
    feed = torch.nn.Module()
    feed.dropout_1, feed.dropout_2 = torch.nn.Dropout(0.1), torch.nn.Dropout(0.1)
    buckets.dropped_as_ours(feed)
    assert (feed.dropout_1.p, feed.dropout_2.p) == (0.0, 0.1)


def test_the_recurrent_shape_is_decoded_by_every_toolkit_that_has_one():
    able = {name for name in compare.PEERS if ("decode", "rnn") in compare.import_module(f"peers.{name}").PEER.works}
    assert able == {"opennmt", "eole", "joeynmt"}


def test_an_environment_is_made_once_and_under_our_constraints(tmp_path, monkeypatch):
    calls = []
    made = tmp_path / "some" / "lib" / "python3" / "site-packages"
    monkeypatch.setattr(venv, "create", lambda folder, with_pip: made.mkdir(parents=True))
    monkeypatch.setattr(subprocess, "run", lambda command, check: calls.append(command))
    peer = Peer("some peer", "peers.some", ("a", "b"), alone=("c==1",), stubs=("empty",))
    python = peer.python(tmp_path)
    assert [call[-2:] for call in calls] == [["a", "b"], ["--no-deps", "c==1"]]
    assert all(call[0] == str(python) for call in calls)
    assert all(call[call.index("--constraint") + 1] == str(CONSTRAINTS) for call in calls)
    assert "torch==" in CONSTRAINTS.read_text()
    assert (made / "empty.py").read_text() == ""
    assert peer.python(tmp_path) == python
    assert len(calls) == 2  # nothing is installed again


def test_sides_of_decoding(tiny, monkeypatch):
    monkeypatch.setattr(setting, "exported", lambda model, to, weights: Path(f"{to}-{weights}"))
    job = {"threads": 2, "work": "decode"}
    found = decode.sides(job, Path("model"), decode.ENGINES)
    assert [(side.module, side.job["model"]) for side in found[:5]] == [
        ("ours", "model"),
        ("ours", "torch-int8"),
        ("ours", "onnx-float32"),
        ("ours", "onnx-int8"),
        ("ours", "ctranslate2-int8"),
    ]
    workers = [(side.job["model"], side.job["workers"], side.job["threads"]) for side in found[5:]]
    kinds = ("ctranslate2-float32", "ctranslate2-int8")
    assert workers == [(kind, shape, shape[1]) for kind in kinds for shape in ((1, 2), (2, 1))]
    rnn, transformer = (setting.untrained(shape, tiny) for shape in ("rnn", "transformer"))
    fits = decode.models(asked(data=tiny, shapes=("rnn", "transformer"), engines=decode.ENGINES))
    ours = ["torch", "torch-int8", "onnx", "onnx-int8"]
    assert fits == {"rnn": (rnn, ours), "transformer": (transformer, list(decode.ENGINES))}


def test_models_beside_the_first(tiny, monkeypatch):
    monkeypatch.setattr(setting, "exported", lambda model, to, weights: Path(f"{model.name}-{to}-{weights}"))
    rnn, transformer = (setting.untrained(shape, tiny) for shape in ("rnn", "transformer"))
    job = {"threads": 1, "work": "decode"}
    found = decode.beside(job, asked(beside=[rnn, transformer], engines=("torch", "behind-int8")))
    assert [(side.name, side.job["model"]) for side in found] == [
        (f"{rnn.name}: Regard, PyTorch, float32", str(rnn)),
        (f"{transformer.name}: Regard, PyTorch, float32", str(transformer)),
        (f"{transformer.name}: Regard, CTranslate2, int8", f"{transformer.name}-ctranslate2-int8"),
    ]
    assert decode.beside(job, asked(beside=None)) == []


@pytest.mark.parametrize(
    ("engine", "to", "name"),
    [
        ("torch-int8-shortlist", "torch", "Regard, PyTorch, int8, shortlist"),
        ("behind-int8-shortlist", "ctranslate2", "Regard, CTranslate2, int8, shortlist"),
    ],
)
def test_a_shortlist_is_learnt_once_from_the_text(engine, to, name, tiny, tmp_path, monkeypatch):
    monkeypatch.setattr(setting, "exported", lambda model, to, weights: tmp_path / f"{to}-{weights}")
    asked_for = []

    def export(model, folder, wish):
        asked_for.append((model, wish.quantization, wish.shortlist, wish.corpus.key))
        folder.mkdir()

    monkeypatch.setattr(import_module(f"regard.export.{to}"), "export", export)
    job = {"threads": 2, "work": "decode", "data": tiny}
    for _ in range(2):
        (side,) = decode.sides(job, Path("model"), [engine])
        assert (side.name, side.job["model"]) == (name, str(tmp_path / f"{to}-int8.shortlist"))
    assert asked_for == [(Path("model"), "int8", decode.CANDIDATES, setting.corpus(tiny).key)]


def test_a_process_is_timed_to_its_first_line(capsys):
    found = latency.starts({}, 1)
    assert list(found) == ["regard --help"]
    assert all(0 < seconds < math.inf for seconds in found["regard --help"])
    assert "| regard --help |" in capsys.readouterr().out


@pytest.mark.parametrize("name", ["train.py", "decode.py", "latency.py", "scale.py", "peers"])
def test_every_command_has_help_with_examples(name, monkeypatch, capsys):
    monkeypatch.setattr(sys, "argv", [name, "--help"])
    monkeypatch.setattr(sys, "path", [*sys.path])  # which peers/__main__.py changes
    with pytest.raises(SystemExit) as ended:
        runpy.run_path(str(HOME / name), run_name="__main__")
    told = capsys.readouterr().out
    assert ended.value.code == 0
    assert f"python benchmarks/{name}" in told and "--quick" in told and "--json" in told


@pytest.mark.parametrize("trained", [False, True])
def test_our_sides_beside_a_peer(trained, monkeypatch):
    """The model, its exports in fewer bits, and of one that has learnt something a list of candidates."""
    monkeypatch.setattr(compare, "bf16_gain", lambda: 2.0)
    monkeypatch.setattr(setting, "exported", lambda model, to, kind: Path(f"{to}-{kind}"))
    monkeypatch.setattr(compare, "shortened", lambda model, plain, *how: plain.with_suffix(".shortlist"))
    found = compare.ours({"shape": "rnn", "data": "text", "trained": trained}, Path("model"))
    wanted = ["model", "torch-bfloat16", "torch-int8"] + ["torch-int8.shortlist"] * trained
    assert [side.job["model"] for side in found] == wanted
    assert found[1].name == "Regard, bfloat16"
