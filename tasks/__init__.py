"""Datasets and what is asked about them, one file each, exporting ``task``."""
