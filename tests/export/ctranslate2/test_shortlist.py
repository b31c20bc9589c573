"""The vocabulary map: written as CTranslate2 reads it, and obeyed."""

import pytest

pytest.importorskip("ctranslate2", reason="ctranslate2 is one of the dev dependencies")

from exports import LINES, saved
from regard.data.tokenizer import END
from regard.engine import MANIFEST
from regard.engine.ctranslate2 import Manifest
from regard.errors import ModelError
from regard.export.ctranslate2 import export
from regard.export.ctranslate2.shortlist import FILE, vocabulary_map, without_map
from regard.export.ctranslate2.spec import piece_names
from regard.export.request import Wish
from regard.export.shortlist import effect
from regard.translate.translator import Translator


@pytest.fixture(scope="module")
def home(tmp_path_factory):
    home = tmp_path_factory.mktemp("short")
    export(saved(home / "model", taste=-9.0), home / "out", Wish("float32", LINES))
    return home


def test_a_map_by_hand(home):
    ours = Translator.load(home / "model")
    source, target = piece_names(ours.source), piece_names(ours.target)
    told = vocabulary_map({None: [2, 280], 270: [281, 282], 271: [283]}, ours)
    lines = [
        f"\t</s> {target[280]}",
        f"{source[270]}\t{target[281]} {target[282]}",
        f"{source[271]}\t{target[283]}",
    ]
    assert told == "\n".join(lines) + "\n"


def test_only_candidates_are_written(home):
    ours = Translator.load(home / "model")
    candidates = {None: [END, 263], 2: [277, 281]}  # every source ends with the end
    out = home / "out"
    (out / FILE).write_text(vocabulary_map(candidates, ours), encoding="utf-8")
    told = (out / MANIFEST).read_text()
    (out / MANIFEST).write_text(told.replace('"shortlist": 0', '"shortlist": 2'))
    assert Manifest.read(out).shortlist == 2
    theirs = Translator.load(out)
    written = {piece for found in theirs.translate(LINES) for piece in found.record.target.ids}
    assert written - {END} <= {263, 277, 281}
    full = without_map(theirs)
    assert {piece for found in full.translate(LINES) for piece in found.record.target.ids} - written
    assert effect(theirs, full, LINES).sentences == len(LINES)
    with pytest.raises(ModelError, match="only a model exported"):
        without_map(ours)
