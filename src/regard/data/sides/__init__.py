"""The sides of tasks: how the data of one end is encoded, batched and written back.

text      text as pieces of a tokenizer
label     one class out of those of the training data
tags      one class for each word
image     pictures, as pixels
formula   pictures of formulas
mask      the class of every pixel of an image
latex     formulas, as tokens
episode   labelled images of a few classes, then images to be told
class     one of the classes of an episode
segments  one text or two, told apart
nothing   no data at all
"""

from regard.data.sides import episode, episode_class, formula, image, label, latex, mask, nothing, segments, tags, text

__all__ = [
    "episode",
    "episode_class",
    "formula",
    "image",
    "label",
    "latex",
    "mask",
    "nothing",
    "segments",
    "tags",
    "text",
]
