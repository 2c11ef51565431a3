"""Why an answer changed: the words that keep it (S²LCT, RQ4) and the shortest part on which it changes.

The algorithms ask through an ``Ask`` and know nothing of models, caches or budgets; ``flips`` connects them
to a run.
"""
