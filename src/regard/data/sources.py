"""From what stands after `--data` to a plan: a built-in name, a downloadable one, a folder or a file."""

from __future__ import annotations

from pathlib import Path

from regard.data.builtin import BUILTIN
from regard.data.catalogue import DOWNLOADS
from regard.data.held_out import USUAL, HeldOut
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
        return plan_of_builtin(data, source=source, target=target, size=size, seed=seed)
    if size is not None:
        raise UsageError(
            f"a size can be asked of built-in corpora only ({', '.join(BUILTIN)}); found --data {data}.",
            hint="Leave the size out: all pairs are used.",
        )
    if isinstance(data, str) and data in DOWNLOADS:
        data = _downloaded(data, cache)
    path = Path(data).expanduser()
    if path.exists():
        try:
            return find(path, source, target, held_out)
        except OSError as failure:
            raise MissingData(f"{path}: cannot be read: {failure.strerror}.") from None
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
