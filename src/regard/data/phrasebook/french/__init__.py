"""French: from meaning to words.

`conjugation` and `forms` inflect, `verbs` builds verb groups with their pronouns and negation, `grammar` puts
phrases, clauses and sentences in order, and `sound` joins what is written together: l', qu', du, aux.
"""

from regard.data.phrasebook.french.grammar import realise
from regard.data.phrasebook.french.sound import plain

__all__ = ["plain", "realise"]
