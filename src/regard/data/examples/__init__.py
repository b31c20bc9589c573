"""What examples are made of the rows of a corpus; `rows`, each row one, is in `regard.task`.

blocks    long text in blocks of one length
"""

from regard.data.examples import blocks

__all__ = ["blocks"]
