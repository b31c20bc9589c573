"""The sides of tasks: how the data of one end is encoded, batched and written back.

text      text as pieces of a tokenizer
label     one class out of those of the training data
tags      one class for each word
image     pictures, as pixels
segments  one text or two, told apart
nothing   no data at all
"""

from regard.data.sides import image, label, nothing, segments, tags, text

__all__ = ["image", "label", "nothing", "segments", "tags", "text"]
