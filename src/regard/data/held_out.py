"""How much is held out: what is cut off from train for validation and test, where a corpus has no such splits."""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from pathlib import Path

from regard.errors import ModelError, UsageError

FILE = "held_out.json"  # of a model folder

Amount = int | float  # so many pairs, or a share of them below 1
Cut = Mapping[str, Amount | None]  # split -> how much of train it takes; nothing said is the usual

_USUAL = 2_000  # pairs of a split that is cut off, where there is plenty
_MOST = 0.1  # and the largest share of the training pairs it may take


@dataclass(frozen=True)
class HeldOut:
    """What was asked for. Where nothing was, a split that must be cut off takes the usual amount."""

    validation: Amount | None = None
    test: Amount | None = None
    insist: bool = True  # else what does not fit a corpus is not wanted of it: it has such a split

    def __post_init__(self) -> None:
        for name in ("validation", "test"):
            amount = getattr(self, name)
            if amount is not None and not (amount >= 0 and (isinstance(amount, int) or amount < 1)):
                raise UsageError(f"{name}: expected a number of pairs, or a share below 1; found {amount}.", hint=_HINT)

    def __bool__(self) -> bool:
        return self.validation is not None or self.test is not None

    def cut(self, usual: Collection[str], there: Collection[str | None], name: str) -> Cut:
        """What is cut off from a corpus that has the splits `there`, and from which `usual` ones would be."""
        found: dict[str, Amount | None] = dict.fromkeys(usual)
        own = {"val": not {"val", None}.isdisjoint(there), "test": any(each not in ("train", "val") for each in there)}
        for split, amount in (("val", self.validation), ("test", self.test)):
            if amount is None:
                continue
            if "train" in there and not own[split]:
                found[split] = amount
            elif self.insist:
                why = "it has a split of its own" if own[split] else "it has no train split"
                raise UsageError(f"{name}: {split} cannot be cut off: {why}.", hint=f"Leave {_OPTIONS[split]} out.")
        return {split: amount for split, amount in found.items() if amount != 0}

    def fitting(self, cut: Cut) -> tuple[Amount | None, Amount | None]:
        """What was asked for, validation and test, without what did not fit the corpus that was cut so."""
        if self.insist:
            return self.validation, self.test
        return self.validation if "val" in cut else None, self.test if "test" in cut else None

    @property
    def files(self) -> dict[str, str]:
        """What a model folder keeps of it: nothing where nothing was asked for."""
        asked = {"validation": self.validation, "test": self.test}
        return {FILE: json.dumps(asked) + "\n"} if self else {}


USUAL = HeldOut()
_OPTIONS = {"val": "--validation", "test": "--test"}
_HINT = "Write 1000 for a thousand pairs, 0.05 or 5% for one in twenty, 0 for none."


def read_amount(text: str) -> Amount:
    """A number of pairs (`1000`) or a share of them (`0.05`, `5%`), as a person writes it."""
    try:
        return float(text[:-1]) / 100 if text.endswith("%") else int(text) if text.isdecimal() else float(text)
    except ValueError:
        raise UsageError(f"expected a number of pairs, or a share of them; found '{text}'.", hint=_HINT) from None


def read_held_out(validation: str | None, test: str | None) -> HeldOut:
    """What a person asks for, as it is written."""
    first, second = (None if text is None else read_amount(text) for text in (validation, test))
    return HeldOut(first, second)


def share_of(amount: Amount | None, pairs: int) -> float:
    """Which share of the training pairs an amount is; the usual one is about 2,000 pairs, at most a tenth."""
    if isinstance(amount, float):
        return amount
    share = (_USUAL if amount is None else amount) / max(pairs, 1)
    return min(_MOST, share) if amount is None else share


def shares_of(cut: Cut, pairs: int) -> dict[str, float]:
    """The share of each split that is cut off; something must be left to train on."""
    shares = {split: share_of(amount, pairs) for split, amount in cut.items()}
    if sum(shares.values()) >= 1:
        told = " and ".join(f"{_told(amount)} for {split}" for split, amount in cut.items())
        raise UsageError(f"of about {pairs:,} pairs, {told} leave none to train on.", hint=_HINT)
    return shares


def cut_note(cut: Cut, by: str = "source line") -> str:
    """What to say about it."""
    if not any(cut.values()):
        amounts = "about 2,000 pairs each, at most a tenth"
    else:
        amounts = ", ".join(f"{_told(amount)} for {split}" for split, amount in cut.items())
    return f"{' and '.join(cut)} cut off from train by a hash of the {by} ({amounts})"


def _told(amount: Amount | None) -> str:
    if amount is None:
        return "about 2,000 pairs, at most a tenth,"
    return f"{amount:.3g} of all" if isinstance(amount, float) else f"about {amount:,} pairs"


def recorded(folder: Path) -> HeldOut:
    """What the training of a model was asked for, from its folder: who tests it must cut off the same pairs."""
    path = folder / FILE
    if not path.is_file():
        return USUAL
    try:
        values = json.loads(path.read_text(encoding="utf-8"))
        return HeldOut(values.get("validation"), values.get("test"), insist=False)
    except (ValueError, AttributeError, TypeError, UsageError) as error:
        raise ModelError(f"{path}: expected how much was held out, as JSON; {error}.") from error
