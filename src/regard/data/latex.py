r"""LaTeX as tokens, written one way: `x^2_i`, `x_i^2` and `x_{i}^{2}` are all `x _ { i } ^ { 2 }`.

A token is a command (`\frac`), an escaped sign (`\{`), the beginning or the end of an environment
(`\begin{matrix}`) or one character. A normalised formula is its tokens with a space between each two, as im2latex
writes them, and as LaTeX reads them.

What is brought to one form: white space; comments; dollars around a formula; braces around every argument and script;
the order of scripts, lower before upper; `'`, which is `^ { \prime }`; braces in braces; commands of two names. A line
whose braces do not match keeps its tokens as they are: it is no formula, whoever wrote it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

_TOKEN = re.compile(r"\\(?:begin|end)\s*\{\s*[A-Za-z]+\*?\s*\}|\\[A-Za-z]+|\\[^A-Za-z]|[^\s\\]")
_COMMENT = re.compile(r"((?:^|[^\\])(?:\\\\)*)%[^\n]*")
SAME = {
    r"\le": r"\leq", r"\ge": r"\geq", r"\ne": r"\neq", r"\to": r"\rightarrow", r"\gets": r"\leftarrow",
    r"\lbrace": r"\{", r"\rbrace": r"\}", r"\lbrack": "[", r"\rbrack": "]", r"\vert": "|", r"\Vert": r"\|",
    r"\land": r"\wedge", r"\lor": r"\vee", r"\lnot": r"\neg", r"\dots": r"\ldots", r"\dotsc": r"\ldots",
    r"\dotsb": r"\cdots", r"\owns": r"\ni", r"\dfrac": r"\frac", r"\tfrac": r"\frac", r"\space": "~",
}  # fmt: skip
_ARGUMENTS = {
    2: r"\frac \binom \overset \underset \stackrel",
    1: r"\sqrt \hat \bar \tilde \vec \dot \ddot \check \breve \acute \grave \widehat \widetilde \overline \underline "
    r"\mathbf \mathrm \mathcal \mathit \mathsf \mathtt \mathbb \mathfrak \mathscr \boldsymbol \operatorname \text "
    r"\substack",
}
ARGUMENTS = {name: count for count, names in _ARGUMENTS.items() for name in names.split()}
_PRIME = r"\prime"


def split_tokens(text: str) -> list[str]:
    """The tokens of a formula as it is written, without white space and comments."""
    found = _TOKEN.findall(_COMMENT.sub(r"\1", text))
    return ["~" if token[1:].isspace() else re.sub(r"\s", "", token) for token in found]


def normalise(text: str) -> str:
    """A formula in its one form: tokens with a space between each two."""
    return " ".join(normal_tokens(text))


def compact(tokens: Sequence[str]) -> str:
    """Tokens as people write them: a space only where a letter would else become part of a command's name."""
    text = ""
    for token in tokens:
        glued = re.search(r"\\[A-Za-z]+$", text) is not None and token[:1].isalpha()
        text += f" {token}" if glued else token
    return text


def normal_tokens(text: str) -> list[str]:
    """The tokens of a formula in its one form."""
    tokens = [SAME.get(token, token) for token in split_tokens(text)]
    tokens = _without_dollars(tokens)
    try:
        return list(_Formula(tokens).written())
    except _Unmatched:
        return tokens


class _Unmatched(Exception):
    """Braces that do not match, or an argument that is not there."""


def _without_dollars(tokens: list[str]) -> list[str]:
    """Without the signs that say where a formula begins and ends in a text."""
    for first, last in ((("$", "$"), ("$", "$")), (("$",), ("$",)), ((r"\[",), (r"\]",)), ((r"\(",), (r"\)",))):
        size = len(first)
        inside = len(tokens) >= 2 * size and tuple(tokens[:size]) == first and tuple(tokens[-size:]) == last
        if inside:
            return tokens[size:-size]
    return tokens


@dataclass
class _Scripts:
    """What stands below and above, each as it is written between its braces; None where nothing does."""

    below: list[str] | None = None
    above: list[str] | None = None

    def written(self) -> Iterator[str]:
        for sign, inside in (("_", self.below), ("^", self.above)):
            if inside is not None:
                yield from (sign, "{", *inside, "}")


class _Formula:
    """Reads tokens from left to right."""

    def __init__(self, tokens: Sequence[str]) -> None:
        self.tokens, self.place = tokens, 0

    def written(self) -> list[str]:
        """All of them, in the one form."""
        found = self._until_brace()
        if self.place < len(self.tokens):
            raise _Unmatched
        return found

    def _until_brace(self) -> list[str]:
        """What stands before the next closing brace that was not opened here, or before the end."""
        found: list[str] = []
        while self.place < len(self.tokens) and self.tokens[self.place] != "}":
            found += self._one()
        return found

    def _one(self) -> list[str]:
        """A token, a group, or a command with its arguments; scripts go with what they belong to."""
        token = self._next()
        if token in ("_", "^", "'"):
            self.place -= 1
            return self._scripts()
        if token == "{":
            return ["{", *self._group(), "}"]
        found = [token]
        if token == r"\sqrt" and self._peek() == "[":
            found += self._option()
        for _ in range(ARGUMENTS.get(token, 0)):
            found += ["{", *self._argument(), "}"]
        return found

    def _scripts(self) -> list[str]:
        """Scripts that follow one another: at most one below and one above, lower first; a second one is its own."""
        scripts = _Scripts()
        while (sign := self._peek()) in ("_", "^", "'"):
            self.place += 1
            if sign == "'":
                scripts.above = [*(scripts.above or []), _PRIME]
            elif sign == "_":
                if scripts.below is not None:
                    raise _Unmatched
                scripts.below = self._argument()
            else:
                primes = scripts.above or []
                if any(each != _PRIME for each in primes):
                    raise _Unmatched
                scripts.above = primes + self._argument()
        return list(scripts.written())

    def _argument(self) -> list[str]:
        """An argument as it stands between its braces, which may be left out around one token."""
        token = self._next()
        if token == "{":
            return self._group()
        if token in ("}", "_", "^", "'", "&", r"\\"):
            raise _Unmatched
        if token in ARGUMENTS:  # x^\frac{1}{2}
            self.place -= 1
            return self._one()
        return [token]

    def _group(self) -> list[str]:
        """What stands between braces of which the first has been read; of braces in braces what is inside both."""
        found = self._until_brace()
        if self._next() != "}":
            raise _Unmatched
        while _is_one_group(found):
            found = found[1:-1]
        return found

    def _option(self) -> list[str]:
        """An argument in square brackets: the degree of a root."""
        found: list[str] = []
        self.place += 1
        while self._peek() != "]":
            if self._peek() in (None, "}"):
                raise _Unmatched
            found += self._one()
        self.place += 1
        return ["[", *found, "]"]

    def _peek(self) -> str | None:
        return self.tokens[self.place] if self.place < len(self.tokens) else None

    def _next(self) -> str:
        token = self._peek()
        if token is None:
            raise _Unmatched
        self.place += 1
        return token


def _is_one_group(tokens: Sequence[str]) -> bool:
    """Do the first and the last token open and close the same braces?"""
    if len(tokens) < 2 or tokens[0] != "{":
        return False
    depth = 0
    for place, token in enumerate(tokens):
        depth += (token == "{") - (token == "}")
        if depth == 0:
            return place == len(tokens) - 1
    return False
