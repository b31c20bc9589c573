"""Pictures of segmented images, and of gates over a training."""

import json

import numpy as np
import pytest
from typer.testing import CliRunner

from regard.cli import app
from regard.data import cue_discs
from regard.data.drawn import save_image
from regard.data.masks import mask_text
from regard.errors import MissingData, UsageError
from regard.learn.looks import keep_looks, read_looks
from regard.show.gates import gate_document, gates_over_training, save_gates
from regard.show.outlined import COLOURS, Outlined, edge_of, outlined_text


def outlined(wanted=True, gates=2):
    found = np.zeros((8, 12), np.uint8)
    found[2:6, 2:6] = 1
    right = np.roll(found, 2, 1)
    some = tuple(np.linspace(0, 1, 6 * 4**level).reshape(2 << level, 3 << level) for level in range(gates))
    image = np.full((8, 12, 1), 100, np.uint8)
    return Outlined(image, found, right if wanted else None, some, ("0", "255"), "255 16.7%", 0.9, (0.8, 0.2))


def test_the_overlap_is_dice_by_hand():
    seen = outlined()
    assert seen.overlap == pytest.approx(2 * 8 / 32)  # two of four columns, of 16 pixels each
    assert seen.right == "Dice 50.0 %" and seen.is_right
    assert outlined(wanted=False).is_right is None and outlined(wanted=False).heading() == ["255 16.7%"]
    nothing = Outlined(seen.image, 0 * seen.found, 0 * seen.found, (), ("0", "1"), "")
    assert nothing.overlap == 1.0


def test_an_overlay_has_a_line_around_what_was_found():
    seen = outlined()
    painted = seen.overlay()
    edge = edge_of(seen.found == 1)
    assert int(edge.sum()) == 12
    assert (painted[edge] == COLOURS[0]).all()
    assert (painted[seen.found == 0] == 100).all()
    inside = (seen.found == 1) & ~edge
    assert (painted[inside] == np.round(0.55 * 100 + 0.45 * np.array(COLOURS[0]))).all()


def test_a_terminal_shows_where_and_how_far_gates_are_open():
    told = outlined_text(outlined())
    assert "Dice 50.0 %" in told and "██" in told
    assert "gate of 2 x 3 cells: 0.00 to 1.00" in told and "coarsest first: 2 x 3, 4 x 6 cells" in told
    assert "no gates" in outlined_text(outlined(gates=0))


@pytest.fixture
def looks(tmp_path):
    image, mask = cue_discs.draw("train", 0, 0, 32)
    save_image(image, tmp_path / "image.png")
    right = mask_text((mask > 0).astype(np.uint8), 2)
    for number in (10, 20, 30):
        gates = [np.full((4, 4), number / 30), np.full((200, 130), 0.5)]
        found = mask_text(np.zeros((32, 32), np.uint8), 2)
        document = gate_document(str(tmp_path / "image.png"), right, found, gates, ("0", "255"))
        keep_looks(tmp_path / "looks", number, [document, {"kind": "another"}])
    return tmp_path


def test_gates_over_a_training_are_kept_and_drawn(looks):
    found = gates_over_training(looks / "looks")
    assert [number for number, _ in found] == [10, 20, 30]
    assert np.array(found[0][1][0]["gates"][1]).shape == (50, 33), "large gates are kept as means"
    assert found[1][1][0]["gates"][0][0][0] == pytest.approx(2 / 3, abs=1e-3)
    json.dumps(found)
    assert save_gates(looks / "looks", looks / "gates.png").stat().st_size > 1000
    run = CliRunner().invoke(app, ["show", str(looks), "--training", "--out", str(looks / "gates.svg")])
    assert run.exit_code == 0 and (looks / "gates.svg").is_file()


def test_an_image_that_is_gone_leaves_its_masks(looks):
    (looks / "image.png").unlink()
    assert save_gates(looks / "looks", looks / "gates.png").is_file()


def test_what_cannot_be_drawn_is_told(tmp_path):
    with pytest.raises(MissingData, match="found nothing"):
        save_gates(tmp_path / "looks", tmp_path / "gates.png")
    (tmp_path / "000007.json").write_text("no json")
    assert read_looks(tmp_path, 7) == []
    run = CliRunner().invoke(app, ["show", str(tmp_path), "--training"])
    assert isinstance(run.exception, UsageError)
