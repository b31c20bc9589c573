"""CTranslate2 as an engine, for folders that `regard export --to ctranslate2` or `regard import` wrote.

folder      opening one
manifest    what it says of itself
search      its search and its scores, behind our options and our hypotheses
"""

from regard.engine.ctranslate2.folder import PIECES, library, open_folder
from regard.engine.ctranslate2.manifest import Manifest
from regard.engine.ctranslate2.search import CTranslate2

__all__ = ["PIECES", "CTranslate2", "Manifest", "library", "open_folder"]
