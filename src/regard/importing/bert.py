"""BERT in Hugging Face format."""

from __future__ import annotations

from pathlib import Path

from regard.importing.encoders import Encoder, Family
from regard.importing.huggingface import is_of

FAMILY = Family(
    "bert",
    {"<pad>": "[PAD]", "<s>": "[CLS]", "</s>": "[SEP]", "<unk>": "[UNK]", "[MASK]": "[MASK]"},
    {
        "layer_norm_eps": 1e-12,
        "hidden_act": "gelu",
        "type_vocab_size": 2,
        "pad_token_id": 0,
        "hidden_dropout_prob": 0.1,
        "attention_probs_dropout_prob": 0.1,
    },
)


def recognises(folder: Path) -> bool:
    """Is this one?"""
    return is_of(folder, FAMILY.name)


def convert(folder: Path, out: Path) -> None:
    """Write it as a model folder of ours."""
    Encoder(FAMILY, folder).convert(out)
