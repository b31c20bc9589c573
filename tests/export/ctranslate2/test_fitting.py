"""What CTranslate2 cannot express is refused, every part of it by name."""

import pytest

from exports import KINDS, SIZES
from regard.align.record import Aligner
from regard.errors import ModelError
from regard.export.ctranslate2.fitting import check_expressible
from small import model


@pytest.mark.parametrize("kind", KINDS)
def test_what_can_be_expressed_passes(kind):
    check_expressible(model([*SIZES, *KINDS[kind]]), Aligner("cross", 1, (2,)))


@pytest.mark.parametrize(
    ("settings", "told"),
    [
        (["attend.attend.score=additive"], "attend.attend.score: expected scaled_dot or dot; found additive."),
        (["attend.attend.scope=local_p"], "attend.attend.scope: expected global; found local_p."),
        (["attend.attend.choice=hard"], "attend.attend.choice: expected soft; found hard."),
        (["encode.attend.attend.scope=causal"], "encode.attend.attend.scope: expected global; found causal."),
        (["predict.self_attend.attend.choice=sigmoid"], "predict.self_attend.attend.choice: expected soft"),
        (["predict.readout=maxout"], "predict.readout: expected linear or tied"),
        (
            ["predict.self_attend.heads=2"],
            "[predict.self_attend] and [attend]: expected one number of heads; found 2 and",
        ),
        (["attend.part=attention", "attend.score=scaled_dot"], "attend: expected heads; found attention."),
    ],
)
def test_what_is_in_the_way_is_named(settings, told):
    with pytest.raises(ModelError) as error:
        check_expressible(model([*SIZES, *settings]))
    assert told in str(error.value)
    assert str(error.value).count(told) == 1, "once, not once a layer"
    assert "regard translate MODEL" in str(error.value)


def test_other_encoders_and_decoders():
    with pytest.raises(ModelError) as error:
        check_expressible(model())
    assert "encode: expected transformer; found recurrent." in str(error.value)
    assert "predict: expected transformer; found luong." in str(error.value)


def test_every_problem_is_told_at_once():
    with pytest.raises(ModelError) as error:
        check_expressible(model([*SIZES, "predict.readout=maxout", "attend.attend.choice=hard"]))
    assert "predict.readout" in str(error.value)
    assert "attend.attend.choice" in str(error.value)


def test_a_causal_scope_of_the_decoder_is_its_own():
    check_expressible(model([*SIZES, "predict.self_attend.attend.scope=causal"]))


def test_alignments_read_elsewhere():
    with pytest.raises(ModelError, match="expected heads of cross attention; found encoder-self"):
        check_expressible(model(SIZES), Aligner("encoder-self", 0))
