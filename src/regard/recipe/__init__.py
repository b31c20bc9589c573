"""Recipes: TOML files that name parts and their settings.

A table names a part (`part = "additive"`); its other keys are the part's settings; a table in it is a part
that the part is given. `extends` takes another recipe and changes it. A text where a part is expected is that
part's name (`score = "dot"`), and "none" leaves an optional part out.
"""

from regard.recipe.check import check
from regard.recipe.read import NAMED, read
from regard.recipe.resolve import About, Recipe, asks_unread, resolve
from regard.recipe.write import needs, write

__all__ = ["NAMED", "About", "Recipe", "asks_unread", "check", "needs", "read", "resolve", "write"]
