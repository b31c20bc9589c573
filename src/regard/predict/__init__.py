"""Predict: a memory to an output. Decoders have start, step and teach; labels, tags, vectors are one call."""

from regard.predict import (
    bahdanau,
    bridge,
    cell,
    fill,
    google,
    label,
    ladder,
    lstmn,
    luong,
    plain,
    tag,
    transformer,
    tutorial,
    vector,
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
    "ladder",
    "lstmn",
    "luong",
    "plain",
    "tag",
    "transformer",
    "tutorial",
    "vector",
    "words",
    "xu",
]
