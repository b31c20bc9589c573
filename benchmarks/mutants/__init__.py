"""Mutation testing: change the source in one place, and see whether a test notices."""
