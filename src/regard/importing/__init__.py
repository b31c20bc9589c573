"""Import: a model that another toolkit wrote, as a model folder of ours.

Each module of `FAMILIES` knows one kind of folder: `recognises(folder)` says whether it is one, `convert(folder, out)`
writes the model folder, whole or not at all.
"""

from __future__ import annotations

from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from regard.errors import UsageError
from regard.importing.place import found_at
from regard.importing.sentences import encoder_folder

FAMILIES = ("bert", "roberta", "albert", "gpt", "marian", "argos", "ctranslate2")  # the first that knows it takes it


def import_model(where: str | Path, out: str | Path) -> Path:
    """Write the model of a folder, or of a repository of the Hugging Face hub, as the model folder `out`."""
    folder, out = encoder_folder(found_at(where)), Path(out)
    if out.resolve() == folder.resolve():
        raise UsageError(f"{out} is the folder that is to be imported.", hint="Import into another folder.")
    for family in families():
        if family.recognises(folder):
            family.convert(folder, out)
            return out
    from regard.importing.huggingface import unknown

    raise unknown(folder)


def families() -> list[Any]:
    """The modules that are there, in their order."""
    names = [f"{__name__}.{name}" for name in FAMILIES]
    return [import_module(name) for name in names if find_spec(name) is not None]
