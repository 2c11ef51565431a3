"""Why an answer changed: the words that keep it (S²LCT, RQ4) and the shortest part on which it changes.

The algorithms ask through an ``Ask`` and know nothing of models, caches and budgets; ``flips`` joins them to
a run.
"""
