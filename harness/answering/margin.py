"""How near a reply was to another label: the gap of log-probabilities where the labels part.

Read at the first generated token that tells the labels apart. A label that is not among the alternatives
there is at most as likely as the last of them, so the margin is then a lower bound.
"""

from __future__ import annotations

from collections.abc import Sequence

from harness.core import Reply, Token

NEAR_TIE = 0.1
"""Natural-log units: below this the rarer label has more than 47 % of the two."""


def margin(reply: Reply, label: str, labels: Sequence[str]) -> float | None:
    """Log-probability of ``label`` over the likeliest other one of ``labels``; None where it is not known."""
    others = [other for other in labels if other != label]
    for token in reply.logprobs or ():
        text = _fold(token.text)
        if not text:
            continue
        if not _fold(label).startswith(text):
            return None
        rivals = [other for other in others if not _fold(other).startswith(text)]
        if rivals:
            return _gap(token, text, rivals)
        label, others = label[len(text) :], [other[len(text) :] for other in others]
    return None


def _gap(token: Token, text: str, rivals: Sequence[str]) -> float | None:
    alternatives = [(_fold(word), logprob) for word, logprob in token.top]
    own = max([token.logprob, *(lp for word, lp in alternatives if word == text)])
    against = [lp for word, lp in alternatives if word and any(_fold(r).startswith(word) for r in rivals)]
    if against:
        return own - max(against)
    return own - min(lp for _, lp in alternatives) if alternatives else None


def _fold(text: str) -> str:
    return text.strip(" \"'*").casefold()
