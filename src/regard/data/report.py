"""What a check of a corpus found: errors that stop, warnings that warn, and the page that shows them.

A finding says what was expected and what was found, where, with a few examples, and what to do about it.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field
from typing import Any, Literal

from regard.errors import BrokenData, DataError, MissingData

Level = Literal["error", "warning"]

SHOWN = 3  # examples of one finding: enough to recognise the fault, few enough to read


@dataclass(frozen=True)
class Finding:
    """One fault of a corpus. An `error` makes it unusable as it is; a `warning` deserves a look."""

    level: Level
    code: str  # stable, for machines: 'unequal-lines', 'invalid-utf8' ...
    message: str
    where: str = ""  # a file, a file and line, or a split
    examples: tuple[str, ...] = ()
    advice: str = ""

    def __str__(self) -> str:
        head = f"{self.where}: {self.message}" if self.where else self.message
        tail = (self.advice,) if self.advice else ()
        return "\n    ".join((head, *self.examples, *tail))


def error(code: str, message: str, where: object, *, examples: Iterable[str] = (), advice: str = "") -> Finding:
    """A finding that stops."""
    return Finding("error", code, message, str(where), tuple(examples), advice)


def warning(code: str, message: str, where: object, *, examples: Iterable[str] = (), advice: str = "") -> Finding:
    """A finding that warns."""
    return Finding("warning", code, message, str(where), tuple(examples), advice)


@dataclass(frozen=True)
class Report:
    """All that was found in one corpus, and what it holds."""

    name: str
    source: str
    target: str
    pairs: Mapping[str, int] = field(default_factory=dict)  # split -> how many pairs it holds
    findings: tuple[Finding, ...] = ()
    notes: tuple[str, ...] = ()  # what was decided on the way: languages, splits cut off, files left aside

    @property
    def errors(self) -> tuple[Finding, ...]:
        """The findings that make the corpus unusable as it is."""
        return tuple(finding for finding in self.findings if finding.level == "error")

    @property
    def warnings(self) -> tuple[Finding, ...]:
        """The findings that deserve a look, and stop nothing."""
        return tuple(finding for finding in self.findings if finding.level == "warning")

    @property
    def ok(self) -> bool:
        """Whether nothing was found that must be mended first."""
        return not self.errors

    def stop_on_errors(self) -> None:
        """Raise one error that names every error found; do nothing where there is none."""
        if self.errors:
            raise fault(self.name, self.errors)

    def as_json(self) -> str:
        """The report for machines: one JSON object."""
        body: dict[str, Any] = {
            "name": self.name,
            "source": self.source,
            "target": self.target,
            "ok": self.ok,
            "pairs": dict(self.pairs),
            "errors": [asdict(finding) for finding in self.errors],
            "warnings": [asdict(finding) for finding in self.warnings],
            "notes": list(self.notes),
        }
        return json.dumps(body, ensure_ascii=False, indent=2)

    def __str__(self) -> str:
        """The report for people, as plain text."""
        held = ", ".join(f"{split} {pairs:,}" for split, pairs in self.pairs.items()) or "no pairs"
        lines = [f"{self.name}: {self.source} -> {self.target}: {held}"]
        lines += [f"note: {note}" for note in self.notes]
        lines += [f"error: {finding}" for finding in self.errors]
        lines += [f"warning: {finding}" for finding in self.warnings]
        lines.append(f"{_count(self.errors, 'error')}, {_count(self.warnings, 'warning')}")
        return "\n".join(lines)


def fault(name: str, errors: Iterable[Finding]) -> DataError:
    """One exception that tells all the errors found in a corpus."""
    found = tuple(errors)
    body = "\n".join(f"  {finding}" for finding in found)
    kind = MissingData if all(finding.code.startswith("missing") for finding in found) else BrokenData
    return kind(f"{name} cannot be used as it is: {_count(found, 'error')}:\n{body}")


def _count(found: tuple[Finding, ...], word: str) -> str:
    return f"{len(found)} {word}" if len(found) == 1 else f"{len(found) or 'no'} {word}s"


def shorten(text: str, width: int = 70) -> str:
    """One line of a corpus as an example: cut where it is long, control characters made visible."""
    seen = "".join(letter if letter.isprintable() else repr(letter)[1:-1] for letter in text[: width + 1])
    return seen if len(text) <= width else seen[: width - 1] + "…"
