"""Figures as one HTML file that needs nothing else: no network, no server, no notebook.

A page is a dictionary that anyone can make:

    page     = {"format": "regard-page-1", "title": text, "figures": [document, ...],
                "settings": {"view": ..., "unit": ..., "scale": ...}}   # may be left out: what the switches start with
    document = {"format": "regard-figure-1", "title": text, "model": text, "note": text,
                "source": side, "target": side,
                "attention": [layer, ...],
                "chosen": {"kind": ..., "layer": ..., "heads": [head, ...]},   # what a figure opens with: their mean
                          # and, where one of the words that look is to be held, "row": its number
                "links": [[source word, target word], ...],
                "scores": {name: {"value": number, "meaning": text}, ...}}
    side     = {"text": text, "pieces": [text, ...], "words": [text, ...], "word": [the word of each piece, ...]}
    layer    = {"kind": "cross" | "encoder-self" | "decoder-self", "layer": number from 0,
                "rows": "target" | "source", "columns": "source" | "target",   # who looks; what is looked at
                "shape": [heads, rows, columns], in pieces,
                "dtype": "f4" | "u2" (65535 is 1),
                "data": base64 of zlib of the values, little-endian}

The end of a sentence is its last piece and its last word, "</s>". The page's policy lets only its own script and style
run, and words of a sentence only ever become text.

A page of another kind, as a report is, may hold any number of such dictionaries, each with its figures where they
belong: `frame_html(title, body)`, with `SWITCHES` once and `figures_html(page)` for each in its body.
"""

from __future__ import annotations

import base64
import hashlib
import html
import json
import math
import zlib
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any, NoReturn

import numpy as np
from jaxtyping import Shaped

from regard.errors import UsageError
from regard.show import static
from regard.show.place import fresh_file

PAGE, FIGURE = "regard-page-1", "regard-figure-1"
SETTINGS = {
    "view": ("matrix", "lines", "text", "heads"),
    "unit": ("words", "pieces"),
    "scale": ("one", "row"),
}
KINDS = ("cross", "encoder-self", "decoder-self")
SIDES = ("source", "target")
TALLEST = 3000  # pixels that a page may take inside another
DTYPES = {"f4": "<f4", "u2": "<u2"}

# Inside a script element nothing may look like markup; JSON lets every letter be written by its number.
_ESCAPES = str.maketrans({letter: f"\\u{ord(letter):04x}" for letter in "<>&\u2028\u2029"})
_FRAME = """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="{policy}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{title}</title>
{styles}
</head>
<body{kind}>
{body}
<footer>
<p>Attention shows where the model looked, not why.</p>
<p class="quiet">Made with Regard.</p>
</footer>
<script>{script}</script>
</body>
</html>
"""
_FIGURES = """<div data-regard="figures" data-level="{level}">
<noscript>This figure is drawn by a script in this file; please allow scripts for it.</noscript>
<script type="application/json">{document}</script>
</div>"""
# Run by the frame's element when its page is there; the page answers with its height, now and whenever that changes.
_FIT = f"""const fit = ({{ source, data }}) => {{
  if (source === this.contentWindow && data.height > 0) this.height = Math.min(data.height, {TALLEST});
}};
window.addEventListener("message", fit);
this.contentWindow.postMessage("height", "*");"""
SWITCHES = '<div data-regard="switches"></div>'  # where the switches go that all figures of a page share


def page_html(page: Mapping[str, Any], *, embedded: bool = False) -> str:
    """The page as one self-contained file; `embedded` in another it is short, its figures first, its switches last."""
    figures, title = figures_html(page), page_title(page)
    if embedded:
        return frame_html(title, f"<main>\n{figures}\n</main>\n{SWITCHES}", kind="embedded")
    header = f'<header>\n<h1 dir="auto">{html.escape(title)}</h1>\n{SWITCHES}\n</header>'
    return frame_html(title, f"{header}\n<main>\n{figures}\n</main>")


def frame_html(title: str, body: str, style: str = "", kind: str = "") -> str:
    """A self-contained file around a body of `SWITCHES`, groups of `figures_html`, and markup without scripts.

    Script and style stand in it once, and its policy lets nothing else run; `style` comes after that of the figures,
    and `kind` is the class that they know the body by.
    """
    script, *styles = _assets()
    styles += [style] if style else []
    policy = (
        f"default-src 'none'; script-src {_fingerprint(script)}; style-src {' '.join(map(_fingerprint, styles))}; "
        "img-src data: blob:; base-uri 'none'; form-action 'none'"
    )
    return _FRAME.format(
        policy=policy,
        title=html.escape(title),
        styles="\n".join(f"<style>{each}</style>" for each in styles),
        kind=f' class="{kind}"' if kind else "",
        body=body,
        script=script,
    )


def figures_html(page: Mapping[str, Any], level: int = 2) -> str:
    """The figures of a page, side by side, as a part of a body of `frame_html`; their titles are headings of `level`.

    What is pointed at in one figure is pointed at in those beside it; groups do not know one another.
    """
    check_page(page)
    return _FIGURES.format(level=level, document=script_json(page))


def script_json(document: Mapping[str, Any]) -> str:
    """A document as it may stand in a script element, whatever its texts hold."""
    return json.dumps(document, ensure_ascii=False, allow_nan=False, separators=(",", ":")).translate(_ESCAPES)


def write_page(page: Mapping[str, Any], path: str | Path) -> Path:
    """Write the page to a temporary name beside `path` and rename it: a crash leaves the old file or the new one."""
    path, text = Path(path), page_html(page)
    with fresh_file(path) as draft:
        draft.write_text(text, encoding="utf-8", errors="surrogatepass", newline="\n")
    return path


def embed_html(page: Mapping[str, Any], height: int = 640) -> str:
    """The page inside another, as a notebook shows it: in a frame that can reach nothing around it.

    It tells its height, and the frame becomes as high; where no script may run around it, it stays at `height`.
    """
    return (
        f'<iframe title="{html.escape(page_title(page))}" sandbox="allow-scripts allow-downloads" width="100%" '
        f'height="{int(height)}" style="border: 0" onload="{html.escape(_FIT)}" '
        f'srcdoc="{html.escape(page_html(page, embedded=True))}"></iframe>'
    )


def page_title(page: Mapping[str, Any]) -> str:
    """What a page is called where it has no title."""
    return str(page.get("title") or "Attention")


@cache
def _assets() -> tuple[str, str]:
    """Script and style, as they stand in every page."""
    return "\n" + static.join("start"), "\n" + static.read("page.css")


def _fingerprint(text: str) -> str:
    """What a policy knows a script or a style by."""
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"


# --- what a page must hold ---------------------------------------------------------------------------------


def check_page(page: Mapping[str, Any]) -> None:
    """Raise a UsageError that names the place if a page does not hold what the figures need."""
    _known_format(page, PAGE, "the page")
    _typed(page, "title", str, "the page")
    for key in _typed(page, "settings", dict, "the page") if "settings" in page else ():
        if key not in SETTINGS:
            _wrong("the page.settings", f"only {', '.join(SETTINGS)}", repr(key))
        _one_of(page["settings"], key, SETTINGS[key], "the page.settings")
    figures = _typed(page, "figures", list, "the page")
    if not figures:
        _wrong("the page: figures", "at least one figure", "none")
    for index, document in enumerate(figures):
        _check_document(document, f"figures[{index}]")


def _check_document(document: Any, where: str) -> None:
    _known_format(document, FIGURE, where)
    for key in ("title", "model", "note"):
        _typed(document, key, str, where)
    for side in SIDES:
        _check_side(_typed(document, side, dict, where), f"{where}.{side}")
    layers = _typed(document, "attention", list, where)
    if not layers:
        _wrong(f"{where}.attention", "at least one layer", "none")
    for index, layer in enumerate(layers):
        _check_layer(layer, document, f"{where}.attention[{index}]")
    places = [(layer["kind"], layer["layer"]) for layer in layers]
    if len(set(places)) < len(places):
        _wrong(f"{where}.attention", "each layer of a kind once", f"one twice, among {places}")
    _check_chosen(document, where)
    _check_links(document, where)
    for name, score in _typed(document, "scores", dict, where).items():
        _number(score, "value", f"{where}.scores[{name!r}]")
        _typed(score, "meaning", str, f"{where}.scores[{name!r}]")


def _check_side(side: Mapping[str, Any], where: str) -> None:
    _typed(side, "text", str, where)
    pieces, words = _texts(side, "pieces", where), _texts(side, "words", where)
    belongs = _typed(side, "word", list, where)
    if len(belongs) != len(pieces):
        _wrong(f"{where}.word", f"one number for each of {len(pieces)} pieces", f"{len(belongs)} numbers")
    for index, word in enumerate(belongs):
        _index(word, len(words), f"{where}.word[{index}]", "words")


def _check_layer(layer: Any, document: Mapping[str, Any], where: str) -> None:
    _one_of(layer, "kind", KINDS, where)
    if not _is_whole(layer.get("layer")) or layer["layer"] < 0:
        _wrong(f"{where}.layer", "a whole number from 0", repr(layer.get("layer")))
    sides = [_one_of(layer, key, SIDES, where) for key in ("rows", "columns")]
    shape = _typed(layer, "shape", list | tuple, where)
    lengths = [len(document[side]["pieces"]) for side in sides]
    if len(shape) != 3 or not all(map(_is_whole, shape)) or shape[0] < 1 or list(shape[1:]) != lengths:
        wanted = f"[heads, {lengths[0]}, {lengths[1]}], as many rows and columns as {sides[0]} and {sides[1]} pieces"
        _wrong(f"{where}.shape", wanted, repr(list(shape)))
    dtype = DTYPES[_one_of(layer, "dtype", tuple(DTYPES), where)]
    weights = _weights(_typed(layer, "data", str, where), dtype, f"{where}.data", math.prod(shape))
    if weights.size != math.prod(shape):
        _wrong(f"{where}.data", f"{math.prod(shape)} values, as many as its shape says", str(weights.size))
    if not np.isfinite(weights).all():
        _wrong(f"{where}.data", "numbers", "values that are not finite")


def _weights(text: str, dtype: str, where: str, count: int) -> Shaped[np.ndarray, "values"]:
    """The values of a layer; of more than there shall be, one more than that, whatever a short text may unfold to."""
    try:
        most = (count + 1) * np.dtype(dtype).itemsize
        unfolding = zlib.decompressobj()
        raw = unfolding.decompress(base64.b64decode(text, validate=True), most)
        if len(raw) < most and not unfolding.eof:
            raise zlib.error("it ends too early")
        return np.frombuffer(raw, dtype)
    except (ValueError, zlib.error) as error:
        _wrong(where, f"base64 of a zlib stream of {dtype} values", f"something else ({error})")


def _check_chosen(document: Mapping[str, Any], where: str) -> None:
    chosen = _typed(document, "chosen", dict, where)
    layers = {(layer["kind"], layer["layer"]): layer["shape"][0] for layer in document["attention"]}
    place = (chosen.get("kind"), chosen.get("layer"))
    if place not in layers:
        _wrong(f"{where}.chosen", f"a kind and layer of its attention, one of {sorted(layers)}", repr(place))
    heads = _typed(chosen, "heads", list, f"{where}.chosen")
    if not heads or len(set(map(repr, heads))) < len(heads):
        _wrong(f"{where}.chosen.heads", "one head or more, each once", repr(heads))
    for index, head in enumerate(heads):
        _index(head, layers[place], f"{where}.chosen.heads[{index}]", "heads")
    if "row" in chosen:
        side = next(layer["rows"] for layer in document["attention"] if (layer["kind"], layer["layer"]) == place)
        _index(chosen["row"], len(document[side]["words"]), f"{where}.chosen.row", "words that look")


def _check_links(document: Mapping[str, Any], where: str) -> None:
    for index, link in enumerate(_typed(document, "links", list, where)):
        here = f"{where}.links[{index}]"
        if not isinstance(link, Sequence) or len(link) != 2:
            _wrong(here, "[source word, target word]", repr(link))
        for side, word in zip(SIDES, link, strict=True):
            _index(word, len(document[side]["words"]), here, f"{side} words")


def _known_format(found: Any, expected: str, where: str) -> None:
    if _typed(found, "format", str, where) != expected:
        _wrong(f"{where}: format", repr(expected), repr(found["format"]))


def _typed(table: Any, key: str, kind: Any, where: str) -> Any:
    """The value of a key, if it is there and of this type."""
    if not isinstance(table, Mapping):
        _wrong(where, "a dictionary", type(table).__name__)
    if key not in table:
        _wrong(where, f"the key {key!r}", f"only {', '.join(map(repr, table)) or 'nothing'}")
    if not isinstance(table[key], kind):
        _wrong(f"{where}.{key}", getattr(kind, "__name__", "list"), type(table[key]).__name__)
    return table[key]


def _texts(table: Mapping[str, Any], key: str, where: str) -> list[str]:
    texts: list[str] = _typed(table, key, list, where)
    if not texts or not all(isinstance(text, str) for text in texts):
        _wrong(f"{where}.{key}", "a list of texts, at least one", repr(texts)[:80])
    return texts


def _one_of(table: Any, key: str, known: Sequence[str], where: str) -> str:
    value: str = _typed(table, key, str, where)
    if value not in known:
        _wrong(f"{where}.{key}", f"one of {', '.join(map(repr, known))}", repr(value))
    return value


def _number(table: Any, key: str, where: str) -> None:
    value = _typed(table, key, int | float, where)
    if not math.isfinite(value):
        _wrong(f"{where}.{key}", "a finite number", repr(value))


def _index(value: Any, count: int, where: str, what: str) -> None:
    if not _is_whole(value) or not 0 <= value < count:
        _wrong(where, f"a whole number from 0 to {count - 1}, for there are {count} {what}", repr(value))


def _is_whole(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def _wrong(where: str, expected: str, found: str) -> NoReturn:
    raise UsageError(
        f"{where}: expected {expected}; found {found}.", hint="The top of regard/show/page.py shows what a page holds."
    )
