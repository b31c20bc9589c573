"""Search: from a state, the pieces of an output."""
