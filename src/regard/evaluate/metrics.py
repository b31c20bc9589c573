"""The one table of metrics: what each is called, which way is better, what it needs, and how it is printed.

Validation, `evaluate`, `compare`, the quickstart and the model card all read it. A metric of outputs and references is
a `count` (see `counts`), so that its interval and its value by length come with it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Literal, TypeAlias

import torch

from regard.errors import UnknownName, UsageError
from regard.evaluate.calibration import count_ece
from regard.evaluate.counts import Count, Counted, Reference, count_bleu, count_chrf, count_exact
from regard.evaluate.formulas import (
    count_edits,
    count_image_match,
    count_image_near,
    count_token_bleu,
    count_token_match,
)
from regard.evaluate.images import CountImages, count_mse, count_noise, count_psnr
from regard.evaluate.labels import count_accuracy, count_filled, count_macro_f1, count_tags
from regard.evaluate.likelihood import Likelihood, count_bits, count_perplexity, count_piece_perplexity
from regard.evaluate.masks import count_boundary, count_dice, count_iou, count_precision, count_recall
from regard.evaluate.samples import PIXELS, Features, count_diversity, count_frechet, count_symmetry
from regard.evaluate.samples import Count as CountSampled

Needs = Literal["answers", "probabilities", "nll", "links", "places", "samples", "images"]
CountSure: TypeAlias = Callable[[Sequence[str], Sequence[Reference], Sequence[float]], Counted]
CountLikely: TypeAlias = Callable[[Sequence[Likelihood]], Counted]


@dataclass(frozen=True)
class Metric:
    """One metric.

    name: in settings, logs and scores.json. label: as people write it. higher: whether more is better. needs: answers
    and their references, the probabilities of the answers too, the log-likelihood of the right answers, gold links,
    where in an image words are, samples beside real images, or images beside the right ones. form: how a value is
    printed. count: what it counts of answers and references, where it is made of them; count_sure: the same of
    answers, references and the answers' probabilities; count_likely: of how likely the right answers are;
    count_samples: of samples, real images and what describes both; count_images: of images that were made again.
    """

    name: str
    label: str
    higher: bool
    needs: Needs
    form: str = "{:.1f}"
    count: Count | None = None
    count_sure: CountSure | None = None
    count_likely: CountLikely | None = None
    count_samples: CountSampled | None = None
    count_images: CountImages | None = None

    def told(self, value: float | None) -> str:
        """A value as people read it; a dash where there is none."""
        return "-" if value is None else self.form.format(value)

    def better(self, value: float) -> float:
        """The value turned so that more is better."""
        return value if self.higher else -value


METRICS: dict[str, Metric] = {
    each.name: each
    for each in (
        Metric("bleu", "BLEU", True, "answers", count=count_bleu),
        Metric("chrf", "chrF2", True, "answers", count=count_chrf),
        Metric("exact_match", "exact match", True, "answers", "{:.1f} %", count_exact),
        Metric("token_bleu", "token BLEU", True, "answers", count=count_token_bleu),
        Metric("edit_accuracy", "edit accuracy", True, "answers", "{:.1f} %", count_edits),
        Metric("token_match", "token match", True, "answers", "{:.1f} %", count_token_match),
        Metric("image_match", "image match", True, "answers", "{:.1f} %", count_image_match),
        Metric("image_near", "near image match", True, "answers", "{:.1f} %", count_image_near),
        Metric("accuracy", "accuracy", True, "answers", "{:.1f} %", count_accuracy),
        Metric("macro_f1", "macro F1", True, "answers", "{:.1f} %", count_macro_f1),
        Metric("tag_accuracy", "tag accuracy", True, "answers", "{:.1f} %", count_tags),
        Metric("fill_accuracy", "fill accuracy", True, "answers", "{:.1f} %", count_filled),
        Metric("dice", "Dice", True, "answers", "{:.1f} %", count_dice),
        Metric("iou", "IoU", True, "answers", "{:.1f} %", count_iou),
        Metric("pixel_recall", "pixel recall", True, "answers", "{:.1f} %", count_recall),
        Metric("pixel_precision", "pixel precision", True, "answers", "{:.1f} %", count_precision),
        Metric("boundary_f1", "boundary F1", True, "answers", "{:.1f} %", count_boundary),
        Metric("ece", "ECE", False, "probabilities", "{:.1f} %", count_sure=count_ece),
        Metric("nll", "nll", False, "nll", "{:.3f}"),
        Metric("perplexity", "perplexity", False, "nll", "{:.2f}", count_likely=count_perplexity),
        Metric("piece_perplexity", "piece perplexity", False, "nll", "{:.2f}", count_likely=count_piece_perplexity),
        Metric("bits_per_byte", "bits per byte", False, "nll", "{:.3f}", count_likely=count_bits),
        Metric("aer", "AER", False, "links", "{:.1%}"),
        Metric("pointing", "pointing accuracy", True, "places", "{:.1f} %"),
        Metric("frechet", "Frechet distance", False, "samples", "{:.2f}", count_samples=count_frechet),
        Metric("diversity", "diversity", True, "samples", "{:.1f} %", count_samples=count_diversity),
        Metric("symmetry_error", "symmetry error", False, "samples", "{:.1f} %", count_samples=count_symmetry),
        Metric("mse", "MSE", False, "images", "{:.4f}", count_images=count_mse),
        Metric("psnr", "PSNR", True, "images", "{:.2f} dB", count_images=count_psnr),
        Metric("noise_left", "noise left", False, "images", "{:.1f} %", count_images=count_noise),
        Metric("loss", "loss", False, "nll", "{:.3f}"),
    )
}
WRITTEN = ("bleu", "chrf", "exact_match")  # what text that was written is measured by
DRAWN = ("token_bleu", "edit_accuracy", "token_match", "image_match", "image_near")  # what formulas are measured by
LABELLED = ("accuracy", "macro_f1", "ece")  # what labels are measured by
TAGGED = ("tag_accuracy",)  # what a tag for every word is measured by
SEGMENTED = ("dice", "iou", "pixel_recall", "pixel_precision", "boundary_f1")  # what masks are measured by
FILLED = ("fill_accuracy",)  # what hidden pieces are measured by
SAMPLED = ("frechet", "diversity")  # what images that were made of noise are measured by
GENERATED = ("perplexity", "piece_perplexity", "bits_per_byte")  # what a language model is measured by
RENAMED = {"exact": "exact_match", "surprise": "nll"}  # as recipes and logs of older runs call them


def metric(name: str) -> Metric:
    """A metric by its name."""
    known = METRICS.get(RENAMED.get(name, name))
    if known is None:
        raise UnknownName("metric", name, METRICS)
    return known


def is_higher_better(name: str) -> bool:
    """Whether more is better; of a value that is not in the table it is."""
    return name not in METRICS or METRICS[name].higher


def counting(name: str | Count, probabilities: Sequence[float] | None = None) -> Count:
    """How a metric of answers counts: by its name, or as it is.

    One that needs the probabilities of the answers is given them here.
    """
    if not isinstance(name, str):
        return name
    found = metric(name)
    if found.count_sure is not None:
        if probabilities is None:
            raise UsageError(
                f"{found.label} needs the probability of each answer; none were given.",
                hint="Write probabilities=[...], one for each answer, in their order.",
            )
        return partial(_counted_sure, found.count_sure, probabilities)
    if found.count is None:
        known = [each for each in METRICS if METRICS[each].count or METRICS[each].count_sure]
        raise UnknownName("metric of outputs and references", name, known)
    return found.count


def _counted_sure(
    count: CountSure, probabilities: Sequence[float], answers: Sequence[str], references: Sequence[Reference]
) -> Counted:
    return count(answers, references, probabilities)


def likely(names: Sequence[str], texts: Sequence[Likelihood]) -> dict[str, Counted]:
    """What each metric of likelihoods counts of some texts; other metrics are passed over."""
    found = {}
    for name in names:
        count = metric(name).count_likely
        if count is not None:
            found[name] = count(texts)
    return found


def sampled(
    names: Sequence[str], answers: Sequence[Any], references: Sequence[Any], features: Features | None = None
) -> dict[str, Counted]:
    """What each metric of samples counts, by its name; answers have `pixels`, references are. Others are passed over.

    `features` describe images where a metric compares descriptions; None for their pixels.
    """
    wanted = {name: count for name in names if (count := metric(name).count_samples) is not None}
    if not wanted:
        return {}
    made, real = torch.stack([each.pixels for each in answers]), torch.stack(list(references))
    return {name: count(made, real, features or PIXELS) for name, count in wanted.items()}


def measured(
    names: Sequence[str], answers: Sequence[Any], references: Sequence[Any], features: Features | None = None
) -> dict[str, float]:
    """The value of each metric of some answers: of their `text`, their `probability`, or the image that was made.

    Of samples see `sampled`.
    """
    texts = [each.text for each in answers]
    found = {name: each.value() for name, each in sampled(names, answers, references, features).items()}
    for name in names:
        images = metric(name).count_images
        if images is not None:
            found[name] = images(answers, references).value()
        if name in found:
            continue
        sure = [each.probability for each in answers] if metric(name).count_sure is not None else None
        found[name] = counting(name, sure)(texts, references).value()
    return found
