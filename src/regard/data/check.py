"""The checks of a corpus, the same for `regard data check` and before every training.

One pass reads every file to its end, finds all faults of reading and gathers what each split holds
(`survey`); then the content is looked at (`warnings`). Errors stop, warnings warn, and all are told at once.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import islice
from pathlib import Path
from typing import Protocol, Unpack, runtime_checkable

from regard.data.held_out import USUAL, HeldOut
from regard.data.labelled.detect import sides_of
from regard.data.labelled.mask_warnings import MaskSurvey, mask_note, mask_warnings
from regard.data.labelled.wanted import Kind, is_for_labels, is_generated, is_labelled, rows_of
from regard.data.labelled.warnings import LabelSurvey, caption_warnings, class_warnings, label_note, label_warnings
from regard.data.names import by_split
from regard.data.plain.wanted import is_plain
from regard.data.plain.warnings import TextSurvey, text_note, text_warnings
from regard.data.plan import Plan
from regard.data.report import Finding, Report, error, warning
from regard.data.rows import Row
from regard.data.sources import plan_of_kind
from regard.data.survey import Survey
from regard.data.warnings import Case, Languages, show, warnings
from regard.errors import DataError

_UNKNOWN_PIECES = 0.01
_UNKNOWN_ID = 3  # of a tokenizer: <unk>
_CHUNK = 1_000  # lines handed to a tokenizer at once


@runtime_checkable
class Coder(Protocol):
    """Whatever turns lines into the numbers of their pieces: a tokenizer."""

    def encode_ids(self, lines: Sequence[str]) -> list[list[int]]: ...


@runtime_checkable
class Planned(Protocol):
    """Whatever can be streamed as rows: a corpus that is open."""

    def plan(self) -> Plan: ...


def check(
    data: str | Path | Plan | Planned,
    *,
    source: str | None = None,
    target: str | None = None,
    cache: Path | None = None,
    tokenizers: tuple[Coder, Coder] | None = None,
    held_out: HeldOut = USUAL,
    **kind: Unpack[Kind],
) -> Report:
    """Look at a whole corpus and tell every fault at once.

    `held_out` says how much is cut off from train where splits are missing. `tokenizers`, for source and target,
    are asked how many pieces of the corpus they do not know. `kind` says what the sides are, as for `Corpus.open`;
    where nothing is said and no language named, labelled data is known by itself.
    """
    if isinstance(data, str | Path):
        if not kind and source is None and target is None and (sides := sides_of(data)):
            kind = Kind(reads=sides[0], wants=sides[1])
        named = is_generated(kind.get("reads", "text"), kind.get("wants", "text"))
        named = named or is_plain(kind.get("reads", "text"), kind.get("wants", "text")) or is_for_labels(kind)
        ends = (kind.get("reads", "text"), kind.get("wants", "text")) if named else (source or "?", target or "?")
        try:
            plan = plan_of_kind(data, kind, source, target, cache=cache, held_out=held_out)
        except DataError as fault:  # nothing to stream: the report has one error
            found = error("missing-corpus", fault.message, "", advice=fault.hint or "")
            return Report(str(data), *ends, findings=(found,))
    else:
        plan = data if isinstance(data, Plan) else data.plan()
    return _check_plan(plan, tokenizers)


def _check_plan(plan: Plan, tokenizers: tuple[Coder, Coder] | None) -> Report:
    surveys = _survey(plan)
    findings = plan.findings()
    if not surveys and not findings:
        findings.append(error("no-pairs", f"expected {rows_of(plan.source, plan.target)}; found none.", plan.name))
    if not any(finding.level == "error" for finding in findings):  # else the fault says why a split is not there
        findings += _lacking(plan, surveys)
    cases, notes = _cases(plan, surveys)
    if any(finding.code == "invalid-utf8" for finding in findings):  # the marks of lost characters are ours
        cases = [case for case in cases if case.finding.code != "odd-characters"]
    findings += _fill(plan, cases)
    if tokenizers:
        findings += unknown_pieces(plan, tokenizers)
    pairs = {split: survey.pairs for split, survey in surveys.items()}
    return Report(plan.name, plan.source, plan.target, pairs, tuple(findings), notes)


def _cases(plan: Plan, surveys: Mapping[str, Survey]) -> tuple[list[Case], tuple[str, ...]]:
    """What is the matter with the content, and the notes about it."""
    texts = {split: survey for split, survey in surveys.items() if isinstance(survey, TextSurvey)}
    if texts:
        return list(text_warnings(texts)), (*plan.notes, text_note(texts))
    if (plan.source, plan.target) == ("image", "nothing"):
        return [], plan.notes
    if (plan.source, plan.target) == ("image", "text"):
        return list(caption_warnings(surveys)), plan.notes
    masks = {split: survey for split, survey in surveys.items() if isinstance(survey, MaskSurvey)}
    if masks:
        return list(mask_warnings(masks)), (*plan.notes, mask_note(masks))
    if is_generated(plan.source, plan.target):
        return [], plan.notes
    labels = {split: survey for split, survey in surveys.items() if isinstance(survey, LabelSurvey)}
    if not labels:
        return list(warnings(Languages(plan.source, plan.target), surveys)), plan.notes
    if plan.target == "class":
        return list(class_warnings(labels)), (*plan.notes, label_note(labels, plan.target))
    return list(label_warnings(plan.source, plan.target, labels)), (*plan.notes, label_note(labels, plan.target))


def _survey(plan: Plan) -> dict[str, Survey]:
    surveys: dict[str, Survey] = {}
    for row in plan.rows():
        survey = surveys.get(row.split)
        if survey is None:
            survey = surveys[row.split] = _new_survey(plan, row.split)
        survey.see(row)
    return {split: surveys[split] for split in sorted(surveys, key=by_split)}


def _new_survey(plan: Plan, split: str) -> Survey:
    """What gathers the numbers that the checks of such a corpus need."""
    if is_plain(plan.source, plan.target):
        return TextSurvey(split)
    if (plan.source, plan.target) == ("image", "mask"):
        return MaskSurvey(split)
    labels = is_labelled(plan.source, plan.target) and plan.target not in ("text", "nothing")
    return LabelSurvey(split, plan.target) if labels else Survey(split)


def _lacking(plan: Plan, surveys: Mapping[str, Survey]) -> Iterator[Finding]:
    """The splits that training needs and that are not there."""
    if "train" not in surveys:
        yield warning("no-train", "there is no train split: one can evaluate on it, not train.", plan.name)
    elif "val" not in surveys:
        advice = "Mark some rows as val."
        yield warning("no-val", "there is no val split: training cannot tell its best state.", plan.name, advice=advice)


def _fill(plan: Plan, cases: list[Case]) -> list[Finding]:
    """The findings of the cases, with the texts of the pairs that show them: one more pass for all."""
    wanted = {(case.split, place) for case in cases for place in case.places}
    rows = _fetch(plan, wanted)
    found = []
    for case in cases:
        shown = [rows[case.split, place] for place in case.places]
        examples = tuple(show(row) for row in shown) or case.finding.examples
        found.append(replace(case.finding, examples=examples))
    return found


def _fetch(plan: Plan, wanted: set[tuple[str, int]]) -> dict[tuple[str, int], Row]:
    found: dict[tuple[str, int], Row] = {}
    if not wanted:
        return found
    seen: Counter[str] = Counter()
    for row in plan.rows():
        place = (row.split, seen[row.split])
        seen[row.split] += 1
        if place in wanted:
            found[place] = row
            if len(found) == len(wanted):
                break
    return found


def unknown_pieces(plan: Plan, tokenizers: tuple[Coder, Coder]) -> Iterator[Finding]:
    """The share of pieces that a tokenizer does not know, in each split."""
    unknown: Counter[tuple[str, str]] = Counter()
    pieces: Counter[tuple[str, str]] = Counter()
    source, target = tokenizers
    rows = plan.rows()
    while chunk := list(islice(rows, _CHUNK)):
        sides = (
            (plan.source, source.encode_ids([row.source for row in chunk])),
            (plan.target, target.encode_ids([row.target for row in chunk])),
        )
        for language, lines in sides:
            for row, ids in zip(chunk, lines, strict=True):
                pieces[row.split, language] += len(ids)
                unknown[row.split, language] += ids.count(_UNKNOWN_ID)
    for (split, language), count in unknown.items():
        share = count / max(pieces[split, language], 1)
        if share > _UNKNOWN_PIECES:
            message = f"{share:.1%} of the {language} pieces are unknown to the tokenizer."
            advice = "Train the tokenizer on this corpus, or choose subwords."
            yield warning("unknown-pieces", message, split, advice=advice)
