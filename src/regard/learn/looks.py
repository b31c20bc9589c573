"""What a model looked at while it learnt: a file for each validation, `looks/NNNNNN.json`, named for its update.

Each is {"format": "regard-looks-1", "number": N, "figures": [document, ...]}, documents as `regard.show` draws them.
Of many validations, as many as can be told apart in a replay are kept, as evenly spread as they come.
What a generator made is a picture, `samples/NNNNNN.png`.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from tempfile import NamedTemporaryFile
from typing import Any

FORMAT = "regard-looks-1"
MOST = 200  # files of a run: some ten megabytes


def keep_looks(folder: Path, number: int, figures: Sequence[Mapping[str, Any]]) -> None:
    """Write those of an update, to another name first: a crash leaves a whole file or none."""
    told = json.dumps({"format": FORMAT, "number": number, "figures": list(figures)}, ensure_ascii=False)
    _keep(folder, _path(folder, number).name, told.encode())
    numbers = numbers_of(folder)
    while len(numbers) > MOST:  # the first and the last stay; of the others goes the one that leaves the least gap
        _, place = min((numbers[place + 1] - numbers[place - 1], place) for place in range(1, len(numbers) - 1))
        _path(folder, numbers.pop(place)).unlink(missing_ok=True)


def keep_picture(folder: Path, number: int, picture: bytes) -> None:
    """Write that of an update, likewise."""
    _keep(folder, f"{number:06d}.png", picture)


def _keep(folder: Path, name: str, content: bytes) -> None:
    folder.mkdir(exist_ok=True)
    with NamedTemporaryFile(dir=folder, prefix=".", suffix=".tmp", delete=False) as draft:
        draft.write(content)
    Path(draft.name).chmod(0o644)
    Path(draft.name).replace(folder / name)


def _path(folder: Path, number: int) -> Path:
    return folder / f"{number:06d}.json"


def read_looks(folder: Path, number: int) -> list[dict[str, Any]]:
    """The documents of an update; none where its file does not hold any."""
    try:
        told = json.loads((folder / f"{number:06d}.json").read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return []
    return list(told.get("figures", ())) if isinstance(told, dict) else []


def numbers_of(folder: Path) -> list[int]:
    """The updates whose looks are there, in order."""
    return sorted(int(each.stem) for each in folder.glob("*.json") if each.stem.isdigit())


def drop_looks(folder: Path, after: int) -> None:
    """Take away looks, or pictures, of updates that will be made again, and what a kill left half written."""
    for each in [*folder.glob("*.json"), *folder.glob("*.png")]:
        if each.stem.isdigit() and int(each.stem) > after:
            each.unlink()
    for draft in folder.glob(".*.tmp"):
        with suppress(FileNotFoundError):
            draft.unlink()
