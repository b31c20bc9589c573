"""What every test starts from: the same seed, one thread, and no cache of the user's."""

import os

import pytest
import torch

# Some virtual machines announce Intel's tile unit (AMX) and then refuse it: half-precision products fail or kill
# the process. The tests ask for the same values either way, so they do without it.
os.environ.setdefault("ONEDNN_MAX_CPU_ISA", "AVX512_CORE_FP16")


@pytest.fixture(autouse=True)
def _same_start(tmp_path_factory, monkeypatch):
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


def pytest_configure():
    torch.set_num_threads(1)
