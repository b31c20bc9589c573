"""The tokenizer's files: tokenizer.json with what stands around a text, and which pieces are special.

A tokenizer of ours works on one line at a time, without its special pieces. There the whole text is handed over: what
our sides do around the tokenizer (holes, lines, special pieces) becomes part of its pipeline.
"""

from __future__ import annotations

import json
from typing import Any

from tokenizers import Tokenizer, processors

from regard.data.tokenizer import MASK
from regard.data.tokenizer import Tokenizer as OurTokenizer
from regard.data.tokenizer_imported import ImportedTokenizer
from regard.data.tokenizer_train import SPECIAL
from regard.export.huggingface.fitting import Fitted
from regard.importing.origin import ADDED, Origin

PAD, START, END, UNKNOWN = SPECIAL
ROLES = {
    "encoder": {"pad_token": PAD, "cls_token": START, "sep_token": END, "unk_token": UNKNOWN, "mask_token": MASK},
    "decoder": {"bos_token": END, "eos_token": END, "pad_token": PAD, "unk_token": UNKNOWN},
}
FIRST = r"\A"  # where a space is put before a text: at its beginning
LINES = r"(?:\A|(?<=\n))"  # at the beginning of each line
SOMETHING = r"(?=[\s\S])"  # not before nothing
NOT_HOLE = rf"(?!\[{MASK[1:-1]}\]\z)"  # nor before the name of the hole itself, which the library normalises too


def tokenizer_files(found: Fitted, tokenizer: OurTokenizer, longest: int) -> dict[str, str]:
    """tokenizer.json, tokenizer_config.json and special_tokens_map.json."""
    told = json.loads(tokenizer.backend.to_str())
    imported = isinstance(tokenizer, ImportedTokenizer)
    if not imported:
        _whole_texts(told, found.goal, spaced=tokenizer.kind != "characters")
    if found.origin is not None:
        told = _old_numbers(told, found.origin, lstrip=found.family in ("roberta", "albert"))
    names = _names(found, told)
    made = Tokenizer.from_str(json.dumps(told))
    made.post_processor = _around(found, made, names)
    config: dict[str, Any] = {
        "tokenizer_class": "PreTrainedTokenizerFast",
        "model_max_length": longest,
        "padding_side": "right",
        "clean_up_tokenization_spaces": False,
        "model_input_names": ["input_ids", *(["token_type_ids"] if _has_segments(found) else []), "attention_mask"],
        **names,
    }
    if not imported and found.goal != "fill":
        config["split_special_tokens"] = True  # "</s>" in a text is text
    return {
        "tokenizer.json": made.to_str(pretty=True),
        "tokenizer_config.json": _json(config),
        "special_tokens_map.json": _json(names),
    }


def _json(table: dict[str, Any]) -> str:
    return json.dumps(table, ensure_ascii=False, indent=2) + "\n"


def _has_segments(found: Fitted) -> bool:
    return found.family != "gpt2" and found.model.embed.segment is not None


def _names(found: Fitted, told: dict[str, Any]) -> dict[str, str]:
    """The special pieces by their roles there."""
    roles = ROLES["decoder" if found.family == "gpt2" else "encoder"]
    theirs = dict(found.origin.special) if found.origin else {each: each for each in (*SPECIAL, MASK)}
    there = {each["content"] for each in told["added_tokens"]}
    return {role: theirs[ours] for role, ours in roles.items() if theirs.get(ours) in there}


def _whole_texts(told: dict[str, Any], goal: str, *, spaced: bool) -> None:
    """A tokenizer of ours for texts as they are: a space before each line, or one that minds holes."""
    if goal == "fill":
        for each in told["added_tokens"]:
            if each["content"] == MASK:  # the space before a hole belongs to it; found once a space is put before all
                each |= {"lstrip": spaced, "normalized": True}
    if not spaced:
        return
    if goal == "fill":
        told["normalizer"] = _space_at(FIRST + NOT_HOLE + SOMETHING)
    if goal == "write":
        told["normalizer"] = _space_at(LINES + SOMETHING)
        line = {"type": "Split", "pattern": {"String": "\n"}, "behavior": "MergedWithPrevious", "invert": False}
        told["pre_tokenizer"] = {"type": "Sequence", "pretokenizers": [line, told["pre_tokenizer"]]}
        back = {"type": "Replace", "pattern": {"String": "\n "}, "content": "\n"}
        told["decoder"] = {"type": "Sequence", "decoders": [*told["decoder"]["decoders"], back]}


def _space_at(place: str) -> dict[str, Any]:
    return {"type": "Replace", "pattern": {"Regex": place}, "content": " "}


def _old_numbers(told: dict[str, Any], origin: Origin, *, lstrip: bool) -> dict[str, Any]:
    """The JSON with the names and numbers that an imported vocabulary had."""
    known = told["model"]["vocab"]
    order = origin.order(len(known) - origin.added)
    names = dict(origin.special)
    model = dict(told["model"])
    if isinstance(known, dict):
        model["vocab"] = {names.get(each, each): order[place] for each, place in known.items() if order[place] != ADDED}
        if model.get("unk_token") is not None:
            model["unk_token"] = names.get(model["unk_token"], model["unk_token"])
    else:
        rows = [(number, [names.get(piece, piece), score]) for number, (piece, score) in zip(order, known, strict=True)]
        model["vocab"] = [row for number, row in sorted(rows, key=lambda each: each[0]) if number != ADDED]
        model["unk_id"] = order[model["unk_id"]]
    added = [
        {
            **each,
            "id": order[each["id"]],
            "content": names.get(each["content"], each["content"]),
            "lstrip": each["lstrip"] or (lstrip and each["content"] == MASK),
        }
        for each in told["added_tokens"]
        if order[each["id"]] != ADDED
    ]
    return {**told, "model": model, "added_tokens": sorted(added, key=lambda each: each["id"])}


def _around(found: Fitted, made: Tokenizer, names: dict[str, str]) -> Any:
    """What stands around a text, or two."""
    if found.family == "gpt2":
        if found.origin is not None:
            return processors.ByteLevel(trim_offsets=False)  # GPT-2 puts nothing there
        end = names["eos_token"]
        return processors.TemplateProcessing(
            single=f"{end} $A", pair=f"{end} $A {end} $B", special_tokens=[(end, made.token_to_id(end))]
        )
    first, last = names["cls_token"], names["sep_token"]
    numbers = [(each, made.token_to_id(each) or 0) for each in (first, last)]
    if found.family == "roberta" and found.origin is not None:
        return processors.RobertaProcessing(numbers[1], numbers[0], True, _prefixes(made))
    second = 1 if _has_segments(found) else 0
    return processors.TemplateProcessing(
        single=f"{first} $A {last}", pair=f"{first} $A {last} $B:{second} {last}:{second}", special_tokens=numbers
    )


def _prefixes(made: Tokenizer) -> bool:
    return bool(getattr(made.pre_tokenizer, "add_prefix_space", False))
