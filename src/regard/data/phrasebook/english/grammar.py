"""English word order: noun phrases, adverbials, clauses and sentences."""

from __future__ import annotations

from regard.data.phrasebook.english.forms import (
    ADJECTIVES,
    ADVERBS,
    CONJUNCTIONS,
    MONTHS,
    NAMES,
    NOUNS,
    PEOPLE,
    PREPOSITIONS,
    Agreement,
    agreement,
    article,
    number,
    pronoun_forms,
)
from regard.data.phrasebook.english.verbs import MODALS, infinitive, negate, verb_group
from regard.data.phrasebook.lexicon import spell, table
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
    Sentence,
    Subordinate,
    Tag,
    This,
    Word,
    head,
)

FREQUENT = frozenset(concept for concept, row in table("adverbs").items() if row["kind"] == "frequency")
DETERMINERS = {"definite": "the", "some": "some", "every": "every", "several": "several", "many": "many"}


def realise(sentence: Sentence) -> list[Word]:
    """The sentence in English, with its final mark."""
    clauses = sentence.clauses
    words = ask(sentence) if sentence.question else speak(clauses[0])
    for joint, clause in zip(sentence.conjunctions, clauses[1:], strict=True):
        near: tuple[Tag, ...] = ((clause, "conjunction"), (clause, "verb"))
        if joint in ("but", "so"):
            words.append(Word(",", ((clause, "comma"),), near))
        words += spell(CONJUNCTIONS[joint], clause, "conjunction")
        words += speak(clause)
    words.append(Word("?" if sentence.question else ".", ((sentence, "stop"),), ((clauses[0], "verb"),)))
    return words


def ask(sentence: Sentence) -> list[Word]:
    """A question: what is asked for, the finite verb, the subject, the rest."""
    clause = sentence.clauses[0]
    if sentence.question == "yes" or sentence.question is None:
        first, *rest = speak(clause, inverted=True)
        return [first._replace(sure=(*first.sure, (sentence, "question"))), *rest]
    opening = Word(sentence.question, ((sentence, "asked"),), ((clause, "verb"),))
    if sentence.question == "who":
        return [opening, *speak(clause, Agreement(3, False))]
    return [opening, *speak(clause, inverted=True)]


def speak(clause: Clause, who: Agreement | None = None, inverted: bool = False, whose: bool = False) -> list[Word]:
    """A clause. `who` is the subject's agreement where the subject itself stands outside the clause."""
    words: list[Word] = []
    for adverbial in clause.adverbials:
        if adverbial.front:
            words += speak_adverbial(adverbial)
            words.append(Word(",", ((adverbial, "comma"),), (head(adverbial), (clause, "verb"))))
    subject = [] if clause.subject is None else speak_noun(clause.subject, determined=not whose)
    who = who or (Agreement(3, False) if clause.subject is None else agreement(clause.subject))
    group = verb_group(clause, who, inverted)
    finite = 1
    if clause.negative:
        group = negate(group, clause)
        finite = 1 if group[0].text == "cannot" else 2
    group = place_frequency(group, clause, finite)
    if inverted:
        words += [group[0], *subject, *group[1:]]
    else:
        words += subject + group
    return words + after_verb(clause)


def place_frequency(group: list[Word], clause: Clause, finite: int) -> list[Word]:
    """often, always ... stand before the verb, but after its first helper and after be."""
    adverbs = [word for adverb in clause.adverbials if is_frequency(adverb) for word in speak_adverbial(adverb)]
    if not adverbs:
        return group
    lexical = [place for place, word in enumerate(group) if (clause, "verb") in word.sure]
    at = 0 if clause.verb != "be" and lexical[0] == 0 and clause.verb not in MODALS else finite
    return [*group[:at], *adverbs, *group[at:]]


def is_frequency(adverbial: Adverbial) -> bool:
    """often, always ...: what stands beside the verb, unless it is fronted."""
    return isinstance(adverbial, Adverb) and adverbial.concept in FREQUENT and not adverbial.front


def after_verb(clause: Clause) -> list[Word]:
    """Everything that follows the verb group: objects, complements, adverbials."""
    words: list[Word] = []
    if clause.object is not None:
        words += speak_noun(clause.object, as_object=True, negated=clause.negative)
    if clause.recipient is not None:
        words.append(Word("to", ((clause.recipient, "recipient"),), (head(clause.recipient),)))
        words += speak_noun(clause.recipient, as_object=True)
    if clause.agent is not None:
        words.append(Word("by", ((clause.agent, "agent"),), (head(clause.agent),)))
        words += speak_noun(clause.agent, as_object=True)
    if isinstance(clause.complement, Adjective):
        words += speak_adjective(clause.complement)
    elif clause.complement is not None:
        words += speak_noun(clause.complement)
    if clause.infinitive is not None:
        words += infinitive(clause.infinitive, bare=clause.verb in MODALS) + after_verb(clause.infinitive)
    if clause.content is not None:
        words.append(Word("that", ((clause.content, "that"),), ((clause.content, "verb"),)))
        words += speak(clause.content)
    for adverbial in clause.adverbials:
        if not adverbial.front and not is_frequency(adverbial):
            words += speak_adverbial(adverbial)
    return words


def speak_noun(
    phrase: NounPhrase, as_object: bool = False, determined: bool = True, negated: bool = False
) -> list[Word]:
    """Any noun phrase; only pronouns care whether they are an object."""
    match phrase:
        case Noun():
            return noun_phrase(phrase, determined, negated)
        case Name():
            words = spell(NAMES[phrase.concept], phrase, "noun")
            if words[0].text == "the":
                words[0] = words[0]._replace(sure=((phrase, "determiner"),))
            return words
        case Pronoun():
            return [Word(pronoun_forms(phrase)[1 if as_object else 0], ((phrase, "noun"),))]
        case This():
            return [Word("these" if phrase.plural else "this", ((phrase, "noun"),))]
        case Joined():
            return joined(phrase, as_object)


def joined(phrase: Joined, as_object: bool) -> list[Word]:
    """a, b and c."""
    words = speak_noun(phrase.items[0], as_object)
    for item in phrase.items[1:-1]:
        words += [Word(",", ((item, "comma"),), (head(item),)), *speak_noun(item, as_object)]
    last = phrase.items[-1]
    words.append(Word(phrase.conjunction, ((last, "conjunction"),), (head(last),)))
    return words + speak_noun(last, as_object)


def noun_phrase(noun: Noun, determined: bool, negated: bool) -> list[Word]:
    """Determiner, adjectives, noun, what completes it. A person who owns comes first: the baker's house."""
    core: list[Word] = []
    for adjective in noun.adjectives:
        core += speak_adjective(adjective)
    core += spell(NOUNS[noun.concept][noun.plural], noun, "noun")
    if has_genitive(noun):
        words = genitive(noun.of) + core
    else:
        words = (determiner(noun, core[0].text, negated) if determined else []) + core
        if noun.of is not None:
            words.append(Word("of", ((noun.of, "of"),), (head(noun.of),)))
            words += speak_noun(noun.of, as_object=True)
    if noun.phrase is not None:
        words += speak_adverbial(noun.phrase)
    if noun.relative is not None:
        words += relative_clause(noun.relative, noun)
    return words


def has_genitive(noun: Noun) -> bool:
    """Whether the completing noun is spoken as a genitive: a name, or a person without further completion."""
    owner = noun.of
    if noun.determiner != "definite":
        return False
    if isinstance(owner, Noun):
        return owner.concept in PEOPLE and not (owner.of or owner.phrase or owner.relative)
    return isinstance(owner, Name)


def genitive(owner: NounPhrase | None) -> list[Word]:
    """the baker's, the bakers', Anna's: the ending says what `of` would."""
    if owner is None:
        return []
    words = speak_noun(owner)
    last = words[-1]
    ending = "'" if last.text.endswith("s") and isinstance(owner, Noun) and owner.plural else "'s"
    return [*words[:-1], Word(last.text + ending, (*last.sure, (owner, "of")), last.near)]


def determiner(noun: Noun, following: str, negated: bool) -> list[Word]:
    """The word before the adjectives, if there is one; `some` becomes `any` after a negated verb."""
    kind = noun.determiner
    if kind == "none" or (kind == "indefinite" and noun.plural):
        return []
    if kind == "indefinite":
        text = article(following)
    elif kind == "demonstrative":
        text = "these" if noun.plural else "this"
    elif kind == "possessive" and noun.owner is not None:
        text = pronoun_forms(noun.owner)[2]
    elif kind == "numeral":
        text = number(noun.count)
    elif kind == "some" and negated:
        text = "any"
    else:
        text = DETERMINERS[kind]
    return [Word(text, ((noun, "determiner"),), ((noun, "noun"),))]


def speak_adjective(adjective: Adjective) -> list[Word]:
    """old, very old."""
    word = Word(ADJECTIVES[adjective.concept], ((adjective, "adjective"),))
    if adjective.very:
        return [Word("very", ((adjective, "very"),), word.sure), word]
    return [word]


def relative_clause(relative: Relative, noun: Noun) -> list[Word]:
    """who and whom for people, that for the rest; where; whose."""
    person = noun.concept in PEOPLE
    clause = relative.clause
    tag = ((relative, "relative"),)
    near = ((clause, "verb"),)
    if relative.role == "subject":
        opening = "who" if person else "that"
        return [Word(opening, tag, near), *speak(clause, Agreement(3, noun.plural))]
    if relative.role == "whose":
        return [Word("whose", tag, near), *speak(clause, whose=True)]
    opening = "where" if relative.role == "place" else "whom" if person else "that"
    return [Word(opening, tag, near), *speak(clause)]


def speak_adverbial(adverbial: Adverbial) -> list[Word]:
    """A prepositional phrase, an adverb, a date or a subordinate clause."""
    match adverbial:
        case Phrase():
            opening = spell(PREPOSITIONS[adverbial.preposition], adverbial, "preposition")
            near = ((adverbial, "preposition"), head(adverbial.noun))
            opening = [Word(word.text, word.sure, near) for word in opening]
            return opening + speak_noun(adverbial.noun, as_object=True)
        case Adverb():
            return spell(ADVERBS[adverbial.concept], adverbial, "adverb")
        case Subordinate():
            opening = spell(CONJUNCTIONS[adverbial.conjunction], adverbial, "conjunction")
            return opening + speak(adverbial.clause)
        case Date():
            return date(adverbial)


def date(when: Date) -> list[Word]:
    """on Monday, on 3 May 1992, in August 1992, in 1992."""
    parts: list[Word] = []
    if when.weekday is not None:
        parts.append(Word(MONTHS[when.weekday], ((when, "weekday"),)))
    if when.day is not None:
        parts.append(Word(str(when.day), ((when, "day"),)))
    if when.month is not None:
        parts.append(Word(MONTHS[when.month], ((when, "month"),)))
    if when.year is not None:
        parts.append(Word(str(when.year), ((when, "year"),)))
    opening = "on" if when.day is not None or when.weekday is not None else "in"
    return [Word(opening, ((when, "preposition"),), parts[0].sure), *parts]
