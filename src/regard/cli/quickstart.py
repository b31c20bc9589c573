"""`regard quickstart`: train something small and show what it looks at."""

from __future__ import annotations


def quickstart() -> None:
    """Train something small and show what it looks at."""
