"""joeynmt: its own training step on its own batches, its own search (see worker.py)."""

from __future__ import annotations

import atexit
from itertools import islice
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from worker import ATTENTION_DROPOUT, DROPOUT, Job, Round, evenly, lines_of, of_pieces, serve, training, translating

from peers.environment import Peer

PEER = Peer(
    "joeynmt",
    "peers.joeynmt",
    (
        *("torch", "numpy", "pyyaml", "six", "sacrebleu", "sacremoses", "sentencepiece", "subword-nmt"),
        *("tensorboard", "matplotlib", "packaging", "importlib_metadata"),
    ),
    alone=("joeynmt==2.3.0",),  # it asks for an older protobuf, and for tools that check its own code
    works=tuple((work, shape) for work in ("train", "decode", "latency") for shape in ("rnn", "transformer")),
)
TRANSFORMER = {"type": "transformer", "num_layers": 3, "num_heads": 8, "hidden_size": 256, "ff_size": 1024}
SHAPES: dict[str, dict[str, Any]] = {
    "rnn": {
        "encoder": {
            **{"type": "recurrent", "rnn_type": "gru", "hidden_size": 256, "bidirectional": True, "num_layers": 1},
            "embeddings": {"embedding_dim": 256, "dropout": DROPOUT["rnn"]},
        },
        "decoder": {
            **{"type": "recurrent", "rnn_type": "gru", "hidden_size": 512, "num_layers": 1, "attention": "bahdanau"},
            **{"init_hidden": "bridge", "input_feeding": True, "hidden_dropout": DROPOUT["rnn"]},
            "embeddings": {"embedding_dim": 256, "dropout": DROPOUT["rnn"]},
        },
    },
    "transformer": {
        **{"tied_embeddings": True, "tied_softmax": True},
        **{
            side: {
                **TRANSFORMER,
                "dropout": DROPOUT["transformer"],
                "embeddings": {"embedding_dim": 256, "scale": True, "dropout": DROPOUT["transformer"]},
            }
            for side in ("encoder", "decoder")
        },
    },
}


def settings(job: Job, folder: str) -> dict[str, Any]:
    """Its configuration, as its YAML file would have it."""
    words = Path(job["words"])
    side = {"level": "word", "voc_file": str(words / "vocabulary"), "max_length": 1_000}
    return {
        **{"name": "speed", "use_cuda": False, "model_dir": folder, "random_seed": 1},
        "data": {
            **{"train": str(words / "train"), "dataset_type": "plain"},
            **{"src": {"lang": "source", **side}, "trg": {"lang": "target", **side}},
        },
        "training": {
            **{"optimizer": "adam", "learning_rate": 0.001, "clip_grad_norm": 1.0, "label_smoothing": 0.1},
            "scheduling": "exponential",  # it wants one; this one moves once an epoch
            **{"batch_type": "token", "batch_size": 1, "normalization": "tokens"},
        },
        "testing": {},
        "model": SHAPES[job["shape"]],
    }


def opened(job: Job, folder: str = "unused") -> tuple[Any, Any, Any]:
    """Its arguments, a new model, and its training text; it logs to a folder."""
    import torch
    from joeynmt.config import parse_global_args
    from joeynmt.data import load_data
    from joeynmt.model import build_model

    torch.set_num_threads(job["threads"])
    torch.manual_seed(0)
    args = parse_global_args(settings(job, folder), rank=0, mode="train")
    source, target, text, _, _ = load_data(cfg=args.data, datasets=["train"])
    model = build_model(args.model, src_vocab=source, trg_vocab=target)
    model.loss_function = (args.train.loss, args.train.label_smoothing)
    return args, model, text


def dropped_as_ours(model: Any) -> None:
    """Of a Transformer it drops attention weights and numbers inside the feed-forward too, which Regard does not."""
    from joeynmt.transformer_layers import MultiHeadedAttention, PositionwiseFeedForward

    for module in model.modules():
        if isinstance(module, MultiHeadedAttention):
            module.dropout.p = ATTENTION_DROPOUT
        elif isinstance(module, PositionwiseFeedForward):
            module.pwff_layer[2].p = 0.0  # matrix, activation, this, matrix, dropout


def train(job: Job) -> tuple[dict[str, Any], Round]:
    """Its steps on a few of its batches, which stand for the whole epoch; it does not sort by length, and pads more."""
    import torch
    from joeynmt.training import TrainManager

    folder = TemporaryDirectory()
    atexit.register(folder.cleanup)
    args, model, text = opened(job, folder.name)
    manager = TrainManager(
        0, model, args.model_dir, args.device, autocast=args.autocast, train_args=args.train, dev_args=args.test
    )
    dropped_as_ours(model)

    def cut(limit: int) -> list[Any]:
        rows = text.make_iter(
            batch_size=limit,
            batch_type=args.train.batch_type,
            shuffle=True,
            pad_index=model.pad_index,
            eos_index=model.eos_index,
        )
        epoch = list(islice(rows, None))  # of its own accord it does not say how many there are, and fails when asked
        return evenly(epoch, job["batches"], lambda batch: batch.trg.shape[1])

    chosen = of_pieces(job["pieces"], cut, lambda batch: int(batch.ntokens))
    real = sum(int(batch.ntokens) for batch in chosen)

    def work() -> dict[str, Any]:
        for batch in chosen:
            with torch.autocast("cpu", torch.bfloat16, enabled=job["bf16"]):  # which it offers on graphics cards alone
                manager._train_step(batch)
            manager.clip_grad_fun(parameters=model.parameters())
            manager.optimizer.step()
            model.zero_grad()
        return {"done": real}

    return training(model, len(chosen), real, sum(batch.trg.numel() for batch in chosen)), work


def translate(job: Job) -> tuple[dict[str, Any], Round]:
    """Its search on the sentences of the test set, sorted by length into batches."""
    import torch
    from joeynmt.batch import Batch
    from joeynmt.search import search

    _, model, _ = opened(job)
    model.eval()

    def outputs(lines: list[str], size: int) -> list[Any]:
        found: dict[int, Any] = {}
        order = sorted(range(len(lines)), key=lambda row: -len(lines[row].split()))
        for first in range(0, len(order), size):
            some = order[first : first + size]
            ids, lengths, _ = model.src_vocab.sentences_to_ids(
                [lines[row].split() for row in some], bos=False, eos=True
            )
            batch = Batch(
                src=torch.tensor(ids),
                src_length=torch.tensor(lengths),
                src_prompt_mask=None,
                trg=None,
                trg_prompt_mask=None,
                indices=torch.arange(len(some)),
                device=torch.device("cpu"),
                pad_index=model.pad_index,
                eos_index=model.eos_index,
                is_train=False,
            )
            written = search(model, batch, job["steps"], job["beam"], 0.6, min_output_length=job["steps"])[0]
            found |= dict(zip(some, written, strict=True))
        return [found[row] for row in range(len(lines))]

    return translating(job, outputs, lines_of(Path(job["words"], "test.source"), job["sentences"]))


def prepare(job: Job) -> tuple[dict[str, Any], Round]:
    """Ready for the work that the job names."""
    return train(job) if job["work"] == "train" else translate(job)


if __name__ == "__main__":
    serve(prepare, "joeynmt", "torch")
