"""German sentences: statements, questions and joined clauses, with their marks."""

from __future__ import annotations

import re

from regard.data.phrasebook.german.clauses import CLOSING, speak
from regard.data.phrasebook.german.words import CONJUNCTIONS, INVERTING, VERBS
from regard.data.phrasebook.lexicon import spell
from regard.data.phrasebook.meaning import Clause, Sentence, Tag, Word

ASKED = {"who": "wer", "what": "was", "where": "wo", "when": "wann", "why": "warum", "how": "wie"}
MARKS = frozenset({",", ".", "?", CLOSING})


def realise(sentence: Sentence) -> list[Word]:
    """The sentence in German, with its final mark."""
    first = sentence.clauses[0]
    words = ask(sentence) if sentence.question else speak(first, "second")
    for joint, clause in zip(sentence.conjunctions, sentence.clauses[1:], strict=True):
        words += join(joint, clause)
    words.append(Word("?" if sentence.question else ".", ((sentence, "stop"),), ((first, "verb"),)))
    return tidy(words)


def join(joint: str, clause: Clause) -> list[Word]:
    """The next clause. und, aber and oder leave its order alone; also takes the first place in it."""
    near: tuple[Tag, ...] = ((clause, "conjunction"), (clause, "verb"))
    comma = [Word(",", ((clause, "comma"),), near)] if joint in ("but", "so") else []
    return [
        *comma,
        *spell(CONJUNCTIONS[joint], clause, "conjunction"),
        *speak(clause, "first" if joint in INVERTING else "second"),
    ]


def ask(sentence: Sentence) -> list[Word]:
    """A question: what is asked for, then the clause with its verb first."""
    clause = sentence.clauses[0]
    if sentence.question is None or sentence.question == "yes":
        return speak(clause, "first")
    said: tuple[Tag, ...] = ((sentence, "asked"),)
    if VERBS[clause.verb].preposition and sentence.question == "what":
        said = (*said, (clause, "particle"))  # worauf says for as well
    return [Word(asked(sentence.question, clause), said, ((clause, "verb"),)), *speak(clause, "first")]


def asked(question: str, clause: Clause) -> str:
    """The question word: wohin with verbs of motion, wem and worauf where the verb asks for it."""
    entry = VERBS[clause.verb]
    if question == "where" and entry.motion:
        return "wohin"
    if question == "what" and entry.preposition:
        return f"wor{entry.preposition}"
    if entry.case == "dat" and (question == "what" or (question == "who" and clause.passive)):
        return "wem"
    return ASKED[question]


def tidy(words: list[Word]) -> list[Word]:
    """Writes the comma that closes a clause only where no other mark follows."""
    kept: list[Word] = []
    for word, following in zip(words, [*words[1:], None], strict=True):
        if word.text != CLOSING:
            kept.append(word)
        elif following is not None and following.text not in MARKS:
            kept.append(Word(",", word.sure, word.near))
    return kept


def plain(text: str) -> str:
    """Ordinary typography: no space before a comma or a final mark."""
    return re.sub(r" (?=[,.?])", "", text)
