"""What examples are made of the rows of a corpus; `rows`, each row one, is in `regard.task`.

documents    one segment or two, of lines that follow one another
"""

from regard.data.examples import documents

__all__ = ["documents"]
