"""What a language model writes after a prompt at several temperatures: as text, and as a part of a page."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from html import escape

from regard.show.labels import isolate, readable
from regard.show.terminal import WIDTH, listing

NOTHING = "(nothing: the text ends here)"
STYLE = """
.samples { border-collapse: collapse; margin: 0.8rem 0 0; width: 100%; }
.samples caption { text-align: start; color: var(--quiet); font-size: 0.86rem; padding-bottom: 0.4rem; }
.samples th, .samples td { border-top: 1px solid var(--rule); padding: 0.5rem 1rem 0.5rem 0; text-align: start;
  vertical-align: top; white-space: pre-wrap; overflow-wrap: anywhere; }
.samples th { font-weight: 400; color: var(--quiet); font-variant-numeric: tabular-nums; }
section.written { margin-bottom: 1.6rem; }
.samples .prompt { color: var(--quiet); }
.samples th:first-child { width: 8rem; }
"""


@dataclass(frozen=True)
class Samples:
    """A prompt, and what was written after it, by temperature."""

    prompt: str
    seed: int
    written: Mapping[float, str]

    @property
    def title(self) -> str:
        """What these are, in a line."""
        asked = f"after “{readable(self.prompt)}”" if self.prompt.strip() else "after nothing"
        return f"What is written {asked}, drawn with seed {self.seed}"


def samples_text(samples: Samples, width: int = WIDTH) -> str:
    """One below the other, each under its temperature."""
    told = [listing(samples.title.split(), width, " ")]
    for temperature, text in samples.written.items():
        lines = [
            isolate(part)
            for line in (samples.prompt + text).splitlines() or [NOTHING]
            for part in listing(readable(line).split(" "), width - 2, " ").split("\n")
        ]
        told.append("\n".join([f"temperature {temperature:g}", *(f"  {line}".rstrip() for line in lines)]))
    return "\n\n".join(told)


def samples_html(found: Mapping[str, Samples]) -> str:
    """A table of what one or several models wrote after the same prompt, a column each, by their names.

    It needs the style of this module. All text is escaped.
    """
    first = next(iter(found.values()))
    names = "".join(f'<th scope="col" dir="auto">{escape(name)}</th>' for name in found) if len(found) > 1 else ""
    head = f'<thead><tr><th scope="col">temperature</th>{names}</tr></thead>' if names else ""
    rows = "".join(
        f'<tr><th scope="row">{"" if names else "temperature "}{temperature:g}</th>'
        f"{''.join(_cell(each, temperature) for each in found.values())}</tr>"
        for temperature in first.written
    )
    return f'<table class="samples"><caption>{escape(first.title)}</caption>{head}<tbody>{rows}</tbody></table>'


def _cell(samples: Samples, temperature: float) -> str:
    written = samples.written[temperature]
    told = escape(written) if written.strip() else f'<span class="prompt">{escape(NOTHING)}</span>'
    return f'<td dir="auto"><span class="prompt">{escape(samples.prompt)}</span>{told}</td>'
