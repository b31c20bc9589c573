"""The settings of a training: what the [train] table of a recipe may write, and which of them may change on resume."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Annotated, Any, Literal

from annotated_types import Gt, Le

from regard.errors import UsageError
from regard.registry import REQUIRED, Maker, find, maker, part, settings
from regard.types import AtLeastZero, Count, Positive, Whole

Flat = dict[str, Any]  # dotted key -> plain value
# They decide when a run looks, saves and stops and what lies where, not which weights it has at a given update.
FREE = (
    *("patience", "metric", "validate_steps", "validate_minutes", "save_steps", "save_minutes", "log", "tensorboard"),
    *("looks", "shard"),
)


@part("train", "standard")
@dataclass(frozen=True, kw_only=True)
class TrainSettings:
    """Minimise what the goal says, in batches of like length unless they are `mixed`.

    Settings:
        rate: the learning rate, as the schedule understands it.
        schedule: how the rate moves.
        optimiser: how gradients move the weights.
        clip: gradients longer than this are cut to it; 0 for never.
        tokens: positions in a batch, padding included.
        mixed: batches are drawn from all examples, not made of those of like length. There is more padding, but no
            batch in which all targets end at the same step, which tells nothing of when to end.
        accumulate: batches that make one update together.
        average: the mean of the weights that is validated and kept for use; "none" for the weights as they are.
        precision: "fp32"; "bf16" for half-precision products; "auto" for bf16 where this machine gains by it.
        metric: the value of a validation that decides which weights are best; "auto" for the first one.
        patience: validations in a row without a better value, after which the run ends; 0 for never.
        validate_steps: updates from one validation to the next; 0 for never.
        validate_minutes: minutes from one validation to the next; 0 for never.
        save_steps: updates from one save to the next; 0 for never.
        save_minutes: minutes from one save to the next; 0 for never.
        log: updates from one line of the log to the next.
        tensorboard: write TensorBoard events beside the log.
        looks: sentences of the validation split whose alignment is kept at each validation, of a model that turns text
            into text; or images, of one with gates; 0 for none.
        shard: of many processes, each keeps only a part of every weight, gradient and moment (FSDP).
        freeze: layers of the encoder that keep their weights, from the lowest on, and with them the embedding.
        layer_decay: the rate of a layer is that of the one above times this; 1 for one rate (Howard and Ruder 2018).
    """

    rate: Positive = 1e-3
    schedule: Maker = maker("schedule", "constant")
    optimiser: Maker = maker("optimiser", "adam")
    clip: AtLeastZero = 1.0
    tokens: Count = 4096
    mixed: bool = False
    accumulate: Count = 1
    average: Maker | None = None
    precision: Literal["auto", "fp32", "bf16"] = "auto"
    metric: str = "auto"
    patience: Whole = 0
    validate_steps: Whole = 500
    validate_minutes: AtLeastZero = 0.0
    save_steps: Whole = 0
    save_minutes: AtLeastZero = 5.0
    log: Count = 50
    tensorboard: bool = True
    looks: Whole = 2
    shard: bool = False
    freeze: Whole = 0
    layer_decay: Annotated[float, Gt(0), Le(1)] = 1.0

    def flat(self) -> Flat:
        """Every setting by its dotted key."""
        return _flat({each.name: getattr(self, each.name) for each in fields(self)})


def flat_part(made: Maker) -> Flat:
    """Every setting of a part by its dotted key, defaults included."""
    known = settings(find(made.kind, made.name))
    filled = {name: made.settings.get(name, each.default) for name, each in known.items()}
    return {"part": made.name, **_flat({name: value for name, value in filled.items() if value is not REQUIRED})}


def defaults_of(made: Maker) -> Flat:
    """The default of every setting that a part, and those it is given, have one for: what an older recipe had."""
    found: Flat = {}
    for name, each in settings(find(made.kind, made.name)).items():
        value = made.settings.get(name, each.default)
        if isinstance(value, Maker):
            found |= {f"{name}.{key}": inner for key, inner in defaults_of(value).items()}
        elif each.default is not REQUIRED and not isinstance(each.default, Maker):
            found |= _flat({name: each.default})
    return found


def _flat(values: Mapping[str, Any]) -> Flat:
    found: Flat = {}
    for name, value in values.items():
        if isinstance(value, Maker):
            found |= {f"{name}.{key}": inner for key, inner in flat_part(value).items()}
        else:
            found[name] = json.loads(json.dumps(value))  # as it will be read from a file: a tuple is a list
    return found


def with_defaults(terms: Mapping[str, Any]) -> Flat:
    """The settings that a run began with; one that is younger than the run had its default then."""
    known = {key.split(".")[1] for key in terms if key.startswith("train.")}
    younger = {f"train.{key}": value for key, value in TrainSettings().flat().items() if key.split(".")[0] not in known}
    return {**younger, **terms}


def check_same(before: Mapping[str, Any], now: Mapping[str, Any], free: tuple[str, ...]) -> None:
    """Refuse to go on with settings that the run did not begin with, unless they are free to change."""
    changed = [key for key in dict.fromkeys((*before, *now)) if before.get(key) != now.get(key) and key not in free]
    if not changed:
        return
    told = "\n".join(f"  {key}: was {_tell(before, key)}, is {_tell(now, key)}" for key in changed)
    raise UsageError(
        f"a run goes on with the settings it began with; these differ:\n{told}",
        hint=f"Write them as they were, or begin another run. May differ: minutes, steps, {', '.join(free)}.",
    )


def _tell(values: Mapping[str, Any], key: str) -> str:
    return json.dumps(values[key], ensure_ascii=False) if key in values else "not there"
