"""Export for our own engine: every model that writes text, in eight bits, with a shortlist.

folder      the whole way: write, check, quantise, check again, put in place
"""

from regard.export.torch.folder import export

__all__ = ["export"]
