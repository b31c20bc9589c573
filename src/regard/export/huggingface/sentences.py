"""What sentence-transformers reads beside an encoder: how its states become one vector."""

from __future__ import annotations

import json

from regard.export.huggingface.fitting import Fitted
from regard.importing.sentences import MODULES, POOLINGS


def sentence_files(found: Fitted, longest: int) -> dict[str, str]:
    """modules.json and what the modules keep, by their paths."""
    vector = found.model.predict
    kinds = [
        ("Transformer", ""),
        ("Pooling", "1_Pooling"),
        *([("Normalize", "2_Normalize")] if vector.normalise else []),
    ]
    modules = [
        {"idx": number, "name": str(number), "path": path, "type": f"sentence_transformers.models.{kind}"}
        for number, (kind, path) in enumerate(kinds)
    ]
    pooling = {f"pooling_mode_{theirs}": ours == vector.pool for theirs, ours in POOLINGS.items()}
    return {
        MODULES: json.dumps(modules, indent=2) + "\n",
        "1_Pooling/config.json": json.dumps({"word_embedding_dimension": vector.width, **pooling}, indent=2) + "\n",
        "sentence_bert_config.json": json.dumps({"max_seq_length": longest, "do_lower_case": False}, indent=2) + "\n",
    }
