"""A training as a whole: what is asked, what is made ready, how it is examined, and what is added at its end.

job             a recipe, a corpus and a run folder: to train, to rehearse, or to be timed
setup           tokenizers, model and batches for the first update
memory_check    whether the model fits into memory
validate        a validation
lengths         how much the length of outputs should count
complete        what the best model's folder has beside the model
"""

from regard.tasks.job import TrainJob

__all__ = ["TrainJob"]
