"""English: from meaning to words.

`forms` inflects, `verbs` builds verb groups, `grammar` puts phrases, clauses and sentences in order.
"""

from regard.data.phrasebook.english.forms import plain
from regard.data.phrasebook.english.grammar import realise

__all__ = ["plain", "realise"]
