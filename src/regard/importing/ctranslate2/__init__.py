"""CTranslate2 folders: the model stays as it is, and our engine for CTranslate2 runs it.

binary        the file of its numbers
vocabulary    its pieces, and what cuts text into them
"""

from __future__ import annotations

import json
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from regard.align.record import FILE as ALIGNER_FILE
from regard.align.record import Aligner
from regard.data.languages import FILE as LANGUAGES_FILE
from regard.data.languages import languages_text
from regard.data.sides.text import FILES
from regard.engine import MANIFEST
from regard.engine.ctranslate2 import PIECES, Manifest, library, open_folder
from regard.engine.place import fresh_folder
from regard.engine.tokenizers import checksums, open_tokenizers
from regard.errors import ModelError, UsageError
from regard.importing.ctranslate2.binary import Binary, read_binary, write_binary
from regard.importing.ctranslate2.vocabulary import Side, cutters, read_names, side_of
from regard.importing.huggingface import json_of
from regard.task import Role
from regard.version import __version__

SPEC = "TransformerSpec"
WITHOUT_END = 1024  # positions of a model that makes its own, as many as our exports have


@dataclass(frozen=True)
class About:
    """What is known of a model beside its folder: where its tokenizer lies, its languages, its own card."""

    home: Path
    kind: str = "a CTranslate2 folder"
    languages: tuple[str, str] | None = None
    card: str = ""


def recognises(folder: Path) -> bool:
    """Is this one?"""
    return (folder / "model.bin").is_file()


def convert(folder: Path, out: Path) -> None:
    """Write it as a folder for our engine."""
    card = folder / "README.md"
    text = card.read_text(encoding="utf-8", errors="replace") if card.is_file() else ""
    convert_folder(folder, out, About(folder, card=text))


def convert_folder(folder: Path, out: Path, about: About) -> None:
    """The same, with what is known of it."""
    library()
    if (folder / MANIFEST).is_file():
        raise UsageError(f"{folder} is a folder of ours already: use it as it is.")
    binary, config = read_binary(folder / "model.bin"), json_of(folder / "config.json")
    _check(folder, binary, config)
    names = [read_names(folder, side) for side in ("source", "target")]
    _check_sizes(folder, binary, names)
    source, target, told = cutters(about.home, names[1])
    sides: dict[Role, Side] = {
        "source": side_of(names[0], source, config, str(folder)),
        "target": side_of(names[1], target, config, str(folder)),
    }
    with fresh_folder(out, source=folder) as fresh:
        for side, found in sides.items():
            (fresh / FILES[side]).write_text(found.tokenizer, encoding="utf-8")
        pieces = {side: found.names for side, found in sides.items()}
        (fresh / PIECES).write_text(json.dumps(pieces, ensure_ascii=False), encoding="utf-8")
        for path in folder.glob("*_vocabulary.*"):  # under their own names, by which CTranslate2 finds them
            (fresh / path.name).write_bytes(path.read_bytes())
        write_binary(binary, fresh / "model.bin")
        _write_told(binary, config, fresh, about)
        opened = open_folder(fresh, 1)  # whatever CTranslate2 cannot read is told now
        open_tokenizers(fresh, opened.sizes)
    sys.stderr.writelines(f"{line}\n" for line in (told, f"alignments are read from {_aligner(binary)}") if line)


def _check(folder: Path, binary: Binary, config: dict[str, Any]) -> None:
    if binary.spec != SPEC:
        raise UsageError(
            f"{folder}: expected a model that translates ({SPEC}); found {binary.spec}.",
            hint="Speech and language models of CTranslate2 are not supported.",
        )
    if config.get("add_source_bos") or binary.number("with_source_bos"):
        raise UsageError(f"{folder}: models whose sources begin with a piece of their own are not supported.")
    if (folder / "source_1_vocabulary.json").is_file() or (folder / "source_1_vocabulary.txt").is_file():
        raise UsageError(f"{folder}: models with several source vocabularies (factors) are not supported.")
    if "decoder_start_token" in config and config["decoder_start_token"] is None:
        raise UsageError(f"{folder}: models that must be told the language in their first piece are not supported.")


def _write_told(binary: Binary, config: dict[str, Any], fresh: Path, about: About) -> None:
    """config.json, and what we keep of every model."""
    if config:  # where the model wants its sources to end, they come with their end, so that it has a column of its own
        (fresh / "config.json").write_text(json.dumps({**config, "add_source_eos": False}, indent=2), encoding="utf-8")
    aligner = _aligner(binary)
    (fresh / ALIGNER_FILE).write_text(json.dumps(aligner.to_json(), indent=2) + "\n", encoding="utf-8")
    spoken = "" if about.languages is None else f": {about.languages[0]} to {about.languages[1]}"
    (fresh / "README.md").write_text(f"# Imported from {about.kind}{spoken}\n\n{about.card}", encoding="utf-8")
    if about.languages is not None:
        (fresh / LANGUAGES_FILE).write_text(languages_text(*about.languages), encoding="utf-8")
    manifest = Manifest(
        binary.quantization,
        *_shape(binary),
        (_positions(binary, "encoder"), _positions(binary, "decoder")),
        regard=__version__,
        tokenizers=checksums(fresh),
        source_end=_sources_end(binary, config),
    )
    (fresh / MANIFEST).write_text(manifest.text(), encoding="utf-8")


def _sources_end(binary: Binary, config: dict[str, Any]) -> bool:
    """Do sources end with the end? CTranslate2 adds it, or whoever converted the model from Hugging Face's format does.

    Those of OpenNMT do not end so; their outputs begin with a start, those of Hugging Face with something else.
    """
    if config.get("add_source_eos"):
        return binary.version >= 6  # older ones add it themselves, and it has no column
    start = config.get("decoder_start_token")
    return start is not None and start != config.get("bos_token", "<s>")


def _check_sizes(folder: Path, binary: Binary, names: list[list[str]]) -> None:
    for stack, found in zip(("encoder/embeddings_0", "decoder/embeddings"), names, strict=True):
        table = binary.get(f"{stack}/weight")
        if table is not None and len(table) != len(found):
            raise ModelError(
                f"{folder}: expected a vocabulary of {len(table):,} pieces, as model.bin has; found {len(found):,}.",
                hint="Its files do not belong together: download or convert it again.",
            )


def _shape(binary: Binary) -> tuple[int, int]:
    """Layers of the decoder, and heads of each."""
    layers = {name.split("/")[1] for name in binary.variables if name.startswith("decoder/layer_")} - {"layer_norm"}
    return len(layers) or 1, int(binary.number("decoder/num_heads", binary.number("num_heads", 1)))


def _positions(binary: Binary, stack: str) -> int:
    table = binary.get(f"{stack}/position_encodings/encodings")
    return WITHOUT_END if table is None else len(table)


def _aligner(binary: Binary) -> Aligner:
    """Where the model says that alignments are read: mostly the first head of the last layer."""
    layers, heads = _shape(binary)
    layer = int(binary.number("decoder/alignment_layer", -1))
    count = int(binary.number("decoder/alignment_heads", 1))
    chosen = tuple(range(count)) if 0 < count < heads else ()
    return Aligner("cross", layer % layers, chosen).within(layers, heads)
