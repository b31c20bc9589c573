"""Export to ONNX: every model that writes text, as two graphs, with the weights of its attention among their outputs.

folder      the whole way: trace, check, quantise if asked, check again, put in place
graphs      a model as two graphs: one reads a source, one writes a piece more
flat        a decoder's state as named tensors
operators   parts that cannot be traced as they are, in operators that can
trace       from a module to a file that holds for every size
"""

from regard.export.onnx.folder import export

__all__ = ["export"]
