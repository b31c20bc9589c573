"""`regard export --to ctranslate2`: convert, check, quantise, check again, and only then put it in its place.

The conversion is always checked in full precision, where it must be exact; what quantising then costs is measured and
told. The folder keeps our tokenizers, so that text is handled as before, and our `alignment.json`, so that what is
said of the aligning heads stays true.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from regard.align.record import Aligner
from regard.engine import MANIFEST
from regard.engine.ctranslate2 import Manifest, library
from regard.engine.home import read_aligner
from regard.engine.place import fresh_folder
from regard.engine.tokenizers import checksums
from regard.export.agreement import Agreement
from regard.export.ctranslate2.fitting import check_expressible
from regard.export.request import Exported, Say, Wish, checked, checked_twice, keep, lines_to_check, open_model
from regard.export.shortlist import effect, learn
from regard.translate.translator import Translator
from regard.version import __version__


def export(model: str | Path, out: str | Path, wish: Wish | None = None, say: Say = lambda line: None) -> Exported:
    """Write the model of a folder as a folder for CTranslate2; it is there only if it passed its check."""
    library()
    wish, out = wish or Wish(), Path(out)
    home, ours = open_model(model)
    aligner = read_aligner(home)
    check_expressible(ours.model, aligner)
    lines, real = lines_to_check(ours, wish)
    with fresh_folder(out, source=home, force=wish.force) as fresh:
        keep(home, fresh)
        agreed = checked_twice(lambda kind: _written(ours, aligner, fresh, kind, lines), wish, real, say)
        if wish.shortlist:
            _shorten(ours, fresh, wish, lines, say)
    weights = (home / "weights.safetensors").stat().st_size
    return Exported(out, (out / "model.bin").stat().st_size, weights, *agreed)


def _written(
    ours: Translator, aligner: Aligner | None, folder: Path, quantization: str, lines: Sequence[str]
) -> Agreement:
    """Write the folder with weights of one kind, load it, and hold it against the model."""
    from regard.export.ctranslate2.spec import positions, register_vocabularies, transformer

    model = ours.model
    shape = (len(model.predict.layers), model.predict.layers[0].attend.heads)
    spec = transformer(model, (aligner or Aligner.default(shape[0])).within(*shape))
    register_vocabularies(spec, ours.source, ours.target)
    spec.validate()
    spec.optimize(quantization=quantization)
    spec.save(str(folder))
    places = (positions(model.embed), positions(model.predict.embed))
    return checked(
        ours, folder, Manifest(quantization, *shape, places, regard=__version__, tokenizers=checksums(folder)), lines
    )


def _shorten(ours: Translator, folder: Path, wish: Wish, lines: Sequence[str], say: Say) -> None:
    """Add a vocabulary map, and say what it costs and saves."""
    from regard.export.ctranslate2.shortlist import FILE, vocabulary_map, without_map

    if wish.corpus is not None:
        candidates = learn(ours, wish.corpus.split("train"), wish.shortlist)
        (folder / FILE).write_text(vocabulary_map(candidates, ours), encoding="utf-8")
        manifest = replace(Manifest.read(folder), shortlist=wish.shortlist)
        (folder / MANIFEST).write_text(manifest.text(), encoding="utf-8")
        short = Translator.load(folder)
        say(f"shortlist of {wish.shortlist}: {effect(short, without_map(short), lines)}")
