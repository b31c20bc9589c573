"""French word order: noun phrases, adverbials, clauses and sentences."""

from __future__ import annotations

from regard.data.phrasebook.french.forms import (
    ABSTRACT,
    ADJECTIVES,
    ADVERBS,
    CONJUNCTIONS,
    COUNTRIES,
    MONTHS,
    NAMES,
    NOUNS,
    POSSESSIVES,
    PREPOSITIONS,
    VERBS,
    WORKERS,
    Agreement,
    agreement,
    inflect,
    number,
    pronoun_forms,
)
from regard.data.phrasebook.french.sound import contract, elide, vowel_sound
from regard.data.phrasebook.french.verbs import infinitive, invert, verb_group
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
MANNER = frozenset(concept for concept, row in table("adverbs").items() if row["kind"] == "manner") | {"soon"}
ASKED = {"who": "qui", "where": "où", "when": "quand", "why": "pourquoi", "how": "comment"}
NOBODY = Agreement(3, False, False)
QUANTIFIERS = {"every": "chaque", "several": "plusieurs"}
UNDETERMINED = ("indefinite", "some", "none")


def realise(sentence: Sentence) -> list[Word]:
    """The sentence in French, with its final mark."""
    clauses = sentence.clauses
    words = ask(sentence) if sentence.question else speak(clauses[0])
    for joint, clause in zip(sentence.conjunctions, clauses[1:], strict=True):
        near: tuple[Tag, ...] = ((clause, "conjunction"), (clause, "verb"))
        if joint in ("but", "so"):
            words.append(Word(",", ((clause, "comma"),), near))
        words += spell(CONJUNCTIONS[joint], clause, "conjunction") + speak(clause)
    words.append(Word("?" if sentence.question else ".", ((sentence, "stop"),), ((clauses[0], "verb"),)))
    return contract(elide(words))


def ask(sentence: Sentence) -> list[Word]:
    """est-ce que for yes or no; qu'est-ce que; où, quand, pourquoi, comment invert (never with je)."""
    clause = sentence.clauses[0]
    verb = ((clause, "verb"),)
    asked = ((sentence, "asked"),)
    near = (*asked, (sentence, "question"), *verb)
    est_ce_que = [Word("est-ce", (), near), Word("que", (), near)]
    if sentence.question == "yes" or sentence.question is None:
        return est_ce_que + speak(clause)
    if sentence.question == "what":
        return [Word("que", asked, verb), *est_ce_que, *speak(clause)]
    opening = Word(ASKED[sentence.question], asked, verb)
    if sentence.question == "who":
        return [opening, *speak(clause, NOBODY)]
    if isinstance(clause.subject, Pronoun) and clause.subject.person == 1 and not clause.subject.plural:
        return [opening, *est_ce_que, *speak(clause)]
    return [opening, *speak(clause, inverted=True)]


def speak(
    clause: Clause, who: Agreement | None = None, antecedent: Noun | None = None, inverted: bool = False
) -> list[Word]:
    """A clause. `who` is the agreement of a subject that stands outside, `antecedent` what que means."""
    words: list[Word] = []
    for adverbial in clause.adverbials:
        if adverbial.front:
            words += speak_adverbial(adverbial)
            words.append(Word(",", ((adverbial, "comma"),), (head(adverbial), (clause, "verb"))))
    who = who or (NOBODY if clause.subject is None else agreement(clause.subject))
    adverbs = [word for adverb in clause.adverbials if is_frequency(adverb) for word in speak_adverbial(adverb)]
    group = verb_group(clause, who, adverbs, antecedent)
    if inverted:
        group = invert(group, clause, who)
    if clause.subject is not None and not (inverted and isinstance(clause.subject, Pronoun)):
        words += speak_subject(clause.subject)
    return words + group + after_verb(clause, who)


def is_frequency(adverbial: Adverbial) -> bool:
    """souvent, toujours ...: what stands beside the verb, unless it is fronted."""
    return isinstance(adverbial, Adverb) and adverbial.concept in FREQUENT and not adverbial.front


def is_manner(adverbial: Adverbial) -> bool:
    """rapidement, bientôt: what stands before the object, unless it is fronted: il lit lentement la lettre."""
    return isinstance(adverbial, Adverb) and adverbial.concept in MANNER and not adverbial.front


def speak_subject(subject: NounPhrase) -> list[Word]:
    """The subject. A bare noun is meant in general: les maisons."""
    if isinstance(subject, Pronoun):
        return [Word(pronoun_forms(subject)[0], ((subject, "noun"),))]
    if isinstance(subject, This):
        return [Word("ce", ((subject, "noun"),))]
    return speak_noun(subject, generic=True)


def after_verb(clause: Clause, who: Agreement) -> list[Word]:
    """Everything that follows the verb group: manner, objects, complements, other adverbials."""
    after = [adverbial for adverbial in clause.adverbials if not adverbial.front and not is_frequency(adverbial)]
    words = [word for adverbial in after if is_manner(adverbial) for word in speak_adverbial(adverbial)]
    verb = VERBS[clause.verb]
    if clause.object is not None and not isinstance(clause.object, Pronoun):
        if verb.object_preposition:
            words += introduce(verb.object_preposition, clause.object, (), ((clause, "verb"),))
        else:
            negated = clause.negative and not verb.generic
            words += speak_noun(clause.object, generic=verb.generic, negated=negated)
    if clause.recipient is not None and not isinstance(clause.recipient, Pronoun):
        words += introduce("à", clause.recipient, ((clause.recipient, "recipient"),))
    if clause.agent is not None:
        words += introduce("par", clause.agent, ((clause.agent, "agent"),))
    if isinstance(clause.complement, Adjective):
        words += speak_adjective(clause.complement, inflect(ADJECTIVES[clause.complement.concept], who))
    elif clause.complement is not None:
        words += speak_complement(clause.complement, isinstance(clause.subject, This))
    if clause.infinitive is not None:
        words += infinitive(clause.infinitive, verb.infinitive_preposition, who)
        words += after_verb(clause.infinitive, who)
    if clause.content is not None:
        words.append(Word("que", ((clause.content, "that"),), ((clause.content, "verb"),)))
        words += speak(clause.content)
    for adverbial in after:
        if not is_manner(adverbial):
            words += speak_adverbial(adverbial)
    return words


def speak_complement(noun: Noun, pointed_at: bool) -> list[Word]:
    """A profession needs no article (il est médecin), except after c'est."""
    profession = noun.determiner == "indefinite" and noun.concept in WORKERS and not noun.adjectives
    return noun_phrase(noun, []) if profession and not pointed_at else speak_noun(noun)


def introduce(preposition: str, phrase: NounPhrase, sure: tuple[Tag, ...], near: tuple[Tag, ...] = ()) -> list[Word]:
    """A preposition before a noun phrase; before joined ones it is said again: à Anna et à Paul."""
    words: list[Word] = []
    for item in phrase.items if isinstance(phrase, Joined) else (phrase,):
        if isinstance(phrase, Joined):
            words += join_word(phrase, item)
        words.append(Word(preposition, sure, near or (head(item),)))
        words += speak_noun(item, after_de=preposition == "de")
    return words


def join_word(phrase: Joined, item: NounPhrase) -> list[Word]:
    """What stands before an item: nothing, a comma, or et / ou."""
    if item is phrase.items[0]:
        return []
    if item is phrase.items[-1]:
        return [Word("et" if phrase.conjunction == "and" else "ou", ((item, "conjunction"),), (head(item),))]
    return [Word(",", ((item, "comma"),), (head(item),))]


def speak_noun(phrase: NounPhrase, generic: bool = False, negated: bool = False, after_de: bool = False) -> list[Word]:
    """Any noun phrase; a pronoun in its stressed form. The settings decide the article (see `determiner`)."""
    match phrase:
        case Noun():
            core = noun_core(phrase)
            settled = phrase.determiner
            if settled == "none" and (generic or phrase.concept in ABSTRACT):
                settled = "definite"
            opening = determiner(phrase, settled, core[0].text, negated, after_de)
            return noun_phrase(phrase, opening, core)
        case Name():
            words = NAMES.get(phrase.concept) or COUNTRIES[phrase.concept].words
            return spell(words, phrase, "noun")
        case Pronoun():
            return [Word(pronoun_forms(phrase)[3], ((phrase, "noun"),))]
        case This():
            return [Word("ceci", ((phrase, "noun"),))]
        case Joined():
            return [
                word
                for item in phrase.items
                for word in join_word(phrase, item) + speak_noun(item, generic, negated, after_de)
            ]


def noun_phrase(noun: Noun, opening: list[Word], core: list[Word] | None = None) -> list[Word]:
    """Determiner, adjectives around the noun, and what completes it."""
    words = opening + (core or noun_core(noun))
    if noun.of is not None:
        words += introduce("de", noun.of, ((noun.of, "of"),))
    if noun.phrase is not None:
        words += speak_adverbial(noun.phrase)
    if noun.relative is not None:
        words += relative_clause(noun.relative, noun)
    return words


def noun_core(noun: Noun) -> list[Word]:
    """The noun with its adjectives: those before it in English order, those after it in reverse."""
    forms = NOUNS[noun.concept]
    words = spell(forms.plural if noun.plural else forms.singular, noun, "noun")
    who = Agreement(3, noun.plural, forms.feminine)
    for adjective in reversed(noun.adjectives):
        entry = ADJECTIVES[adjective.concept]
        if not entry.before:
            words += speak_adjective(adjective, inflect(entry, who))
    for adjective in reversed(noun.adjectives):
        entry = ADJECTIVES[adjective.concept]
        if entry.before:
            special = not (who.plural or who.feminine) and vowel_sound(words[0].text)
            words = speak_adjective(adjective, entry.before_vowel if special else inflect(entry, who)) + words
    return words


def speak_adjective(adjective: Adjective, text: str) -> list[Word]:
    """vieux, très vieux."""
    word = Word(text, ((adjective, "adjective"),))
    return [Word("très", ((adjective, "very"),), word.sure), word] if adjective.very else [word]


def determiner(noun: Noun, kind: str, following: str, negated: bool, after_de: bool) -> list[Word]:
    """The article and its like. un, du, des become de after a negated verb, and nothing after de."""
    feminine, vowel = NOUNS[noun.concept].feminine, vowel_sound(following)
    tag, near = ((noun, "determiner"),), ((noun, "noun"),)
    if kind in UNDETERMINED:
        if after_de and (noun.plural or kind != "indefinite"):
            return []
        texts = ["de"] if negated else undetermined(noun, kind, feminine)
    elif kind == "definite":
        texts = ["les" if noun.plural else "la" if feminine else "le"]
    elif kind == "demonstrative":
        texts = ["ces" if noun.plural else "cette" if feminine else "cet" if vowel else "ce"]
    elif kind == "possessive" and noun.owner is not None:
        series = POSSESSIVES[noun.owner.person, noun.owner.plural]
        texts = [series[2] if noun.plural else series[1] if feminine and not vowel else series[0]]
    elif kind == "many":
        return [Word("beaucoup", tag, near), Word("de", (), tag + near)]
    else:
        texts = [number(noun.count) if kind == "numeral" else QUANTIFIERS[kind]]
    return [Word(text, tag, near) for text in texts]


def undetermined(noun: Noun, kind: str, feminine: bool) -> list[str]:
    """un, une; de la, du (contracted later); des, and de before an adjective: de belles maisons."""
    if noun.plural:
        return ["de" if any(ADJECTIVES[adjective.concept].before for adjective in noun.adjectives) else "des"]
    if kind == "indefinite":
        return ["une" if feminine else "un"]
    return ["de", "la" if feminine else "le"]


def relative_clause(relative: Relative, noun: Noun) -> list[Word]:
    """qui, que (à qui for verbs with à), où, dont."""
    clause = relative.clause
    tag, near = ((relative, "relative"),), ((clause, "verb"),)
    if relative.role == "subject":
        return [Word("qui", tag, near), *speak(clause, agreement(noun))]
    if relative.role == "object":
        preposition = VERBS[clause.verb].object_preposition
        if preposition:
            return [Word(preposition, (), tag + near), Word("qui", tag, near), *speak(clause)]
        return [Word("que", tag, near), *speak(clause, antecedent=noun)]
    return [Word("où" if relative.role == "place" else "dont", tag, near), *speak(clause)]


def speak_adverbial(adverbial: Adverbial) -> list[Word]:
    """A prepositional phrase, an adverb, a date or a subordinate clause."""
    match adverbial:
        case Phrase():
            return prepositional(adverbial)
        case Adverb():
            return spell(ADVERBS[adverbial.concept], adverbial, "adverb")
        case Subordinate():
            opening = spell(CONJUNCTIONS[adverbial.conjunction], adverbial, "conjunction")
            return opening + speak(adverbial.clause)
        case Date():
            return date(adverbial)


def prepositional(phrase: Phrase) -> list[Word]:
    """Most prepositions stand as they are; countries and cities choose their own (en, au, aux, à)."""
    if isinstance(phrase.noun, Name) and phrase.noun.concept in COUNTRIES:
        return country(phrase, phrase.noun)
    opening = spell(PREPOSITIONS[phrase.preposition], phrase, "preposition")
    near = ((phrase, "preposition"), head(phrase.noun))
    opening = [word._replace(near=near) for word in opening]
    return opening + speak_noun(phrase.noun, after_de=opening[-1].text in ("de", "sans"))


def country(phrase: Phrase, name: Name) -> list[Word]:
    """en France, en Iran, au Japon, aux États-Unis, à Cuba; de France, du Japon; near: près de la France."""
    entry = COUNTRIES[name.concept]
    words = spell(entry.words, name, "noun")
    open_syllable = entry.kind == "article" and (entry.feminine or vowel_sound(words[0].text))
    open_syllable = open_syllable or entry.kind == "en"
    text = "les" if entry.kind == "plural" else "la" if entry.feminine else "le"
    article = [] if entry.kind in ("bare", "en") else [Word(text, ((name, "determiner"),), ((name, "noun"),))]
    tag, near = ((phrase, "preposition"),), ((name, "noun"),)
    if phrase.preposition in ("in", "to", "at"):
        if open_syllable:
            return [Word("en", tag, near), *words]
        return [Word("à", tag, near), *article, *words]
    if phrase.preposition == "from":
        return [Word("de", tag, near), *([] if open_syllable else article), *words]
    return spell(PREPOSITIONS[phrase.preposition], phrase, "preposition") + article + words


def date(when: Date) -> list[Word]:
    """lundi, le 3 mai 1992, le 1er mai, en août 1992, en 1992."""
    parts: list[Word] = []
    if when.weekday is not None:
        return [Word(MONTHS[when.weekday], ((when, "weekday"),))]
    if when.day is not None:
        parts.append(Word("1er" if when.day == 1 else str(when.day), ((when, "day"),)))
    if when.month is not None:
        parts.append(Word(MONTHS[when.month], ((when, "month"),)))
    if when.year is not None:
        parts.append(Word(str(when.year), ((when, "year"),)))
    return [Word("en" if when.day is None else "le", ((when, "preposition"),), parts[0].sure), *parts]
