"""Data: what people have, and what we bring. Raw text in, pieces and batches out."""
