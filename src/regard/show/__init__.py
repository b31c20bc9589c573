"""Show: what a model looked at, recorded and made visible."""
