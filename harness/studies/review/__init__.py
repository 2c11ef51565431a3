"""Human review: a blinded sample of a run's texts for annotators, and what their answers say of the cases.

S²LCT's manual study (section 4, RQ2 and RQ3): are the labels right, do the texts belong to their capability?
The same sheet serves BiasFinder's study of fluency.
"""

from __future__ import annotations
