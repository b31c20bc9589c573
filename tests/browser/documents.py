"""Documents to draw: made of numpy alone, so that the figures are tested without a model."""

import base64
import zlib

import numpy as np

END = "</s>"
HOSTILE = ["</script>", "<script>alert(1)</script>", "<img src=x onerror=alert(1)>", "<!--", "$x$", '"quoted"', "it's",
           "&lt;b&gt;", "", " ", "x" * 400, "\u2028", "${alert(1)}", "__proto__", "]]>", "🙂", "\\u003c"]  # fmt: skip


def soft(rng, *shape, sharp=3.0):
    """Random rows that sum to one."""
    scores = np.exp(sharp * rng.standard_normal(shape))
    return (scores / scores.sum(-1, keepdims=True)).astype("<f4")


def side(words, cut=()):
    """A sentence; each word whose number is in `cut` is two pieces. The end is added."""
    pieces, word = [], []
    for index, text in enumerate([*words, END]):
        halves = [text[: len(text) // 2], text[len(text) // 2 :]] if index in cut else [text]
        pieces += halves
        word += [index] * len(halves)
    return {"text": " ".join(words), "pieces": pieces, "words": [*words, END], "word": word}


def layer(weights, kind="cross", number=0, rows="target", columns="source", dtype="f4"):
    """One layer of the document, encoded."""
    raw = weights.astype("<f4") if dtype == "f4" else np.rint(weights * 65535).astype("<u2")
    return {
        "kind": kind,
        "layer": number,
        "rows": rows,
        "columns": columns,
        "shape": list(weights.shape),
        "dtype": dtype,
        "data": base64.b64encode(zlib.compress(raw.tobytes())).decode(),
    }


def figure(source, target, attention, **changes):
    """A figure document."""
    first = attention[0]
    return {
        "format": "regard-figure-1",
        "title": "An alignment",
        "model": "rnnsearch en-fr",
        "note": "Read from layer 1, head 1 of 1 x 1.",
        "source": source,
        "target": target,
        "attention": attention,
        "chosen": {"kind": first["kind"], "layer": first["layer"], "heads": [0]},
        "links": [],
        "scores": {"coverage": {"value": 0.961, "meaning": "how much of the source was looked at"}},
    } | changes


def page(*figures, title="What the model looked at"):
    """A page of figures."""
    return {"format": "regard-page-1", "title": title, "figures": list(figures)}


def diagonal(rng, rows, columns, heads=1, blur=0.9):
    """Weights that follow the diagonal, as an alignment does, with a little of everything else."""
    at = np.arange(rows)[:, None] * (columns - 1) / max(1, rows - 1)
    scores = -((np.arange(columns)[None] - at) ** 2) / blur + 1.1 * rng.standard_normal((heads, rows, columns))
    weights = np.exp(scores)
    return (weights / weights.sum(-1, keepdims=True)).astype("<f4")


def plain(seed=7, source="the agreement on the european economic area was signed in august 1992 .",
          target="l' accord sur la zone économique européenne a été signé en août 1992 ."):  # fmt: skip
    """A sentence pair of one layer and one head, with some words in two pieces."""
    rng = np.random.default_rng(seed)
    left, right = side(source.split(), cut=(1, 5)), side(target.split(), cut=(1, 5, 6))
    weights = diagonal(rng, len(right["pieces"]), len(left["pieces"]))
    last = len(left["words"]) - 2
    links = [[min(index, last), index] for index in range(len(right["words"]) - 1)]
    return figure(left, right, [layer(weights)], links=links)


def many_heads(layers=3, heads=4, length=11, seed=5, dtype="f4"):
    """A Transformer's document: three kinds of attention, layers and heads."""
    rng = np.random.default_rng(seed)
    left = side([f"s{index}" for index in range(length - 1)])
    right = side([f"t{index}" for index in range(length + 1)])
    kinds = {"cross": ("target", "source"), "encoder-self": ("source", "source"), "decoder-self": ("target", "target")}
    attention = []
    for kind, (rows, columns) in kinds.items():
        for number in range(layers):
            shape = [len({"source": left, "target": right}[name]["pieces"]) for name in (rows, columns)]
            blur = 0.5 * 4**number
            attention.append(layer(diagonal(rng, *shape, heads=heads, blur=blur), kind, number, rows, columns, dtype))
    chosen = {"kind": "cross", "layer": layers - 1, "heads": [0, 2]}
    return figure(left, right, attention, chosen=chosen, model="transformer")


def square(size, seed=3):
    """A large alignment of size x size words, the end among them."""
    rng = np.random.default_rng(seed)
    left = side([f"word{index}" for index in range(size - 1)])
    right = side([f"mot{index}" for index in range(size - 1)])
    return figure(left, right, [layer(diagonal(rng, size, size), dtype="u2")])


def values(document, index=0):
    """The weights of a layer, decoded again: heads, rows, columns."""
    found = document["attention"][index]
    raw = np.frombuffer(zlib.decompress(base64.b64decode(found["data"])), "<" + found["dtype"])
    weights = raw.reshape(found["shape"]).astype(np.float64)
    return weights / 65535 if found["dtype"] == "u2" else weights


def merged(weights, rows, columns):
    """Weights between pieces as weights between words: sum over columns, mean over rows."""
    out = np.zeros((len(rows["words"]), len(columns["words"])))
    for word in range(out.shape[0]):
        ours = [weights[piece] for piece, its in enumerate(rows["word"]) if its == word]
        for piece, its in enumerate(columns["word"]):
            out[word, its] += np.mean([row[piece] for row in ours])
    return out
