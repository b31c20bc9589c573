"""Classifying: one class for the whole source."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar

from regard.data.sides.episode import EpisodeSide
from regard.data.sides.episode_class import EpisodeClass
from regard.data.sides.label import Label
from regard.errors import UsageError
from regard.hooks import loss_terms
from regard.learn.cross_entropy import negative_log_likelihoods
from regard.model import Model
from regard.registry import part
from regard.task import BaseGoal, Loss, Objective, Side, Spec
from regard.types import Batch, Share

if TYPE_CHECKING:
    from regard.tasks.classifier import Classification


@part("goal", "classify")
class Classify(BaseGoal):
    """Find the class of the source.

    Settings:
        smoothing: share of the aim that is spread over all classes (label smoothing).
    """

    predicts: ClassVar[str] = "label"
    metrics: ClassVar[tuple[str, ...]] = ("accuracy", "macro_f1")
    opens: ClassVar[str] = "regard.tasks.classifier:Classifier"
    opens_by: ClassVar[Mapping[str, str]] = {"episode": "regard.tasks.episode_classifier:EpisodeClassifier"}

    def __init__(self, source: Side, target: Side, *, smoothing: Share = 0.0) -> None:
        super().__init__(source, target)
        self.smoothing = smoothing
        if not isinstance(target, Label | EpisodeClass):
            raise UsageError(
                "the goal 'classify' finds a label.", hint='Write target = "label" in [task], or another goal.'
            )
        if isinstance(source, EpisodeSide) != isinstance(target, EpisodeClass):
            raise UsageError(
                "the goal 'classify' finds the 'class' of an 'episode', and neither goes without the other.",
                hint='Write source = "episode" and target = "class", or another source and target = "label".',
            )

    def specs(self) -> tuple[Spec, Spec]:
        """Those of the sides; an episode says how many classes there are."""
        if isinstance(self.source, EpisodeSide):
            return self.source.spec(), Spec(self.source.ways)
        return super().specs()

    def questions(self, cells: Sequence[Any], references: Sequence[Any]) -> tuple[Sequence[Any], Sequence[Any]]:
        """Those of the corpus; of episodes, some that are drawn from it."""
        if isinstance(self.source, EpisodeSide):
            return self.source.draw(cells, references)
        return cells, references

    def objectives(self, model: Model) -> Sequence[Objective]:
        """The likelihood of the right class, and the terms that parts add."""
        return [Objective("loss", self._loss)]

    def _loss(self, model: Model, batch: Batch, number: int) -> Loss:
        return label_loss(model, batch, self.smoothing)

    def nll(self, model: Model, batch: Batch) -> Loss:
        """Of the right class."""
        return label_loss(model, batch)

    def answer(self, model: Model, cells: Sequence[Any]) -> list[Classification]:
        """The likeliest class of each."""
        return self.person(model).answer(cells)

    def drawn(self, model: Model, cell: Any) -> str:
        """The class, and what was looked at."""
        return self.person(model).answer([cell])[0].drawn()

    def person(self, model: Model) -> Any:
        """The model as a person uses it."""
        if isinstance(self.source, EpisodeSide):
            from regard.tasks.episode_classifier import EpisodeClassifier

            return EpisodeClassifier(model, self.source, self.target)  # type: ignore[arg-type]
        from regard.tasks.classifier import Classifier

        return Classifier(model, self.source, self.target)


def label_loss(model: Model, batch: Batch, smoothing: float = 0.0) -> Loss:
    """The mean over examples of -log p of their class, and the terms of hard choices, gates and penalties."""
    with loss_terms() as extra:
        logits = model.label(batch.source).logits.float()
    plain, aim = negative_log_likelihoods(logits, batch.target.data.flatten(), smoothing)
    return Loss(aim.mean() + extra(-plain.detach()), plain.detach().mean(), len(plain))
