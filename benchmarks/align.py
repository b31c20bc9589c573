"""Word alignment, side by side in one run: attention, chosen heads, both directions, guided, and statistical aligners.

    python benchmarks/align.py de-en --data DIR
    python benchmarks/align.py de-en --data DIR --prepare runs/text-de-en
    python benchmarks/align.py de-en --data DIR --forward runs/de-en --backward runs/en-de \\
        --guided runs/guided-de-en --guided-backward runs/guided-en-de

DIR holds `word_alignment/gold.de-en.tsv.gz` (source, target, links, a tab between them, words parted by spaces) and
`europarl/{train,dev,test}.{de,en}.gz`. Statistical aligners learn from the text, lower-cased and cut into words and
punctuation, and the gold pairs themselves, of course without their links; `--prepare` writes the very same pairs as a
corpus for models to train on. fast_align and eflomal are compared where they can be imported: pip install
'regard[align]'.
"""

from __future__ import annotations

import argparse
import gzip
import importlib.util
import os
import re
import resource
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

from regard.align.alignment import Alignment
from regard.align.reference import reference_links
from regard.align.symmetrise import symmetrise
from regard.data.pair import Link
from regard.evaluate import Gold, aer, read_links
from regard.translate.translator import Translator

WORD = re.compile(r"\w+(?:'(?=\w))?|[^\w\s]")
MODELS = ("forward", "backward", "guided", "guided_backward")
HELD_OUT = 1000  # lines of the text's dev and test that models are validated and tested on
JOINED = ("grow-diag-final", "grow-diag-final-and", "intersection")
Found = Sequence[Sequence[Link]]


@dataclass(frozen=True)
class Pairs:
    """What statistical aligners learn from, the gold pairs first; and the gold links of those."""

    source: list[list[str]]
    target: list[list[str]]
    gold: Gold

    @property
    def texts(self) -> tuple[list[str], list[str]]:
        """The gold pairs as lines, for models that learnt from text cut in the same way."""
        count = len(self.gold.sure)
        return [" ".join(line) for line in self.source[:count]], [" ".join(line) for line in self.target[:count]]


def lines(path: Path, count: int | None = None) -> list[str]:
    with gzip.open(path, "rt", encoding="utf-8") as file:
        return [line.rstrip("\n") for line in islice(file, count)]


def words(line: str) -> list[str]:
    return WORD.findall(line.lower().replace("\u2019", "'"))


def read(data: Path, languages: str, count: int) -> Pairs:
    """The gold pairs and the text, lower-cased and cut into words alike."""
    rows = [line.split("\t") for line in lines(data / "word_alignment" / f"gold.{languages}.tsv.gz")]
    both = []
    for side, language in enumerate(languages.split("-")):
        more = lines(data / "europarl" / f"train.{language}.gz", count)
        both.append([row[side].lower().split() for row in rows] + [words(line) for line in more])
    return Pairs(both[0], both[1], read_links([row[2] for row in rows]))


def prepare(data: Path, languages: str, pairs: Pairs, folder: Path) -> None:
    """The pairs as a corpus: train is what the statistical aligners learn from, val and test are held out."""
    folder.mkdir(parents=True, exist_ok=True)
    for side, language in zip((pairs.source, pairs.target), languages.split("-"), strict=True):
        held = {
            name: [words(line) for line in lines(data / "europarl" / f"{name}.{language}.gz", HELD_OUT)]
            for name in ("dev", "test")
        }
        for split, rows in (("train", side), ("val", held["dev"]), ("test", held["test"])):
            text = "".join(f"{' '.join(row)}\n" for row in rows)
            (folder / f"{split}.{language}").write_text(text, encoding="utf-8")


def fast_align(pairs: Pairs) -> Iterator[tuple[str, Found]]:
    """fast_align with its recommended options (-d -o -v), as systran-align packs it; it joins both ways itself."""
    import systran_align

    with tempfile.TemporaryDirectory() as folder:
        text, there, back = (str(Path(folder) / name) for name in ("text", "there", "back"))
        both = zip(pairs.source, pairs.target, strict=True)
        joined = (f"{' '.join(source)} ||| {' '.join(target)}\n" for source, target in both if source and target)
        Path(text).write_text("".join(joined), encoding="utf-8")
        systran_align.generate_alignment_probabilities(
            text, there, back, favor_diagonal=True, optimize_tension=True, variational_bayes=True
        )
        aligner, count = systran_align.Aligner(there, back), len(pairs.gold.sure)
        found = [
            aligner.align(*pair)["alignments"] for pair in zip(pairs.source[:count], pairs.target[:count], strict=True)
        ]
        yield "its own joining", [[(int(link[0]), int(link[1])) for link in each] for each in found]


def eflomal(pairs: Pairs) -> Iterator[tuple[str, Found]]:
    """eflomal as it comes."""
    import eflomal

    with tempfile.TemporaryDirectory() as folder:
        there, back = (str(Path(folder) / name) for name in ("there", "back"))
        texts = [[f"{' '.join(line)}\n" for line in side] for side in (pairs.source, pairs.target)]
        eflomal.Aligner().align(*texts, links_filename_fwd=there, links_filename_rev=back)
        count = len(pairs.gold.sure)
        ways = [read_links(Path(name).read_text(encoding="utf-8").split("\n")[:count]).sure for name in (there, back)]
    for method in JOINED:
        yield method, [symmetrise(*both, method) for both in zip(*ways, strict=True)]


def ours(model: str, method: str) -> Callable[[Pairs], Iterator[tuple[str, Found]]]:
    """Regard's own statistical aligner."""

    def found(pairs: Pairs) -> Iterator[tuple[str, Found]]:
        yield (
            method,
            reference_links(pairs.source, pairs.target, model=model, method=method, wanted=range(len(pairs.gold.sure))),
        )

    return found


def statistical() -> Iterator[tuple[str, Callable[[Pairs], Iterator[tuple[str, Found]]]]]:
    """Every statistical aligner that is here."""
    yield "ours, hmm", ours("hmm", "grow-diag-final-and")
    for name, package, run in (("fast_align", "systran_align", fast_align), ("eflomal", "eflomal", eflomal)):
        if importlib.util.find_spec(package):
            yield name, run
        else:
            print(f"{name}: not here; pip install 'regard[align]'")
    yield "ours, diagonal", ours("diagonal", "grow-diag-final")


def processor() -> float:
    """Seconds of processor so far, those of finished child processes (eflomal runs in one) included."""
    return sum(os.times()[:4])


def attention(folders: argparse.Namespace, texts: tuple[list[str], list[str]]) -> Iterator[tuple[str, str, Found]]:
    """What models look at: plain, through the chosen heads, from both directions, guided."""
    chosen: dict[str, list[Alignment]] = {}
    for name in MODELS:
        if getattr(folders, name) is None:
            continue
        model = Translator.load(getattr(folders, name))
        given = texts[::-1] if name.endswith("backward") else texts
        for reading, aligner in (
            ("last layer, mean", None),
            (f"chosen: {str(model.aligner).split(' (')[0]}", model.aligner),
        ):
            if reading.startswith("chosen") and aligner is None:
                continue
            model.aligner = aligner
            chosen[name] = model.align(*map(list, given))  # by the chosen heads, where there are any, at last
            found = [alignment.links() for alignment in chosen[name]]
            if name.endswith("backward"):
                found = [[(source, target) for target, source in links] for links in found]
            yield f"attention, {name.replace('_', ' ')}", reading, found
    for name, there, back in (("both ways", *MODELS[:2]), ("guided, both ways", *MODELS[2:])):
        if {there, back} <= chosen.keys():
            for method in (*JOINED, "posterior"):
                both = zip(chosen[there], chosen[back], strict=True)
                yield f"attention, {name}", method, [one.links(reverse=other, method=method) for one, other in both]


def main() -> None:
    """Print one line a system: AER, precision, recall, and what it took."""
    asked = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    asked.add_argument("languages", help="such as de-en: the gold set, and which side is the source")
    asked.add_argument("--data", type=Path, required=True)
    asked.add_argument("--pairs", type=int, default=100_000, help="of the text that statistical aligners learn from")
    for name in MODELS:
        way = "target to source" if name.endswith("backward") else "source to target"
        asked.add_argument(f"--{name.replace('_', '-')}", type=Path, help=f"model folder, {way}")
    asked.add_argument("--prepare", type=Path, metavar="FOLDER", help="write the pairs as a corpus for models, and end")
    asked.add_argument("--only-models", action="store_true", help="leave the statistical aligners out")
    options = asked.parse_args()
    pairs = read(options.data, options.languages, options.pairs)
    print(f"{options.languages}: {len(pairs.gold.sure)} gold pairs, {options.pairs:,} pairs of text")
    if options.prepare:
        prepare(options.data, options.languages, pairs, options.prepare)
        return

    def tell(name: str, how: str, found: Found, spent: str = "") -> None:
        score = aer(found, pairs.gold.sure, pairs.gold.possible)
        print(
            f"{name:30} {how:22} AER {score.aer:6.1%}  P {score.precision:6.1%}  R {score.recall:6.1%}  {spent}",
            flush=True,
        )

    for name, how, found in attention(options, pairs.texts):
        tell(name, how, found)
    for name, run in () if options.only_models else statistical():
        began, worked = time.monotonic(), processor()
        for how, found in run(pairs):
            spent = f"{time.monotonic() - began:.0f} s by the clock, {processor() - worked:.0f} s of processor"
            tell(name, how, found, spent)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    print(f"most memory held: {peak:.2f} GiB, the text included")


if __name__ == "__main__":
    main()
