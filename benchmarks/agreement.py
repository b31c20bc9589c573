"""Does a verb agree with its subject? By distance, for language models that were trained on built-in agreement.

Of each test line two versions are scored, with the right form of the verb and with the other; told is how often the
right one is likelier. Models of several seeds are one arm. Example:

    python benchmarks/agreement.py "tape: runs/a runs/b" "state: runs/c runs/d" --data agreement-far
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from statistics import fmean, stdev

import regard
from regard.data.agreement import subject_and_verb
from regard.data.builtin import examples
from regard.data.padding import pad
from regard.data.running import encode_running
from regard.data.tokenizer import END
from regard.search.loop import in_use
from regard.show.watch import watch
from regard.tasks.language_model import LanguageModel

KIND = "decoder-self"
BUCKETS = ((1, 5), (6, 10), (11, 20), (21, 1000))  # words from the subject to the verb


def other_form(line: str) -> str:
    """The line with its verb in the other number."""
    _, verb, other = subject_and_verb(line)
    words = line.split()
    return " ".join([*words[:verb], other, *words[verb + 1 :]])


def right(model: LanguageModel, lines: Sequence[str]) -> list[bool]:
    """For each line, whether the right form of its verb is likelier."""
    true, false = model.score(list(lines)), model.score([other_form(line) for line in lines])
    return [one.likelihood > two.likelihood for one, two in zip(true, false, strict=True)]


def by_distance(lines: Sequence[str], found: Sequence[bool]) -> list[float]:
    """The share of right ones in each bucket, in percent; those of more than ten words last."""
    distances = [verb - subject for subject, verb, _ in map(subject_and_verb, lines)]
    told = []
    for low, high in (*BUCKETS, (11, 1000)):
        inside = [each for each, far in zip(found, distances, strict=True) if low <= far <= high]
        told.append(100 * fmean(inside) if inside else float("nan"))
    return told


def on_the_subject(model: LanguageModel, lines: Sequence[str]) -> float:
    """How often the word before the verb looks at the subject most, where words stand between; in percent."""
    ids = pad([(END, *encode_running(model.target.tokenizer, line).ids) for line in lines])
    with in_use(model.model), watch(model.model) as seen:
        model.model.predict.teach(ids, model.model.nothing_read(len(lines)))
    if KIND not in seen.kinds:
        return float("nan")
    looks = seen.weights(KIND, 0)[:, 0]
    places = [subject_and_verb(line)[:2] for line in lines]  # a word's number in its line; before all stands END
    found = [
        looks[row, verb].argmax() == subject + 1 for row, (subject, verb) in enumerate(places) if verb > subject + 1
    ]
    return 100 * fmean(map(bool, found))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("arms", nargs="+", metavar="ARM")
    parser.add_argument("--data", default="agreement-far")
    parser.add_argument("--lines", type=int, default=1000)
    asked = parser.parse_args()
    lines = [each.target for each in examples(asked.data, split="test", size=asked.lines)]
    heads = [f"{low} to {high}" if high < 1000 else f"over {low - 1}" for low, high in (*BUCKETS, (11, 1000))]
    print("| words between | " + " | ".join(heads) + " |")
    print("| --- " * (len(heads) + 1) + "|")
    for arm in asked.arms:
        label, _, runs = arm.partition(":")
        models = [regard.load(run) for run in runs.split()]
        seeds = [by_distance(lines, right(model, lines)) for model in models]
        cells = [_told(each) for each in zip(*seeds, strict=True)]
        print(f"| {label} | " + " | ".join(cells) + " |", flush=True)


def _told(values: Sequence[float]) -> str:
    return f"{fmean(values):.1f}" + (f" ± {stdev(values):.1f}" if len(values) > 1 else "")


if __name__ == "__main__":
    main()
