"""The model: the flow in one class, and the folder that it lives in."""

from regard.model.flow import Model, parameters
from regard.model.folder import OURS, check_text, load, old_of, put_back, recipe_of, save, settle
from regard.model.weights import unfilled

__all__ = [
    "OURS",
    "Model",
    "check_text",
    "load",
    "old_of",
    "parameters",
    "put_back",
    "recipe_of",
    "save",
    "settle",
    "unfilled",
]
