"""Small models and batches for tests: any part can be put in its place in a recipe of small sizes."""

from pathlib import Path

import torch

from regard import masks
from regard.recipe import resolve
from regard.registry import Maker, names
from regard.task import Spec
from regard.types import Batch, Episodes, Grid, Labelled, Padded

RECIPE = Path(__file__).parent / "small.toml"
SOURCE, TARGET = 31, 37  # sizes of the vocabularies
DECODERS = [name for name, cls in names("predict").items() if hasattr(cls, "teach")]
ATTENDING = [name for name in DECODERS if name != "plain"]
TEXT_ENCODERS = [name for name, cls in names("encode").items() if not getattr(cls, "sees_images", False)]
IMAGE_ENCODERS = [name for name, cls in names("encode").items() if getattr(cls, "sees_images", False)]
ONE_VECTOR = ("code", "sentence")  # encoders whose memory is one position
# An attention through the gates that come with a memory.
GATED = ["attend.choice.part=gated", "attend.choice.gates=memory"]


def words(size, lengths, width=None):
    """Random ids in rows of the given lengths."""
    lengths = torch.tensor(lengths)
    mask = masks.from_lengths(lengths, width)
    return Padded(torch.randint(4, size, mask.shape) * mask, mask)


def pictures(sizes, channels=3):
    """Random pictures of the given heights and widths."""
    height, width = max(h for h, _ in sizes), max(w for _, w in sizes)
    mask = torch.zeros(len(sizes), height, width, dtype=torch.bool)
    for row, (h, w) in enumerate(sizes):
        mask[row, :h, :w] = True
    return Grid(torch.rand(len(sizes), channels, height, width) * mask.unsqueeze(1), mask)


def episodes(ways=5, shown=5, asked=2):
    """Random images, of which the class of the first ones is told."""
    return Episodes(
        torch.rand(3, shown + asked, 1, 28, 28), torch.stack([torch.randperm(shown) % ways for _ in range(3)])
    )


def batch(source=(7, 5, 2), target=(6, 3, 5)):
    """A batch of pairs of the given lengths."""
    return Batch(words(SOURCE, source), words(TARGET, target))


def built(recipe):
    """The model of a recipe; one that shares its table has one vocabulary, one that reads images three channels."""
    reads = recipe.task.settings["source"].name
    if recipe.model.name == "gan":
        size = recipe.task.settings["target"].settings["size"]
        return recipe.build(3 if reads == "label" else 0, Spec(3, tuple(size)))
    if reads == "nothing":
        return recipe.build(0, TARGET)
    if reads == "episode":
        return recipe.build(1, TARGET)
    if recipe.task.settings["goal"].name == "reconstruct":  # what is predicted is what is read
        size = Spec(3, (16, 16)) if reads == "image" else SOURCE
        return recipe.build(size, size)
    return recipe.build(
        3 if reads in ("image", "formula") else TARGET if recipe.model.settings["share"] else SOURCE, TARGET
    )


def forward(model):
    """What a model makes of a small batch: the scores of every step, class or tag, and what was looked at."""
    if hasattr(model, "judge"):
        return judged(model)
    sees = getattr(model.encode, "sees_images", False)
    source = pictures(((16, 16), (13, 11), (8, 16))) if sees else words(SOURCE, (7, 5, 2))
    if getattr(model.embed, "reads_episodes", False):
        source = episodes()
    if hasattr(model.predict, "teach"):
        size = min(TARGET, model.sizes[1])
        return model.teach(Batch(source if model.encode else None, words(size, (6, 3, 5))))
    if hasattr(model.predict, "fill"):
        return model.fill(source)
    if hasattr(model.predict, "vector"):
        return model.vector(source)
    if hasattr(model.predict, "segment"):
        return model.segment(source)
    if hasattr(model.predict, "image"):
        return model.image(source)
    return model.label(source) if hasattr(model.predict, "label") else model.tag(source)


def judged(model):
    """What the critic of a GAN thinks of three images that the generator makes."""
    labels = torch.tensor([0, 2, 1]) if model.sizes[0] else None
    images = model.generate(torch.randn(3, model.generator.noise), labels)
    return Labelled(model.judge(images, labels).unsqueeze(1))


def overrides(kind, name, predict="luong"):
    """The settings that put one part in its place; the rest of the recipe stays small."""
    places = {
        "score": "attend.score",
        "scope": "attend.scope",
        "choice": "attend.choice",
        "attend": "attend",
        "encode": "encode",
        "cell": "predict.cell",
        "bridge": "predict.bridge",
        "readout": "predict.readout",
        "position": "embed.position",
        "embed": "embed",
        "network": "encode.network",
        "gate": "predict.gate",
        "predict": "predict",
        "model": "",
    }
    if kind == "encode" and name in ONE_VECTOR and predict == "luong":
        predict = "plain"  # an attention to one position has nothing to learn
    return [f"{places[kind]}.part={name}".lstrip("."), *fitting(kind, name, predict)]


def fitting(kind, name, predict="luong"):
    """What else must be written for a part to fit the small recipe."""
    decoder = name if kind == "predict" else predict
    found = [] if kind == "predict" else [f"predict.part={decoder}"]
    if decoder == "transformer":
        found += ["predict.feed=13", "predict.layers=2", "predict.self_attend.heads=2"]
    elif decoder in DECODERS:
        found += ["predict.hidden=8"]
    if decoder in DECODERS and decoder != "transformer" and kind != "bridge":
        found += ["predict.bridge=project"]
    if decoder in DECODERS:
        found += ["predict.embed.width=8"]
    if decoder in ("plain", "fill", "vector", "image"):
        found += ["attend=none"]
    if decoder == "image":
        found += ["predict.hidden=[7]", "predict.frame=[65,97]", "embed.part=pixels", "encode.part=code"]
        found += ["encode.code=8", "encode.hidden=[7]", "encode.frame=[65,97]"]
    if kind == "encode":
        found += {
            "recurrent": ["encode.hidden=8"],
            "transformer": ["encode.feed=13", "encode.attend.heads=2"],
            "lstmn": ["encode.hidden=8"],
            "gated": ["encode.encode.hidden=8", "encode.auxiliary_encode.hidden=4", *GATED],
            "code": ["embed.part=pixels", "encode.code=8", "encode.hidden=[7]", "encode.frame=[65,97]"],
            "sentence": ["encode.code=8", "encode.encode.hidden=8"],
            "grid": ["embed.part=pixels", "encode.hidden=8", "encode.layers=2"],
            "frozen": ["embed.part=pixels", "encode.hidden=8"],
            "residual": [
                "embed.part=pixels",
                "encode.widths=[5,8]",
                "encode.strides=[1,2]",
                "encode.units=[1,1]",
                "encode.modules=[1,1]",
                "encode.poolings=[2,1]",
            ],
            "snail": ["encode.keys=[8,4]", "encode.values=[4,3]", "encode.filters=4"],
            "rows": ["embed.part=pixels", "encode.hidden=8", "encode.features=16", "encode.rows=2"],
        }.get(name, [])
    if (kind, name) == ("embed", "episode"):
        found += ["task.source=episode", "embed.hidden=5", "embed.filters=4"]
    if (kind, name) == ("embed", "pixels"):
        found += ["encode.part=grid", "encode.hidden=8", "encode.layers=2"]
    if kind == "network":
        found += ["embed.part=pixels", "encode.part=frozen", "encode.hidden=8"]
    if kind == "gate" or (kind, name) == ("predict", "ladder") or (kind, name) == ("encode", "ladder"):
        found = ["attend=none", "embed.part=pixels", "encode.part=ladder", "encode.hidden=4", "encode.levels=3"]
        found += ["predict.part=ladder"]
    if (kind, name) == ("attend", "heads"):
        found += ["attend.heads=2"]
    return found


def model(settings=(), source=SOURCE, target=TARGET):
    """The small recipe's model, not in training."""
    return resolve(RECIPE, [*task_of(settings), *settings]).build(source, target).eval()


def task_of(settings):
    """The task that goes with the parts that settings name; without any of them it is to write text for text."""
    goals = {"label": ("classify", "label"), "tag": ("tag", "tags"), "fill": ("fill", "nothing")}
    found, goals = [], {**goals, "vector": ("encode", "nothing"), "ladder": ("segment", "mask")}
    goals["image"] = ("reconstruct", "nothing")
    for setting in settings:
        key, _, name = setting.partition("=")
        if key in ("predict", "predict.part") and name in goals:
            found += [f"task.goal={goals[name][0]}", f"task.target={goals[name][1]}"]
        if key in ("encode", "encode.part") and name in IMAGE_ENCODERS:
            found += ["task.source=image"]
    return found


WIDTHS = 8  # of each block of a network that has a list of them

# Recipes run at these sizes in tests; every other setting stays as it is.
SMALLER = {"width": 8, "hidden": 8, "features": 8, "feed": 13, "heads": 2, "longest": 19}


def _cut(value, size):
    """A width, or each of several."""
    return tuple(size for _ in value) if isinstance(value, tuple) else size


def smaller(made, sizes=SMALLER):
    """The same wiring with every width cut down."""
    found = {}
    for key, value in made.settings.items():
        if isinstance(value, Maker):
            found[key] = smaller(value, sizes)
        elif key == "widths":
            found[key] = (WIDTHS,) * len(value)
        else:
            found[key] = value if key not in sizes or not value else _cut(value, sizes[key])
    return Maker(made.kind, made.name, found)
