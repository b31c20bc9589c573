"""From what stands after `--data` to a plan: a built-in name, a downloadable one, a folder or a file.

`plan_for` is for pairs of texts, `plan_for_labels` for texts and images with labels, and texts with tags,
`plan_for_text` for plain text, `plan_for_images` for images that are to be made; `plan_of_kind` takes the one that is
asked for.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from regard.data.builtin import BUILTIN
from regard.data.catalogue import DOWNLOADS
from regard.data.held_out import USUAL, HeldOut
from regard.data.labelled.alone import NOTHING, find_images
from regard.data.labelled.find import find_labelled
from regard.data.labelled.generated import find_generated
from regard.data.labelled.wanted import BY_NAME, Columns, Kind, Wanted, columns_of, is_for_labels, is_generated
from regard.data.layout import find
from regard.data.make import plan_of_builtin
from regard.data.plain.find import find_plain
from regard.data.plain.wanted import is_plain
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
        target: what is wanted for it, `label`, `tags` (one for each word, parted by spaces) or, of an image, `text` or
            `class`, a label of which every split has its own, or `nothing`.
        columns: which columns of a table hold them, where their names do not say so.
        size: how many training rows a built-in corpus shall draw.
        seed: which ones.
        cache: where what is made and downloaded is kept.
        held_out: how much is cut off from train where there is no validation or test split.
    """
    if (source, target) == ("image", "class"):
        wanted = Wanted(source, "label", columns, apart=True)
    else:
        wanted = Wanted(source, target, columns)
    if isinstance(data, str) and data in BUILTIN:
        return _of_builtin(data, (source, target), size, seed, cache, held_out)
    _refuse_size(data, size)
    path = _existing(data)
    try:
        return find_images(path, columns, held_out) if target == NOTHING else find_labelled(path, wanted, held_out)
    except OSError as failure:
        raise MissingData(f"{path}: cannot be read: {failure.strerror}.") from None


def plan_for_images(
    data: str | Path,
    *,
    source: str = "nothing",
    columns: Columns = BY_NAME,
    size: int | None = None,
    seed: int = 0,
    cache: Path | None = None,
    held_out: HeldOut = USUAL,
) -> Plan:
    """How to read images that are to be made; `source` says whether their labels are read, the rest is as above."""
    if isinstance(data, str) and data in BUILTIN:
        return _of_builtin(data, (source, "image"), size, seed, cache, held_out)
    _refuse_size(data, size)
    path = _existing(data)
    try:
        return find_generated(path, source, columns, held_out)
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


def plan_for_text(
    data: str | Path,
    *,
    source: str = "nothing",
    target: str = "text",
    asked: str | None = None,
    size: int | None = None,
    seed: int = 0,
    cache: Path | None = None,
    held_out: HeldOut = USUAL,
) -> Plan:
    """How to read plain text.

    Args:
        data: a built-in name, a downloaded one, a folder or a file.
        source: what the first side of a row holds, `nothing` or text.
        target: the second.
        asked: "lines" where each line is a text, "documents" where each file is; of a corpus of pairs, a language.
        size: how many training lines a built-in corpus shall draw.
        seed: which ones.
        cache: where what is made and downloaded is kept.
        held_out: how much is cut off from train where there is no validation or test split.
    """
    if isinstance(data, str) and data in BUILTIN:
        return _of_builtin(data, (source, target), size, seed, cache, held_out)
    _refuse_size(data, size)
    if isinstance(data, str) and data in DOWNLOADS:
        data = _downloaded(data, cache)
    path = _existing(data)
    try:
        return find_plain(path, (source, target), None if asked in (source, target) else asked, held_out)
    except OSError as failure:
        raise MissingData(f"{path}: cannot be read: {failure.strerror}.") from None


def plan_of_kind(
    data: str | Path, kind: Kind, source: str | None = None, target: str | None = None, **asked: Any
) -> Plan:
    """How to read what `--data` names, as pairs of languages, as labelled data or as plain text, as its kind says."""
    ends = kind.get("reads", "text"), kind.get("wants", "text")
    if is_generated(*ends):
        return plan_for_images(data, source=ends[0], columns=columns_of(kind), **asked)
    if is_plain(*ends):
        return plan_for_text(data, source=ends[0], target=ends[1], asked=target or source, **asked)
    if is_for_labels(kind):
        columns = columns_of(kind, source, target)
        return plan_for_labels(data, source=ends[0], target=ends[1], columns=columns, **asked)
    return plan_for(data, source=source, target=target, **asked)


def _of_builtin(
    name: str, sides: tuple[str, str], size: int | None, seed: int, cache: Path | None, held_out: HeldOut
) -> Plan:
    """A built-in corpus, if its sides are those that are wanted."""
    source, target = sides
    if sides not in BUILTIN[name].languages:
        fitting = [each for each, corpus in BUILTIN.items() if sides in corpus.languages]
        there = " and ".join(f"{one} -> {other}" for one, other in BUILTIN[name].languages)
        hint = f"Of {source} -> {target} there are {', '.join(fitting)}." if fitting else "Take data of your own."
        raise UsageError(f"{name} is {there}; {source} -> {target} was asked for.", hint=hint)
    held_out.cut((), SPLITS, name)
    return plan_of_builtin(name, source=source, target=target, size=size, seed=seed, cache=cache)
