"""`regard export --to torch`: the same model for our own engine, in fewer bits and with a shortlist if asked.

Every decoder that writes text can go, and every option of a search and every layer's record stay. The folder is always
checked in full precision first, where it must be exact; what fewer bits and the shortlist cost is measured and told.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, replace
from pathlib import Path

from regard.engine import MANIFEST
from regard.engine.place import fresh_folder
from regard.engine.pytorch import Manifest, Torch
from regard.engine.pytorch.eight_bits import kernel
from regard.engine.pytorch.folder import QUANTIZATIONS, WEIGHTS, WHOLE, write_shortlist, write_weights
from regard.errors import UnknownName
from regard.export.agreement import Agreement
from regard.export.request import (
    KEPT,
    Exported,
    Say,
    Wish,
    checked,
    checked_twice,
    keep,
    lines_to_check,
    open_model,
)
from regard.export.shortlist import effect, learn
from regard.search.shortlist import Shortlist
from regard.translate.translator import Translator
from regard.version import __version__


def export(model: str | Path, out: str | Path, wish: Wish | None = None, say: Say = lambda line: None) -> Exported:
    """Write the model of a folder as a folder that PyTorch runs; it is there only if it passed its check."""
    wish, out = wish or Wish(), Path(out)
    _check_wish(wish)
    home, ours = open_model(model)
    lines, real = lines_to_check(ours, wish)
    with fresh_folder(out, source=home, force=wish.force) as fresh:
        keep(home, fresh, (*KEPT, "recipe.toml"))
        agreed = checked_twice(lambda kind: _written(ours, home, fresh, kind, lines), wish, real, say)
        if wish.shortlist:
            _shorten(ours, fresh, wish, lines, say)
    return Exported(out, (out / WEIGHTS).stat().st_size, (home / WEIGHTS).stat().st_size, *agreed)


def _check_wish(wish: Wish) -> None:
    if wish.quantization not in QUANTIZATIONS:
        raise UnknownName("quantization for torch", wish.quantization, QUANTIZATIONS)
    if wish.quantization == WHOLE:
        kernel()


def _written(ours: Translator, home: Path, folder: Path, quantization: str, lines: Sequence[str]) -> Agreement:
    """Write the folder with weights of one kind, open it, and hold it against the model."""
    write_weights(home, folder, quantization)
    return checked(ours, folder, Manifest(quantization, regard=__version__), lines)


def _shorten(ours: Translator, folder: Path, wish: Wish, lines: Sequence[str], say: Say) -> None:
    """Add a shortlist, and say what it costs and saves."""
    if wish.corpus is not None:
        led = learn(ours, wish.corpus.split("train"), wish.shortlist)
        everywhere = led.pop(None)
        own = {piece: some for piece, some in led.items() if piece is not None}
        write_shortlist(Shortlist.of(everywhere, own, len(ours.source)), folder)
        manifest = replace(Manifest.read(folder), shortlist=wish.shortlist)
        (folder / MANIFEST).write_text(manifest.text(), encoding="utf-8")
        short = Translator.load(folder)
        found = effect(short, Translator(Torch(short.model), short.source, short.target, short.aligner), lines)
        (folder / MANIFEST).write_text(replace(manifest, effect=asdict(found)).text(), encoding="utf-8")
        say(f"shortlist of {wish.shortlist}: {found}")
