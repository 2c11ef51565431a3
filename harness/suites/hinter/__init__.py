"""HINTER: atomic, intersectional and hidden bias by dictionary mutation (Souani et al. 2025)."""
