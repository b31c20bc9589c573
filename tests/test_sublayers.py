"""What the Transformer's layers are made of: by hand, and what is dropped where."""

import torch
from torch.nn import functional as F

from regard.sublayers import FeedForward, Residual


def test_feed_forward_by_hand_and_nothing_dropped_inside():
    feed = FeedForward(2, 3).train()
    rows = torch.randn(1, 4, 2)
    hidden = (rows @ feed.widen.weight.T + feed.widen.bias).clamp(min=0)
    torch.testing.assert_close(feed(rows), hidden @ feed.narrow.weight.T + feed.narrow.bias)


def test_the_skip_is_never_dropped_and_the_sublayer_is():
    rows = torch.full((1, 50, 64), 10.0)
    around = Residual(64, "before", 0.25).train()
    found = around(rows, torch.ones_like) - rows
    dropped = found == 0
    torch.testing.assert_close(found[~dropped], torch.full_like(found[~dropped], 1 / 0.75))
    assert 0.2 < dropped.float().mean() < 0.3


def test_norm_before_and_after():
    rows, double = torch.randn(1, 3, 8), lambda some: 2 * some
    before, after = (Residual(8, norm, 0.0) for norm in ("before", "after"))
    torch.testing.assert_close(before(rows, double), rows + 2 * F.layer_norm(rows, [8]))
    torch.testing.assert_close(after(rows, double), F.layer_norm(3 * rows, [8]))
