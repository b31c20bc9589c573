"""What examples are made of the rows of a corpus; `rows`, each row one, is in `regard.task`.

blocks       long text in blocks of one length
episodes     labelled images of a few classes, and images to be told
documents    one segment or two, of lines that follow one another
"""

from regard.data.examples import blocks, documents, episodes

__all__ = ["blocks", "documents", "episodes"]
