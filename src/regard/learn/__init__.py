"""Learn: what a step minimises, how the weights move, and a run that can be stopped and resumed."""

from regard.learn import average, optimise, schedule, settings

__all__ = ["average", "optimise", "schedule", "settings"]
