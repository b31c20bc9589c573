"""Other toolkits, each in an environment of its own, on the same text, pieces, shapes and batch sizes as Regard.

One module a peer: its `PEER` says how it is installed and what it can be measured at, its `prepare` gets it ready in a
process of its own. `python benchmarks/peers` runs Regard and a peer in turn and prints how they stand to one another.
"""
