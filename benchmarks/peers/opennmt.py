"""OpenNMT-py: its own trainer on its own batches, its own translator (see worker.py)."""

from __future__ import annotations

import json
from argparse import Namespace
from io import StringIO
from pathlib import Path
from typing import Any

from worker import ATTENTION_DROPOUT, DROPOUT, Job, Round, lines_of, serve, translating

from peers.buckets import trained
from peers.environment import Peer

PEER = Peer(
    "OpenNMT-py",
    "peers.opennmt",
    (
        *("torch", "numpy", "configargparse", "pyyaml", "six", "sacrebleu", "tensorboard"),
        *("pyonmttok", "ctranslate2", "rapidfuzz", "pyahocorasick"),
    ),
    alone=("OpenNMT-py==3.5.1",),  # it asks for torch < 2.3
    stubs=("spacy", "fasttext"),  # for transforms of text that are not used here
    works=tuple((work, shape) for work in ("train", "decode", "latency") for shape in ("rnn", "transformer")),
)
SHAPES = {
    "rnn": {
        **{"encoder_type": "brnn", "decoder_type": "rnn", "rnn_type": "GRU", "layers": 1, "hidden_size": 512},
        **{"word_vec_size": 256, "global_attention": "mlp", "input_feed": 1, "bridge": True, "dropout": DROPOUT["rnn"]},
    },
    "transformer": {
        **{"encoder_type": "transformer", "decoder_type": "transformer", "layers": 3, "heads": 8, "hidden_size": 256},
        **{"word_vec_size": 256, "transformer_ff": 1024},
        **{"dropout": DROPOUT["transformer"], "attention_dropout": ATTENTION_DROPOUT},
        **{"position_encoding": True, "share_embeddings": True, "share_decoder_embeddings": True},
        **{"param_init": 0, "param_init_glorot": True},
    },
}


def options(add: Any, wanted: dict[str, Any], **more: Any) -> Namespace:
    """Options of one of its commands, as its own parser makes them."""
    from onmt.utils.parse import ArgumentParser

    parser = ArgumentParser()
    add(parser)
    flat: list[str] = []
    for name, value in {**wanted, **more}.items():
        flat += [f"--{name}"] if value is True else [f"--{name}", str(value)]
    return parser.parse_args(flat)


def model_of(job: Job) -> tuple[Namespace, Any, Any, Any]:
    """Its options, vocabularies, transforms and a new model, by the way that its training goes."""
    import torch
    from onmt.model_builder import build_model
    from onmt.opts import train_opts
    from onmt.train_single import _get_model_opts, _init_train
    from onmt.utils.misc import set_random_seed
    from onmt.utils.parse import ArgumentParser

    torch.set_num_threads(job["threads"])
    words = Path(job["words"])
    text = {"train": {"path_src": str(words / "train.source"), "path_tgt": str(words / "train.target")}}
    asked = {
        **{"data": json.dumps(text), "src_vocab": words / "vocabulary", "src_vocab_size": 10**6, "share_vocab": True},
        **{"batch_type": "tokens", "batch_size": 1, "normalization": "tokens", "num_workers": 0},
        **{"optim": "adam", "learning_rate": 0.001, "max_grad_norm": 1, "label_smoothing": 0.1},
        **{"bucket_size": len(lines_of(words / "train.source", None)), "report_every": 10**6, "save_model": "unused"},
    }
    opt = options(train_opts, asked, **SHAPES[job["shape"]])
    ArgumentParser.validate_train_opts(opt)
    ArgumentParser.update_model_opts(opt)
    ArgumentParser.validate_model_opts(opt)
    set_random_seed(0, False)
    _, vocabularies, transforms = _init_train(opt)
    return opt, vocabularies, transforms, build_model(_get_model_opts(opt), opt, vocabularies, None, -1)


def train(job: Job) -> tuple[dict[str, Any], Round]:
    """Its trainer on its batches."""
    import torch
    from onmt.inputters.dynamic_iterator import build_dynamic_dataset_iter
    from onmt.trainer import build_trainer
    from onmt.utils.optimizers import Optimizer

    opt, vocabularies, transforms, model = model_of(job)

    def rows(limit: int) -> Any:
        opt.batch_size = limit
        return build_dynamic_dataset_iter(opt, transforms, vocabularies)

    trainer = build_trainer(opt, -1, model, vocabularies, Optimizer.from_opt(model, opt))
    about, work = trained(trainer, model, rows, job)

    def half() -> dict[str, Any]:
        with torch.autocast("cpu", torch.bfloat16):  # it offers bf16 on graphics cards alone: switched on from outside
            return work()

    return about, half if job["bf16"] else work


def translate(job: Job) -> tuple[dict[str, Any], Round]:
    """Its translator on the sentences of the test set."""
    import onmt.translate
    import torch
    from onmt.constants import CorpusTask
    from onmt.inputters.dynamic_iterator import build_dynamic_dataset_iter
    from onmt.opts import translate_opts
    from onmt.translate.translator import Translator

    opt, vocabularies, transforms, model = model_of(job)
    for module in model.eval().modules():
        if hasattr(module, "dropout_p"):  # as its own loading of a model does
            module.dropout_p = 0.0
    exact = {"min_length": job["steps"], "max_length": job["steps"], "max_length_ratio": 0}
    asked = {"model": "unused", "src": "unused", "beam_size": job["beam"], "batch_type": "sents"}
    how = options(translate_opts, {**asked, **exact}, batch_size=1)
    scorer = onmt.translate.GNMTGlobalScorer.from_opt(how)
    translator = Translator.from_opt(model, vocabularies, how, opt, global_scorer=scorer, out_file=StringIO())

    def outputs(lines: list[str], size: int) -> list[str]:
        how.batch_size = size
        rows = build_dynamic_dataset_iter(how, transforms, vocabularies, task=CorpusTask.INFER, src=lines)
        with torch.no_grad():
            return [best[0] for best in translator._translate(rows, transform=rows.transforms)[1]]

    return translating(job, outputs, lines_of(Path(job["words"], "test.source"), job["sentences"]))


def prepare(job: Job) -> tuple[dict[str, Any], Round]:
    """Ready for the work that the job names."""
    return train(job) if job["work"] == "train" else translate(job)


if __name__ == "__main__":
    serve(prepare, "OpenNMT-py", "torch")
