"""Alignments: which source words a target word belongs to, where they come from, and how far to believe them."""
