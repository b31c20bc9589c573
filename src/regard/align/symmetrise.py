"""Two sets of word links, one of each direction, made one (Och & Ney 2003; Koehn, Och & Marcu 2003).

A model that goes from source to target gives every target word its links, one that goes the other way every
source word. Links on which both agree are few and nearly all right; links that one of them has are many and
often wrong. Between the two:

    intersection            what both have
    union                   what one of them has
    grow-diag-final         from the intersection, take in links of the union that touch a link already taken
                            (side by side or corner to corner) and bring in a word that has none yet; then every
                            link of the forward and of the backward set that brings in such a word
    grow-diag-final-and     the same, but the last step takes only links both of whose words have none yet

The order in which links are looked at matters. Here it is that of the published algorithm, its outer loop over
target words: target words from first to last, source words from first to last within each, again until nothing
is added.
"""

from __future__ import annotations

from collections.abc import Iterable
from heapq import heapify, heappop, heappush

from regard.errors import UnknownName

Link = tuple[int, int]  # source word, target word; both counted from 0
METHODS = ("grow-diag-final", "grow-diag-final-and", "intersection", "union")
POSTERIOR = "posterior"  # the way that starts from the weights of both directions, not from their links
BESIDE = ((-1, 0), (0, -1), (1, 0), (0, 1), (-1, -1), (-1, 1), (1, -1), (1, 1))  # target, source


def check_method(name: str) -> None:
    """Refuse a name that is no way to make one set of links of two."""
    if name not in (*METHODS, POSTERIOR):
        raise UnknownName("way to make one set of links of two", name, (*METHODS, POSTERIOR))


def symmetrise(forward: Iterable[Link], backward: Iterable[Link], method: str = "grow-diag-final") -> list[Link]:
    """One set of links from two. Links of both are (source word, target word): turn the backward ones round first."""
    if method not in METHODS:
        raise UnknownName("way to make one set of links of two", method, METHODS)
    one, other = set(forward), set(backward)
    if method == "intersection":
        return sorted(one & other)
    if method == "union":
        return sorted(one | other)
    grown = _Growing(one & other)
    grown.touching(one | other)
    grown.final(one, both=method.endswith("-and"))
    grown.final(other, both=method.endswith("-and"))
    return sorted(grown.links)


class _Growing:
    """A set of links that grows, and the words that have one."""

    def __init__(self, links: set[Link]) -> None:
        self.links: set[Link] = set()
        self.sources: set[int] = set()
        self.targets: set[int] = set()
        for link in links:
            self._add(link)

    def _add(self, link: Link) -> None:
        self.links.add(link)
        self.sources.add(link[0])
        self.targets.add(link[1])

    def touching(self, allowed: set[Link]) -> None:
        """Take in what touches a link and brings in a word, until there is no more.

        A neighbour that was refused stays refused, since words only gain links: so each link is looked at once,
        a new one in this pass if it lies ahead, in the next one if it lies behind.
        """
        ahead = [(target, source) for source, target in self.links]
        while ahead:
            heapify(ahead)
            behind: list[Link] = []
            while ahead:
                place = heappop(ahead)
                for down, right in BESIDE:
                    new = (place[0] + down, place[1] + right)
                    link = (new[1], new[0])
                    if link in allowed and link not in self.links and self._brings_in(link, both=False):
                        self._add(link)
                        if new > place:
                            heappush(ahead, new)
                        else:
                            behind.append(new)
            ahead = behind

    def final(self, links: set[Link], both: bool) -> None:
        """Take in every link that brings in a word, or two words if `both` is asked."""
        for link in sorted(links, key=lambda link: (link[1], link[0])):
            if self._brings_in(link, both):
                self._add(link)

    def _brings_in(self, link: Link, both: bool) -> bool:
        new = (link[0] not in self.sources, link[1] not in self.targets)
        return all(new) if both else any(new)
