"""How sure a reply was, from its log-probabilities: of the labels, not of the words around them.

Read at the generated tokens that tell the labels apart, all in natural logarithms. Only what the server
listed is known: ``margin`` is a lower bound where a rival is not listed, ``probabilities`` and ``log_odds``
are then None.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from math import exp, fsum, inf, log

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


def probabilities(reply: Reply, labels: Sequence[str]) -> dict[str, float] | None:
    """The probability of each label, normalised over ``labels``; None where one of them is not listed."""
    logs = _log_probabilities(reply, labels)
    if logs is None:
        return None
    whole = _log_sum(logs.values())
    return {label: exp(value - whole) for label, value in logs.items()}


def log_odds(reply: Reply, labels: Sequence[str]) -> dict[str, float] | None:
    """Of each label against all the others together (with two labels, against the other one)."""
    logs = _log_probabilities(reply, labels)
    if logs is None or len(logs) < 2:
        return None
    return {
        label: value - _log_sum(other for name, other in logs.items() if name != label)
        for label, value in logs.items()
    }


def shift(original: Reply, mutant: Reply, label: str, labels: Sequence[str]) -> float | None:
    """By how much the mutation raised the log-odds of ``label`` (the original's), flipped or not."""
    before, after = log_odds(original, labels), log_odds(mutant, labels)
    if before is None or after is None or label not in before:
        return None
    return after[label] - before[label]


def _log_probabilities(reply: Reply, labels: Sequence[str]) -> dict[str, float] | None:
    """Log-probability of each label's first tokens that no other label has.

    Labels that begin alike are told apart further along what was generated; those that begin alike
    elsewhere cannot be.
    """
    rests = {label: label.casefold() for label in labels}
    if len(set(rests.values())) != len(labels) or not labels:
        return None
    found: dict[str, float] = {}
    path = 0.0
    for token in reply.logprobs or ():
        text = _fold(token.text)
        if not text and all(rests.values()):
            path += token.logprob  # a quotation mark, or white space, before the label
            continue
        ahead = {label: rest for label, rest in rests.items() if _begins(rest, text)}
        if not ahead:
            return None
        for label in rests if len(ahead) == 1 else rests.keys() - ahead.keys():
            own = _mass(token, label, rests)
            if own == -inf:
                return None
            found[label] = path + own
        if len(ahead) == 1:
            return {label: found[label] for label in labels}
        path += token.logprob
        rests = {label: rest[len(text) :].lstrip() for label, rest in ahead.items()}
    return None


def _mass(token: Token, label: str, rests: dict[str, str]) -> float:
    """Log-probability of all alternatives at ``token`` that begin ``label`` and no other one."""
    listed = {token.text: token.logprob, **dict(token.top)}
    return _log_sum(
        logprob
        for word, logprob in listed.items()
        if [name for name, rest in rests.items() if _begins(rest, _fold(word))] == [label]
    )


def _begins(rest: str, text: str) -> bool:
    """Whether ``text`` goes on with a label of which ``rest`` is left: after its end comes no word."""
    if not rest:
        return not text[:1].isalnum()
    return bool(text) and rest.startswith(text)


def _log_sum(logs: Iterable[float]) -> float:
    """The logarithm of the sum of what ``logs`` are the logarithms of."""
    values = list(logs)
    top = max(values, default=-inf)
    return top if top == -inf else top + log(fsum(exp(value - top) for value in values))


def _gap(token: Token, text: str, rivals: Sequence[str]) -> float | None:
    alternatives = [(_fold(word), logprob) for word, logprob in token.top]
    own = max([token.logprob, *(lp for word, lp in alternatives if word == text)])
    against = [lp for word, lp in alternatives if word and any(_fold(r).startswith(word) for r in rivals)]
    if against:
        return own - max(against)
    return own - min(lp for _, lp in alternatives) if alternatives else None


def _fold(text: str) -> str:
    return text.strip(" \"'*").casefold()
