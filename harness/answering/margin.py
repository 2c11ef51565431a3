"""How certain a reply was, from its log-probabilities: certain of the label, not of the words around it.

Everything is read at the generated tokens that tell the labels apart, in natural logarithms. Only what the
server listed is known: ``margin`` is a bound where no rival is listed; ``probabilities`` and ``log_odds`` are
None where a label is not listed.

``exact`` means that the answer was constrained to the labels. Some servers list even what the constraint
forbids ("negative" beside "Negative"); then only text spelt exactly as a label counts.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import exp, expm1, fsum, inf, log

from harness.core import Margin, Reply, Token


@dataclass(frozen=True, slots=True)
class _Place:
    """A generated token at which labels diverge.

    ``path`` is the log-probability of the tokens before it, ``listed`` the token with its alternatives,
    ``least`` the smallest log-probability listed. ``remainders`` holds what is left of each label still
    possible, and ``ahead`` the labels that the generated token continues.
    """

    path: float
    listed: Sequence[tuple[str, float]]
    least: float | None
    remainders: Mapping[str, str]
    ahead: frozenset[str]
    exact: bool


def margin(reply: Reply, label: str, labels: Sequence[str], exact: bool = False) -> Margin | None:
    """Return how much likelier ``label`` was than the nearest other label; None where unknown.

    Each rival diverges from ``label`` at some token; one that continues where ``label`` ends, at the token
    after it. The margin is the smallest gap at these tokens between what continues ``label`` and what begins
    a rival.
    """
    gaps: list[Margin] = []
    for place in _places(reply, labels, exact):
        gap = _gap(place, label) if label in place.ahead else None
        if gap is None:
            return None
        gaps.append(gap)
        if len(place.ahead) == 1:
            return Margin.smallest(gaps)
    return None


def set_margin(reply: Reply, labels: Sequence[str]) -> Margin | None:
    """Return the margin to the likeliest other set: the smallest absolute log-odds of a label being included.

    It is known only of a classifier, which decides each label by itself (one listed token, none generated).
    For a language model it is None: what it lists beside the first label may be another order as well as
    another set, and that no further label follows is not listed at all.
    """
    (token, *more) = reply.logprobs or (None,)
    if token is None or more or reply.completion_tokens or not token.top:
        return None
    if not {name for name, _ in token.top} <= set(labels):
        return None
    return Margin(min(abs(_log_odds(logprob)) for _, logprob in token.top))


def probabilities(reply: Reply, labels: Sequence[str], exact: bool = False) -> dict[str, float] | None:
    """Return the probability of each label, normalised over ``labels``; None where a label is not listed."""
    logs = _log_probabilities(reply, labels, exact)
    if logs is None:
        return None
    whole = _log_sum(logs.values())
    return {label: exp(value - whole) for label, value in logs.items()}


def log_odds(reply: Reply, labels: Sequence[str], exact: bool = False) -> dict[str, float] | None:
    """Return the log-odds of each label against all others together; None where a label is not listed."""
    logs = _log_probabilities(reply, labels, exact)
    if logs is None or len(logs) < 2:
        return None
    return {
        label: value - _log_sum(other for name, other in logs.items() if name != label)
        for label, value in logs.items()
    }


def mass(reply: Reply, labels: Sequence[str], exact: bool = False) -> float | None:
    """Return the probability of all labels together; None where a label is not listed."""
    logs = _log_probabilities(reply, labels, exact)
    return None if logs is None else min(1.0, exp(_log_sum(logs.values())))


def together(log_odds: Mapping[str, float], labels: Sequence[str]) -> float | None:
    """Return the log-odds that the answer is any of ``labels``, from those of each; None without labels.

    With several labels, no more certain than double precision allows.
    """
    if len(labels) < 2:
        return log_odds[labels[0]] if labels else None
    chance = fsum(_chance(log_odds[label]) for label in labels)
    return log(chance) - log(1 - chance) if 0 < chance < 1 else None


def expectation(reply: Reply, steps: Sequence[str]) -> float | None:
    """Return the mean of a scale's single-digit ``steps``, weighted by the probabilities at the first word.

    Steps that are not listed have no weight. None where a step is longer, or where the reply does not begin
    with a step.
    """
    if any(len(step) > 1 for step in steps):
        return None
    token = next((token for token in reply.logprobs or () if _fold(token.text)), None)
    if token is None or _fold(token.text) not in steps:
        return None
    listed = [(float(word), exp(logprob)) for word, logprob in _listed(token, False) if word in steps]
    whole = fsum(mass for _, mass in listed)
    return fsum(step * mass for step, mass in listed) / whole if whole else None


def _log_probabilities(reply: Reply, labels: Sequence[str], exact: bool) -> dict[str, float] | None:
    """Return the log-probability of each label up to the token that distinguishes it from all others.

    Labels with a common beginning are distinguished further along the generated text; None where a common
    beginning lies elsewhere, since they cannot be distinguished there.
    """
    logs: dict[str, float] = {}
    for place in _places(reply, labels, exact):
        distinct = place.remainders.keys() - place.ahead if len(place.ahead) > 1 else place.remainders
        for label in distinct:
            mass = _mass(place, label)
            if mass == -inf:
                return None
            logs[label] = place.path + mass
        if len(place.ahead) == 1:
            return {label: logs[label] for label in labels}
    return None


def _places(reply: Reply, labels: Sequence[str], exact: bool) -> Iterator[_Place]:
    """Yield the tokens at which labels diverge from the generated text, until only one label is left."""
    remainders = {label: label if exact else label.casefold() for label in labels}
    if len(set(remainders.values())) != len(labels):
        return
    path = 0.0
    for token in reply.logprobs or ():
        text = token.text if exact else _fold(token.text)
        if not _fold(token.text) and all(remainders.values()):
            path += token.logprob  # a quotation mark, or white space, before the label
            continue
        ahead = frozenset(label for label, remainder in remainders.items() if _begins(remainder, text, exact))
        if not ahead:
            return
        if len(ahead) < len(remainders):
            least = min((logprob for _, logprob in token.top), default=None)
            yield _Place(path, _listed(token, exact), least, remainders, ahead, exact)
        if len(ahead) == 1:
            return
        path += token.logprob
        left = {label: remainder[len(text) :] for label, remainder in remainders.items() if label in ahead}
        remainders = left if exact else {label: remainder.lstrip() for label, remainder in left.items()}


def _mass(place: _Place, label: str) -> float:
    """Return the log-probability of all alternatives at ``place`` that begin ``label`` and no other label."""
    return _log_sum(
        logprob
        for word, logprob in place.listed
        if [name for name, remainder in place.remainders.items() if _begins(remainder, word, place.exact)]
        == [label]
    )


def _gap(place: _Place, label: str) -> Margin | None:
    """Return the gap between what continues ``label`` at ``place`` and the likeliest rival diverging there.

    Where no rival is listed, each is less likely than the last alternative listed, so that the gap is a
    bound.
    """
    exact = place.exact
    rivals = [remainder for name, remainder in place.remainders.items() if name not in place.ahead]
    against = {
        word for word, _ in place.listed if any(_begins(remainder, word, exact) for remainder in rivals)
    }
    best = max(
        logprob
        for word, logprob in place.listed
        if word not in against and _begins(place.remainders[label], word, exact)
    )
    if against:
        return Margin(best - max(logprob for word, logprob in place.listed if word in against))
    return Margin(best - place.least, is_bound=True) if place.least is not None else None


def _listed(token: Token, exact: bool) -> list[tuple[str, float]]:
    """Return the generated token and its alternatives, folded unless ``exact``."""
    listed = {token.text: token.logprob, **dict(token.top)}
    return [(word if exact else _fold(word), logprob) for word, logprob in listed.items()]


def _begins(remainder: str, text: str, exact: bool) -> bool:
    """Return whether ``text`` continues a label of which ``remainder`` is left.

    After the label's end no word may follow and, where answers are ``exact``, only the end of the answer (an
    empty or special token, a closing quote).
    """
    if not remainder:
        return (not text or text[0] in '<"') if exact else not text[:1].isalnum()
    return bool(text) and remainder.startswith(text)


def _chance(odds: float) -> float:
    """Return the probability of an event with the log-odds ``odds``, which may be of any size."""
    return 1 / (1 + exp(-odds)) if odds >= 0 else exp(odds) / (1 + exp(odds))


def _log_odds(logprob: float) -> float:
    """Return the log-odds of an event with the log-probability ``logprob``."""
    return inf if logprob >= 0 else logprob - log(-expm1(logprob))


def _log_sum(logs: Iterable[float]) -> float:
    """Return the logarithm of the sum of the numbers whose logarithms are ``logs``."""
    values = list(logs)
    top = max(values, default=-inf)
    return top if top == -inf else top + log(fsum(exp(value - top) for value in values))


def _fold(text: str) -> str:
    return text.strip(" \"'*").casefold()
