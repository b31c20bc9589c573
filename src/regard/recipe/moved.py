"""Settings that have moved since recipes and runs were written: read at their old places, kept at their new ones.

    [train] betas, epsilon, momentum, weight_decay    ->  [train.optimiser], where its part has such a setting
    [train] smoothing, forcing, guide ...             ->  [task.goal]
    [train] pieces, vocabulary, longest, sample       ->  [task.source]; a target is cut as its source is
    [train] target_vocabulary                         ->  [task.target] vocabulary
    [train] joint                                     ->  [task] joint
    [about] task                                      ->  [task] verb
    [task] from                                       ->  [task] pretrained, as people may always write it
    [begin]                                           ->  [initialise]

The optimisers were one part once, and a written recipe names every setting: what means nothing to the optimiser at hand
is left out.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from regard.recipe.tree import Leaf, Table, lay_over, nest
from regard.registry import names, settings

OPTIMISER = ("betas", "epsilon", "momentum", "weight_decay")  # once in [train] itself
GOAL = {
    "smoothing": "smoothing",
    "forcing": "forcing",
    "own": "sampling_rate",
    "ramp": "sampling_ramp",
    **{f"guide{end}": f"guide{end}" for end in ("", "_weight", "_layer", "_head", "_step")},
}
# Where each old setting stands now, by its dotted key: in one place, or in several.
PLACES: dict[str, tuple[str, ...]] = {
    **{f"train.{old}": (f"task.goal.{new}",) for old, new in GOAL.items()},
    **{f"train.{name}": (f"task.source.{name}",) for name in ("pieces", "vocabulary", "longest")},
    "train.sample": ("task.source.sample", "task.target.sample"),
    "train.target_vocabulary": ("task.target.vocabulary",),
    "train.joint": ("task.joint",),
    "about.task": ("task.verb",),
    "task.from": ("task.pretrained",),  # no part can have a setting of that name: Python keeps it
}


def moved(recipe: Table) -> Table:
    """A recipe as it was read, every setting at its present place."""
    return _placed(_optimised(_initialised(recipe)))


def _initialised(recipe: Table) -> Table:
    if "begin" not in recipe.entries:
        return recipe
    rest = {key: entry for key, entry in recipe.entries.items() if key != "begin"}
    return Table(recipe.where, {"initialise": recipe.entries["begin"], **rest})


def _placed(recipe: Table) -> Table:
    found, below = recipe, Table(recipe.where)
    for old, places in PLACES.items():
        table, _, key = old.partition(".")
        inside = found.entries.get(table)
        if not isinstance(inside, Table) or key not in inside.entries:
            continue
        entry = inside.entries[key]
        rest = {name: each for name, each in inside.entries.items() if name != key}
        found = Table(found.where, {**found.entries, table: Table(inside.where, rest)})
        if isinstance(entry, Leaf):
            for place in places:
                below = _over(below, nest(place, entry.value, entry.where))
    return _over(below, found) if below.entries else found


def _over(below: Table, above: Table) -> Table:
    merged = lay_over(below, above)
    return merged if isinstance(merged, Table) else above


def _optimised(recipe: Table) -> Table:
    train = recipe.entries.get("train")
    if not isinstance(train, Table):
        return recipe
    old = {key: train.entries[key] for key in OPTIMISER if key in train.entries}
    if not old:
        return recipe
    kept = {key: entry for key, entry in train.entries.items() if key not in old}
    written = kept.get("optimiser")
    named = Table(written.where, {"part": written}) if isinstance(written, Leaf) else written
    below = {} if named is None else named.entries
    where = next(iter(old.values())).where if named is None else named.where
    optimiser = Table(where, {**_renamed(None if named is None else named.part(), old), **below})
    return Table(recipe.where, {**recipe.entries, "train": Table(train.where, {**kept, "optimiser": optimiser})})


def moved_terms(terms: Mapping[str, Any]) -> dict[str, Any]:
    """The settings of a saved run, by their dotted keys, at their present places."""
    found = {
        key.replace("begin", "initialise", 1) if key.split(".")[0] == "begin" else key: value
        for key, value in _optimised_terms(terms).items()
    }
    for old, places in PLACES.items():
        if old in found:
            value = found.pop(old)
            found |= {place: value for place in places if place not in found}
    return found


def _optimised_terms(terms: Mapping[str, Any]) -> Mapping[str, Any]:
    name = terms.get("train.optimiser")
    if not isinstance(name, str):
        return terms
    old = {key: Leaf(terms[f"train.{key}"], "") for key in OPTIMISER if f"train.{key}" in terms}
    kept = {key: value for key, value in terms.items() if key.removeprefix("train.") not in (*OPTIMISER, "optimiser")}
    found = {key: entry.value for key, entry in _renamed(name, old).items() if isinstance(entry, Leaf)}
    defaults = {key: each.default for key, each in settings(names("optimiser")[name]).items()}
    present = {"part": name, **defaults, **found}
    return kept | {f"train.optimiser.{key}": json.loads(json.dumps(value)) for key, value in present.items()}


def _renamed(part: str | None, old: Mapping[str, Leaf | Table]) -> dict[str, Leaf | Table]:
    """What an optimiser takes of the old settings; one that is not known here takes all."""
    cls = names("optimiser").get(part or "")
    found = dict(old)
    betas = found.get("betas")
    if part == "adadelta" and isinstance(betas, Leaf) and isinstance(betas.value, list) and len(betas.value) == 2:
        found["rho"] = Leaf(betas.value[1], betas.where)
    return found if cls is None else {key: entry for key, entry in found.items() if key in settings(cls)}
