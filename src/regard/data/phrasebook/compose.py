"""Draws clauses: a verb, somebody who does it, something it is done to, and where, when, how and why."""

from __future__ import annotations

from dataclasses import replace

from regard.data.phrasebook.circumstances import (
    Circumstances,
    Plan,
    groups_said,
    is_plain,
    is_timed,
)
from regard.data.phrasebook.fitting import (
    CHANGING,
    PERSON,
    deeds,
    had,
    in_general,
    is_deniable,
    known,
    suits,
    verbs_of,
    without,
)
from regard.data.phrasebook.meaning import (
    Adjective,
    Adverb,
    Adverbial,
    Clause,
    Date,
    Joined,
    Name,
    Noun,
    NounPhrase,
    Phrase,
    Pronoun,
    Relative,
    Tense,
    This,
)
from regard.data.phrasebook.vocabulary import (
    COUNTED,
    DESCRIBED,
    FRAMES,
    GROUP,
    KINDS,
    NAME_LIST,
    NAMES,
    PEOPLE,
    PLACES,
    PREDICATES,
    SEX,
    TAKING,
    VERBS,
    WORKERS,
    VerbUse,
    members,
)

ACTIVE_FRAMES = (
    ("transitive",) * 9 + ("intransitive",) * 3 + ("give", "copula") * 2 + ("motion", "infinitive", "modal", "become")
)
MOVABLE = frozenset(members("person pet livestock small fruit"))
LASTING = frozenset({"colour", "shape", "nation", "size", "age", "door", "blind", "deaf"})  # nobody seems blue
PERSON_ONLY = frozenset({"give", "motion", "infinitive", "modal", "become"})


class Composer(Circumstances):
    """Draws clauses of about the length asked for."""

    def clause(self, plan: Plan) -> Clause:
        """One clause of any kind that suits the plan."""
        short = plan.subject is None and plan.depth == 0 and plan.length < 9
        if short and plan.time == "present" and self.chance(0.03):
            return self.pointing(plan)
        if plan.tense is None and not plan.question and plan.subject is None and self.chance(0.1):
            return self.passive(plan)
        about = plan.about
        if plan.busy:
            return self.active(plan, self.pick(("transitive", "transitive", "intransitive")))
        if about is not None and about not in VERBS["sleep"].subjects and self.chance(0.7):
            return self.described(plan)
        frame = self.pick(ACTIVE_FRAMES)
        if about is not None and about not in VERBS["give"].subjects and frame in PERSON_ONLY:
            frame = "copula"
        if frame == "modal" and (plan.time != "present" or plan.tense not in (None, "present")):
            frame = "transitive"
        return self.described(plan) if frame in ("copula", "become") else self.active(plan, frame)

    # -- what somebody does ----------------------------------------------------------------------------------

    def active(self, plan: Plan, frame: str) -> Clause:
        """A clause whose subject does something."""
        verbs = verbs_of(frame, plan.about, plan.tense in ("imperfect", "progressive"))
        if plan.busy:
            verbs = tuple(verb for verb in verbs if not verb.stative)
        if plan.time == "future":
            verbs = tuple(verb for verb in verbs if verb.willed or PERSON not in verb.subjects)
        if not verbs:
            return self.described(plan)
        verb = self.pick(verbs)
        plan = replace(plan, doing=verb.concept)
        extra = max(0, plan.length - 5)
        for_subject = self.below(extra + 1) if plan.subject is None and self.chance(0.6) else 0
        extra -= for_subject
        for_object = self.below(extra + 1) if frame in ("transitive", "give") else 0
        subject = plan.subject or self.subject(verb, for_subject, plan)
        tense = self.settle(verb, plan)
        negative = self.chance(0.1) and is_plain(subject) and not plan.busy
        object_, recipient = self.objects(verb, frame, subject, plan, for_object)
        negative = negative and is_deniable(object_, verb.concept == "have") and "affirmed" not in verb.traits
        infinitive = None
        if frame in ("infinitive", "modal"):
            negative = negative and verb.concept != "must"
            infinitive = self.infinitive(verb, subject, plan, extra)
        room = 0 if isinstance(object_, Noun) and object_.relative is not None else extra - for_object
        lingering = infinitive is not None and not verb.event
        adverbials = () if lingering else self.adverbials(verb, tense, room, negative, subject, plan)
        if plan.busy:
            adverbials = tuple(item for item in adverbials if not is_timed(item))
        if plan.depth > 0:
            adverbials = tuple(item for item in adverbials if not isinstance(item, Date))
        return Clause(
            subject,
            verb.concept,
            tense,
            negative,
            object=object_,
            recipient=recipient,
            infinitive=infinitive,
            adverbials=adverbials,
        )

    def objects(
        self, verb: VerbUse, frame: str, subject: NounPhrase, plan: Plan, room: int
    ) -> tuple[NounPhrase | None, NounPhrase | None]:
        """The object and the recipient that the frame needs."""
        if frame not in ("transitive", "give"):
            return None, None
        if frame == "transitive":
            return self.object(verb, subject, plan, room), None
        object_ = self.object(verb, subject, replace(plan, depth=2), room)  # no clause before the recipient
        if self.chance(0.25):
            pronoun = self.other_pronoun(subject)
            if pronoun is not None:
                return object_, pronoun
        return object_, self.person(0, subject, plan.named)

    def subject(self, verb: VerbUse, room: int, plan: Plan) -> NounPhrase:
        """Somebody or something that can do it."""
        if PERSON in verb.subjects:
            kind = self.random()
            if kind < 0.22 or plan.length < 4:
                return self.pronoun()
            if kind < 0.36:
                return self.name(plan)
            if kind < 0.42 and room >= 3:
                return self.pair(plan)
        return self.described_noun(self.doer(verb), room, plan, as_subject=True)

    def someone(self, room: int, plan: Plan) -> Plan:
        """The plan with a person as its subject who is none of those named already."""
        kind = self.random()
        if kind < 0.15:
            return replace(plan, subject=Pronoun(2) if self.chance(0.3) else Pronoun(1, self.chance(0.4)), about=PERSON)
        if kind < 0.45:
            return replace(plan, subject=self.name(plan), about=PERSON)
        concept = self.pick(PEOPLE)
        while concept in plan.named:
            concept = self.pick(PEOPLE)
        subject = self.described_noun(concept, room, plan, as_subject=True)
        if subject.determiner == "every" or plan.depth > 0:
            subject = known(subject)
        return replace(plan, subject=subject, about=concept)

    def object(self, verb: VerbUse, subject: NounPhrase, plan: Plan, room: int) -> NounPhrase:
        """Something it can be done to, other than the subject."""
        if PERSON in verb.objects and self.chance(0.25):
            pronoun = self.other_pronoun(subject)
            if pronoun is not None:
                return pronoun
            return self.person(room, subject, plan.named)
        concept = self.pick(verb.objects)
        while not suits(concept, subject):
            concept = self.pick(verb.objects)
        first = without(self.described_noun(concept, room, plan, subject=subject), verb.barred)
        if "foreign" in verb.traits and first.determiner == "possessive":
            first = replace(first, determiner="definite", owner=None)
        if "plural" in verb.traits and not first.plural:
            return replace(first, plural=True, determiner="definite")
        if "bulk" in verb.traits:
            return Noun(concept, concept in COUNTED, "none")
        if "generic" in verb.traits:
            return in_general(first)
        if verb.concept == "have":
            return had(first)
        if room >= 3 and first.relative is None and self.chance(0.2):
            other = self.pick(verb.objects)
            if other != concept and KINDS[other] & KINDS[concept] and suits(other, subject):
                return Joined((first, self.noun(other, 0, subject)), "or" if self.chance(0.15) else "and")
        return first

    def described_noun(
        self, concept: str, room: int, plan: Plan, subject: NounPhrase | None = None, as_subject: bool = False
    ) -> Noun:
        """A noun phrase, with a relative clause where there is room for one."""
        relative = None
        plural = self.is_plural(concept)
        kinds = KINDS[concept]
        if room >= 5 and plan.depth < 2 and not kinds & {"bare", "unique", "spouse", "family", "mass"}:
            relative = self.relative(concept, plural, room, plan)
        if relative is not None:
            room = 0 if isinstance(relative.clause.complement, Adjective) else 1
        noun = self.noun(concept, room, subject, as_subject, relative, plural)
        if isinstance(noun.of, Name) and noun.of.concept in plan.named:
            return replace(noun, of=self.name(plan))
        return noun

    def infinitive(self, ruling: VerbUse, subject: NounPhrase, plan: Plan, room: int) -> Clause:
        """to eat an apple: something a person decides to do and that takes a while; what is learned is a skill.

        What one can do has an object: French tells a skill (sait nager) from what is possible (peut ouvrir la porte).
        """
        frame = "transitive" if ruling.concept == "can" or self.chance(0.7) else "intransitive"
        skill = "means" if ruling.concept == "learn" else None
        verb = self.pick(deeds(frame, skill))
        if frame == "intransitive":
            return Clause(None, verb.concept)
        object_ = self.object(verb, subject, replace(plan, depth=2), min(room, 2))
        return Clause(None, verb.concept, object=object_)

    # -- how somebody or something is ------------------------------------------------------------------------

    def described(self, plan: Plan) -> Clause:
        """be, seem, remain, become: an adjective, a profession, or a place."""
        about = plan.about
        subject = plan.subject
        verb = VERBS[self.pick(("be", "be", "be", "be", "seem", "remain"))]
        if subject is None:
            people = self.chance(0.5)
            concept = self.pick(PEOPLE if people or verb.concept == "remain" else DESCRIBED)
            subject = self.described_noun(concept, min(3, plan.length - 4), plan, as_subject=True)
            about = concept
            if people and self.chance(0.5):
                subject = self.pronoun() if self.chance(0.5) else Name(self.pick(NAME_LIST))
                about = None
        about = about or PERSON
        subject = known(subject) if isinstance(subject, Noun) else subject
        if plan.length >= 5 and not plan.question and about in MOVABLE and self.chance(0.15):
            return self.located(subject, about, plan)
        if (about not in VERBS["remain"].subjects and verb.concept == "remain") or plan.time == "future":
            verb = VERBS["be"]
        worker = self.profession(subject, about) if self.chance(0.2) else None
        if worker is not None:
            changing = self.chance(0.4) and plan.tense in (None, "past")
            verb = VERBS["become"] if changing else VERBS["be"]
            return Clause(subject, verb.concept, self.settle(verb, plan), complement=worker)
        taken = plan.said | groups_said(subject)
        if verb.concept == "seem":
            taken |= LASTING
        choices = [word for word in PREDICATES[about] if GROUP[word] not in taken]
        if verb.concept == "remain" or plan.time == "future" or plan.named:
            choices = [word for word in choices if GROUP[word] in CHANGING]
        if not choices:
            choices = list(PREDICATES[about])
            subject = without(subject, taken) if isinstance(subject, Noun) else subject
        tense = self.settle(verb, plan)
        tense = tense if tense not in ("progressive", "perfect") else "present"
        if tense == "imperfect" and not verb.stative:
            verb = VERBS["be"]
        negative = self.chance(0.1) and is_plain(subject)
        return Clause(subject, verb.concept, tense, negative, complement=self.adjective(choices, 0.2))

    def located(self, subject: NounPhrase, about: str, plan: Plan) -> Clause:
        """the key is on the table, we were at the station, she is here."""
        place: Adverbial
        if self.chance(0.12):
            place = Adverb(self.pick(("here", "there")))
        elif KINDS[about] & {"small", "fruit"}:
            preposition = self.pick(("on", "on", "under", "in"))
            place = Phrase(preposition, self.place(members("room") if preposition == "in" else PLACES[preposition]))
        else:
            place = self.where(VERBS["be"])
        negative = self.chance(0.1) and is_plain(subject)
        return Clause(subject, "be", self.settle(VERBS["be"], plan), negative, adverbials=(place,))

    def profession(self, subject: NounPhrase, about: str) -> Noun | None:
        """a baker: for one person, of the same sex; not for somebody who has another profession."""
        if isinstance(subject, Name):
            return Noun(self.pick(WORKERS[NAMES[subject.concept]]), determiner="indefinite")
        if isinstance(subject, Pronoun):
            if subject.person != 3 or subject.plural or subject.stands_for is not None:
                return None
            sex = "female" if subject.gender == "feminine" else "male"
            return Noun(self.pick(WORKERS[sex]), determiner="indefinite")
        if isinstance(subject, Noun) and "family" in KINDS[about] and not subject.plural:
            return Noun(self.pick(WORKERS[SEX[about]]), determiner="indefinite")
        return None

    def pointing(self, plan: Plan) -> Clause:
        """this is my house, these are old books."""
        concept = self.pick(members("thing building volume pet family"))
        plural = "plenty" in KINDS[concept] or self.chance(0.3)
        noun = self.noun(concept, plan.length - 5, plural=plural)
        if noun.determiner != "possessive" and noun.of is None and noun.phrase is None:
            noun = replace(noun, determiner="none" if plural else "indefinite", count=1)
        return Clause(This(noun.plural), "be", complement=noun)

    def passive(self, plan: Plan) -> Clause:
        """The agreement was signed by the minister in August 1992."""
        verb = self.pick(FRAMES["passive"])
        extra = max(0, plan.length - 5)
        for_subject = self.below(extra + 1)
        plan = replace(plan, doing=verb.concept)
        subject = self.described_noun(self.pick(verb.objects), for_subject, plan, as_subject=True)
        subject = without(subject, verb.barred)
        if subject.determiner == "indefinite":
            subject = replace(subject, determiner="definite")
        tense: Tense = plan.time
        if tense == "present":
            tense = "perfect"
        negative = self.chance(0.08) and is_plain(subject)
        agent = None
        extra -= for_subject
        if extra >= 3 and self.chance(0.6):
            concept = self.doer(verb)
            if concept != subject.concept:
                agent = self.noun(concept, extra - 3, as_subject=True)
                extra -= 3
        timed = extra >= 2 and plan.depth == 0
        when = self.when(verb, tense, negative) if timed else None
        return Clause(
            subject,
            verb.concept,
            tense,
            negative,
            passive=True,
            agent=agent,
            adverbials=() if when is None else (when,),
        )

    # -- relative clauses ------------------------------------------------------------------------------------

    def relative(self, concept: str, plural: bool, room: int, plan: Plan) -> Relative | None:
        """A relative clause about this noun that fits into the room, if its kind can have one."""
        kind = self.random()
        past = plan.time == "past" or self.chance(0.4)
        inner = Plan(room - 1, "past" if past else "present", plan.depth + 1, doing=plan.doing)
        if kind < 0.25 and concept in PLACES["in"] + PLACES["at"]:
            return self.place_relative(inner)
        if kind < 0.5:
            return self.subject_relative(concept, plural, inner)
        if kind < 0.85 and concept in TAKING:
            return self.object_relative(concept, inner)
        if concept in PEOPLE and not plural and "family" not in KINDS[concept]:
            return self.whose_relative(concept, inner)
        return None

    def subject_relative(self, concept: str, plural: bool, plan: Plan) -> Relative:
        """who sells bread, that is very old."""
        stand = Pronoun(3, plural, "feminine" if SEX[concept] == "female" else "masculine", concept)
        clause = self.clause(replace(plan, subject=stand, about=concept))
        kept = tuple(replace(item, front=False) for item in clause.adverbials)
        return Relative("subject", replace(clause, subject=None, adverbials=kept))

    def object_relative(self, concept: str, plan: Plan) -> Relative | None:
        """that the baker sells."""
        verbs = [
            verb
            for verb in TAKING[concept]
            if PERSON in verb.subjects and not verb.stative and verb.concept != plan.doing
        ]
        if not verbs:
            return None
        verb = self.pick(verbs)
        subject = self.subject(verb, 0, plan)
        while isinstance(subject, Noun) and (subject.concept == concept or not SEX[subject.concept]):
            subject = self.subject(verb, 0, plan)
        tense = self.tense(verb, plan.time)
        return Relative("object", Clause(subject, verb.concept, tense))

    def place_relative(self, plan: Plan) -> Relative:
        """where the students work."""
        verb = VERBS[self.pick(("work", "sleep", "dance", "wait", "live"))]
        tense = self.tense(verb, plan.time)
        return Relative("place", Clause(self.subject(verb, 0, plan), verb.concept, tense))

    def whose_relative(self, owner: str, plan: Plan) -> Relative:
        """whose brother sells bread; children have no sons."""
        concept = self.pick(members("family"))
        while "younger" in KINDS[concept] and "adult" not in KINDS[owner]:
            concept = self.pick(members("family"))
        clause = self.clause(replace(plan, subject=Noun(concept), about=concept))
        kept = tuple(replace(item, front=False) for item in clause.adverbials)
        return Relative("whose", replace(clause, adverbials=kept))
