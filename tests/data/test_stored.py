"""Tensors that lie in a file until they are read."""

import pytest
import torch
from safetensors.torch import save_file

from regard.data.stored import stored_in


def test_what_is_read_is_what_was_written(tmp_path):
    path = tmp_path / "x.safetensors"
    given = {"a": torch.randn(3, 5, 7).half(), "b": torch.randn(2, 11).half()}
    save_file(given, str(path), metadata={"of": "a test"})
    found = stored_in(path)
    assert {name: each.shape for name, each in found.items()} == {"a": (3, 5, 7), "b": (2, 11)}
    path.unlink()  # who has it open goes on reading
    assert all(torch.equal(found[name].read(), each) for name, each in given.items())
    assert torch.equal(found["a"].read(), given["a"]), "again"


@pytest.mark.parametrize("cut", [0, 5, 30, -1])
def test_a_file_that_is_none_or_breaks_off_is_refused(tmp_path, cut):
    path = tmp_path / "x.safetensors"
    save_file({"a": torch.ones(13).half()}, str(path))
    path.write_bytes(path.read_bytes()[:cut])
    with pytest.raises(ValueError):
        stored_in(path)


def test_other_numbers_are_refused(tmp_path):
    path = tmp_path / "x.safetensors"
    save_file({"a": torch.ones(13)}, str(path))
    with pytest.raises(ValueError, match="other numbers"):
        stored_in(path)


def test_a_file_that_shrinks_is_told(tmp_path):
    path = tmp_path / "x.safetensors"
    save_file({"a": torch.ones(13).half()}, str(path))
    found = stored_in(path)
    with path.open("r+b") as file:
        file.truncate(path.stat().st_size - 2)
    with pytest.raises(EOFError, match="ends before byte"):
        found["a"].read()
