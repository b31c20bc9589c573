"""Goals: how an answer is made, judged and drawn.

write       a text, piece by piece, by search
classify    one class for the whole source
tag         one class for each word of the source
fill        the pieces that are hidden in the source
segment     one class for each pixel of an image
encode      a vector for the whole source
"""

from regard.tasks.goals import classify, encode, fill, segment, tag, write

__all__ = ["classify", "encode", "fill", "segment", "tag", "write"]
