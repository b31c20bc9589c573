"""What every recipe does with a fixed seed, as small JSON files: the net under changes that must change nothing.

    make golden                          # write tests/golden anew and show the difference
    python tests/goldens.py luong gnmt   # the same for some recipes

For each recipe that reads text, its wiring at small widths is trained for some updates by `regard.train` on the lines
below. Its file keeps the loss of every update, a summary of every weight and validation scores. Of a translator also
what beam search writes and scores, forced likelihoods, word alignments, the document of its page, and what its exports
write; of a classifier or tagger its answers, their probabilities and what was looked at. Every recipe, papers' sizes
included, also has the outputs of its untrained small wiring.

Numbers may differ by `TOLERANCE` (processors add in different orders, and updates carry that on); text must be
the same, or a tie: as likely, within the tolerance, as what is written now. The rest must be equal.
"""

from __future__ import annotations

import base64
import json
import math
import os
import sys
import tempfile
import zlib
from pathlib import Path

import numpy as np
import torch

import regard
from regard.export import ctranslate2 as to_ctranslate2
from regard.export import onnx as to_onnx
from regard.export import torch as to_torch
from regard.export.request import Wish
from regard.learn.events import Step
from regard.recipe import NAMED, resolve, write
from regard.recipe.resolve import Recipe
from regard.search import Options
from regard.show.document import record_document
from regard.types import PixelLogits
from small import built, forward, smaller

HOME = Path(__file__).parent / "golden"
TOLERANCE = 2e-3  # relative to the larger of a number and one
UPDATES = 60
SIZES = {"width": 18, "hidden": 18, "features": 16, "feed": 23, "heads": 3, "longest": 29}
# Tracing takes seconds: one recipe for each decoder.
TRACED = ("gnmt", "luong", "rnnsearch", "seq2seq", "transformer", "tutorial")
PAIRS = (
    ("the cat sleeps", "le chat dort"),
    ("a dog runs", "un chien court"),
    ("the small cat eats a fish", "le petit chat mange un poisson"),
    ("the dog sleeps in the garden", "le chien dort dans le jardin"),
    ("a child reads", "un enfant lit"),
    ("the child reads a book in the garden", "l' enfant lit un livre dans le jardin"),
    ("a small dog eats", "un petit chien mange"),
    ("the fish sleeps", "le poisson dort"),
    ("a cat and a dog run", "un chat et un chien courent"),
    ("the child and the cat sleep", "l' enfant et le chat dorment"),
    ("a book", "un livre"),
)
LABELLED = (
    *(("a fine film", "good"), ("a dull film", "bad"), ("the cast is fine", "good"), ("the plot is dull", "bad")),
    *(("i liked the plot", "good"), ("i left", "none"), ("not a dull plot", "good"), ("not fine", "bad")),
    *(("it has two parts", "none"), ("the cast left", "none"), ("a dull cast in a dull plot", "bad")),
)
TAGGED = (
    *(("the dog runs", "D N V"), ("a run", "D N"), ("dogs run", "N V"), ("the run of a dog", "D N P D N")),
    *(("run", "V"), ("they run to the dog", "R V P D N"), ("a dog of the house runs", "D N P D N V")),
)
ROWS = {"classify": LABELLED, "tag": TAGGED}
ASKED = ("the small dog reads a book", "a fish eats in the garden", "the cat", "")
FORCED = (("the dog eats", "le chien mange"), ("a child sleeps in a book", "un enfant dort dans un livre"))
SETTINGS = (
    *("train.pieces=words", "train.vocabulary=61", "train.tokens=97", "train.precision=fp32", "train.rate=0.02"),
    *("train.schedule=constant", "train.tensorboard=false", f"train.validate_steps={UPDATES}"),
)
ANSWERING = (
    *("task.source.vocabulary=61", "train.tokens=31", "train.precision=fp32", "train.schedule=constant"),
    *("train.tensorboard=false", f"train.validate_steps={UPDATES}"),
)
TEXT = [name for name in NAMED if resolve(name).task.settings["source"].name == "text" and not name.endswith("-paper")]
VERBS = {name: resolve(name).task.settings["verb"] for name in TEXT}
TRAINED = sorted(name for name, verb in VERBS.items() if verb == "translate")


def small_recipe(name):
    """A recipe with every width cut down."""
    recipe = resolve(name)
    return Recipe(recipe.about, smaller(recipe.model, SIZES), recipe.train, recipe.task)


# --- what is observed --------------------------------------------------------------------------------------


def observe_untrained(name):
    """The scores and looks of a recipe's small wiring as it is drawn."""
    recipe = small_recipe(name)
    torch.manual_seed(5)
    model = built(recipe).eval()
    torch.manual_seed(7)
    with torch.no_grad():
        found = forward(model)
    return {
        "parameters": {key: list(value.shape) for key, value in model.named_parameters()},
        "logits": _summary(found.numbers if hasattr(found, "numbers") else found.logits),
        "looked": [_summary(each) for each in _looks(found)],
    }


def _looks(found):
    """The weights that something looked with; of a segmentation, how far each gate was open."""
    return found.gates if isinstance(found, PixelLogits) else [each.weights for each in getattr(found, "looked", ())]


def observe_trained(name, folder):
    """What a recipe's small wiring learns, writes, aligns, draws and exports."""
    data, out = folder / "data", folder / "golden"
    data.mkdir()
    for side, lines in zip(("en", "fr"), zip(*PAIRS, strict=True), strict=True):
        for split in ("train", "val"):
            (data / f"{split}.{side}").write_text("\n".join(lines) + "\n", encoding="utf-8")
    model, learnt = _trained(name, folder, SETTINGS, data=data, out=out, source="en", target="fr")
    return {
        **learnt,
        "written": _written(model),
        "forced": [_forced(model, *pair) for pair in FORCED],
        "page": _page(model) if model.model.predict.attends else None,
        "exports": _exports(
            out, folder, ("ctranslate2", "onnx", "torch") if name in TRACED else ("ctranslate2", "torch")
        ),
    }


def observe_answers(name, folder):
    """What a classifier's or tagger's small wiring learns and answers."""
    rows, data = ROWS[VERBS[name]], folder / "data"
    data.mkdir()
    for split in ("train", "val"):
        lines = [json.dumps({"text": text, "tags" if VERBS[name] == "tag" else "label": want}) for text, want in rows]
        (data / f"{split}.jsonl").write_text("\n".join(lines) + "\n", encoding="utf-8")
    model, learnt = _trained(name, folder, ANSWERING, data=data, out=folder / "golden")
    return {**learnt, "answers": [_answer(each) for each in model.answer([text for text, _ in rows])]}


def observe_copies(name, folder):
    """What an auto-encoder of texts learns, and what it writes of the lines that it learnt from."""
    data, lines = folder / "data", [source for source, _ in PAIRS]
    data.mkdir()
    for split in ("train", "val"):
        (data / f"{split}.txt").write_text("\n".join(lines) + "\n", encoding="utf-8")
    model, learnt = _trained(name, folder, ("task.source.pieces=words", *ANSWERING), data=data, out=folder / "golden")
    codes = _summary(torch.from_numpy(model.encode(lines)))
    return {
        **learnt,
        "codes": codes,
        "answers": [{"text": each.text, "score": each.score} for each in model.answer(lines)],
    }


def _answer(found):
    """An answer, how sure it is, and what was looked at."""
    looked = [_summary(each) for each in getattr(found, "attention", ())]
    sure = found.probabilities
    every = dict(sure) if isinstance(sure, dict) else list(sure)
    return {"text": found.text, "score": found.probability, "probabilities": every, "looked": looked}


def _trained(name, folder, settings, **where):
    """The small wiring of a recipe after some updates, and what was learnt in them."""
    losses, scores = [], {}

    def tell(event):
        if isinstance(event, Step):
            losses.append(event.nll)
        elif hasattr(event, "values"):
            scores.update(event.values)

    recipe = folder / "recipe.toml"
    recipe.write_text(write(small_recipe(name)), encoding="utf-8")
    model = regard.train(recipe, steps=UPDATES, seed=3, settings=settings, tell=tell, **where)
    weights = {key: _summary(value) for key, value in model.model.state_dict().items()}
    return model, {"losses": losses, "scores": scores, "weights": weights}


def _written(model):
    found = model.search(list(ASKED), Options(beam=3, nbest=2, max_length=13))
    return [[{"text": each.text, "score": each.score} for each in some] for some in found]


def _forced(model, source, target):
    found = model.force(source, target)[0]
    alignment = found.alignment
    aligned = {} if alignment is None else {"links": alignment.links(), "matrix": _rounded(alignment.matrix)}
    return {"likelihood": found.likelihood, **aligned}


def _page(model):
    """The document of a page, the values of its layers readable."""
    document = record_document(model.look(*FORCED[1]))
    for layer in document["attention"]:
        values = np.frombuffer(zlib.decompress(base64.b64decode(layer.pop("data"))), "<f4")
        layer["mean"], layer["square"] = float(values.mean()), float(np.square(values).mean())
    return json.loads(json.dumps(document))


def _exports(run, folder, ways):
    """What each export that can hold the model writes; why not, where it cannot."""
    found = {}
    exports = {"ctranslate2": to_ctranslate2.export, "onnx": to_onnx.export, "torch": to_torch.export}
    for way in ways:
        try:
            exports[way](run, folder / way, Wish(quantization="float32", lines=[source for source, _ in PAIRS]))
        except regard.errors.RegardError as error:
            found[way] = str(error).split("\n")[0].replace(str(folder), "FOLDER")
            continue
        exported = regard.load(folder / way)
        found[way] = {"written": _written(exported), "forced": [_forced(exported, *pair) for pair in FORCED]}
    return found


def _summary(tensor):
    """A few numbers that see a change of any value, and of their order."""
    values = tensor.detach().double().flatten()
    ramp = torch.linspace(0, 1, len(values), dtype=torch.double)
    mean = [values.mean().item(), values.square().mean().sqrt().item(), (values * ramp).mean().item()]
    return {"shape": list(tensor.shape), "mean, root mean square, moment": mean}


def _rounded(matrix):
    return [[round(value, 5) for value in row] for row in matrix.tolist()]


def observe(name):
    """All of one recipe."""
    found = {"untrained": observe_untrained(name)}
    if name in VERBS:
        see = observe_trained if name in TRAINED else observe_answers
        see = observe_copies if VERBS[name] == "reconstruct" else see
        with tempfile.TemporaryDirectory() as folder:
            found["trained"] = see(name, Path(folder))
    return json.loads(json.dumps(found))


# --- how two are compared ----------------------------------------------------------------------------------


def differences(kept, found, where=""):
    """Every place in which two observations differ by more than they may, in words."""
    if isinstance(kept, dict) and isinstance(found, dict):
        keys = dict.fromkeys((*kept, *found))
        if keys.keys() >= {"text", "score"} and _close(kept.get("score"), found.get("score")):
            keys.pop("text")  # a tie
        return [line for key in keys for line in differences(kept.get(key), found.get(key), f"{where}/{key}")]
    if isinstance(kept, list) and isinstance(found, list) and len(kept) == len(found):
        pairs = enumerate(zip(kept, found, strict=True))
        return [line for place, (a, b) in pairs for line in differences(a, b, f"{where}/{place}")]
    if kept == found or _close(kept, found):
        return []
    return [f"{where}: kept {_short(kept)}, found {_short(found)}"]


def _close(kept, found):
    if not all(isinstance(each, float | int) and not isinstance(each, bool) for each in (kept, found)):
        return False
    return math.isclose(kept, found, rel_tol=TOLERANCE, abs_tol=TOLERANCE)


def _short(value):
    told = json.dumps(value, ensure_ascii=False)
    return told if len(told) < 100 else f"{told[:97]}..."


def kept(name):
    """The file of a recipe."""
    return json.loads((HOME / f"{name}.json").read_text(encoding="utf-8"))


def rewrite(names):
    """Write the files of these recipes anew; how each differs from what was there."""
    for name in names:
        path, found = HOME / f"{name}.json", observe(name)
        told = differences(kept(name), found) if path.is_file() else ["new"]
        path.write_text(_dump(found) + "\n", encoding="utf-8")
        yield name, told


def _dump(value, depth=0):
    """JSON with a line an entry down to some depth, so that git shows what changed."""
    if isinstance(value, dict) and value and depth < 4:
        inner = ",\n".join(f"{' ' * (depth + 1)}{json.dumps(k)}: {_dump(v, depth + 1)}" for k, v in value.items())
        return "{\n" + inner + "\n" + " " * depth + "}"
    return json.dumps(value, ensure_ascii=False)


if __name__ == "__main__":
    os.environ |= {"REGARD_CACHE": tempfile.mkdtemp(), "REGARD_ENGINE": "torch"}
    torch.set_num_threads(1)
    HOME.mkdir(exist_ok=True)
    for recipe_name, lines in rewrite(sys.argv[1:] or sorted(NAMED)):
        sys.stdout.write(f"{recipe_name}: {'the same' if not lines else f'{len(lines)} differences'}\n")
        for line in lines[:20]:
            sys.stdout.write(f"  {line}\n")
