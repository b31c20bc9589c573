"""Regard against other toolkits: both in processes of their own, a round in turn, medians, and their ratios.

    python benchmarks/peers                             every peer, everything it can be measured at
    python benchmarks/peers opennmt --works train --shapes rnn --threads 1 --data DIR
    python benchmarks/peers ctranslate2 --works decode,latency
    python benchmarks/peers opennmt --quick

A peer is installed from the package index into an environment of its own, once (some 1 GB, below the cache folder).
All get the same text, cut into the same pieces, the same shapes, as many target pieces a batch, and the same dropout
(worker.py), none of it on attention weights or inside feed-forwards; models that translate are untrained
and write 15 pieces a sentence. `--model` gives our side a trained one of the shape, which writes as many, and a
shortlist. What is needed to make a peer run is in its module.
"""

from __future__ import annotations

from argparse import Namespace
from dataclasses import replace
from importlib import import_module
from itertools import product
from pathlib import Path
from typing import Any

import setting
import train
from decode import STEPS, itself, job_of, more_arguments, read_more, shortened
from latency import SENTENCES, told
from turns import Measured, Side, arguments, compared, in_turn, report
from worker import Job

from peers.environment import Peer
from regard.engine.home import model_home
from regard.engine.precision import bf16_gain

PEERS = ("opennmt", "ctranslate2", "eole", "marian", "joeynmt")
WORKS = ("train", "decode", "latency")


def theirs(peer: Peer, job: Job, model: Path | None) -> list[Side]:
    """A peer's side of a job; CTranslate2, which runs our own model, has one for each kind of weights and workers."""
    python = str(peer.python(setting.home() / "peers"))
    if peer.module == "peers.ctranslate2" and model is not None:
        kinds = {kind: str(setting.exported(model, "ctranslate2", kind)) for kind in ("float32", "int8")}
        found = [side for kind, folder in kinds.items() for side in itself({**job, "model": folder}, kind)]
        return [Side(side.name, side.module, side.job, python) for side in found]
    return [Side(peer.name, peer.module, job, python)]


def ours(job: Job, model: Path | None) -> list[Side]:
    """Our side of the same job: the model itself, and where there is one its exports in fewer bits."""
    if model is None:
        return [Side("Regard", "ours", job)]
    kinds = ["bfloat16", "int8"] if bf16_gain() > 0 else ["int8"]
    exports = {kind: ("torch", kind) for kind in kinds}
    if job["shape"] == "transformer":
        exports["CTranslate2, int8"] = ("ctranslate2", "int8")
    folders = {"float32": model} | {name: setting.exported(model, *how) for name, how in exports.items()}
    if job["trained"]:  # who looks nowhere learns no list
        folders["int8, shortlist"] = shortened(model, folders["int8"], "torch", "int8", job["data"])
    return [Side(f"Regard, {name}", "ours", {**job, "model": str(folder)}) for name, folder in folders.items()]


def measured(peers: list[Peer], work: str, shape: str, asked: Namespace) -> dict[str, Any]:
    """One work of one shape: ours and the peers that know it, in turn."""
    able = [peer for peer in peers if (work, shape) in peer.works]
    found: dict[str, Any] = {}
    words = str(setting.as_words(asked.data)) if able else ""
    for threads, beam in product(asked.threads, (0,) if work == "train" else asked.beams) if able else ():
        title = f"{work}, {shape}, threads: {threads}" + (f", beam {beam}" if beam else "")
        if work == "train":
            kinds = train.precisions(asked).items()
            jobs = {kind: train.job(shape, threads, asked, bf16=bf16) | {"words": words} for kind, bf16 in kinds}
            sides = [
                replace(side, name=f"{side.name}, {kind}") for kind, job in jobs.items() for side in ours(job, None)
            ]
            sides += [
                replace(side, name=f"{side.name}, {kind}")
                for kind, job in jobs.items()
                for peer in able
                for side in theirs(peer, job, None)
            ]
        else:
            model = model_home(asked.model) if asked.model else setting.untrained(shape, asked.data)
            job = {**job_of(work, asked), "shape": shape, "threads": threads, "beam": beam, "words": words}
            job |= {"steps": STEPS, "trained": bool(asked.model)}
            sides = ours(job, model) + [side for peer in able for side in theirs(peer, job, model)]
        results = in_turn(sides, asked.rounds)
        show(work, title, results)
        found[title] = [each.told() for each in results]
    return found


def show(work: str, title: str, found: list[Measured]) -> None:
    """The table of a work."""
    if work == "latency":
        told(f"{title}: milliseconds of a sentence", found)
    elif work == "train":
        compared(f"{title}: target pieces", train.SHOWN, found, peers=True)
    else:
        compared(f"{title}: sentences", ("batch",), found, peers=True)


def main() -> None:
    """Measure what was asked for."""
    parser = train.more_arguments(more_arguments(arguments(__doc__)))
    parser.add_argument("peers", nargs="*", default=PEERS, metavar="PEER", help=" ".join(PEERS))
    parser.add_argument("--works", default=",".join(WORKS), help=",".join(WORKS))
    asked = read_more(parser)
    unknown = [name for name in asked.peers if name not in PEERS]
    if unknown:
        parser.error(f"expected peers of {', '.join(PEERS)}; found {', '.join(unknown)}.")
    peers = [import_module(f"peers.{name}").PEER for name in asked.peers]
    found: dict[str, Any] = {}
    for work, shape in product(asked.works.split(","), asked.shapes):
        few = SENTENCES if work == "latency" else None
        if asked.quick:
            few = 5
        limits = Namespace(**{**vars(asked), "sentences": asked.sentences or few})
        found |= measured(peers, work, shape, limits)
    report(found, asked.json)
