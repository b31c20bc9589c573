"""What a language model writes: after one prompt, at three temperatures, the same each time it is asked."""

from __future__ import annotations

from regard.show.samples import Samples
from regard.tasks.language_model import LanguageModel

TEMPERATURES = (0.5, 1.0, 1.5)
SEED = 1
LENGTH = 40  # pieces


def draw_samples(model: LanguageModel, prompt: str = "", seed: int = SEED, length: int = LENGTH) -> Samples:
    """Draw a continuation at each temperature: below 1 what is likely becomes likelier."""
    written = {
        each: model.generate(prompt, temperature=each, seed=seed, max_length=length).continuation
        for each in TEMPERATURES
    }
    return Samples(prompt, seed, written)


def samples_markdown(samples: Samples) -> str:
    """As a model card has it: each text as it is, set off, so that nothing in it is taken for markup."""
    told = [f"## What it writes\n\nAfter nothing, seed {samples.seed}."]
    for temperature, text in samples.written.items():
        lines = "\n".join(f"    {line}" for line in text.splitlines()) or "    (nothing)"
        told.append(f"Temperature {temperature:g}:\n\n{lines}")
    return "\n\n".join(told)
