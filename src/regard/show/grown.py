"""The tree of a search: every hypothesis that was followed, and which became which."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from regard.hooks import Grown, hook


@dataclass(frozen=True)
class Node:
    """A piece that a search wrote: after which node (0 is the start), how likely all is so far, and is it an end."""

    parent: int
    piece: int
    likelihood: float
    ended: bool


@dataclass
class Tree:
    """The nodes in the order in which they were written; those of one sentence. Node 0 is the start."""

    nodes: list[Node] = field(default_factory=lambda: [Node(-1, -1, 0.0, False)])
    rows: list[int] = field(default_factory=lambda: [0])

    def hear(self, event: Grown) -> None:
        """A step further."""
        numbers = (event.parent.tolist(), event.piece.tolist(), event.likelihood.tolist(), event.ended.tolist())
        first = len(self.nodes)
        self.nodes += [Node(self.rows[parent], *told) for parent, *told in zip(*numbers, strict=True)]
        self.rows = [first + place for place in event.going.tolist()]

    def path(self, ids: tuple[int, ...]) -> list[int]:
        """The nodes of an output, from its first piece to its end; none where the search did not follow it."""
        found, at = list[int](), 0
        for place, piece in enumerate((*ids, None)):
            nodes = [
                number
                for number, node in enumerate(self.nodes)
                if node.parent == at and (node.ended if piece is None else node.piece == piece and not node.ended)
            ]
            if not nodes:
                return found if place == len(ids) else []
            at = nodes[0]
            found.append(at)
        return found


@contextmanager
def grown() -> Iterator[Tree]:
    """The tree of the search that is made inside the block, of one sentence."""
    tree = Tree()
    with hook(Grown, tree.hear):
        yield tree
