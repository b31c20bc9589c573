"""Tokenizers of Hugging Face folders, whichever files hold them, with our numbers for the special pieces.

Our pieces 0 to 3 are `<pad>`, `<s>`, `</s>` and `<unk>`. Theirs stand anywhere under other names, and some have none of
them: the pieces are put in another order, and so are the rows of the tables; what is missing is added.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import torch
from tokenizers import Regex, Tokenizer, decoders, models, normalizers, pre_tokenizers
from torch import Tensor

from regard.data.tokenizer import MASK, no_panic
from regard.data.tokenizer_train import SPECIAL
from regard.errors import ModelError
from regard.importing.huggingface import json_of
from regard.importing.origin import ADDED, Origin
from regard.importing.spiece import read_spiece

ROLES = {
    "<s>": ("cls_token", "bos_token"),
    "</s>": ("sep_token", "eos_token"),
    "<pad>": ("pad_token",),
    "<unk>": ("unk_token",),
}


@dataclass(frozen=True)
class Vocabulary:
    """A tokenizer's JSON, for each of its pieces the number it had, and their names of our special pieces."""

    text: str
    order: tuple[int, ...]
    special: Mapping[str, str] = field(default_factory=dict)

    def origin(self, family: str) -> Origin:
        """What is kept of it, so that the old numbers can come back."""
        return Origin(family, self.special, self.order[: len(SPECIAL)])

    def rows(self, table: Tensor, missing: float = 0.0) -> Tensor:
        """The rows of a table, or the numbers of a bias, in our order; those of new pieces are `missing`."""
        blank = table.new_full((1, *table.shape[1:]), missing)
        return torch.cat((table, blank))[torch.tensor([len(table) if old == ADDED else old for old in self.order])]


def vocabulary_of(folder: Path, size: int, usual: Mapping[str, str], *, hides: bool = False) -> Vocabulary:
    """The tokenizer of a folder, for tables of so many rows; `usual` are the family's special pieces by our names.

    `hides` says that it needs the piece that stands for a hidden one.
    """
    theirs = _tokenizer_of(folder)
    return _renumbered(theirs, size, _named(folder, theirs, usual, hides), folder)


def _tokenizer_of(folder: Path) -> dict[str, Any]:
    """The tokenizer as the `tokenizers` library writes it down."""
    config = json_of(folder / "tokenizer_config.json")
    try:
        with no_panic(str(folder)):
            if (folder / "tokenizer.json").is_file():
                made = Tokenizer.from_file(str(folder / "tokenizer.json"))
            elif (folder / "vocab.txt").is_file():
                made = _wordpiece(folder / "vocab.txt", config)
            elif (folder / "vocab.json").is_file() and (folder / "merges.txt").is_file():
                made = _byte_level(folder, config)
            elif (folder / "spiece.model").is_file():
                made = _unigram(folder / "spiece.model", config)
            else:
                raise ModelError(
                    f"{folder} holds no tokenizer.",
                    hint="Expected are tokenizer.json, vocab.txt, vocab.json with merges.txt, or spiece.model.",
                )
    except ModelError:
        raise
    except Exception as error:  # the library raises nothing more exact
        raise ModelError(f"{folder}: its tokenizer cannot be read: {error}.", hint="Download it again.") from error
    found: dict[str, Any] = json.loads(made.to_str())
    return found


def _wordpiece(path: Path, config: dict[str, Any]) -> Tokenizer:
    pieces = path.read_text(encoding="utf-8").split("\n")
    numbered = {piece.rstrip("\r"): place for place, piece in enumerate(pieces) if piece or place < len(pieces) - 1}
    made = Tokenizer(models.WordPiece(numbered, unk_token=str(_content(config.get("unk_token")) or "[UNK]")))
    made.normalizer = normalizers.BertNormalizer(
        lowercase=bool(config.get("do_lower_case", True)),
        strip_accents=config.get("strip_accents"),
        handle_chinese_chars=bool(config.get("tokenize_chinese_chars", True)),
    )
    made.pre_tokenizer, made.decoder = pre_tokenizers.BertPreTokenizer(), decoders.WordPiece()
    return made


def _byte_level(folder: Path, config: dict[str, Any]) -> Tokenizer:
    made = Tokenizer(models.BPE.from_file(str(folder / "vocab.json"), str(folder / "merges.txt")))
    made.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=bool(config.get("add_prefix_space", False)))
    made.decoder = decoders.ByteLevel()
    return made


def _unigram(path: Path, config: dict[str, Any]) -> Tokenizer:
    """ALBERT's: accents and capitals are taken off, unless its settings say otherwise."""
    pieces, unknown, charsmap = read_spiece(path)
    scored = [(piece, score - 100 if _ends_in_number(piece) else score) for piece, score in pieces]
    steps: list[Any] = [normalizers.Replace("``", '"'), normalizers.Replace("''", '"')]
    if not config.get("keep_accents", False):
        steps += [normalizers.NFKD(), normalizers.StripAccents()]
    if config.get("do_lower_case", True):
        steps.append(normalizers.Lowercase())
    if charsmap:
        steps.append(normalizers.Precompiled(charsmap))
    made = Tokenizer(models.Unigram(scored, unk_id=unknown, byte_fallback=False))
    made.normalizer = normalizers.Sequence([*steps, normalizers.Replace(Regex(" {2,}"), " ")])
    made.pre_tokenizer = pre_tokenizers.Sequence(
        [pre_tokenizers.WhitespaceSplit(), pre_tokenizers.Metaspace(prepend_scheme="always")]
    )
    made.decoder = decoders.Metaspace(prepend_scheme="always")
    return made


def _ends_in_number(piece: str) -> bool:
    """A digit and a comma at the end: ALBERT keeps them apart, so that such pieces are the last resort."""
    return len(piece) > 1 and piece[-1] == "," and piece[-2].isdigit()


def _named(folder: Path, theirs: dict[str, Any], usual: Mapping[str, str], hides: bool) -> dict[str, str]:
    """Their names of our special pieces, and of the one that hides; no piece serves twice."""
    config = {**json_of(folder / "special_tokens_map.json"), **json_of(folder / "tokenizer_config.json")}
    there = _pieces(theirs)
    found: dict[str, str] = {}
    for ours, keys in {**ROLES, MASK: ("mask_token",)}.items():
        wanted = [_content(config.get(key)) for key in keys] + [usual.get(ours)]
        name = next((each for each in wanted if each in there and each not in found.values()), None)
        if ours in usual and name is None and (ours != MASK or hides):
            raise ModelError(
                f"{folder}: its tokenizer has no piece {usual[ours]!r}, which the model cannot do without.",
                hint="Check special_tokens_map.json and tokenizer_config.json.",
            )
        if ours in usual and name is not None:
            found[ours] = name
        elif ours not in usual and ours in there and ours not in found.values():  # by our own name
            found[ours] = ours
    return found


def _content(entry: Any) -> Any:
    return entry.get("content") if isinstance(entry, dict) else entry


def _pieces(theirs: dict[str, Any]) -> dict[str, int]:
    """Every piece and its number, the added ones included."""
    known = theirs["model"]["vocab"]
    model = dict(known) if isinstance(known, dict) else {piece: place for place, (piece, _) in enumerate(known)}
    return model | {each["content"]: each["id"] for each in theirs["added_tokens"]}


def _renumbered(theirs: dict[str, Any], size: int, named: dict[str, str], folder: Path) -> Vocabulary:
    numbers = _pieces(theirs)
    by_number = {number: piece for piece, number in numbers.items()}
    if max(by_number) >= size:
        raise ModelError(f"{folder}: its tokenizer has {max(by_number) + 1} pieces, its table of vectors {size} rows.")
    first = [numbers[named[each]] if each in named else ADDED for each in SPECIAL]
    order = Origin("", named, tuple(first)).order(size)
    ours = {theirs_name: name for name, theirs_name in named.items()}
    found = [
        SPECIAL[place] if place < len(SPECIAL) else _our_name(by_number.get(old, f"<unused {old}>"), ours)
        for place, old in enumerate(order)
    ]
    if len(set(found)) != len(found):
        twice = sorted({each for each in found if found.count(each) > 1})
        raise ModelError(f"{folder}: its tokenizer has pieces of its own called {', '.join(twice)}.")
    return Vocabulary(json.dumps(_rewritten(theirs, found, ours), ensure_ascii=False), order, named)


def _our_name(piece: str, ours: Mapping[str, str]) -> str:
    return ours.get(piece, piece)


def _rewritten(theirs: dict[str, Any], found: list[str], ours: Mapping[str, str]) -> dict[str, Any]:
    """The JSON with other names and numbers; nothing is put around a line, cut off or filled up."""
    numbers = {piece: place for place, piece in enumerate(found)}
    model = dict(theirs["model"])
    if isinstance(model["vocab"], dict):
        model["vocab"] = numbers
        if model.get("unk_token") is not None:
            model["unk_token"] = _our_name(model["unk_token"], ours)
    else:
        scores = {_our_name(piece, ours): score for piece, score in model["vocab"]}
        model["vocab"] = [[piece, scores.get(piece, min(scores.values()))] for piece in found]
        model["unk_id"] = numbers["<unk>"]
    special = {*SPECIAL, MASK} & numbers.keys()
    rest = {_our_name(each["content"], ours): each for each in theirs["added_tokens"]}
    plain = {"single_word": False, "lstrip": False, "rstrip": False, "normalized": False}
    added = [
        {
            **plain,
            **rest.get(piece, {}),
            "id": numbers[piece],
            "content": piece,
            "special": piece in special or rest[piece]["special"],
        }
        for piece in sorted({*special, *rest}, key=numbers.__getitem__)
    ]
    return {
        **theirs,
        "model": model,
        "added_tokens": added,
        "post_processor": None,
        "truncation": None,
        "padding": None,
    }
