"""CTranslate2 by itself: a Transformer that Regard exported, run by CTranslate2's own translator (see worker.py).

Raw text in and out, as on Regard's side: the tokenizers of the exported folder are read with the library they are
written by.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from worker import Job, Round, lines_of, serve, translating

from peers.environment import Peer

PEER = Peer(
    "CTranslate2",
    "peers.ctranslate2",
    ("ctranslate2", "tokenizers", "numpy"),
    works=(("decode", "transformer"), ("latency", "transformer")),
)
END = "</s>"
SIDES = ("source", "target")


class Text:
    """Lines to names of pieces and back."""

    def __init__(self, folder: Path) -> None:
        from tokenizers import Tokenizer

        self.source, self.target = (Tokenizer.from_file(str(folder / f"{side}.tokenizer.json")) for side in SIDES)
        self.names = [json.loads(_vocabulary(folder, side).read_text(encoding="utf-8")) for side in SIDES]
        self.numbers = {name: number for number, name in enumerate(self.names[1])}

    def cut(self, lines: list[str]) -> list[list[str]]:
        """The pieces of each line, and its end."""
        return [[*(self.names[0][piece] for piece in each.ids), END] for each in self.source.encode_batch_fast(lines)]

    def join(self, pieces: list[list[str]]) -> list[str]:
        """The text of each row of pieces."""
        return self.target.decode_batch([[self.numbers[name] for name in each] for each in pieces])


def _vocabulary(folder: Path, side: str) -> Path:
    own = folder / f"{side}_vocabulary.json"
    return own if own.is_file() else folder / "shared_vocabulary.json"


def prepare(job: Job) -> tuple[dict[str, Any], Round]:
    """Ready to translate the sentences of the test set."""
    import ctranslate2

    folder = Path(job["model"])
    workers, each = job["workers"]
    translator = ctranslate2.Translator(str(folder), device="cpu", inter_threads=workers, intra_threads=each)
    text = Text(folder)
    how = {"beam_size": job["beam"]}  # and its own length penalty, division by the length
    if job["steps"]:
        how |= {"min_decoding_length": job["steps"], "max_decoding_length": job["steps"]}

    def outputs(lines: list[str], size: int) -> list[str]:
        found = translator.translate_batch(text.cut(lines), max_batch_size=size, **how)
        return text.join([result.hypotheses[0] for result in found])

    return translating(job, outputs, lines_of(job["text"], job["sentences"]))


if __name__ == "__main__":
    serve(prepare, "ctranslate2")
