"""eole: its own trainer on its own batches, its own translator (see worker.py)."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from worker import ATTENTION_DROPOUT, DROPOUT, Job, Round, lines_of, serve, translating

from peers.buckets import trained
from peers.environment import Peer

PEER = Peer(
    "eole",
    "peers.eole",
    (
        *("torch", "numpy", "configargparse", "pyyaml", "six", "sacrebleu", "tensorboard", "pyonmttok", "ctranslate2"),
        *("rapidfuzz", "pyahocorasick", "rich", "safetensors", "sentencepiece", "subword-nmt", "tokenizers"),
        *("huggingface_hub", "datasets", "pandas", "pydantic", "torch-optimi"),
    ),
    alone=("eole==0.6.4",),  # it asks for torchcodec and a server, which are not used here
    stubs=("spacy", "fasttext"),  # for transforms of text that are not used here
    works=tuple((work, shape) for work in ("train", "decode", "latency") for shape in ("rnn", "transformer")),
)
# `architecture: rnn` would make its encoder read one way, and a bridge does not fit an encoder that reads both ways.
GRU = {"rnn_type": "GRU", "layers": 1, "hidden_size": 512, "bridge": False}
SHAPES: dict[str, dict[str, Any]] = {
    "rnn": {
        "architecture": "custom",
        "embeddings": {"word_vec_size": 256},
        "encoder": {"encoder_type": "brnn", **GRU},
        "decoder": {"decoder_type": "rnn", **GRU, "global_attention": "mlp"},
        "input_feed": 1,
    },
    "transformer": {
        **{"architecture": "transformer", "layers": 3, "heads": 8, "hidden_size": 256, "transformer_ff": 1024},
        **{"share_embeddings": True, "share_decoder_embeddings": True, "add_ffnbias": True, "add_qkvbias": True},
        "embeddings": {"word_vec_size": 256, "position_encoding_type": "SinusoidalInterleaved"},
    },
}


def context_of(job: Job, folder: str) -> tuple[Any, Any]:
    """Its configuration with vocabularies and transforms, and a new model, which it would save to a folder."""
    import torch
    from eole.config.run import TrainConfig
    from eole.models.model import get_model_class
    from eole.train_single import TrainingInitializer, configure_process

    torch.set_num_threads(job["threads"])
    words = Path(job["words"])
    config = TrainConfig(
        data={"train": {"path_src": str(words / "train.source"), "path_tgt": str(words / "train.target")}},
        src_vocab=str(words / "vocabulary"),
        share_vocab=True,
        src_vocab_size=10**6,
        report_every=10**6,
        seed=1,
        model=SHAPES[job["shape"]],
        training={
            **{"batch_type": "tokens", "batch_size": 1, "normalization": "tokens"},
            **{"optim": "adam", "learning_rate": 0.001, "max_grad_norm": 1, "label_smoothing": 0.1, "num_workers": 0},
            **{"dropout": [DROPOUT[job["shape"]]], "attention_dropout": [ATTENTION_DROPOUT]},
            "compute_dtype": "bf16" if job.get("bf16") else "fp32",
            **{"bucket_size": len(lines_of(words / "train.source", None)), "model_path": folder},
        },
    )
    configure_process(config, -1)
    context = TrainingInitializer(config).initialize()
    kind = get_model_class(context.config.model)
    model = kind.for_training(context.config.model, context.vocabs, context.config.training, device_id=-1)
    return context, model


def train(job: Job) -> tuple[dict[str, Any], Round]:
    """Its trainer on its batches."""
    from eole.constants import CorpusTask
    from eole.inputters.dynamic_iterator import build_dynamic_dataset_iter
    from eole.trainer import build_trainer
    from eole.utils.optimizers import Optimizer

    context, model = context_of(job, "unused")

    def rows(limit: int) -> Any:
        context.config.training.update(batch_size=limit)
        return build_dynamic_dataset_iter(context.config, context.transforms, context.vocabs, task=CorpusTask.TRAIN)

    optimiser = Optimizer.from_config(model, context.config)
    return trained(build_trainer(context.config, -1, model, context.vocabs, optimiser), model, rows, job)


def translate(job: Job) -> tuple[dict[str, Any], Round]:
    """Its translator on the sentences of the test set."""
    import torch
    from eole.config.run import PredictConfig
    from eole.inference_engine import InferenceEnginePY
    from eole.models.model_saver import build_model_saver
    from eole.utils.optimizers import Optimizer

    exact = {"min_length": job["steps"], "max_length": job["steps"], "max_length_ratio": 0}
    how = {"src": "unused", "beam_size": job["beam"], "batch_type": "sents", "compute_dtype": "fp32", **exact}
    with TemporaryDirectory() as folder:  # it translates with what it has saved
        context, model = context_of(job, folder)
        optimiser = Optimizer.from_config(model, context.config)
        build_model_saver(context.config, model, context.vocabs, optimiser, -1, context.transforms).save(1)
        engine = InferenceEnginePY(PredictConfig(model_path=[folder], **how))

    def outputs(lines: list[str], size: int) -> list[str]:
        engine.config.update(batch_size=size)
        with torch.no_grad():
            return [best[0] for best in engine.infer_list(lines)[2]]

    return translating(job, outputs, lines_of(Path(job["words"], "test.source"), job["sentences"]))


def prepare(job: Job) -> tuple[dict[str, Any], Round]:
    """Ready for the work that the job names."""
    return train(job) if job["work"] == "train" else translate(job)


if __name__ == "__main__":
    serve(prepare, "eole", "torch")
