"""Which family of `transformers` a model is of, and what keeps it from being of one: told all at once."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn

from regard.attend.scope import Causal, Global
from regard.attend.score import ScaledDot
from regard.embed.position import Learned
from regard.embed.tokens import Tokens
from regard.encode.transformer import TransformerEncoder
from regard.errors import ModelError, UsageError
from regard.export.expected import expected, plain_heads
from regard.importing.gpt import NEVER
from regard.importing.origin import ADDED, Origin
from regard.model import Model
from regard.predict.fill import Fill
from regard.predict.label import Label
from regard.predict.tag import Tag
from regard.predict.transformer import TransformerDecoder
from regard.predict.vector import Vector
from regard.predict.words import Tied
from regard.recipe import Recipe

FAMILIES = ("bert", "roberta", "albert", "gpt2")
HEADS = {"fill": Fill, "classify": Label, "tag": Tag, "encode": Vector}
SCORES: dict[type, str] = {ScaledDot: "scaled_dot"}


@dataclass(frozen=True)
class Fitted:
    """A model that has a counterpart: its family, and what it is asked for."""

    family: str
    goal: str
    model: Model
    recipe: Recipe
    origin: Origin | None

    @property
    def pairs(self) -> bool:
        """Has it a head for two texts?"""
        return getattr(self.model.predict, "follows", None) is not None

    @property
    def architecture(self) -> str:
        """The class of `transformers`."""
        if self.family == "gpt2":
            return "GPT2LMHeadModel"
        fill = "ForPreTraining" if self.pairs else "ForMaskedLM"
        heads = {"classify": "ForSequenceClassification", "tag": "ForTokenClassification", "encode": "Model"}
        return self.family.capitalize() + heads.get(self.goal, fill)

    def old_rows(self, table: Tensor) -> Tensor:
        """Rows of pieces by the numbers that they have there: the old ones of a model that was imported."""
        if self.origin is None:
            return table
        order = self.origin.order(len(table) - self.origin.added)
        found = table.new_zeros(len(table) - self.origin.added, *table.shape[1:])
        for number, row in zip(order, table, strict=True):
            if number != ADDED:
                found[number] = row
        return found


def fitted(model: Model, recipe: Recipe, origin: Origin | None) -> Fitted:
    """The model with its family; one that has no counterpart is refused, naming what differs."""
    goal, reads = (recipe.task.settings[each].name for each in ("goal", "source"))
    writes = goal == "write" and reads == "nothing" and type(model.predict) is TransformerDecoder
    encodes = goal in HEADS and type(model.encode) is TransformerEncoder and type(model.embed) is Tokens
    if not writes and not encodes:
        told = recipe.about.title or "this model"
        differs = (
            f"it was made to {recipe.task.settings['verb']}"
            if (goal == "write" and reads != "nothing") or goal not in (*HEADS, "write")
            else expected(*(("predict", "transformer", model.predict) if reads == "nothing" else _stage(model)))
        )
        raise UsageError(
            f"{told} has no counterpart in transformers; {', '.join(FAMILIES)} have ({differs.rstrip('.')}).",
            hint="Translators go --to ctranslate2, --to onnx or --to torch.",
        )
    found = Fitted("gpt2" if writes else _family(model, recipe, origin), goal, model, recipe, origin)
    problems = dict.fromkeys(_decoder_problems(found) if writes else _encoder_problems(found))
    if problems:
        told = "\n".join(f"  {each}" for each in problems)
        raise ModelError(f"{found.family} of transformers cannot express this model:\n{told}")
    return found


def _stage(model: Model) -> tuple[str, str, Any]:
    if type(model.encode) is not TransformerEncoder:
        return "encode", "transformer", model.encode
    return "embed", "tokens", model.embed


def _family(model: Model, recipe: Recipe, origin: Origin | None) -> str:
    """Which encoder it is: shared layers are ALBERT's; without segments it is RoBERTa, unless it was imported."""
    if recipe.model.settings["encode"].settings["share_layers"]:
        return "albert"
    if origin is not None:
        return origin.model_type
    return "roberta" if model.embed.segment is None else "bert"


def _encoder_problems(found: Fitted) -> Iterator[str]:
    model, embed, encode = found.model, found.model.embed, found.model.encode
    yield from _embed_problems("embed", embed, is_normed=True)
    if found.family == "albert" and embed.widen is None:
        yield "embed.inner: expected a narrower table, as ALBERT has; found 0."
    if found.family != "albert" and embed.widen is not None:
        yield f"embed.inner: expected 0; found {embed.table.embedding_dim}."
    if type(encode.last) is not nn.Identity:
        yield 'encode.norm: expected "after"; found "before".'
    for layer in encode.layers:
        yield from plain_heads("encode.attend", layer.attend, SCORES, (Global,))
        yield from _widths("encode.attend", layer.attend, embed.width)
    every = [module.eps for module in model.modules() if isinstance(module, nn.LayerNorm)]
    if len(set(every)) > 1:
        yield f"epsilon: expected one for all norms; found {', '.join(map(str, sorted(set(every))))}."
    if type(model.predict) is not HEADS[found.goal]:
        yield expected("predict", found.goal, model.predict)
        return
    yield from {"fill": _fill_problems, "classify": _label_problems, "tag": _tag_problems}.get(
        found.goal, lambda found: ()
    )(found)


def _embed_problems(key: str, embed: Any, *, is_normed: bool) -> Iterator[str]:
    if type(embed.position) is not Learned:
        yield expected(f"{key}.position", "learned", embed.position)
    if embed.factor != 1:
        yield f"{key}.scale: expected false; found true."
    if (embed.norm is not None) != is_normed:
        yield f"{key}.norm: expected {str(is_normed).lower()}; found {str(not is_normed).lower()}."


def _widths(key: str, attend: Any, width: int) -> Iterator[str]:
    if getattr(attend, "width", width) != width:
        yield f"{key}.width: expected that of the states, {width}; found {attend.width}."
    if getattr(attend, "join", None) is not None and attend.join.bias is None:
        yield f"{key}.bias: expected true; found false."


def _fill_problems(found: Fitted) -> Iterator[str]:
    predict, activation = found.model.predict, found.model.encode.layers[0].feed.activation
    if predict.embed.table.weight is not found.model.embed.table.weight:
        yield "share: expected true; found false."
    bent = "gelu_tanh" if predict.approximate == "tanh" else "gelu"
    wanted = "gelu" if found.family == "roberta" else activation
    if bent != wanted:
        yield f"predict.approximate: expected a head with {wanted}; found {bent}."
    if found.pairs and found.family == "roberta":
        yield "predict.pair: expected false; found true, and RoBERTa has no head for two texts."
    if found.pairs and found.model.encode.pool is None:
        yield 'encode.summary: expected "pooled", on which the head for two texts stands; found another.'


def _label_problems(found: Fitted) -> Iterator[str]:
    if found.model.predict.pool != "summary":
        yield f'predict.pool: expected "summary"; found "{found.model.predict.pool}".'
    if found.model.encode.pool is None:
        yield 'encode.summary: expected "pooled", a linear layer and tanh before the classes; found another.'


def _tag_problems(found: Fitted) -> Iterator[str]:
    if found.model.predict.attend is not None:
        yield expected("attend", "none", found.model.predict.attend)


def _decoder_problems(found: Fitted) -> Iterator[str]:
    predict = found.model.predict
    yield from _embed_problems("predict.embed", predict.embed, is_normed=False)
    if predict.embed.widen is not None:
        yield f"predict.embed.inner: expected 0; found {predict.embed.table.embedding_dim}."
    if type(predict.last) is nn.Identity:
        yield 'predict.norm: expected "before"; found "after".'
    for layer in predict.layers:
        yield from plain_heads("predict.self_attend", layer.self_attend, SCORES, (Global, Causal))
        yield from _widths("predict.self_attend", layer.self_attend, predict.embed.width)
    if type(predict.readout) is not Tied or type(predict.readout.fit) is not nn.Identity:
        yield expected("predict.readout", "tied, without a fit between", predict.readout)
    elif not _is_unbiased(found, predict.readout.bias):
        yield "predict.readout.bias: expected false; found a bias that is not zero."


def _is_unbiased(found: Fitted, bias: Tensor) -> bool:
    """Is it zero for every piece, but those that an import added and keeps from being written?"""
    wanted = torch.zeros_like(bias)
    if found.origin is not None:
        wanted[[place for place, number in enumerate(found.origin.numbers) if number == ADDED]] = NEVER
    return torch.equal(bias, wanted)
