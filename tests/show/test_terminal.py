"""An alignment as text."""

import torch

from regard.show.terminal import draw


def test_by_hand():
    weights = torch.tensor([[1.0, 0.0, 0.0], [0.0, 0.25, 0.75]])
    assert draw(weights, ["le", "chat", "."], ["the", "cat"]) == "    lechat.\nthe ██\ncat   ░░░░▓"


def test_wide_letters_take_their_place():
    lines = draw(torch.eye(2), ["猫", "a"], ["b", "犬"]).splitlines()
    assert lines == ["   猫a", " b ██", "犬   █"]
