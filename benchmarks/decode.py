"""How fast models translate: sentences a second, by beam and greedily, by our engines and by CTranslate2 itself.

    python benchmarks/decode.py                         untrained models that write 15 pieces a sentence
    python benchmarks/decode.py --model runs/de-en      a trained one, which ends when it likes; BLEU beside its speed
    python benchmarks/decode.py --model runs/deep --beside runs/fast        two trained ones in one run
    python benchmarks/decode.py --shapes transformer --engines torch,ctranslate2 --threads 1 --sentences 250
    python benchmarks/decode.py --quick

Every engine runs the same weights in a process of its own, and they work in turn. Before that each tries the batch
sizes on a part of the sentences, in a process that ends, and keeps the fastest: peak memory is that of the size shown.
`--sizes 64` tries nothing. "CTranslate2 itself" is its own translator on the folder that we exported,
without a line of ours; 1x2 is one worker of two threads.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import replace
from importlib import import_module
from itertools import product
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import setting
from turns import Measured, Side, arguments, compared, in_turn, names, numbers, read, report
from worker import Job, lines_of

from regard.engine.home import model_home
from regard.errors import ModelError
from regard.evaluate import bleu
from regard.export.ctranslate2.fitting import check_expressible
from regard.export.request import Wish
from regard.model import load

STEPS = 15  # of the decoder for each sentence, where an untrained model would not know when to end
ENGINES = ("torch", "torch-int8", "onnx", "onnx-int8", "behind-int8", "ctranslate2", "ctranslate2-int8")
SHORT = "-shortlist"  # after an engine of ours, of a trained model alone: who looks nowhere learns no list
CANDIDATES = 100  # of each source piece


def more_arguments(parser: argparse.ArgumentParser) -> argparse.ArgumentParser:
    """What decoding and latency can be asked beside the rest."""
    parser.add_argument("--model", type=Path, help="a trained model folder instead of untrained ones")
    parser.add_argument("--beside", type=Path, action="append", help="another trained model for the same engines")
    parser.add_argument(
        "--engines",
        type=names,
        help=f"{','.join(ENGINES)} (torch,ctranslate2-int8 with --quick); torch-int8{SHORT}, behind-int8{SHORT}",
    )
    parser.add_argument("--beams", type=numbers, help="beam sizes; 1 is greedy (5,1; 5 with --quick)")
    parser.add_argument("--alpha", type=float, help="length penalty of our own engines; else each model's own")
    parser.add_argument("--sentences", type=int, help="of the test set; else all (20 with --quick)")
    parser.add_argument(
        "--sizes", type=numbers, help="sentences at a time to try (32,64,128,256,512; 4,8 with --quick)"
    )
    return parser


def read_more(parser: argparse.ArgumentParser) -> argparse.Namespace:
    """What was asked; what was not said goes by whether it is to be quick."""
    asked = read(parser)
    asked.engines = asked.engines or (("torch", "ctranslate2-int8") if asked.quick else ENGINES)
    asked.beams = asked.beams or ((5,) if asked.quick else (5, 1))
    return asked


def job_of(work: str, asked: argparse.Namespace) -> Job:
    """What holds for every side."""
    size: Job = {"sizes": [4, 8], "trial": 4} if asked.quick else {"sizes": [32, 64, 128, 256, 512], "trial": 500}
    if vars(asked).get("sizes"):
        size["sizes"] = list(asked.sizes)
    count = asked.sentences or (20 if asked.quick else None)
    text = str(setting.test_text(asked.data)[0])
    steps = 0 if asked.model else STEPS
    asks = {"data": asked.data, "text": text, "sentences": count, "steps": steps, "alpha": asked.alpha}
    return {"work": work, **asks, **size}


def sides(job: Job, model: Path, engines: Sequence[str]) -> list[Side]:
    """One process an engine: ours on the model or on an export of it, and CTranslate2 without us."""
    found: list[Side] = []
    for engine in engines:
        kind, _, weights = engine.partition("-")
        its = {**job, "model": str(_folder(model, engine, job))}
        if kind == "ctranslate2":
            found += itself(its, weights or "float32")
        else:
            name = {"torch": "PyTorch", "onnx": "ONNX Runtime", "behind": "CTranslate2"}[kind]
            found.append(Side(f"Regard, {name}, {weights.replace('-', ', ') or 'float32'}", "ours", its))
    return found


def _folder(model: Path, engine: str, job: Job) -> Path:
    """The model's own folder, or what it was exported to."""
    kind, _, weights = engine.removesuffix(SHORT).partition("-")
    if engine == "torch":
        return model
    to = {"behind": "ctranslate2"}.get(kind, kind)
    folder = setting.exported(model, to, weights or "float32")
    return shortened(model, folder, to, weights, job["data"]) if engine.endswith(SHORT) else folder


def shortened(model: Path, plain: Path, to: str, weights: str, data: str) -> Path:
    """A trained model with a list learnt from the text, beside its plain export, written once for the same weights."""
    folder = plain.with_suffix(".shortlist")
    if not folder.is_dir():
        wish = Wish(weights or "float32", corpus=setting.corpus(data), shortlist=CANDIDATES)
        import_module(f"regard.export.{to}").export(model, folder, wish)
    return folder


def beside(job: Job, asked: argparse.Namespace) -> list[Side]:
    """The other models of the same run, by the engines that can run them."""
    return [
        replace(side, name=f"{folder.name}: {side.name}")
        for folder in asked.beside or ()
        for side in sides(job, model_home(folder), [each for each in asked.engines if _fits(model_home(folder), each)])
    ]


def itself(job: Job, weights: str) -> list[Side]:
    """CTranslate2's own translator: workers of one thread, and one worker of all."""
    threads = job["threads"]
    return [
        Side(
            f"CTranslate2 itself, {weights}, {workers}x{each}",
            "peers.ctranslate2",
            {**job, "workers": (workers, each), "threads": each},
        )
        for workers, each in sorted({(1, threads), (threads, 1)})
    ]


def models(asked: argparse.Namespace) -> dict[str, tuple[Path, list[str]]]:
    """The models to measure by name, each with the engines that can run it."""
    chosen = {asked.model.name: model_home(asked.model)} if asked.model else {}
    chosen = chosen or {shape: setting.untrained(shape, asked.data) for shape in asked.shapes}
    return {name: (folder, [each for each in asked.engines if _fits(folder, each)]) for name, folder in chosen.items()}


def _fits(folder: Path, engine: str) -> bool:
    """CTranslate2 runs Transformers alone."""
    if engine.startswith(("torch", "onnx")):
        return True
    try:
        check_expressible(load(folder))
    except ModelError:
        return False
    return True


def scored(measured: list[Measured], data: str) -> None:
    """Add the BLEU of what each side wrote last."""
    for each in measured:
        outputs = lines_of(each.side.job["outputs"], None)
        each.about["BLEU"] = f"{bleu(outputs, lines_of(setting.test_text(data)[1], len(outputs))).value:.2f}"


def main() -> None:
    """Measure what was asked for."""
    asked = read_more(more_arguments(arguments(__doc__)))
    found: dict[str, Any] = {}
    for name, (folder, engines) in models(asked).items():
        for beam, threads in product(asked.beams, asked.threads):
            job = {**job_of("decode", asked), "beam": beam, "threads": threads}
            chosen = sides(job, folder, engines) + beside(job, asked)
            with TemporaryDirectory() as outputs:
                for number, side in enumerate(chosen):
                    side.job["outputs"] = str(Path(outputs, str(number)))
                measured = in_turn(chosen, asked.rounds)
                if asked.model:
                    scored(measured, asked.data)
            shown = ("batch", "BLEU") if asked.model else ("batch",)
            compared(f"Decoding, {name}, beam {beam}, threads: {threads}: sentences", shown, measured)
            found[f"{name}, beam {beam}, threads {threads}"] = [each.told() for each in measured]
    report(found, asked.json)


if __name__ == "__main__":
    main()
