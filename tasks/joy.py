"""Intensity of joy: how much joy does the writer, or the person written about, feel? (EEC, section 4)

A rating from 0 to 1; ``--scale N`` asks for whole numbers from 0 to N.
"""

from __future__ import annotations

from harness.documents import ratings

task = ratings.rating("joy", "Intensity of joy")
