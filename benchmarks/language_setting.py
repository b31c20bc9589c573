"""What both sides of `language.py` are given: shapes, batches of pieces, and models as `transformers` writes them.

Pieces are drawn at random, the same on both sides: nothing here depends on which they are.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import torch
from torch import Tensor
from worker import Job

SEEN = -100  # as transformers marks what is not asked for
HIDDEN = 0.15  # of the pieces of a masked text
DROPOUT = 0.1
SPECIAL = {"bert": ["[PAD]", "[CLS]", "[SEP]", "[UNK]", "[MASK]"], "gpt2": ["<|endoftext|>"]}
FIRST = 5  # the first piece that is not special, on both sides
ADDED = 3  # pieces that stand before all others in an imported GPT-2, and are not of the model

# What transformers calls the numbers of our recipes; those of the papers are its own defaults.
SMALL = {
    "bert": {
        "hidden_size": 128,
        "num_hidden_layers": 4,
        "num_attention_heads": 4,
        "intermediate_size": 512,
        "max_position_embeddings": 64,
    },
    "gpt2": {"n_embd": 192, "n_layer": 4, "n_head": 6, "n_inner": 768, "n_positions": 256},
}
TINY = {
    "bert": {**SMALL["bert"], "hidden_size": 24, "num_hidden_layers": 2, "intermediate_size": 40, "vocab_size": 307},
    "gpt2": {**SMALL["gpt2"], "n_embd": 24, "n_layer": 2, "n_inner": 40, "vocab_size": 307},
}


def pieces(job: Job, size: int) -> Tensor:
    """The batches of a job: batch, row, position."""
    dice = torch.Generator().manual_seed(1)
    shape = job.get("batches", 1), job["rows"], job["length"]
    return torch.randint(FIRST, size, shape, generator=dice)


def asked(ids: Tensor) -> Tensor:
    """Which positions of each row are hidden: as many in all rows."""
    dice = torch.Generator().manual_seed(2)
    order = torch.rand(ids.shape, generator=dice).argsort(-1)
    return order < round(HIDDEN * ids.shape[-1])


def config(family: str, **numbers: Any) -> Any:
    """The settings of a model of transformers."""
    from transformers import BertConfig, GPT2Config

    return BertConfig(**numbers) if family == "bert" else GPT2Config(bos_token_id=0, eos_token_id=0, **numbers)


def untrained(family: str, folder: Path, numbers: dict[str, Any]) -> Path:
    """A folder of transformers with weights as they begin, and with a vocabulary that no text was cut for."""
    from transformers import BertForMaskedLM, GPT2LMHeadModel

    torch.manual_seed(0)
    model: Any = (BertForMaskedLM if family == "bert" else GPT2LMHeadModel)(config(family, **numbers))
    model.save_pretrained(folder)
    size = model.config.vocab_size
    names = [*SPECIAL[family], *(f"p{number}" for number in range(len(SPECIAL[family]), size))]
    if family == "bert":
        (folder / "vocab.txt").write_text("\n".join(names) + "\n", encoding="utf-8")
    else:
        numbered = {name: number for number, name in enumerate(names)}
        (folder / "vocab.json").write_text(json.dumps(numbered), encoding="utf-8")
        (folder / "merges.txt").write_text("#version: 0.2\n", encoding="utf-8")
    return folder
