"""What every test starts from: shapes and types checked, the same seed, one thread, and no cache of the user's."""

import builtins
import os
import secrets
import subprocess
import sys
from functools import wraps
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from pkgutil import iter_modules
from types import SimpleNamespace

import jaxtyping
import pytest
import torch
from torch.nn import functional

import shapes

# Some virtual machines announce Intel's tile unit (AMX) and then refuse it: half-precision products fail or kill
# the process. The tests ask for the same values either way, so they do without it.
os.environ.setdefault("ONEDNN_MAX_CPU_ISA", "AVX512_CORE_FP16")

# The tests of our own engine are many, and converting a model takes longer than most of them; those of the choice
# between engines undo this.
os.environ["REGARD_ENGINE"] = "torch"

# Modules that do without PyTorch import no shapes while they run; here theirs are checked all the same.
builtins.Bool, builtins.Float, builtins.Tensor = jaxtyping.Bool, jaxtyping.Float, torch.Tensor


def modules_checked():
    """All of Regard but the phrasebook: sentences have no shapes, and checked they are drawn twelve times as slowly."""
    places = list(find_spec("regard").submodule_search_locations)
    inside = [each.name for each in iter_modules([f"{place}/data" for place in places])]
    names = [each.name for each in iter_modules(places)]
    return [f"regard.{name}" for name in names if name != "data"] + [
        f"regard.data.{name}" for name in inside if name != "phrasebook"
    ]


shapes.install(modules_checked())


UNCHECKED = jaxtyping.config.jaxtyping_disable  # as it was asked for
CHECKED = 2  # updates of a training, and steps of a search, whose shapes are checked


def _check_the_first(module, name, method):
    """Check shapes in the first calls of a loop's body alone: later ones see the same, several times as slowly."""
    found = sys.modules.get(module)
    body = getattr(getattr(found, name, None), method, None)
    if body is None or hasattr(body, "spared"):
        return

    @wraps(body)
    def spared(self, *given, **named):
        self.calls_checked = getattr(self, "calls_checked", 0) + 1
        before = jaxtyping.config.jaxtyping_disable
        jaxtyping.config.update("jaxtyping_disable", before or self.calls_checked > CHECKED)
        try:
            return body(self, *given, **named)
        finally:
            jaxtyping.config.update("jaxtyping_disable", before)

    spared.spared = True
    setattr(getattr(found, name), method, spared)


@pytest.fixture(autouse=True)
def _same_start(tmp_path_factory, monkeypatch):
    shapes.calls.clear()
    jaxtyping.config.update("jaxtyping_disable", UNCHECKED)  # two threads of one test may have left it off
    _check_the_first("regard.learn.learner", "Learner", "update")
    _check_the_first("regard.search.loop", "Running", "advance")
    torch.manual_seed(20150407)
    monkeypatch.setenv("REGARD_CACHE", str(tmp_path_factory.getbasetemp() / "cache"))


@pytest.fixture
def one_thread():
    """For code that sets threads, or flushes small numbers, itself: one thread, and all as it was after."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)
    torch.set_flush_denormal(False)


@pytest.fixture
def kernel_calls(monkeypatch):
    """What every call of PyTorch's fused attention by ours was given so far: its mask and its dropout."""
    calls = []

    def counted(query, keys, values, mask, dropout, **options):
        calls.append({"mask": mask, "dropout": dropout})
        return functional.scaled_dot_product_attention(query, keys, values, mask, dropout, **options)

    module = import_module("regard.attend.attention")  # by this name the package has a function
    monkeypatch.setattr(module, "F", SimpleNamespace(scaled_dot_product_attention=counted))
    return calls


@pytest.fixture
def fused(kernel_calls, monkeypatch):
    """Fused attention wherever it can stand, however few the keys; its calls so far."""
    from regard.attend import Attention

    for name in ("short", "short_in_half"):
        monkeypatch.setattr(Attention, name, 0)
    return kernel_calls


@pytest.fixture
def unchecked():
    """For long loops over small tensors, whose values are compared: shapes and types are checked elsewhere."""
    before = jaxtyping.config.jaxtyping_disable
    jaxtyping.config.update("jaxtyping_disable", True)
    yield
    jaxtyping.config.update("jaxtyping_disable", before)


@pytest.fixture(scope="session")
def ray_address():
    """A small Ray cluster in a process of its own, for all tests that need one; its workers find the jobs of the tests.

    It ends with its standard input, also when this process is killed. Whoever joins it needs the token below.
    """
    if find_spec("ray") is None:
        pytest.skip("Ray is not installed: pip install 'regard[ray]'")
    paths = os.pathsep.join([str(Path(__file__).parent), os.environ.get("PYTHONPATH", "")])
    command = [sys.executable, str(Path(__file__).parent / "ray_cluster.py")]
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
    with subprocess.Popen(command, env=os.environ | {"PYTHONPATH": paths}, text=True, **pipes) as cluster:
        yield cluster.stdout.readline().strip()
        cluster.stdin.close()


# Files whose tests take longest, or share what takes long to set up: they go first, so that no process is left with one
# of them while the others have nothing to do.
LONG = ("compare", "quickstart", "translate_ray", "guide", "launch", "golden", "proofs")


def pytest_collection_modifyitems(items):
    items.sort(key=lambda item: item.path.stem.removeprefix("test_") not in LONG)


def pytest_configure():
    torch.set_num_threads(1)
    # A Ray of the tests is for them alone; the package reads this when it is imported.
    os.environ |= {"RAY_AUTH_MODE": "token", "RAY_AUTH_TOKEN": secrets.token_hex(32)}
