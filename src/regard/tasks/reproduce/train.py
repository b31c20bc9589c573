"""Arms trained side by side, each by a process with one thread, so that each has a core of its own."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from regard.errors import TrainingError
from regard.tasks.children import Commands, side_by_side
from regard.tasks.reproduce.arms import Arm, Plan

Tell = Callable[[str, str], None]  # an arm's label, and what it says of itself


def train_arms(plan: Plan, minutes: float, tell: Tell) -> None:
    """Train every arm that is not done yet, all at once. Ctrl-C lets each save, and a rerun goes on."""
    waiting = [arm for arm in plan.arms() if not arm.done.is_file()]
    if not waiting:
        return
    commands = Commands()

    def train(arm: Arm) -> str:
        arm.folder.mkdir(parents=True, exist_ok=True)
        error = commands.run(plan.train(arm, minutes), arm.folder / "log.txt", partial(tell, arm.label))
        if error:
            return f"{arm.label} could not be trained: {error}"
        arm.done.touch()
        return ""

    errors = [error for error in side_by_side(train, waiting, commands, plan.out, len(waiting)) if error]
    if errors:
        raise TrainingError("\n".join(errors))
