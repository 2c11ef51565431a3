"""Finds the biases of language models that accuracy hides."""

from __future__ import annotations

__version__ = "0.1.0"
