"""What examples are made of the rows of a corpus; `rows`, each row one, is in `regard.task`.

blocks       long text in blocks of one length
documents    one segment or two, of lines that follow one another
"""

from regard.data.examples import blocks, documents

__all__ = ["blocks", "documents"]
