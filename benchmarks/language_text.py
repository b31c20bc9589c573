"""Text for the proofs of language models and readers, cut out of real corpora.

    python benchmarks/language_text.py --data ../shared/data --out runs/proofs/language

lines      WikiText-2 in sentences of 4 to 25 words, a line each: 28,000 to train on
pretrain   WikiText-2 in lower case, a sentence a line and a paragraph a document, and the training sentences of
           rt-polarity without their labels
captions   the English captions of Multi30k in lower case, signs apart, a line each: 29,000 to train on
few        the first 4,000 of them, to be read often
sentences  the English of Tatoeba, twice the sentences of WikiText-2 that tell of films, plays or books, and five times
           the training sentences of rt-polarity and of TREC without their labels; holes are asked in those held out
rt         rt-polarity
rt-500     rt-polarity with the labels of 500 training sentences, as many of either class
trec       TREC's questions in lower case, of which 500 that are for training are held out
trec-500   the same with the labels of 500 training questions
spoken     the English of Tatoeba as it is written, a sentence a line, in an order drawn once

Words that WikiText-2 leaves out are written `unk` in it, and `@-@` is a hyphen.
"""

from __future__ import annotations

import argparse
import csv
import gzip
import io
import re
from collections.abc import Iterator
from pathlib import Path
from random import Random

LINES = {"train": 28_000, "valid": 1_000, "test": 2_000}
SHORTEST, LONGEST = 4, 25
CAPTIONS = {"train": "train", "valid": "val", "test": "test_2016_flickr"}  # what Multi30k calls its splits
FEW = 4000  # captions that are read often
LABELS = 500
WORD = re.compile(r"\w+(?:['\u2019-]\w+)*|[^\w\s]")  # or a sign
ARTS = re.compile(
    r"\b(film|movie|review|critic|prais|acting|actor|plot|stor(y|ies)|comed|drama|character|audience|scene|script)"
)
PLAIN = re.compile(r" @([-,.])@ ")  # how WikiText marks what stood without spaces


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--out", type=Path, required=True)
    asked = parser.parse_args()
    cut(asked.data, asked.out)


def cut(data: Path, out: Path) -> None:
    """Write all texts."""
    reviews, questions = _rows(data / "rt_polarity" / "rt_polarity.csv.gz"), _questions(data / "trec" / "trec.csv.gz")
    for split in LINES:
        paragraphs = list(_paragraphs(data / "lm" / "wikitext2" / f"wiki.{split}.tokens.gz"))
        _write(out / "lines" / f"{split}.txt", "\n".join(_lines(paragraphs, LINES[split])) + "\n")
        documents = ["\n".join(sentences).lower() for sentences in paragraphs]
        captions = list(_plain(data / "multi30k" / f"{CAPTIONS[split]}.en.gz"))
        _write(out / "captions" / f"{split}.txt", "\n".join(captions) + "\n")
        _write(out / "few" / f"{split}.txt", "\n".join(captions[:FEW]) + "\n")
        documents += [row["text"] for row in reviews if row["split"] == split == "train"]
        Random(split).shuffle(documents)
        _write(out / "pretrain" / f"{split}.txt", "\n\n".join(documents) + "\n")
        sentences = _sentences(data, paragraphs, [*reviews, *questions], split)
        _write(out / "sentences" / f"{split}.txt", "\n".join(sentences) + "\n")
        _write(out / "spoken" / f"{split}.txt", "\n".join(_spoken(data, split)) + "\n")
    _write(out / "rt" / "rt.csv", _table(reviews))
    _write(out / "rt-500" / "rt.csv", _few(reviews))
    _write(out / "trec" / "trec.csv", _table(questions))
    _write(
        out / "trec-500" / "trec.csv",
        _table([*questions[: 2 * LABELS], *(row for row in questions[2 * LABELS :] if row["split"] == "test")]),
    )


def _rows(path: Path) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(_text(path))))


def _questions(path: Path) -> list[dict[str, str]]:
    """TREC in an order drawn once: the first 500 that are for training are held out to choose settings on."""
    rows = [{**row, "text": row["text"].lower()} for row in _rows(path)]
    asked, test = ([row for row in rows if row["split"] == split] for split in ("train", "test"))
    Random(LABELS).shuffle(asked)
    return [*({**row, "split": "dev"} for row in asked[:LABELS]), *asked[LABELS:], *test]


def _text(path: Path) -> str:
    return gzip.decompress(path.read_bytes()).decode("utf-8")


def _write(path: Path, text: str) -> None:
    if path.is_file() and path.read_text(encoding="utf-8") == text:
        return  # as it is: what was stored of it is still good
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8", newline="\n")


def _paragraphs(path: Path) -> Iterator[list[str]]:
    """The sentences of each paragraph; headings are left out."""
    for line in _text(path).splitlines():
        words = PLAIN.sub(r"\1", line.strip().replace("<unk>", "unk"))
        if words and not words.startswith("="):
            yield [part.strip() + " ." for part in words.removesuffix(" .").split(" . ") if part.strip()]


def _plain(path: Path) -> Iterator[str]:
    """Lines in lower case, with a space between words and signs."""
    for line in _text(path).splitlines():
        yield _spaced(line)


def _spaced(line: str) -> str:
    return " ".join(WORD.findall(line.lower()))


def _sentences(data: Path, paragraphs: list[list[str]], rows: list[dict[str, str]], split: str) -> list[str]:
    """What is classified, and for training what is said as in it or of what it tells."""
    own = [row["text"] for row in rows if row["split"] == {"valid": "dev"}.get(split, split)]
    if split != "train":
        return own
    pairs = (line.split("\t") for line in _text(data / "tatoeba" / "eng-fra.tsv.gz").splitlines())
    spoken = sorted({_spaced(english) for part, english, _ in pairs if part == "train"})
    arts = [each.lower() for some in paragraphs for each in some if ARTS.search(each.lower())]
    found = [*spoken, *[each for each in arts if len(each.split()) <= 40] * 2, *own * 5]
    Random(split).shuffle(found)
    return found


def _lines(paragraphs: list[list[str]], most: int) -> list[str]:
    """Sentences of the wanted lengths, drawn from all."""
    found = [each for some in paragraphs for each in some if SHORTEST <= len(each.split()) <= LONGEST]
    return Random(most).sample(sorted(set(found)), most)


def _spoken(data: Path, split: str) -> list[str]:
    """Tatoeba's English, each sentence once."""
    pairs = (line.split("\t") for line in _text(data / "tatoeba" / "eng-fra.tsv.gz").splitlines())
    found = sorted({english for part, english, _ in pairs if part == {"valid": "dev"}.get(split, split)})
    Random(split).shuffle(found)
    return found


def _few(reviews: list[dict[str, str]]) -> str:
    """All but the training sentences beyond the first of either class."""
    left = dict.fromkeys(("0", "1"), LABELS // 2)
    kept = []
    for row in Random(LABELS).sample(reviews, len(reviews)):
        if row["split"] == "train":
            left[row["label"]] -= 1
        if row["split"] != "train" or left[row["label"]] >= 0:
            kept.append(row)
    return _table(kept)


def _table(rows: list[dict[str, str]]) -> str:
    out = io.StringIO()
    writer = csv.DictWriter(out, ["split", "label", "text"], extrasaction="ignore", lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    return out.getvalue()


if __name__ == "__main__":
    main()
