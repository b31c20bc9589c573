"""Embed: ids or pixels to vectors, each position by itself."""

from regard.embed import image, position, tokens

__all__ = ["image", "position", "tokens"]
