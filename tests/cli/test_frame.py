"""The command line's frame: quick help, exit codes, `parts`, `recipe`, `systems`, parts of a user's own, closed pipes.

What must be seen from outside runs in a process of its own; the rest runs in this one.
"""

import json
import os
import re
import subprocess
import sys
import textwrap

import pytest

from regard import cli, registry
from regard.errors import DataError
from regard.model import save
from regard.recipe import NAMED, resolve, write
from regard.registry import KINDS, names, settings
from regard.version import __version__

HEAVY = ("torch", "numpy", "datasets", "pyarrow", "tokenizers", "jaxtyping", "safetensors", "babel", "pandas")


@pytest.fixture
def run(monkeypatch, capfd):
    """Run `regard ...` here; hand back its exit code, its standard output and its standard error."""
    registry.load()
    monkeypatch.setattr(registry, "_parts", {kind: dict(parts) for kind, parts in registry._parts.items()})
    monkeypatch.delenv("REGARD_DEBUG", raising=False)
    monkeypatch.setenv("COLUMNS", "200")

    def ran(*words):
        monkeypatch.setattr(sys, "argv", ["regard", *map(str, words)])
        code = 0
        try:
            cli.main()
        except SystemExit as end:
            code = end.code or 0
        out, err = capfd.readouterr()
        return code, out, err

    return ran


def outside(*words):
    """Run `regard ...` in a process of its own."""
    command = [sys.executable, "-m", "regard", *map(str, words)]
    return subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)


# --- help, version, exit codes -----------------------------------------------------------------------------


@pytest.mark.parametrize("words", [["--help"], ["--version"], ["recipe", "--help"], ["systems"]])
def test_nothing_heavy_is_imported(words):
    """Help, version and the list of systems need no tensors."""
    watch = textwrap.dedent(f"""
        import sys
        sys.argv = ["regard", *{words!r}]
        from regard.cli import main
        try:
            main()
        except SystemExit as end:
            code = end.code or 0
        else:
            code = 0
        print("\\nIMPORTED", code, *sorted(name for name in {HEAVY!r} if name in sys.modules))
    """)
    done = subprocess.run([sys.executable, "-c", watch], capture_output=True, text=True, timeout=60, check=True)
    assert done.stdout.rsplit("IMPORTED", 1)[1].split() == ["0"], done.stderr


def test_importing_regard_imports_nothing_heavy():
    command = [sys.executable, "-c", "import sys, regard; print(*sys.modules)"]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert not {"torch", "pydantic", "typer", "rich"} & set(done.stdout.split())


def test_help_names_every_command(run):
    code, out, err = run("--help")
    assert (code, err) == (0, "")
    for command in ("quickstart", "systems", "parts", "recipe", "data", "--version", "--debug", "--parts"):
        assert command in out
    assert run("-h")[:2] == (code, out)


@pytest.mark.parametrize("command", ["parts", "recipe", "systems"])
def test_every_command_has_an_example(run, command):
    code, out, _ = run(command, "--help")
    assert code == 0
    assert re.search(rf"Example: regard {command}\b", out)


def test_version(run):
    assert run("--version") == (0, f"regard {__version__}\n", "")


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["bogus"], "No such command 'bogus'"),
        (["recipe"], "Missing argument"),
        (["parts", "--bogus"], "No such option"),
        (["recipe", "rnnsearch", "--pieces", "3"], "'--pieces'"),
        (["parts", "scor"], "Did you mean 'score'?"),
        (["recipe", "rnnserch"], "Did you mean 'rnnsearch'?"),
        (["recipe", "rnnsearch", "-s", "encode.layers"], "expected key=value"),
        (["--parts", "absent.py", "parts"], "absent.py is not a file"),
    ],
)
def test_asked_wrongly_is_exit_code_2(run, words, told):
    code, out, err = run(*words)
    assert code == 2
    assert out == "", "standard output carries results only"
    assert told in err
    assert "Traceback" not in err


def test_no_words_give_help(run):
    code, out, err = run()
    assert code in (0, 2)
    assert re.search(r"Usage:.* \[OPTIONS\] COMMAND", out + err)


def failing(error):
    def parts(*words, **options):
        raise error

    return parts


def test_a_failure_is_exit_code_1(run, monkeypatch):
    error = DataError("the file has no lines.", hint="Give one that has.")
    monkeypatch.setattr("regard.registry.names", failing(error))
    assert run("parts") == (1, "", "regard: the file has no lines.\n  Give one that has.\n")


def test_debug_shows_the_traceback():
    done = outside("--debug", "recipe", "rnnserch")
    assert done.returncode != 0
    assert "Traceback" in done.stderr
    assert "UnknownName" in done.stderr
    assert "Traceback" not in outside("recipe", "rnnserch").stderr


def test_an_interrupt_is_exit_code_130(run, monkeypatch):
    monkeypatch.setattr("regard.registry.names", failing(KeyboardInterrupt()))
    code, out, err = run("parts")
    assert (code, out) == (130, "")
    assert "Traceback" not in err


def test_an_interrupt_before_a_command_runs_is_one_too(run, monkeypatch):
    monkeypatch.setattr("regard.cli.app", failing(KeyboardInterrupt()))
    code, out, err = run("parts")
    assert (code, out) == (130, "")
    assert "Traceback" not in err


@pytest.mark.parametrize("workers", ["1", "2"])
def test_a_server_without_a_model_does_not_begin(run, tmp_path, workers):
    code, out, err = run("serve", str(tmp_path / "nosuch"), "--workers", workers)
    assert (code, out) == (1, "")
    assert "expected a model folder" in err and "http://" not in err


def test_a_page_of_answers_of_no_model_says_that_there_is_none(run, tmp_path):
    code, out, err = run("show", str(tmp_path / "nosuch"), "--answers", "3", "--data", "scenes", "--out", "page.html")
    assert (code, out) == (1, "")
    assert "nosuch is no model folder" in err


def test_a_closed_pipe_gives_no_traceback():
    """`regard systems | head -1`, where the reader has already gone: every write fails."""
    reader, writer = os.pipe()
    os.close(reader)
    command = [sys.executable, "-m", "regard", "systems"]
    process = subprocess.Popen(command, stdout=writer, stderr=subprocess.PIPE, text=True)
    os.close(writer)
    _, err = process.communicate(timeout=120)
    assert process.returncode != 0
    assert err == ""


# --- parts -------------------------------------------------------------------------------------------------


def test_parts_lists_every_part_with_every_setting(run):
    code, out, err = run("parts")
    assert (code, err) == (0, "")
    for kind, (about, _) in KINDS.items():
        assert f"{kind}: {about}\n" in out
        for name, cls in names(kind).items():
            assert re.search(rf"^  {name}\s+\S", out, re.M), f"{kind} {name}"
            for setting in settings(cls).values():
                line = rf"^    {setting.name} = \S+\s.*{re.escape(setting.about)}$"
                assert re.search(line, out, re.M), f"{kind} {name} {setting.name}"


def test_parts_of_one_kind(run):
    code, out, _ = run("parts", "scope")
    assert code == 0
    assert out.startswith("scope: which keys a query may look at\n")
    assert "local_p" in out
    assert "additive" not in out
    assert re.search(r"^    reach = 10 +keys to either side", out, re.M)


def test_parts_as_json(run):
    code, out, _ = run("parts", "--json")
    found = json.loads(out)
    assert code == 0
    assert {kind: list(parts) for kind, parts in found.items()} == {kind: list(names(kind)) for kind in KINDS}
    reach = {"name": "reach", "default": "10", "about": "keys to either side of the centre; the paper's D."}
    assert found["scope"]["local_m"]["settings"] == [reach]
    assert list(json.loads(run("parts", "score", "--json")[1])) == ["score"]


# --- recipe ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["rnnsearch", "luong-local-p"])
def test_recipe_prints_what_builds_the_same(run, name, tmp_path):
    code, out, err = run("recipe", name)
    assert (code, err) == (0, "")
    assert out == write(resolve(name))
    path = tmp_path / "mine.toml"
    path.write_text(out)
    assert run("recipe", path) == (0, out, ""), "what is printed is a recipe again, and prints the same"


def test_recipe_with_settings(run):
    words = ("-s", "attend.score=dot", "--set", "encode.layers=3")
    code, out, _ = run("recipe", "rnnsearch", *words)
    assert code == 0
    assert out == write(resolve("rnnsearch", ["attend.score=dot", "encode.layers=3"]))
    assert "\nlayers = 3 " in out


def test_recipe_of_a_model_folder(run, tmp_path):
    (tmp_path / "recipe.toml").write_text('extends = "tutorial"\n')
    assert run("recipe", tmp_path)[:2] == (0, write(resolve("tutorial")))


def test_recipe_counts_its_parameters(run):
    code, out, err = run("recipe", "tutorial", "--pieces", "41")
    assert code == 0
    assert out == write(resolve("tutorial")), "the count is a word to the person, not a result"
    model = resolve("tutorial").build(41, 41)
    total = sum(each.numel() for each in model.parameters())
    assert err.startswith(f"{total:,} parameters for 41 pieces: embed {41 * 64:,}, encode ")


def test_widths_that_do_not_fit(run):
    code, _, err = run("recipe", "transformer", "--pieces", "41", "-s", "attend.heads=7")
    assert code == 2
    assert "7 heads cannot share a width of 256" in err
    assert "heads = 8" in err


FIVE = """\
extends = "rnnsearch"

[encode]
layer = 2
hidden = "wide"
direction = "bth"

[attend]
score = "aditive"
dropout = 1.5
"""


def test_five_mistakes_are_five_messages(run, tmp_path):
    path = tmp_path / "mine.toml"
    path.write_text(FIVE)
    code, out, err = run("recipe", path)
    assert (code, out) == (2, "")
    known = ", ".join(settings(names("encode")["recurrent"]))
    assert err == textwrap.dedent(f"""\
        regard: the recipe has 5 mistakes:
          {path}:4: encode.layer: the encode 'recurrent' has no setting 'layer'; it has {known}.
            Did you mean 'layers'?
          {path}:5: encode.hidden: expected a whole number greater than 0; found "wide".
            Write hidden = 256.
          {path}:6: encode.direction: expected one of "forward", "backward", "both", "bottom"; found "bth".
            Write direction = "both".
          {path}:9: attend.score.part: no score is called 'aditive'; there are {", ".join(names("score"))}.
            Did you mean 'additive'?
          {path}:10: attend.dropout: expected a number at least 0 and less than 1; found 1.5.
            Write dropout = 0.0.
        """)


# --- systems -----------------------------------------------------------------------------------------------


def test_systems(run):
    code, out, err = run("systems")
    assert (code, err) == (0, "")
    for name in NAMED:
        recipe = resolve(name)
        about, verb = recipe.about, recipe.task.settings["verb"]
        assert f"{name}  ({verb})\n    {about.paper}\n    {about.shows}\n" in out


def test_systems_as_json(run):
    code, out, _ = run("systems", "--json")
    assert code == 0
    found = json.loads(out)
    assert set(found) == set(NAMED)
    assert found["rnnsearch"]["title"] == "RNNsearch"
    assert set(found["rnnsearch"]) == {"title", "paper", "task", "shows", "minutes"}
    assert found["rnnsearch"]["minutes"] == resolve("rnnsearch").reproduce.minutes
    assert found["rnnsearch-paper"]["minutes"] is None


# --- parts of a user's own ---------------------------------------------------------------------------------

USERS = '''
"""A score of a user's own."""
from __future__ import annotations

from torch import Tensor

from regard.attend.score import Score
from regard.registry import part


@part("score", "reversed_dot")
class ReversedDot(Score):
    """The dot product with the query read backwards.

    Settings:
        factor: what it is multiplied by.
    """

    def __init__(self, query: int, key: int, *, factor: float = 3.0) -> None:
        super().__init__()
        self.factor = factor

    def forward(self, query: Tensor, keys: Tensor) -> Tensor:
        return self.factor * query.flip(-1) @ keys.mT
'''


@pytest.fixture
def users(tmp_path):
    path = tmp_path / "users.py"
    path.write_text(USERS)
    return path


def test_a_users_score_is_listed(run, users):
    assert "reversed_dot" not in run("parts", "score")[1]
    code, out, _ = run("--parts", users, "parts", "score")
    assert code == 0
    assert re.search(
        r"^  reversed_dot +The dot product with the query read backwards\.\n"
        r"    factor = 3\.0 +what it is multiplied by\.$",
        out,
        re.M,
    )


def test_a_users_score_is_used_in_a_recipe(run, users, tmp_path):
    recipe = tmp_path / "mine.toml"
    recipe.write_text('extends = "rnnsearch"\n[attend]\nscore = { part = "reversed_dot", factor = 5 }\n')
    code, _, err = run("recipe", recipe)
    assert code == 2
    assert "no score is called 'reversed_dot'" in err
    code, out, err = run("--parts", users, "recipe", recipe, "--pieces", "41")
    assert code == 0, err
    assert 'part = "reversed_dot"' in out
    assert "factor = 5.0" in out
    assert "parameters for 41 pieces" in err


def test_a_model_says_which_parts_of_a_users_own_it_needs(run, users, tmp_path):
    recipe = tmp_path / "mine.toml"
    recipe.write_text('extends = "rnnsearch-small"\n[attend]\nscore = "reversed_dot"\n')
    registry.load_file(users)
    save(resolve(recipe).build(41, 43), tmp_path / "model")
    head = (tmp_path / "model" / "recipe.toml").read_text().splitlines()[:2]
    assert head == [
        "# Needs parts that do not come with Regard: the score 'reversed_dot' of users.py.",
        "# Every command begins with: regard --parts users.py",
    ]
    assert resolve(tmp_path / "model") == resolve(recipe)
    del registry._parts["score"]["reversed_dot"]
    code, out, err = run("translate", tmp_path / "model", users)
    assert (code, out) == (1, "")
    assert f"{tmp_path / 'model'} needs parts that are not registered: the score 'reversed_dot'." in err
    assert "regard --parts FILE.py translate" in err


def test_a_users_file_that_breaks(run, tmp_path):
    path = tmp_path / "broken.py"
    path.write_text("1 / 0\n")
    code, out, err = run("--parts", path, "parts")
    assert (code, out) == (2, "")
    assert f"{path} could not be run: ZeroDivisionError" in err
