"""A training as a whole: what is asked, what is made ready, how it is examined, and what is added at its end.

asked       a recipe, a corpus and a run folder: to train, to rehearse, or to be timed
ready       tokenizers, model and batches for the first update
exam        a validation
lengths     how much the length of outputs should count
complete    what the best model's folder has beside the model
"""

from regard.training.asked import Asked

__all__ = ["Asked"]
