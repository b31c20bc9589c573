"""Goals: how an answer is made, judged and drawn.

write       a text, piece by piece, by search
classify    one class for the whole source
tag         one class for each word of the source
"""

from regard.tasks.goals import classify, tag, write

__all__ = ["classify", "tag", "write"]
