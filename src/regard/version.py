"""The version, alone in a file so that `regard --version` reads nothing else."""

__version__ = "0.1.0"
