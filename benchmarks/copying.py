"""Does a language model find again what was said once? Of built-in repeats, after training on them.

A line is twenty words drawn at random, `again`, and the same twenty. Told are the nats of a word in either half, and of
the head that does it most, the share of its weight on the word to be written, twenty places before the word last read.
Run by `python benchmarks/language_models.py`.
"""

from __future__ import annotations

from collections.abc import Sequence
from statistics import fmean

import torch

from regard.data.padding import pad
from regard.data.repeats import LENGTH
from regard.data.running import encode_running
from regard.data.tokenizer import END
from regard.search.loop import in_use
from regard.show.watch import watch
from regard.tasks.language_model import LanguageModel
from regard.tasks.scoring import piece_nll

KIND = "decoder-self"


def halves(model: LanguageModel, lines: Sequence[str]) -> tuple[float, float]:
    """The nats of a word of the first twenty, and of the twenty that say them again."""
    texts = [(END, *encode_running(model.target.tokenizer, line).ids, END) for line in lines]
    values = piece_nll(model.model, texts, model.window)
    first = fmean(each for own in values for each in own[:LENGTH])
    return first, fmean(each for own in values for each in own[LENGTH + 1 : 2 * LENGTH + 1])


def on_the_word(model: LanguageModel, lines: Sequence[str]) -> float:
    """The share of a head's weight on what is to be written, of the head that looks there most; in percent."""
    ids = pad([(END, *encode_running(model.target.tokenizer, line).ids) for line in lines])
    with in_use(model.model), watch(model.model) as seen:
        model.model.predict.teach(ids, model.model.nothing_read(len(lines)))
    places = torch.arange(1, LENGTH + 1)  # of the first twenty; `again` and the words after it write them
    heads = [
        seen.weights(KIND, layer)[:, :, places + LENGTH, places].mean((0, 2))
        for layer in range(seen.kinds.get(KIND, 0))
    ]
    return 100 * float(torch.cat(heads).max()) if heads else float("nan")
