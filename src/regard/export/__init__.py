"""Export: a model in a form that another engine runs, checked against the model before it is handed over.

ctranslate2/    Transformers for CTranslate2, their aligning heads included
onnx/           every model that writes text, as two graphs

request         what every export is asked, begins with and tells
agreement       how far the exported model writes and looks as the model does
place           folders that are there whole, or not at all
"""
