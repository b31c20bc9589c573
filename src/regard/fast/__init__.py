"""What is there for speed alone: the equations elsewhere read the same without it."""
