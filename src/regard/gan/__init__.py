"""The two networks of a GAN: a generator, which makes images of noise, and a critic, which tells them from real ones.

spectral    layers whose weights have a largest singular value of one
norm        batch normalisation, with scales and shifts of a class where there are classes
blocks      residual blocks that double or halve a grid
layers      what may stand between two blocks: self-attention, or a residual block of equal size
"""

from regard.gan import critic, generator, layers

__all__ = ["critic", "generator", "layers"]
