"""The sides of tasks: how the data of one end is encoded, batched and written back.

text      text as pieces of a tokenizer
label     one class out of those of the training data
tags      one class for each word
image     pictures, as pixels
formula   pictures of formulas
mask      the class of every pixel of an image
latex     formulas, as tokens
segments  one text or two, told apart
nothing   no data at all
"""

from regard.data.sides import formula, image, label, latex, mask, nothing, segments, tags, text

__all__ = ["formula", "image", "label", "latex", "mask", "nothing", "segments", "tags", "text"]
