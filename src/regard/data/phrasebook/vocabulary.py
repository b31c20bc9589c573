"""Which concepts go together: what a baker can do, what can be eaten, what may be called old.

Read once from `lexicon/*.tsv`; `generate` draws from these tables only, so that its sentences make sense.
"""

from __future__ import annotations

from dataclasses import dataclass

from regard.data.phrasebook.lexicon import Row, classes, table

UNCOUNTED = frozenset({"mass", "bare", "unique", "single", "spouse", "span", "meal"})


@dataclass(frozen=True, eq=False)
class VerbUse:
    """A verb with the nouns that can be its subject and its object."""

    concept: str
    frames: frozenset[str]
    traits: frozenset[str]
    subjects: frozenset[str]
    subject_list: tuple[str, ...]
    objects: tuple[str, ...]
    typical: tuple[str, ...]  # those of whom one would expect it
    barred: frozenset[str]  # groups of adjectives that its object cannot have: nobody builds an old house

    @property
    def stative(self) -> bool:
        """Says how things are, not what happens: know, love, have."""
        return "stative" in self.traits

    @property
    def event(self) -> bool:
        """Happens at once, so is never seen going on: find, arrive."""
        return "event" in self.traits

    @property
    def habit(self) -> bool:
        """Is done again and again: often, every day."""
        return "habit" in self.traits

    @property
    def dated(self) -> bool:
        """Is remembered by its year and its country."""
        return "dated" in self.traits

    @property
    def willed(self) -> bool:
        """Somebody may decide to do it: not cough, not lose."""
        return not self.traits & {"stative", "unwilled"}


def members(names: str) -> tuple[str, ...]:
    """The nouns of the named classes, each once, without the rare ones. `any` is every noun."""
    groups = classes("nouns")
    if names == "any":
        return tuple(concept for concept, kinds in KINDS.items() if "rare" not in kinds)
    found = [concept for name in names.split() for concept in groups[name]]
    return tuple(dict.fromkeys(concept for concept in found if "rare" not in KINDS[concept]))


def read_verb(row: Row) -> VerbUse:
    """One line of verbs.tsv with its classes resolved."""
    subjects = members(row["subjects"])
    traits = frozenset(row["traits"].split())
    return VerbUse(
        row["concept"],
        frozenset(row["frames"].split()),
        traits,
        frozenset(subjects),
        subjects,
        members(row["objects"]),
        members(row["typical"]),
        frozenset(trait.removeprefix("no:") for trait in traits if trait.startswith("no:")),
    )


def read_adjectives(barred: str) -> dict[str, tuple[tuple[str, ...], tuple[str, ...]]]:
    """For each noun its adjectives without the barred trait: the general ones (big, old), then the others."""
    found: dict[str, tuple[list[str], list[str]]] = {concept: ([], []) for concept in KINDS}
    for concept, row in table("adjectives").items():
        if barred in row["traits"].split():
            continue
        unfit = set(members(row["except"]))
        for noun in members(row["classes"]):
            if noun not in unfit:
                found[noun][int(row["rank"]) - 1].append(concept)
    return {noun: (tuple(first), tuple(second)) for noun, (first, second) in found.items()}


def read_completions() -> dict[str, list[tuple[str, tuple[str, ...]]]]:
    """For each noun the ways to complete it: (of or a preposition, the nouns that may follow)."""
    found: dict[str, list[tuple[str, tuple[str, ...]]]] = {}
    for row in table("completions").values():
        for noun in members(row["heads"]):
            found.setdefault(noun, []).append((row["link"], members(row["classes"])))
    return found


def by_frame() -> dict[str, tuple[VerbUse, ...]]:
    """The verbs of each frame; `passive` are the transitive ones that have a passive."""
    frames: dict[str, list[VerbUse]] = {}
    for verb in VERBS.values():
        for frame in verb.frames:
            frames.setdefault(frame, []).append(verb)
        if "passive" in verb.traits and "transitive" in verb.frames:
            frames.setdefault("passive", []).append(verb)
    return {frame: tuple(verbs) for frame, verbs in frames.items()}


def by_object() -> dict[str, tuple[VerbUse, ...]]:
    """For each noun the transitive verbs that can have it as their object."""
    found: dict[str, list[VerbUse]] = {}
    for verb in VERBS.values():
        if "transitive" in verb.frames:
            for noun in verb.objects:
                found.setdefault(noun, []).append(verb)
    return {noun: tuple(verbs) for noun, verbs in found.items()}


def read_reasons() -> dict[tuple[str, str], tuple[str, ...]]:
    """What explains what, by ("subject" or "object", a verb): he drinks because he is thirsty, he washes it
    because it is dirty; by ("event", an adjective) the verbs: he is angry because she interrupted him."""
    found: dict[tuple[str, str], tuple[str, ...]] = {}
    for row in table("reasons").values():
        about, adjective, verbs = row["about"], row["adjective"], tuple(row["verbs"].split())
        if about == "event":
            found[about, adjective] = verbs
            continue
        for verb in verbs:
            found[about, verb] = (*found.get((about, verb), ()), adjective)
    return found


def read_manners() -> dict[str, tuple[str, ...]]:
    """For each verb the adverbs that say how it is done."""
    found: dict[str, tuple[str, ...]] = {}
    for concept, row in table("adverbs").items():
        for verb in row["verbs"].split():
            found[verb] = (*found.get(verb, ()), concept)
    return found


def pick_kind(name: str, kind: str) -> tuple[str, ...]:
    """The concepts of a list whose `kind` is this."""
    return tuple(concept for concept, row in table(name).items() if row["kind"] == kind)


KINDS = {concept: frozenset(row["classes"].split()) for concept, row in table("nouns").items()}
SEX = {concept: row["sex"] for concept, row in table("nouns").items()}
COUNTED = frozenset(concept for concept, kinds in KINDS.items() if not kinds & UNCOUNTED)
OWNED = frozenset(concept for concept, kinds in KINDS.items() if "owned" in kinds)
GRADED = frozenset(concept for concept, row in table("adjectives").items() if "absolute" not in row["traits"])
GROUP = {concept: row["group"] or concept for concept, row in table("adjectives").items()}
ADJECTIVES = read_adjectives("predicative")  # beside the noun
PREDICATES = {noun: first + second for noun, (first, second) in read_adjectives("attributive").items()}
COMPLETIONS = read_completions()
VERBS = {concept: read_verb(row) for concept, row in table("verbs").items()}
FRAMES = by_frame()
TAKING = by_object()
PEOPLE = tuple(concept for concept in members("person") if "spouse" not in KINDS[concept])
WORKERS = {sex: tuple(noun for noun in members("worker") if SEX[noun] == sex) for sex in ("male", "female")}
NAMES = {concept: row["sex"] for concept, row in table("names").items()}
NAME_LIST = tuple(NAMES)
DESCRIBED = tuple(concept for concept in members("any") if not KINDS[concept] & {"bare", "unique", "topic", "span"})
EVENTS = members("event")
HOMES = members("town house hotel castle")
PLACES = {concept: members(row["classes"]) for concept, row in table("prepositions").items()}
COUNTRIES, CITIES = pick_kind("countries", "country"), pick_kind("countries", "city")
MONTHS, WEEKDAYS = pick_kind("months", "month"), pick_kind("months", "weekday")
REASONS = read_reasons()
MANNERS = read_manners()
FREQUENCY = pick_kind("adverbs", "frequency")
TIME_WORDS = frozenset(pick_kind("adverbs", "time") + pick_kind("prepositions", "time"))
PLACE_ADVERBS = pick_kind("adverbs", "place")
TIMES = {
    tense: tuple(
        concept for concept, row in table("adverbs").items() if row["kind"] == "time" and tense in row["tenses"].split()
    )
    for tense in ("present", "progressive", "past", "perfect", "imperfect", "future")
}
