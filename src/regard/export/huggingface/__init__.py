"""Export for `transformers`: models of the families BERT, RoBERTa, ALBERT and GPT-2, trained here or imported.

folder      the whole way: write, read back, put in place
fitting     which family a model is of, and what keeps it from being of one
config      config.json
weights     the weights by their names there
tokenizer   the tokenizer's files
sentences   what sentence-transformers adds to an encoder
"""

from regard.export.huggingface.folder import export

__all__ = ["export"]
