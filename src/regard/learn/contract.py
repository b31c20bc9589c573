"""Parts of a user's own, held to what their kind promises, and named by place, name and file if they break it.

Regard's own parts are held to it by the tests. Somebody else's may make a tensor of another shape than the parts around
it expect; those then fail far away, or broadcast it and learn nonsense.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import torch
from torch import Tensor, nn

from regard.errors import RegardError, ShapeError
from regard.learn.state import preserve_rng
from regard.model import Model
from regard.registry import described, file_of, is_own, named
from regard.types import Batch, Padded

Shape = tuple[int, ...]
Promise = dict[str, tuple[Shape, Any]]  # what is made -> the shape it is to have, and what was made


@contextmanager
def held_to_contract(model: nn.Module) -> Iterator[None]:
    """Inside, a part of a user's own that makes a wrong shape, or fails, is named; without any, nothing is done."""
    own = {name: module for name, module in model.named_modules() if _is_own(module)}
    hooks = [module.register_forward_hook(_checks(model, name), with_kwargs=True) for name, module in own.items()]
    try:
        yield
    except Exception as error:
        if not own or isinstance(error, RegardError):
            raise
        told = ", ".join(_told(model, name) for name in own)
        raise ShapeError(
            f"the model failed {_place(model, error)}: {type(error).__name__}: {error}\n"
            f"  It has parts that do not come with Regard: {told}.",
            hint="Compare the shapes that they make with those that their kind promises; --debug shows the line.",
        ) from error
    finally:
        for hook in hooks:
            hook.remove()


def rehearse(model: Model) -> None:
    """Run two made-up pairs through a model that has parts of a user's own, before anything is written."""
    if not any(map(_is_own, model.modules())):
        return
    if model.recipe is not None and model.recipe.task.settings["source"].name != "text":
        return  # what else a model may read cannot be made up here: the first update tells
    source, target = (Padded(ids, torch.ones_like(ids, dtype=torch.bool)) for ids in torch.ones(2, 2, 5).long())
    with preserve_rng(), torch.no_grad(), held_to_contract(model):
        if hasattr(model.predict, "teach"):
            model.teach(Batch(source, Padded(target.data[:, :4], target.mask[:, :4])))
        else:
            model.predict(model.read(source))


def _is_own(module: nn.Module) -> bool:
    return named(type(module)) is not None and is_own(type(module))


def _told(model: nn.Module, name: str) -> str:
    return f"{described(model, name)} of {file_of(type(model.get_submodule(name)))}"


def _checks(model: nn.Module, name: str) -> Callable[..., None]:
    """A hook that compares what the part at a place has made with what its kind promises."""

    def check(module: nn.Module, args: tuple[Any, ...], kwargs: dict[str, Any], made: Any) -> None:
        kind, _ = named(type(module)) or ("", "")
        promised = PROMISES[kind](module, made, *args) if kind in PROMISES else {}
        for what, (expected, found) in promised.items():
            if not isinstance(found, Tensor) or tuple(found.shape) != expected:
                shape = tuple(found.shape) if isinstance(found, Tensor) else type(found).__name__
                raise ShapeError(f"{_told(model, name)}: expected {what} of shape {expected}; found {shape}.")

    return check


def _score(part: Any, made: Any, query: Tensor, keys: Tensor) -> Promise:
    return {"scores (batch, queries, keys)": ((*query.shape[:-1], keys.shape[-2]), made)}


def _choice(part: Any, made: Any, scores: Tensor, *_: Any) -> Promise:
    return {"weights (batch, queries, keys)": (tuple(scores.shape), made)}


def _attend(part: Any, made: Any, query: Tensor, *_: Any) -> Promise:
    return {"a context (batch, queries, its width)": ((*query.shape[:-1], part.width), made.context)}


def _embed(part: Any, made: Any, source: Any) -> Promise:
    return {"vectors (batch, positions, its width)": ((*source.mask.shape, part.width), made.data)}


def _encode(part: Any, made: Any, source: Any) -> Promise:
    batch, widths = len(source.mask), part.widths
    positions = made.mask.shape[1:]
    return {
        "keys (batch, positions, widths.keys)": ((batch, *positions, widths.keys), made.keys),
        "values (batch, positions, widths.values)": ((batch, *positions, widths.values), made.values),
        "a summary (batch, widths.summary)": ((batch, widths.summary), made.summary),
    }


def _cell(part: Any, made: Any, projected: Tensor, *_: Any) -> Promise:
    return {"a state (batch, its width)": ((len(projected), part.width), made.hidden)}


PROMISES: dict[str, Callable[..., Promise]] = {
    "score": _score,
    "choice": _choice,
    "attend": _attend,
    "embed": _embed,
    "encode": _encode,
    "cell": _cell,
}


def _place(model: nn.Module, error: BaseException) -> str:
    """Where in the model an error was raised: in the innermost module among its frames."""
    places, found = {id(module): name for name, module in model.named_modules() if name}, ""
    trace = error.__traceback__
    while trace is not None:
        found = places.get(id(trace.tb_frame.f_locals.get("self")), found)
        trace = trace.tb_next
    return f"in {described(model, found)}" if found else "in the model"
