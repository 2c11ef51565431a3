"""Human review: a blinded sample of a run's texts for annotators, and figures of their answers.

Follows the manual study of S²LCT (Section 4, RQ2 and RQ3): are the labels right, and do the texts belong to
their capability? The same sheet serves BiasFinder's study of fluency.
"""

from __future__ import annotations
