"""The vocabulary map: learnt from looks, written as CTranslate2 reads it, and obeyed."""

import pytest
from datasets import Dataset

pytest.importorskip("ctranslate2", reason="ctranslate2 is one of the dev dependencies")

from exports import LINES, OTHERS, saved
from regard.data.tokenizer import END
from regard.engine import MANIFEST
from regard.engine.ctranslate2 import Manifest
from regard.errors import ModelError
from regard.export.ctranslate2 import export
from regard.export.ctranslate2.shortlist import CLEAR, FILE, effect, learn, vocabulary_map
from regard.export.ctranslate2.spec import piece_names
from regard.export.request import Wish
from regard.translator import Translator

PAIRS = Dataset.from_dict({"source": LINES * 3, "target": OTHERS * 3})


@pytest.fixture(scope="module")
def home(tmp_path_factory):
    home = tmp_path_factory.mktemp("short")
    export(saved(home / "model"), home / "out", Wish("float32", LINES))
    return home


def test_candidates_are_what_looked_at_a_piece(home):
    ours = Translator.load(home / "model")
    found = learn(ours, PAIRS, 3)
    always = found.pop(None)
    assert always[0] == END
    seen = {}
    for each in ours.force(LINES, OTHERS):
        matrix = each.record.alignment(pieces=True).matrix
        for row, target in enumerate(each.record.target.ids[:-1]):
            for column, source in enumerate(each.record.source.ids):
                if matrix[row, column] >= CLEAR:
                    seen.setdefault(source, []).append(target)
    assert found.keys() == seen.keys()
    for source, candidates in found.items():
        assert len(candidates) == min(3, len(set(seen[source])))
        assert set(candidates) <= set(seen[source])
        worst = min(seen[source].count(piece) for piece in candidates)
        assert all(seen[source].count(piece) <= worst for piece in set(seen[source]) - set(candidates))


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
    assert "of 4 outputs as without it" in effect(theirs, LINES)
    with pytest.raises(ModelError, match="only a model exported"):
        effect(ours, LINES)
