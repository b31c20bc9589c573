"""Predict: a memory to an output. Decoders have start, step and teach; a label is one call, and so are tags."""

from regard.predict import (
    bahdanau,
    bridge,
    cell,
    fill,
    google,
    label,
    lstmn,
    luong,
    plain,
    tag,
    transformer,
    tutorial,
    words,
    xu,
)

__all__ = [
    "bahdanau",
    "bridge",
    "cell",
    "fill",
    "google",
    "label",
    "lstmn",
    "luong",
    "plain",
    "tag",
    "transformer",
    "tutorial",
    "words",
    "xu",
]
