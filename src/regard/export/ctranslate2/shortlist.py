"""A shortlist as CTranslate2 reads it: a vocabulary map."""

from __future__ import annotations

from dataclasses import replace

from regard.engine.ctranslate2 import CTranslate2
from regard.errors import ModelError
from regard.export.ctranslate2.spec import piece_names
from regard.export.shortlist import Candidates
from regard.translate.translator import Translator

FILE = "vmap.txt"  # where CTranslate2 looks for it


def vocabulary_map(candidates: Candidates, ours: Translator) -> str:
    """Source, tab, candidates between spaces; what follows an empty source is for all."""
    source, target = piece_names(ours.source), piece_names(ours.target)
    lines = (
        ("" if piece is None else source[piece]) + "\t" + " ".join(target[each] for each in some)
        for piece, some in candidates.items()
    )
    return "\n".join(lines) + "\n"


def without_map(theirs: Translator) -> Translator:
    """The same exported model, scoring all pieces."""
    if not isinstance(theirs.engine, CTranslate2):
        raise ModelError("only a model exported to CTranslate2 has a vocabulary map.")
    engine = theirs.engine
    full = CTranslate2(
        engine.backend, replace(engine.manifest, shortlist=0), (engine.source_names, engine.target_names)
    )
    return Translator(full, theirs.source, theirs.target)
