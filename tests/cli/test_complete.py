"""Completion, asked for as shells ask: through the environment."""

import os
import shutil
import subprocess
import sys
import textwrap

import pytest

from regard import cli, registry
from regard.cli import complete
from regard.data.builtin import BUILTIN
from regard.data.catalogue import DOWNLOADS
from regard.recipe import NAMED, resolve
from regard.registry import KINDS, names

HEAVY = ("torch", "numpy", "datasets", "pyarrow", "tokenizers", "safetensors", "babel", "pandas")


@pytest.fixture
def press_tab(monkeypatch, capfd):
    """Complete the last of the words, as bash asks for it."""

    def pressed(*words, shell="bash"):
        monkeypatch.setattr(sys, "argv", ["regard"])
        monkeypatch.setattr(
            sys.modules["__main__"], "__package__", None
        )  # else the program is called `python -m pytest`
        monkeypatch.setenv("_REGARD_COMPLETE", f"complete_{shell}")
        monkeypatch.setenv("COMP_WORDS", "\n".join(["regard", *words]))
        monkeypatch.setenv("COMP_CWORD", str(len(words)))
        with pytest.raises(SystemExit) as ended:
            cli.main()
        out, err = capfd.readouterr()
        assert (ended.value.code or 0, err) == (0, "")
        return out.split()

    return pressed


@pytest.mark.parametrize("command", ["train", "recipe", "compare"])
def test_recipes(press_tab, command):
    assert press_tab(command, "") == list(NAMED)
    assert press_tab(command, "tutorial") == ["tutorial", "tutorial-paper"]


def test_corpora(press_tab):
    every = [*BUILTIN, *DOWNLOADS]
    for words in (("train", "rnnsearch"), ("compare", "rnnsearch"), ("evaluate", "run"), ("export", "run")):
        assert press_tab(*words, "--data", "") == every
    assert press_tab("data", "check", "") == every
    assert press_tab("data", "get", "") == list(DOWNLOADS)
    assert press_tab("data", "make", "ph") == ["phrasebook"]


def test_kinds_and_engines(press_tab):
    assert press_tab("parts", "") == list(KINDS)
    assert press_tab("parts", "sc") == ["score", "scope", "schedule"]
    assert press_tab("export", "run", "--to", "") == ["torch", "ctranslate2", "onnx", "huggingface"]


@pytest.mark.parametrize("command", ["train", "recipe"])
def test_settings_of_the_recipe_at_hand(press_tab, command):
    found = press_tab(command, "rnnsearch", "-s", "enc")
    assert {"encode=", "encode.layers=", "encode.cell="} <= set(found)
    assert all(each.startswith("encode") and each.endswith("=") for each in found)
    assert "encode.attend.heads=" in press_tab(command, "transformer", "--set", "encode.")


def test_behind_a_whole_key_its_values(press_tab):
    """Bash parts words at an equals sign, so they come before it is written too."""
    for written in ("attend.score", "attend.score="):
        found = press_tab("train", "rnnsearch", "-s", written)
        assert [f"attend.score={name}" for name in names("score")] == found[: len(names("score"))]
    assert press_tab("train", "rnnsearch", "-s", "attend.score=ge") == ["attend.score=general"]
    assert {"train.average=ema", "train.average=none"} <= set(press_tab("train", "luong", "-s", "train.average"))
    assert press_tab("train", "luong", "-s", "task.goal.guide=r") == ["task.goal.guide=reference"]
    assert press_tab("train", "luong", "-s", "train.shard=") == ["train.shard=true", "train.shard=false"]


def test_every_value_that_is_offered_can_be_written():
    """What stands there now, written anew, gives the same recipe."""
    usual = resolve("transformer")
    plain = {key: values for key, values in complete._listed("transformer").items() if len(values) == 1}
    assert {"embed.width", "train.optimiser.betas", "train.rate", "encode.layers"} <= plain.keys()
    assert resolve("transformer", [f"{key}={value}" for key, (value,) in plain.items()]) == usual


def test_arms_of_a_comparison(press_tab, tmp_path):
    mine = tmp_path / "mine.toml"
    mine.write_text('extends = "luong"\n[predict]\npart = "bahdanau"\n')
    for arms in (["'a: transformer attend.score=dot'"], ["luong", "transformer"]):
        assert "encode.attend.heads=" in press_tab("compare", *arms, "-s", "encode.attend.h")
    assert complete._words("regard compare 'a: trans") == ["regard", "compare", "a: trans"]
    assert "predict.readout=" in press_tab("compare", str(mine), "-s", "predict.r")


def test_nothing_where_no_recipe_is_known(press_tab):
    assert press_tab("train", "nonsense", "-s", "enc") == []
    assert press_tab("train", "-s", "enc") == []


def test_a_broken_recipe_is_for_the_command_to_tell(press_tab, tmp_path):
    path = tmp_path / "broken.toml"
    path.write_text("[encode\n")
    assert press_tab("train", str(path), "-s", "enc") == []


def test_settings_are_listed_once(press_tab, monkeypatch, tmp_path):
    monkeypatch.setenv("REGARD_CACHE", str(tmp_path))
    before = press_tab("recipe", "luong", "-s", "pre")
    monkeypatch.setattr(complete, "_listed", lambda recipe: {"predict.new": ["1"]})
    assert press_tab("recipe", "luong", "-s", "pre") == before
    (kept,) = (tmp_path / "completion").iterdir()
    kept.write_text("{")
    assert press_tab("recipe", "luong", "-s", "pre") == ["predict.new="]


def test_a_cache_that_cannot_be_written(press_tab, monkeypatch, tmp_path):
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("REGARD_CACHE", str(tmp_path / "file"))
    assert "encode.layers=" in press_tab("recipe", "luong", "-s", "encode.l")


def test_nothing_heavy_is_imported(monkeypatch, tmp_path):
    """Settings need the parts once; then they are in the cache, and the other answers never need them."""
    monkeypatch.setenv("REGARD_CACHE", str(tmp_path))
    complete._keep(
        tmp_path / "completion" / f"{complete._fingerprint(NAMED['luong'])}.json", '{"encode.layers": ["1"]}'
    )
    asked = textwrap.dedent(f"""
        import os, sys
        sys.argv = ["regard"]
        from regard.cli import main
        for words in (["train", ""], ["data", "check", ""], ["parts", ""], ["recipe", "luong", "-s", "enc"]):
            os.environ |= {{"_REGARD_COMPLETE": "complete_bash", "COMP_CWORD": str(len(words))}}
            os.environ["COMP_WORDS"] = "\\n".join(["regard", *words])
            try:
                main()
            except SystemExit:
                pass
        print("IMPORTED", *(name for name in {HEAVY!r} if name in sys.modules))
    """)
    done = subprocess.run([sys.executable, "-c", asked], capture_output=True, text=True, timeout=60, check=True)
    assert done.stdout.splitlines()[-1] == "IMPORTED", done.stdout
    assert "encode.layers=" in done.stdout


@pytest.mark.skipif(shutil.which("bash") is None, reason="bash is not there")
def test_in_bash_itself(tmp_path):
    """With the script that `regard --show-completion` prints."""
    (tmp_path / "regard").write_text(f"#!{sys.executable}\nfrom regard.cli import main\nmain()\n")
    (tmp_path / "regard").chmod(0o755)
    script = textwrap.dedent("""
        source <(regard --show-completion bash)
        COMP_WORDS=(regard data make rever) COMP_CWORD=3
        _regard_completion regard
        printf '%s\\n' "${COMPREPLY[@]}"
    """)
    path = f"{tmp_path}{os.pathsep}{os.environ['PATH']}"
    command = ["bash", "--norc", "-c", script]
    done = subprocess.run(
        command, capture_output=True, text=True, timeout=60, check=True, env=os.environ | {"PATH": path}
    )
    assert done.stdout.split() == ["reverse"], done.stderr


def test_the_registry_is_asked_for_every_setting():
    found = complete._listed("rnnsearch")
    registry.load()
    assert set(found) >= {f"train.{name}" for name in registry.settings(registry.find("train", "standard"))}
