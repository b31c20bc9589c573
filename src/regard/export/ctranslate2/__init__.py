"""Export to CTranslate2: Transformers, their aligning heads included.

folder      the whole way: convert, check, quantise, check again, put in place
fitting     which models it can express, and what it lacks for the rest
heads       the aligning heads to the front of their layer
spec        the tensors of a Transformer where it expects them
shortlist   a shortlist as it reads it
"""

from regard.export.ctranslate2.folder import export

__all__ = ["export"]
