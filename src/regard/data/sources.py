"""From what stands after `--data` to a plan: a built-in name, a downloadable one, a folder or a file.

`plan_for` is for pairs of texts, `plan_for_labels` for texts and images with labels, and texts with tags.
"""

from __future__ import annotations

from pathlib import Path

from regard.data.builtin import BUILTIN
from regard.data.catalogue import DOWNLOADS
from regard.data.held_out import USUAL, HeldOut
from regard.data.labelled.find import find_labelled
from regard.data.labelled.wanted import BY_NAME, Columns, Wanted
from regard.data.layout import find
from regard.data.make import plan_of_builtin
from regard.data.plan import Plan
from regard.data.splits import SPLITS
from regard.errors import MissingData, UsageError, did_you_mean


def plan_for(
    data: str | Path,
    *,
    source: str | None = None,
    target: str | None = None,
    size: int | None = None,
    seed: int = 0,
    cache: Path | None = None,
    held_out: HeldOut = USUAL,
) -> Plan:
    """How to read what `--data` names. A known name comes first; write `./dates` for a folder called so."""
    if isinstance(data, str) and data in BUILTIN:
        held_out.cut((), SPLITS, data)
        return plan_of_builtin(data, source=source, target=target, size=size, seed=seed, cache=cache)
    _refuse_size(data, size)
    if isinstance(data, str) and data in DOWNLOADS:
        data = _downloaded(data, cache)
    path = _existing(data)
    try:
        return find(path, source, target, held_out)
    except OSError as failure:
        raise MissingData(f"{path}: cannot be read: {failure.strerror}.") from None


def plan_for_labels(
    data: str | Path,
    *,
    source: str = "text",
    target: str = "label",
    columns: Columns = BY_NAME,
    size: int | None = None,
    seed: int = 0,
    cache: Path | None = None,
    held_out: HeldOut = USUAL,
) -> Plan:
    """How to read labelled data.

    Args:
        data: a built-in name, a folder or a file.
        source: what is read, `text` or `image`. An image is the path of its file.
        target: what is wanted for it, `label`, `tags` (one for each word, parted by spaces) or, of an image, `text`.
        columns: which columns of a table hold them, where their names do not say so.
        size: how many training rows a built-in corpus shall draw.
        seed: which ones.
        cache: where what is made and downloaded is kept.
        held_out: how much is cut off from train where there is no validation or test split.
    """
    wanted = Wanted(source, target, columns)
    if isinstance(data, str) and data in BUILTIN:
        if (source, target) not in BUILTIN[data].languages:
            fitting = [name for name, corpus in BUILTIN.items() if (source, target) in corpus.languages]
            there = " and ".join(f"{one} -> {other}" for one, other in BUILTIN[data].languages)
            hint = f"Of {source} -> {target} there are {', '.join(fitting)}."
            raise UsageError(f"{data} is {there}; {source} -> {target} was asked for.", hint=hint)
        held_out.cut((), SPLITS, data)
        return plan_of_builtin(data, source=source, target=target, size=size, seed=seed, cache=cache)
    _refuse_size(data, size)
    path = _existing(data)
    try:
        return find_labelled(path, wanted, held_out)
    except OSError as failure:
        raise MissingData(f"{path}: cannot be read: {failure.strerror}.") from None


def _refuse_size(data: str | Path, size: int | None) -> None:
    if size is not None:
        raise UsageError(
            f"a size can be asked of built-in corpora only ({', '.join(BUILTIN)}); found --data {data}.",
            hint="Leave the size out: all pairs are used.",
        )


def _existing(data: str | Path) -> Path:
    path = Path(data).expanduser()
    if path.exists():
        return path
    known = [*BUILTIN, *DOWNLOADS]
    raise MissingData(
        f"'{data}' is neither a file, nor a folder, nor a corpus we know ({', '.join(known)}).",
        hint=did_you_mean(str(data), known) or "`regard data list` shows what there is.",
    )


def _downloaded(name: str, cache: Path | None) -> Path:
    """The folder of a corpus that was fetched."""
    corpus = DOWNLOADS[name]
    folder = corpus.folder(cache)
    if not corpus.is_here(folder):
        raise MissingData(
            f"{name} is not here yet, or not whole; expected its {len(corpus.files)} files in {folder}.",
            hint=f"Fetch it: regard data get {name}",
        )
    return folder
