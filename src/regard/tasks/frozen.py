"""Models whose images go through a frozen network: its weights, and the cache of what it makes of images."""

from __future__ import annotations

from collections.abc import Callable

from datasets import Dataset

from regard.data.features import FeatureCache
from regard.data.sides.image import Image
from regard.encode.frozen import FrozenEncoder
from regard.model import Model
from regard.task import Side


def fetch_frozen(model: Model) -> None:
    """Give a frozen network of a new model the weights that it was trained to."""
    if encoder := _frozen(model):
        encoder.fetch()


def keep_features(model: Model, source: Side, say: Callable[[str], None] = lambda line: None) -> None:
    """Let the side give features in the place of pixels, computed once, where the model has a frozen network."""
    if (encoder := _frozen(model)) and isinstance(source, Image):
        source.features = FeatureCache(encoder, source, say=say)


def compute_features(source: Side, rows: Dataset) -> None:
    """Compute those that nobody has computed yet, before the clock of a training begins to run."""
    if isinstance(source, Image) and source.features is not None and not source.draws:
        source.features.of(rows["source"], source)


def _frozen(model: Model) -> FrozenEncoder | None:
    """Its frozen encoder; a model of one's own may have no encoder at all."""
    encoder = getattr(model, "encode", None)
    return encoder if isinstance(encoder, FrozenEncoder) else None
