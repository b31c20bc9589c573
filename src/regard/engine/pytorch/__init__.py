"""PyTorch: a model folder as it is, or one that `regard export --to torch` wrote.

search      every part, every option, every layer recorded
folder      what lies in a folder, and how it is opened
columns     how matrices lie in memory
eight_bits  products of matrices in eight bits
half        all of a model in half precision
"""

from regard.engine.pytorch.folder import Manifest, open_folder
from regard.engine.pytorch.search import Searched, Torch, search_source

__all__ = ["Manifest", "Searched", "Torch", "open_folder", "search_source"]
