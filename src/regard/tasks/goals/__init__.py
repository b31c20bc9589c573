"""Goals: how an answer is made, judged and drawn.

write       a text, piece by piece, by search
classify    one class for the whole source
tag         one class for each word of the source
fill        the pieces that are hidden in the source
segment     one class for each pixel of an image
encode      a vector for the whole source
adversarial images of noise, judged by a critic
reconstruct the source again, from a short vector
"""

from regard.tasks.goals import adversarial, classify, encode, fill, reconstruct, segment, tag, write

__all__ = ["adversarial", "classify", "encode", "fill", "reconstruct", "segment", "tag", "write"]
