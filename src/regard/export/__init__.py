"""Export: a model in a form that another engine runs, or ours faster, checked against the model before it is used.

torch/          every model that writes text, for our own engine: in eight bits, with a shortlist
ctranslate2/    Transformers for CTranslate2, their aligning heads included
onnx/           every model that writes text, as two graphs
huggingface/    models of the families BERT, RoBERTa, ALBERT and GPT-2, as `transformers` loads them

request         what every export is asked, begins with and tells
shortlist       which target pieces a source piece may lead to, learnt from the model's own looks
expected        what is asked of a model's parts, in words
agreement       how far the exported model writes and looks as the model does
place           folders that are there whole, or not at all
"""
