"""German: from meaning to words.

`declension` and `conjugation` inflect, `words` reads the lexicon, `phrases` speaks nouns and adverbials in
their case, `verbs` builds verb groups, `middle` sorts what stands between the verbs, `clauses` puts it all in
order, `sentences` joins clauses and sets the marks.
"""

from regard.data.phrasebook.german.sentences import plain, realise

__all__ = ["plain", "realise"]
