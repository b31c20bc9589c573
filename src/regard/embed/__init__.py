"""Embed: ids or pixels to vectors, each position by itself."""

from regard.embed import episode, image, position, tokens

__all__ = ["episode", "image", "position", "tokens"]
