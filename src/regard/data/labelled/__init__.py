"""Data for classification and tagging: texts or images with a label each, and texts with a tag for every word."""
