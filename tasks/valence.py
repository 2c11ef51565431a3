"""Valence: how positive is the state of mind that a text shows? (EEC, section 4)

A rating from 0, most negative, to 1, most positive; ``--scale N`` asks for whole numbers from 0 to N.
"""

from __future__ import annotations

from harness.documents import ratings

task = ratings.rating("valence", "Valence of a text", favourable=True)
