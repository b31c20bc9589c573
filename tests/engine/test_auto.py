"""Model folders that CTranslate2 runs by itself: converted once, checked, kept; PyTorch for what it cannot do."""

import os
import shutil
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

pytest.importorskip("ctranslate2", reason="ctranslate2 is one of the dev dependencies")

import regard
from exports import LINES, OTHERS, saved
from regard.align.record import Aligner
from regard.engine import AUTO, open_engine
from regard.engine import converted as converting
from regard.engine.auto import Auto
from regard.engine.ctranslate2 import CTranslate2
from regard.engine.pytorch import Torch
from regard.search import Options, Shortlist
from regard.show.watch import watch
from regard.translate.translator import Translator

HEADS = Aligner("cross", 0, (1, 3))
LEARNED = ["embed.position=learned", "embed.position.longest=59", "predict.embed.position=sinusoid"]


@pytest.fixture(scope="module")
def home(tmp_path_factory):
    """A model, and a cache in which it is converted already."""
    home = tmp_path_factory.mktemp("auto")
    saved(home / "model", LEARNED, HEADS)
    with pytest.MonkeyPatch.context() as patch:
        said = engines_are_chosen(patch, home / "cache")
        open_engine(home / "model", AUTO, say=said.append)
    assert len(said) == 1 and said[0].startswith("converting it for CTranslate2, once, into")
    return home


def engines_are_chosen(patch, cache):
    patch.delenv("REGARD_ENGINE")
    patch.setenv("REGARD_CACHE", str(cache))
    return []


@pytest.fixture
def said(home, monkeypatch):
    """Engines are chosen here; what is said about it."""
    return engines_are_chosen(monkeypatch, home / "cache")


@pytest.fixture
def auto(home, said):
    return Translator.load(home / "model", AUTO, 1, said.append)


@pytest.fixture(scope="module")
def ours(home):
    return Translator.load(home / "model")


@pytest.fixture
def no_child(monkeypatch):
    """No conversion is made here."""
    monkeypatch.setattr(subprocess, "run", lambda *given, **more: pytest.fail(f"a child was started: {given}"))


def kept(home):
    (place,) = (each for each in (home / "cache" / "ctranslate2").iterdir() if each.is_dir())
    return place


# --- what is used ------------------------------------------------------------------------------------------


def test_a_kept_conversion_is_used_and_said_in_a_line(home, auto, said, no_child):
    assert isinstance(auto.engine, Auto) and auto.engine._own is None
    assert said == [f"run by CTranslate2, as converted in {kept(home)} (--engine torch: by PyTorch)"]
    assert not [each for each in kept(home).parent.iterdir() if each.name.startswith(".")], "nothing half-made is left"


def test_the_same_translation(auto, ours):
    for one, two in zip(ours.translate(LINES, beam=1), auto.translate(LINES, beam=1), strict=True):
        assert (one.text, one.pieces) == (two.text, two.pieces)
        assert two.likelihood == pytest.approx(one.likelihood, abs=0.02), "what is avoided leaves its softmax"
        assert two.alignment.note == one.alignment.note
        assert np.allclose(two.alignment.numpy(), one.alignment.numpy(), atol=1e-4)
    assert auto.engine._own is None, "PyTorch was not needed"
    assert auto.score(LINES, OTHERS) == pytest.approx(ours.score(LINES, OTHERS), abs=1e-3)
    assert [each.links() for each in auto.align(LINES, OTHERS)] == [each.links() for each in ours.align(LINES, OTHERS)]


def test_every_layer_is_there_for_who_asks(auto, ours):
    one, two = ours.translate(LINES[0], beam=1), auto.translate(LINES[0], beam=1)
    assert [each.shape for each in two.attention] == [each.shape for each in one.attention]
    for mine, other in zip(one.attention, two.attention, strict=True):
        assert np.allclose(mine, other, atol=1e-4)
    assert two.record.alignment().note == two.alignment.note
    assert np.allclose(two.record.alignment().numpy(), two.alignment.numpy(), atol=1e-4)
    assert two.record is two.record, "it is made once"


def test_the_model_can_be_looked_into(auto, ours):
    assert auto.look(LINES[0], OTHERS[0]).kinds == ours.look(LINES[0], OTHERS[0]).kinds
    assert isinstance(auto.engine.whole(), Torch)
    with watch(auto.model) as seen:
        auto.translate(LINES[0])
    assert seen.looks, "who watches the model sees it look"


@pytest.mark.parametrize(
    ("options", "more"),
    [
        (Options(beam=2, beta=0.3), {}),
        (Options(beam=1), {"continuous": True}),
        (Options(beam=1, shortlist=Shortlist.of(list(range(4, 307)), {}, 293)), {}),
    ],
    ids=["coverage", "continuous", "shortlist"],
)
def test_what_it_cannot_do_the_model_does(auto, ours, options, more):
    lines = LINES[1:2]
    for one, two in zip(ours.search(lines, options, **more), auto.search(lines, options, **more), strict=True):
        assert one[0].text == two[0].text
        assert two[0].alignment.note == one[0].alignment.note
        assert np.allclose(one[0].alignment.numpy(), two[0].alignment.numpy(), atol=1e-5)
    assert auto.engine._own is not None


@pytest.mark.parametrize(
    ("positions", "able"), [((59, 31), True), ((59, 30), False), ((10, 59), True), ((9, 59), False)]
)
def test_what_is_too_long_for_it_is_left_to_the_model(auto, positions, able):
    """A source of nine pieces and the end, for which there may be thirty pieces and the end."""
    engine, source = auto.engine, [[*range(280, 289), 2]]
    engine.fast.manifest = replace(engine.fast.manifest, positions=positions)
    engine.search(source, Options(beam=1), record=True)
    assert (engine._own is None) == able
    (forced,) = engine.force(source, [list(range(270, 300))], record=True)
    assert forced.weights[0].shape == (1, 31, 10)
    assert (engine._own is None) == able


def test_load_is_auto_and_tells_standard_error(home, said, no_child, capfd):
    assert isinstance(regard.load(home / "model").engine, Auto)
    told = capfd.readouterr()
    assert told.out == "" and told.err.count("\n") == 1 and "run by CTranslate2" in told.err
    assert isinstance(regard.load(home / "model", engine="torch").engine, Torch)
    assert isinstance(regard.load(home / "model", engine=None).engine, Torch)
    exported = regard.load(kept(home))
    assert isinstance(exported.engine, CTranslate2), "an export is what it is"
    assert capfd.readouterr().err == ""


def test_a_setting_leaves_all_to_torch(home, said, no_child, monkeypatch):
    monkeypatch.setenv("REGARD_ENGINE", "torch")
    assert isinstance(open_engine(home / "model", AUTO, say=said.append), Torch)
    assert said == []


# --- what is converted -------------------------------------------------------------------------------------


def test_another_content_is_another_conversion(home, tmp_path, monkeypatch):
    names = set()
    for changed in (None, *converting.MADE_OF):
        folder = shutil.copytree(home / "model", tmp_path / str(changed))
        if changed:
            (folder / changed).write_bytes((folder / changed).read_bytes() + b" ")
        names.add(converting._digest(folder, "4.8.4"))
    assert len(names) == 1 + len(converting.MADE_OF)
    assert converting._digest(home / "model", "4.8.4") in names, "wherever it lies"
    names |= {converting._digest(home / "model", "4.8.5")}
    monkeypatch.setattr(converting, "__version__", "9.9.9")
    assert len(names | {converting._digest(home / "model", "4.8.4")}) == len(converting.MADE_OF) + 3


def test_what_cannot_be_is_not_tried(tmp_path, said, no_child, monkeypatch):
    recurrent = shutil.copytree(saved(tmp_path / "model"), tmp_path / "recurrent")
    recipe = (recurrent / "recipe.toml").read_text()
    for part in ("encode", "predict"):
        (recurrent / "recipe.toml").write_text(
            recipe.replace(f'[{part}]\npart = "transformer"', f'[{part}]\npart = "x"')
        )
        assert converting.converted(recurrent, said.append) is None
    assert converting.converted(tmp_path / "nowhere", said.append) is None
    monkeypatch.setitem(sys.modules, "ctranslate2", None)
    assert isinstance(open_engine(tmp_path / "model", AUTO, say=said.append), Torch)
    assert said == []


def child(monkeypatch, code=0, out="", err="", made=True):
    """A child that only seems to convert; how often it was started."""
    started = []

    def run(command, **more):
        started.append(command)
        if made and not code:
            fresh = Path(command[-1])
            fresh.mkdir()
            (fresh / "model.bin").write_text("made")
        return SimpleNamespace(returncode=code, stdout=out, stderr=err)

    monkeypatch.setattr(subprocess, "run", run)
    return started


def test_a_refusal_is_said_once_and_remembered(home, tmp_path, said, monkeypatch):
    monkeypatch.setenv("REGARD_CACHE", str(tmp_path))
    started = child(monkeypatch, converting.REFUSED, "CTranslate2 cannot express this model:\n  attend: hard.\n")
    for _ in range(2):
        assert converting.converted(home / "model", said.append) is None
    assert len(started) == 1 and len(said) == 2
    assert said[1] == "run by PyTorch: CTranslate2 cannot express this model: attend: hard."
    assert sorted(each.suffix for each in (tmp_path / "ctranslate2").iterdir()) == [".txt"]


@pytest.mark.parametrize("failure", ["child", "read-only", "late"])
def test_what_fails_is_said_in_a_line_and_left_to_torch(home, tmp_path, said, monkeypatch, failure):
    monkeypatch.setenv("REGARD_CACHE", str(tmp_path / "cache"))
    if failure == "read-only":
        (tmp_path / "cache").write_text("a file in its place")
    elif failure == "child":
        child(monkeypatch, 1, err="Traceback\nOSError: [Errno 28] No space left on device\n")
    else:
        monkeypatch.setattr(converting, "TIMEOUT", 0.01)
    assert isinstance(open_engine(home / "model", AUTO, say=said.append), Torch)
    assert said[-1].startswith("run by PyTorch, since it could not be converted for CTranslate2: ")
    assert "\n" not in said[-1]
    if failure != "read-only":
        assert list((tmp_path / "cache" / "ctranslate2").iterdir()) == [], "it is tried again next time"


def test_who_comes_second_takes_what_is_there(home, tmp_path, said, monkeypatch):
    """Another process puts its conversion in place while ours is made."""
    monkeypatch.setenv("REGARD_CACHE", str(tmp_path))

    def run(command, **more):
        fresh = Path(command[-1])
        for each in (fresh, fresh.parent.parent / fresh.name):
            each.mkdir()
        (fresh / "whose").write_text("ours")
        (fresh.parent.parent / fresh.name / "whose").write_text("theirs")
        return SimpleNamespace(returncode=0, stdout="", stderr="")

    monkeypatch.setattr(subprocess, "run", run)
    place = converting.converted(home / "model", said.append)
    assert (place / "whose").read_text() == "theirs"
    assert list(place.parent.iterdir()) == [place]


@pytest.mark.parametrize("broken", ["model.bin", "export.json", "target_vocabulary.json"])
def test_a_broken_conversion_is_made_again(home, tmp_path, said, monkeypatch, broken):
    monkeypatch.setenv("REGARD_CACHE", str(tmp_path))
    place = shutil.copytree(kept(home), tmp_path / "ctranslate2" / kept(home).name)
    (place / broken).write_bytes((place / broken).read_bytes()[:100])

    def run(command, **more):
        shutil.copytree(kept(home), command[-1])
        return SimpleNamespace(returncode=0, stdout="", stderr="")

    monkeypatch.setattr(subprocess, "run", run)
    assert isinstance(open_engine(home / "model", AUTO, say=said.append), Auto)
    assert [each.split()[0] for each in said] == ["run", "converting"]
    assert list(place.parent.iterdir()) == [place]


def test_one_that_stays_broken_is_left_to_torch(home, tmp_path, said, monkeypatch):
    monkeypatch.setenv("REGARD_CACHE", str(tmp_path))
    started = child(monkeypatch)
    assert isinstance(open_engine(home / "model", AUTO, say=said.append), Torch)
    assert len(started) == 2


def test_only_the_newest_are_kept(tmp_path, monkeypatch):
    monkeypatch.setattr(converting, "KEPT", 3)
    for age, name in enumerate(("a", "b", "c", "d", "e")):
        (tmp_path / name).mkdir()
        os.utime(tmp_path / name, (1000 - age, 1000 - age))
    (tmp_path / "x.txt").write_text("a refusal")
    converting._tidy(tmp_path)
    assert sorted(each.name for each in tmp_path.iterdir()) == ["a", "b", "c", "x.txt"]


def test_the_child_says_why_it_refuses(tmp_path, capsys):
    from regard.export.ctranslate2.__main__ import main

    folder = saved(tmp_path / "model", ["attend.attend.choice=hard"])
    assert main(str(folder), str(tmp_path / "out")) == converting.REFUSED
    assert "attend.attend.choice: expected soft; found hard" in capsys.readouterr().out
    assert not (tmp_path / "out").exists()


# --- what is imported --------------------------------------------------------------------------------------

HEAVY = {"accelerate", "babel", "datasets", "huggingface_hub", "matplotlib", "pandas", "pyarrow", "ray", "sacrebleu"}
HEAVY |= {"onnx", "onnxruntime", "tensorboard", "transformers"}
COMMAND = """
import sys
sys.argv = ["regard", "translate", sys.argv[1], sys.argv[2], "--engine", sys.argv[3], "--alignments", "hard"]
from regard.cli import main
try:
    main()
except SystemExit:
    pass
"""
PYTHON = """
import sys, regard
found = regard.load(sys.argv[1], engine=sys.argv[3]).translate(open(sys.argv[2]).readlines())
assert all(each.alignment.pharaoh() is not None for each in found)
"""
TOLD = "\nsys.stderr.write('loaded: ' + ' '.join({name.split('.')[0] for name in sys.modules}))"


@pytest.mark.parametrize(
    ("code", "engine", "more"),
    [
        (COMMAND, "auto", {"torch"}),
        (PYTHON, "auto", {"torch", "pydantic", "typer"}),
        (COMMAND, "torch", {"ctranslate2"}),
        (PYTHON, "torch", {"ctranslate2", "typer"}),
    ],
    ids=["command, auto", "python, auto", "command, torch", "python, torch"],
)
def test_only_what_is_needed_is_imported(home, tmp_path, said, code, engine, more):
    (tmp_path / "lines").write_text("".join(f"{line}\n" for line in LINES))
    command = [sys.executable, "-c", code + TOLD, str(home / "model"), str(tmp_path / "lines"), engine]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    loaded = set(done.stderr.partition("loaded: ")[2].split())
    assert "tokenizers" in loaded and loaded & (HEAVY | more) == set()
    if "regard.cli" in code:
        assert done.stdout.count("\n") == len(LINES)
