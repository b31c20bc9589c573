"""Languages as clients of translation servers name them, and the model that a request means."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache

from regard.serve.desk import Desk
from regard.serve.detect import Found, sure
from regard.serve.refused import Refused
from regard.serve.shelf import language_code
from regard.serve.tasks import Served


@dataclass(frozen=True)
class Meant:
    """The model of a text, and what its language was found to be, where that was asked."""

    served: Served
    source: str
    found: Found | None = None


@cache
def language_name(code: str) -> str:
    """The English name of a language; the code where we know none."""
    from babel import Locale

    return Locale("en").languages.get(code, code)


def codes_of(desk: Desk) -> dict[str, list[str]]:
    """Every language that is read or written, and those that it is translated to."""
    found: dict[str, list[str]] = {}
    for source, target in desk.shelf.pairs:
        ours, theirs = language_code(source), language_code(target)
        found.setdefault(ours, [])
        found.setdefault(theirs, [])
        if theirs not in found[ours]:
            found[ours].append(theirs)
    return found


def chosen(desk: Desk, source: str, target: str) -> Served:
    """The translator of two languages that are named."""
    return desk.served(None, source, target)


async def meant(desk: Desk, texts: Sequence[str], source: str | None, target: str) -> list[Meant]:
    """The translator of each text: where its language is not named, that of the language it is found to be in.

    Where one language alone is translated to the target, it is that one, and how sure that is is told.
    """
    if source is not None:
        served = chosen(desk, source, target)
        return [Meant(served, language_code(source)) for _ in texts]
    code = language_code(target)
    there = [language for language, targets in codes_of(desk).items() if code in targets]
    if not there:
        return [Meant(desk.served(None, None, target), "") for _ in texts]
    looked = await desk.batches.alone(lambda: [desk.detector.detect(text) for text in texts])
    return [_meant(desk, found, there, target) for found in looked]


def _meant(desk: Desk, found: Sequence[Found], there: Sequence[str], target: str) -> Meant:
    """One of the languages that are translated to the target; of several, the one that is sure."""
    if len(there) == 1:
        share = next((each.share for each in found if each.language == there[0]), 0.0)
        return Meant(chosen(desk, there[0], target), there[0], Found(there[0], share))
    language = sure(found)
    if language is None or language not in there:
        told = ", ".join(f"{each.language} {each.share:.0%}" for each in found[:3]) or desk.detector.why()
        raise Refused(
            400, f"The language of the text cannot be told ({told}): name one of {', '.join(there)}.", "source"
        )
    return Meant(chosen(desk, language, target), language, found[0])
