"""Lines over the machines of a Ray cluster.

nodes       the machines: joined or started, and divided among workers
workers     blocks of lines in order, in bounded memory, and again when a worker is lost
"""

from regard.cluster.nodes import Share, connect, share
from regard.cluster.workers import AHEAD, TRIES, translate_chunks

__all__ = ["AHEAD", "TRIES", "Share", "connect", "share", "translate_chunks"]
