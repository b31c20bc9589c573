"""The rules of the house: import order, docstrings, sizes, no assert, no print, public names."""

import ast
import importlib
import importlib.util
import os
import re
import subprocess
import sys
from pathlib import Path

import jaxtyping
import numpy as np
import pytest
import torch

import regard
from regard.align.alignment import Alignment, merge
from regard.registry import KINDS, names, settings, summary

HOME = Path(regard.__file__).parent
PROJECT = Path(__file__).parents[1]
TREES = {path: ast.parse(path.read_text(encoding="utf-8")) for path in sorted(HOME.rglob("*.py"))}
LINES, LENGTH, PARAMETERS = 400, 50, 8
FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)


def place(path, node=None):
    """Where a rule is broken, as a person would look for it."""
    name = str(path.relative_to(HOME))
    return name if node is None else f"{name}:{node.lineno} {getattr(node, 'name', '')}".rstrip()


def nodes(kinds):
    """Every node of these kinds, in every file."""
    return [(path, node) for path, tree in TREES.items() for node in ast.walk(tree) if isinstance(node, kinds)]


def arguments(function):
    """A function's parameters, without the one that the language gives."""
    every = [*function.args.posonlyargs, *function.args.args, *function.args.kwonlyargs]
    return [each for each in every if each.arg not in ("self", "cls")]


def is_part(node):
    """Is this class registered with @part(...)?"""
    return any(isinstance(each, ast.Call) and ast.unparse(each.func) == "part" for each in node.decorator_list)


# --- import order ------------------------------------------------------------------------------------------


def lint(folder):
    """Run import-linter on a project folder; its exit code and what it says."""
    if importlib.util.find_spec("importlinter") is None:
        pytest.skip("import-linter is one of the dev dependencies")
    run = "from importlinter.cli import lint_imports_command as lint; lint(['--no-cache'])"
    paths = os.pathsep.join([str(folder / "src"), os.environ.get("PYTHONPATH", "")])
    done = subprocess.run(
        [sys.executable, "-c", run],
        cwd=folder,
        env=os.environ | {"PYTHONPATH": paths},
        capture_output=True,
        text=True,
        check=False,
    )
    return done.returncode, done.stdout + done.stderr


def test_import_order():
    code, told = lint(PROJECT)
    assert code == 0, told
    assert "0 broken" in told


def test_import_order_is_really_held(tmp_path):
    """A house in which attend imports encode must be refused by the same contract."""
    settings_file = (PROJECT / "pyproject.toml").read_text(encoding="utf-8")
    contract = settings_file[settings_file.index("[tool.importlinter]") :]
    (tmp_path / "pyproject.toml").write_text(contract, encoding="utf-8")
    package = tmp_path / "src" / "regard"
    wanted = sorted(each.stem for each in HOME.iterdir() if each.suffix == ".py" or (each / "__init__.py").is_file())
    package.mkdir(parents=True)
    for name in wanted:
        (package / f"{name}.py").write_text("")
    (package / "attend.py").write_text("from regard import encode\n")
    code, told = lint(tmp_path)
    assert code != 0
    assert "regard.attend is not allowed to import regard.encode" in told


# --- docstrings --------------------------------------------------------------------------------------------


def test_every_module_says_what_it_is_for():
    assert [place(path) for path, tree in TREES.items() if not ast.get_docstring(tree)] == []


def test_every_public_class_has_a_docstring():
    public = [(path, node) for path, node in nodes(ast.ClassDef) if not node.name.startswith("_")]
    assert [place(path, node) for path, node in public if not ast.get_docstring(node)] == []


def test_every_public_function_has_a_docstring():
    public = [
        (path, node)
        for path, tree in TREES.items()
        for node in tree.body
        if isinstance(node, FUNCTIONS) and not node.name.startswith("_")
    ]
    assert [place(path, node) for path, node in public if not ast.get_docstring(node)] == []


@pytest.mark.parametrize(("kind", "name"), [(kind, name) for kind in KINDS for name in names(kind)])
def test_every_setting_of_every_part_is_explained(kind, name):
    cls = names(kind)[name]
    assert cls.__dict__.get("__doc__"), f"{cls.__name__} has no docstring of its own"
    assert summary(cls).endswith((".", ":", "?", ")"))
    found = settings(cls)
    assert [each.name for each in found.values() if not each.about] == [], "settings without a line under Settings:"
    _, _, section = (cls.__doc__ or "").partition("Settings:\n")
    told = re.findall(r"^ {8}(\w+): ", section, re.M)
    assert told == list(found), "the docstring explains the settings in their order, and nothing else"


# --- sizes -------------------------------------------------------------------------------------------------


def test_files_are_short():
    counts = {place(path): len(path.read_text(encoding="utf-8").splitlines()) for path in TREES}
    assert {name: count for name, count in counts.items() if count > LINES} == {}


def test_functions_are_short():
    counts = {place(path, node): node.end_lineno - node.lineno + 1 for path, node in nodes(FUNCTIONS)}
    assert {name: count for name, count in counts.items() if count > LENGTH} == {}


def test_functions_take_few_parameters():
    """A part's constructor may take more, its settings being a recipe's table; so may a command and what it calls."""
    constructors = {
        each
        for _, owner in nodes(ast.ClassDef)
        if is_part(owner)
        for each in owner.body
        if isinstance(each, FUNCTIONS) and each.name == "__init__"
    }
    assert constructors
    counts = {
        place(path, node): len(arguments(node))
        for path, node in nodes(FUNCTIONS)
        if node not in constructors and path.parent != HOME / "cli" and path != HOME / "api.py"
    }
    assert {name: count for name, count in counts.items() if count > PARAMETERS} == {}


def test_file_names_have_no_numbers():
    """A numbered file name says nothing about what is in it."""
    assert [place(path) for path in TREES if re.search(r"\d", path.stem)] == []


# --- habits ------------------------------------------------------------------------------------------------


def test_no_assert():
    """User input is never checked by assert: python -O would take the check away."""
    assert [place(path, node) for path, node in nodes(ast.Assert)] == []


def test_no_print():
    assert [place(path, node) for path, node in nodes(ast.Call) if ast.unparse(node.func) == "print"] == []


def test_no_bare_except():
    assert [place(path, node) for path, node in nodes(ast.ExceptHandler) if node.type is None] == []


def test_every_signature_is_typed():
    bare = [
        place(path, node)
        for path, node in nodes(FUNCTIONS)
        if node.returns is None or any(each.annotation is None for each in arguments(node))
    ]
    assert bare == []


def test_no_unfinished_notes():
    notes = re.compile(r"\b(TODO|FIXME|XXX|HACK)\b")
    assert [place(path) for path in TREES if notes.search(path.read_text(encoding="utf-8"))] == []


def tensors_alone():
    """The doors that are open: a foreign .bin or .pth is read for its tensors, and torch refuses all else in it."""
    open_to = ("importing/huggingface.py", "encode/networks.py")
    calls = [node for path, node in nodes(ast.Call) if place(path) in open_to]
    loads = [node for node in calls if ast.unparse(node.func) == "torch.load"]
    safe = "weights_only=True"
    return [node.func for node in loads if safe in [ast.unparse(each) for each in node.keywords]]


def test_no_pickle_anywhere():
    """Loading a model must never run code: nothing of ours may name a door to pickle."""
    modules = {"pickle", "cPickle", "dill", "cloudpickle", "joblib", "shelve", "marshal"}
    doors = {"torch.load", "torch.save", "np.load", "numpy.load", "pd.read_pickle"}
    imported = [(path, node, alias.name) for path, node in nodes(ast.Import) for alias in node.names]
    imported += [(path, node, node.module or "") for path, node in nodes(ast.ImportFrom)]
    assert [place(path, node) for path, node, name in imported if name.split(".")[0] in modules] == []
    named = [(path, node) for path, node in nodes(ast.Attribute) if ast.unparse(node) in doors]
    assert [place(path, node) for path, node in named if node not in tensors_alone()] == []
    words = [(path, node) for path, node in nodes(ast.keyword) if node.arg == "allow_pickle"]
    assert [place(path, node) for path, node in words] == []


def test_the_rules_see_what_breaks_them():
    """The readers above are right about a small file in which every rule is broken."""
    wrong = ast.parse("@part('a', 'b')\nclass A:\n    def __init__(self, a, *, b): ...")
    owner = wrong.body[0]
    assert is_part(owner)
    assert not is_part(ast.parse("@dataclass\nclass A: ...").body[0])
    assert [each.arg for each in arguments(owner.body[0])] == ["a", "b"]
    assert place(HOME / "registry.py", owner) == "registry.py:2 A"


# --- public names ------------------------------------------------------------------------------------------


def test_public_names_resolve_and_are_sorted():
    assert list(regard.__all__) == sorted(regard.__all__)
    assert len(set(regard.__all__)) == len(regard.__all__)
    for name in regard.__all__:
        assert getattr(regard, name) is not None
    assert dir(regard) == sorted(regard.__all__)


def test_the_promised_names_are_there():
    """What the design promises and this much of the work has built."""
    assert set(regard.__all__) >= {"RegardError", "__version__", "attention", "load", "part", "watch"}
    assert re.fullmatch(r"\d+\.\d+\.\d+\S*", regard.__version__)


def test_a_name_that_is_not_there():
    with pytest.raises(AttributeError, match="module 'regard' has no attribute 'atention'"):
        regard.atention  # noqa: B018


PACKAGES = sorted(each.parent for each in TREES if each.name == "__init__.py")


@pytest.mark.parametrize("package", PACKAGES, ids=place)
def test_every_all_resolves(package):
    module = importlib.import_module(".".join(("regard", *package.relative_to(HOME).parts)))
    for name in getattr(module, "__all__", ()):
        assert hasattr(module, name), f"{module.__name__}.{name}"


def test_shapes_are_checked_while_tests_run():
    score = regard.part("score", "dot", query=2, key=2)
    with pytest.raises(jaxtyping.TypeCheckError):
        score(torch.zeros(1, 1, 2), torch.zeros(1, 1, 2, dtype=torch.long))


def test_shapes_are_checked_where_they_are_not_imported():
    """Modules that do without PyTorch have shapes for readers; the tests check them too."""
    with pytest.raises(jaxtyping.TypeCheckError, match="matrix"):
        Alignment(torch.zeros(2, 3, 1), ("a", "b", "c"), ("d", "e"))
    with pytest.raises(jaxtyping.TypeCheckError, match="weights"):
        merge(np.zeros((2, 3, 5), np.float32), [0, 1], [0, 1, 2], (2, 3))
