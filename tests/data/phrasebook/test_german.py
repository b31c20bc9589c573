"""German against pairs written by hand (cases_de.tsv), each built here from its meaning."""

from functools import partial
from pathlib import Path

import pytest

from regard.data.pair import Pair
from regard.data.phrasebook import english, german
from regard.data.phrasebook.link import links
from regard.data.phrasebook.meaning import (
    Adjective,
    Adverb,
    Clause,
    Date,
    Joined,
    Name,
    Noun,
    Phrase,
    Pronoun,
    Relative,
    Sentence,
    Subordinate,
    This,
)

LINES = (Path(__file__).parent / "cases_de.tsv").read_text(encoding="utf-8").splitlines()
CASES = {fields[0]: fields[1:] for fields in (line.split("\t") for line in LINES[1:])}

i = partial(Pronoun, 1)
you = partial(Pronoun, 2)
he = partial(Pronoun, 3)
she = partial(Pronoun, 3, gender="feminine")
we = partial(Pronoun, 1, True)
they = partial(Pronoun, 3, True)
when, at = Subordinate, Phrase


def the(concept, *adjectives, plural=False, **more):
    return Noun(concept, plural, adjectives=tuple(map(Adjective, adjectives)), **more)


def a(concept, *adjectives, **more):
    return the(concept, *adjectives, determiner="indefinite", **more)


def bare(concept, *adjectives, plural=False, **more):
    return the(concept, *adjectives, plural=plural, determiner="none", **more)


def this(concept):
    return the(concept, determiner="demonstrative")


def own(owner, concept, *adjectives, **more):
    return the(concept, *adjectives, determiner="possessive", owner=owner, **more)


def it(concept):
    return Pronoun(3, stands_for=concept)


def say(*clauses, joints=(), question=None):
    return Sentence(clauses, joints, question)


def one(subject, verb, tense="present", thing=None, *adverbials, question=None, **more):
    """A sentence of one clause."""
    return say(clause(subject, verb, tense, thing, *adverbials, **more), question=question)


def clause(subject, verb, tense="present", thing=None, *adverbials, **more):
    return Clause(subject, verb, tense, object=thing, adverbials=adverbials, **more)


def is_(subject, what, tense="present", **more):
    complement = Adjective(what) if isinstance(what, str) else what
    return clause(subject, "be", tense, complement=complement, **more)


def to(verb, thing=None, **more):
    return Clause(None, verb, object=thing, **more)


def who(verb, tense="present", thing=None, **more):
    return Relative("subject", clause(None, verb, tense, thing, **more))


def that(subject, verb, tense="present"):
    return Relative("object", clause(subject, verb, tense))


MEANINGS = {
    "loved_to_eat": lambda: one(he(), "love", "imperfect", infinitive=to("eat")),
    "agreement": lambda: one(
        the("agreement", phrase=at("about", the("european_economic_area"))),
        "sign",
        "past",
        None,
        Date(month="august", year=1992),
        passive=True,
    ),
    "nominative": lambda: one(the("baker", "old"), "sleep"),
    "accusative": lambda: one(she(), "see", "present", the("man", "old")),
    "dative_feminine": lambda: one(he(), "help", "present", the("woman", "young")),
    "dative_plural": lambda: one(he(), "help", "present", the("child", "small", plural=True)),
    "genitive": lambda: say(is_(the("roof", of=the("house", "old")), "red")),
    "weak_noun": lambda: one(she(), "know_p", "present", the("student")),
    "weak_genitive": lambda: say(is_(the("house", of=the("neighbour")), "small")),
    "name_genitive": lambda: say(is_(the("car", "old", of=Name("anna")), "red")),
    "name_in_s": lambda: say(is_(the("house", of=Name("thomas")), "big")),
    "owner_genitive": lambda: say(is_(the("sister", of=own(i(), "friend")), a("dancer"))),
    "mixed": lambda: one(a("doctor", "young"), "buy", "present", a("house", "big")),
    "mixed_dative": lambda: one(she(), "give", "present", the("flower", "red"), recipient=a("friend", "old")),
    "strong_feminine": lambda: one(he(), "drink", "present", bare("milk", "cold")),
    "strong_neuter": lambda: one(we(), "eat", "present", bare("bread", "fresh")),
    "strong_plural": lambda: one(the("boy"), "buy", "present", bare("apple", "red", plural=True)),
    "possessive": lambda: one(own(i(), "sister"), "love", "present", own(she(), "dog", "small")),
    "possessive_neuter": lambda: one(own(he(), "brother"), "sell", "present", own(we(), "car")),
    "demonstrative": lambda: say(is_(this("book"), "interesting")),
    "numeral": lambda: one(she(), "have", "present", the("cat", "big", plural=True, determiner="numeral", count=2)),
    "numeral_digits": lambda: one(
        the("farmer"), "sell", "present", the("sheep", plural=True, count=24, determiner="numeral")
    ),
    "some_mass": lambda: one(he(), "buy", "present", the("bread", determiner="some")),
    "some_plural": lambda: one(he(), "buy", "present", the("apple", plural=True, determiner="some")),
    "every": lambda: one(the("pupil", determiner="every"), "read", "present", a("book")),
    "many": lambda: one(the("tourist", plural=True, determiner="many"), "visit", "present", this("museum")),
    "stranger": lambda: one(a("stranger"), "greet", "present", the("queen")),
    "the_stranger": lambda: one(he(), "know_p", "present", the("stranger")),
    "high": lambda: one(they(), "climb", "present", the("mountain", "high")),
    "very": lambda: say(clause(this("church"), "be", complement=Adjective("old", very=True))),
    "freedom": lambda: one(the("soldier", plural=True), "defend", "past", bare("freedom")),
    "front_adverb": lambda: one(the("baker"), "sell", "past", the("bread"), Adverb("yesterday", front=True)),
    "front_date": lambda: one(
        the("minister"), "sign", "past", the("contract"), Date(month="august", year=1992, front=True)
    ),
    "front_phrase": lambda: one(
        the("child", plural=True), "sleep", "progressive", None, at("in", the("garden"), front=True)
    ),
    "front_clause": lambda: one(
        he(), "open", "past", the("door"), when("when", clause(the("guest", plural=True), "arrive", "past"), front=True)
    ),
    "because": lambda: one(he(), "sleep", "present", None, when("because", is_(he(), "tired"))),
    "that": lambda: one(she(), "know", content=clause(the("train"), "arrive", "perfect")),
    "when_present": lambda: one(the("dog"), "bark", "present", None, when("when", clause(the("postman"), "come"))),
    "when_past": lambda: one(i(), "laugh", "past", None, when("when", clause(he(), "fall", "past"))),
    "if_future": lambda: one(we(), "eat", "future", the("cake"), when("if", clause(she(), "come"), front=True)),
    "while": lambda: one(he(), "read", "progressive", None, when("while", clause(she(), "work", "progressive"))),
    "since": lambda: one(he(), "work", "progressive", None, when("since", is_(he(), "ill"), front=True), negative=True),
    "who_relative": lambda: say(is_(the("man", relative=who("sell", "present", bare("bread"))), own(i(), "uncle"))),
    "that_relative": lambda: say(is_(the("soup", relative=that(she(), "cook")), "excellent")),
    "that_masculine": lambda: say(is_(the("dog", relative=that(the("girl"), "see")), "white")),
    "whom_dative": lambda: say(is_(the("woman", relative=that(he(), "help")), a("nurse"))),
    "relative_plural": lambda: one(
        he(), "know_p", "present", the("child", plural=True, relative=who("sing", "progressive"))
    ),
    "where_relative": lambda: say(is_(the("city", relative=Relative("place", clause(they(), "live"))), "beautiful")),
    "whose_relative": lambda: one(
        the("boy", relative=Relative("whose", is_(the("father"), a("doctor")))), "sleep", "progressive"
    ),
    "preposition_relative": lambda: say(is_(the("train", relative=that(we(), "wait_for", "progressive")), "slow")),
    "relative_after_verb": lambda: one(he(), "buy", "perfect", the("house", relative=that(she(), "love"))),
    "separable": lambda: one(the("mother"), "call", "present", the("doctor")),
    "separable_final": lambda: one(i(), "know", content=clause(the("train"), "arrive", "progressive")),
    "separable_participle": lambda: one(we(), "invite", "perfect", the("neighbour", plural=True)),
    "separable_zu": lambda: one(he(), "try", infinitive=to("get_up")),
    "zu_extended": lambda: one(she(), "try", infinitive=to("open", the("window"))),
    "zu_with_es": lambda: one(he(), "love", infinitive=to("drink", bare("hot_chocolate"))),
    "hate_to_wait": lambda: one(she(), "hate", infinitive=to("wait")),
    "zu_final": lambda: one(she(), "say", content=clause(he(), "love", infinitive=to("dance"))),
    "zu_negated": lambda: one(she(), "decide", "past", infinitive=to("sell", the("house"), negative=True)),
    "reflexive": lambda: one(the("worker", plural=True), "hurry"),
    "reflexive_zu": lambda: one(i(), "refuse", infinitive=to("sign", the("contract"))),
    "modal": lambda: one(own(i(), "brother"), "want", infinitive=to("sell", own(he(), "car"))),
    "modal_negated": lambda: one(the("child"), "can", infinitive=to("sleep"), negative=True),
    "must_not": lambda: one(you(), "must", infinitive=to("open", the("box")), negative=True),
    "could": lambda: one(she(), "can", "imperfect", infinitive=to("see", the("sea"))),
    "wanted_perfect": lambda: one(we(), "want", "perfect", infinitive=to("buy", the("house"))),
    "two_infinitives": lambda: one(
        he(), "say", content=clause(they(), "want", "future", infinitive=to("buy", the("house")))
    ),
    "perfekt_haben": lambda: one(he(), "lose", "perfect", own(he(), "key")),
    "perfekt_sein": lambda: one(the("guest", plural=True), "arrive", "perfect"),
    "perfekt_motion": lambda: one(she(), "go", "perfect", None, at("to", the("school"))),
    "praeteritum": lambda: one(the("soldier", plural=True), "destroy", "past", the("bridge")),
    "was": lambda: say(is_(the("film"), "boring", "imperfect")),
    "had": lambda: one(he(), "have", "imperfect", a("house")),
    "ongoing": lambda: one(they(), "dance", "imperfect"),
    "future": lambda: one(we(), "buy", "future", a("house")),
    "future_final": lambda: one(he(), "hope", content=clause(she(), "come", "future")),
    "passive_agent": lambda: one(the("bread"), "sell", passive=True, agent=the("baker")),
    "passive_perfect": lambda: one(the("letter", plural=True), "send", "perfect", passive=True),
    "passive_future": lambda: one(the("house"), "sell", "future", passive=True),
    "passive_dative": lambda: one(the("man", "old"), "help", "past", passive=True),
    "passive_final": lambda: one(
        he(),
        "be",
        "present",
        None,
        when("because", clause(the("problem"), "solve", "past", passive=True)),
        complement=Adjective("happy"),
    ),
    "front_door": lambda: say(is_(the("front_door"), "closed")),
    "apple_juice": lambda: one(she(), "drink", "present", bare("apple_juice")),
    "nicht_object": lambda: one(he(), "read", "present", the("book"), negative=True),
    "kein_bare": lambda: one(he(), "eat", "present", bare("bread"), negative=True),
    "kein_article": lambda: one(she(), "have", "present", a("car"), negative=True),
    "kein_plural": lambda: one(they(), "buy", "present", bare("apple", "green", plural=True), negative=True),
    "nicht_adjective": lambda: say(is_(the("shop"), "open", negative=True)),
    "nicht_place": lambda: one(the("boy"), "work", "progressive", None, at("in", the("garden")), negative=True),
    "nicht_participle": lambda: one(he(), "sleep", "perfect", negative=True),
    "nicht_oft": lambda: one(he(), "drink", "present", bare("wine"), Adverb("often"), negative=True),
    "not_a_teacher": lambda: say(is_(he(), a("teacher"), negative=True)),
    "became_a_doctor": lambda: one(he(), "become", "past", complement=a("doctor")),
    "good_cook": lambda: say(is_(he(), a("cook", "good"))),
    "yes_no": lambda: one(Name("sophie"), "love", "present", bare("music"), question="yes"),
    "yes_no_perfect": lambda: one(you(), "see", "perfect", the("film"), question="yes"),
    "where": lambda: one(the("teacher"), "live", question="where"),
    "where_to": lambda: one(they(), "go", "past", question="where"),
    "what": lambda: one(she(), "read", "progressive", question="what"),
    "who": lambda: one(None, "steal", "perfect", the("ring"), question="who"),
    "when": lambda: one(the("train"), "depart", "future", question="when"),
    "why": lambda: one(you(), "cry", "progressive", question="why"),
    "what_for": lambda: one(you(), "wait_for", "progressive", question="what"),
    "joined_subject": lambda: one(Joined((the("baker"), own(he(), "brother"), i())), "work", "progressive"),
    "joined_you": lambda: one(Joined((you(), Name("anna"))), "dance", "progressive"),
    "and_clause": lambda: say(
        clause(the("father"), "cook"), clause(the("mother"), "read", "progressive"), joints=("and",)
    ),
    "but_clause": lambda: say(is_(he(), "rich"), is_(he(), "happy", negative=True), joints=("but",)),
    "so_clause": lambda: say(is_(she(), "tired", "imperfect"), clause(she(), "sleep", "past"), joints=("so",)),
    "clause_closed": lambda: say(
        clause(he(), "sleep", "present", None, when("because", is_(he(), "ill"))),
        clause(she(), "work", "progressive"),
        joints=("and",),
    ),
    "day": lambda: one(he(), "arrive", "past", None, Date(3, "may", 1992)),
    "weekday": lambda: one(we(), "travel", "future", None, Date(weekday="monday")),
    "year": lambda: one(the("church"), "build", "past", None, Date(year=1950), passive=True),
    "country": lambda: one(she(), "work", "present", None, at("in", Name("france"))),
    "switzerland": lambda: one(they(), "live", "present", None, at("in", Name("switzerland"))),
    "to_the_usa": lambda: one(own(i(), "uncle"), "go", "past", None, at("to", Name("united_states"))),
    "to_berlin": lambda: one(i(), "go", "future", None, at("to", Name("berlin"))),
    "from_japan": lambda: one(he(), "come", "present", None, at("from", Name("japan"))),
    "from_iran": lambda: one(she(), "come", "present", None, at("from", Name("iran"))),
    "to_market": lambda: one(she(), "go", "present", None, at("to", the("market"))),
    "to_city": lambda: one(he(), "return", "past", None, at("to", the("city"))),
    "at_market": lambda: one(he(), "sell", "present", bare("cherry", plural=True), at("at", the("market"))),
    "at_station": lambda: one(Name("paul"), "wait", "progressive", None, at("at", the("station"))),
    "during": lambda: one(he(), "sleep", "past", None, at("during", the("concert"))),
    "near": lambda: say(is_(the("hotel", phrase=at("near", the("station"))), "expensive")),
    "without": lambda: one(she(), "travel", "progressive", None, at("without", own(she(), "husband"))),
    "for": lambda: one(he(), "buy", "present", a("present"), at("for", own(he(), "mother"))),
    "with": lambda: one(Name("paul"), "sing", "progressive", None, at("with", the("child", plural=True))),
    "pronouns": lambda: one(he(), "give", "present", it("book"), recipient=she()),
    "pronoun_gender": lambda: say(is_(the("chair"), "old"), is_(it("chair"), "comfortable"), joints=("but",)),
    "pronoun_object": lambda: say(
        clause(we(), "see", "present", they()), clause(they(), "see", "present", we()), joints=("and",)
    ),
    "read_to": lambda: one(the("grandmother"), "read", "present", the("story"), recipient=the("child")),
    "this_is": lambda: say(is_(This(), own(i(), "house"))),
    "these_are": lambda: say(is_(This(plural=True), own(we(), "book", plural=True))),
    "often": lambda: one(he(), "visit", "present", own(he(), "aunt"), Adverb("often")),
    "manner": lambda: one(the("secretary"), "read", "present", the("letter"), Adverb("carefully")),
    "time_place": lambda: one(Name("anna"), "work", "past", None, at("in", the("library")), Adverb("yesterday")),
    "watch_film": lambda: one(they(), "watch", "past", the("film")),
    "learn_alone": lambda: one(own(i(), "son"), "learn", "progressive", infinitive=to("swim")),
    "learn_perfect": lambda: one(she(), "say", content=clause(he(), "learn", "perfect", infinitive=to("dance"))),
    "learn_extended": lambda: one(he(), "learn", infinitive=to("drive", the("car"))),
    "to_cinema": lambda: one(we(), "go", "progressive", None, at("to", the("cinema"))),
    "reflexive_question": lambda: one(the("nurse"), "hurry", "progressive", question="yes"),
    "avoid_person": lambda: one(she(), "avoid", "past", i()),
    "keep_secret": lambda: one(he(), "keep", "present", the("secret")),
    "any": lambda: one(he(), "buy", "present", the("tomato", plural=True, determiner="some"), negative=True),
    "relative_after_nicht": lambda: one(
        she(), "read", "present", the("book", relative=that(he(), "write", "past")), negative=True
    ),
    "continue_final": lambda: one(she(), "know", content=clause(he(), "continue", infinitive=to("laugh"))),
    "relative_of_subject": lambda: one(
        i(), "know", content=clause(the("man", relative=who("sleep")), "love", "present", Name("anna"))
    ),
    "lone_subject": lambda: one(i(), "know", content=clause(the("man", relative=who("wait")), "sleep", negative=True)),
    "dative_before_time": lambda: one(he(), "thank", "past", the("queen"), at("after", the("wedding"))),
    "company_first": lambda: one(Name("anna"), "visit", "present", the("museum"), at("with", own(she(), "brother"))),
    "nicht_time": lambda: one(the("company"), "change", "past", the("plan"), Adverb("yesterday"), negative=True),
    "bake": lambda: one(the("grandmother"), "cook", "perfect", a("cake")),
    "by_him": lambda: one(the("letter"), "write", "past", passive=True, agent=he()),
    "joined_recipient": lambda: one(
        he(), "give", "present", the("flower", plural=True), recipient=Joined((the("nurse"), own(she(), "sister")))
    ),
    "with_her": lambda: one(they(), "dance", "progressive", None, at("with", we())),
    "you_plural": lambda: one(
        Pronoun(2, True), "work", "progressive", None, at("with", own(Pronoun(2, True), "brother"))
    ),
    "netherlands": lambda: one(Name("laura"), "work", "present", None, at("in", Name("netherlands"))),
    "near_paris": lambda: one(we(), "live", "present", None, at("near", Name("paris"))),
    "question_dative": lambda: one(None, "help", "past", passive=True, question="who"),
    "no_comma_lone": lambda: one(he(), "try", negative=True, infinitive=to("sleep")),
    "animal_eats": lambda: one(the("dog"), "eat", "perfect", the("meat")),
    "animal_relative": lambda: say(
        is_(the("sheep", plural=True, relative=who("eat", "present", the("carrot", plural=True))), "white")
    ),
    "cake_relative": lambda: one(
        he(), "like", "present", the("cake", relative=who("cook", "past", passive=True, agent=Name("emma")))
    ),
    "plane": lambda: one(the("plane", plural=True), "depart", "perfect"),
    "when_repeated": lambda: one(
        she(), "laugh", "past", None, when("when", clause(he(), "sing", "past", a("song"), Adverb("sometimes")))
    ),
    "hither": lambda: one(the("postman"), "come", "perfect", None, Adverb("here")),
    "thither": lambda: one(they(), "go", "present", None, Adverb("there"), negative=True),
    "here": lambda: one(own(i(), "brother"), "be", "present", None, Adverb("here"), negative=True),
    "nicht_before_infinitive": lambda: one(
        she(),
        "promise",
        "past",
        None,
        at("in", Name("hamburg")),
        Adverb("yesterday"),
        negative=True,
        infinitive=to("laugh"),
    ),
    "from_restaurant": lambda: one(he(), "come", "present", None, at("from", the("restaurant"))),
    "light_pronoun": lambda: one(a("secretary"), "save", "past", he(), Adverb("yesterday", front=True)),
    "heavy_pronoun": lambda: one(the("secretary"), "save", "past", they(), Adverb("yesterday", front=True)),
    "wait_for": lambda: one(the("girl"), "wait_for", "progressive", own(it("girl"), "friend")),
    "child": lambda: one(the("child"), "believe", content=clause(it("child"), "rest", "perfect")),
    "child_owner": lambda: one(the("child"), "throw", "progressive", own(it("child"), "ball")),
    "girl": lambda: say(
        clause(the("girl"), "sleep"), is_(Pronoun(3, False, "feminine", "girl"), "tired"), joints=("but",)
    ),
    "moon": lambda: one(the("moon"), "shine", "past"),
    "valley": lambda: one(we(), "cross", "perfect", the("valley")),
    "wash_plates": lambda: one(a("child"), "wash", "perfect", the("plate", plural=True)),
    "rope": lambda: one(she(), "cut", "past", the("rope")),
    "no_child": lambda: one(he(), "give", "present", the("knife"), recipient=a("child"), negative=True),
    "no_knife": lambda: one(he(), "give", "present", a("knife"), recipient=a("child"), negative=True),
    "lost": lambda: one(the("bag"), "lose", "past", passive=True),
    "lost_perfect": lambda: one(
        she(), "know", content=clause(the("key", plural=True), "lose", "perfect", passive=True)
    ),
    "lost_by": lambda: one(the("ring"), "lose", "past", passive=True, agent=Name("anna")),
    "love_negated": lambda: one(the("teacher"), "love", negative=True, infinitive=to("dance")),
    "there_early": lambda: one(own(i(), "mother"), "work", "past", None, at("with", a("dancer")), Adverb("there")),
    "here_with_object": lambda: one(
        he(), "mend", "present", bare("engine", plural=True), Adverb("quickly"), Adverb("here")
    ),
    "thither_late": lambda: one(we(), "go", "past", None, at("with", Name("anna")), Adverb("there")),
    "use_flour": lambda: one(the("cook"), "use", "past", the("flour")),
    "pick_mushrooms": lambda: one(he(), "pick", "past", bare("mushroom", plural=True)),
    "announce_that": lambda: one(he(), "announce", "past", content=clause(she(), "sleep", "imperfect")),
    "announce_event": lambda: one(they(), "announce", "past", the("wedding")),
    "place_of_infinitive": lambda: one(
        she(),
        "decide",
        "past",
        None,
        Adverb("yesterday"),
        infinitive=to("paint", the("bench"), adverbials=(at("in", the("park")),)),
    ),
    "company_of_infinitive": lambda: one(
        he(), "say", content=clause(they(), "try", infinitive=to("sing", adverbials=(at("with", we()),)))
    ),
}


def example(sentence):
    """The pair as the phrasebook would give it."""
    source, target = english.realise(sentence), german.realise(sentence)
    return Pair(" ".join(word.text for word in source), " ".join(word.text for word in target), *links(source, target))


def test_every_case_has_a_meaning_and_every_meaning_a_case():
    assert MEANINGS.keys() == CASES.keys()
    assert len(CASES) >= 75


@pytest.mark.parametrize("case", CASES)
def test_pair_is_what_a_speaker_writes(case):
    _, source, target, _ = CASES[case]
    made = example(MEANINGS[case]())
    assert (made.source, made.target) == (source, target)


@pytest.mark.parametrize("case", [case for case, fields in CASES.items() if fields[3]])
def test_links_are_what_a_speaker_draws(case):
    assert example(MEANINGS[case]()).gold() == CASES[case][3]


@pytest.mark.parametrize("case", CASES)
def test_links_cover_every_word_once_as_sure_or_possible(case):
    made = example(MEANINGS[case]())
    every = {*made.sure, *made.possible}
    assert {source for source, _ in every} == set(range(len(made.source.split())))
    assert {target for _, target in every} == set(range(len(made.target.split())))
    assert not set(made.sure) & set(made.possible)
