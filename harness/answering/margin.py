"""How sure a reply was, from its log-probabilities: of the labels, not of the words around them.

Read at the generated tokens that tell the labels apart, all in natural logarithms. Only what the server
listed is known: ``margin`` is marked as a bound where no rival is listed, ``probabilities`` and ``log_odds``
are None where one is not.

``exact``: the answer was constrained to the labels. Some servers list what their constraint forbids as well
("negative" beside "Negative"); then only what is spelt as a label counts.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import exp, expm1, fsum, inf, log

from harness.core import Margin, Reply, Token


@dataclass(frozen=True, slots=True)
class _Place:
    """A generated token, what was left there of each label that might still come, and which went on."""

    path: float
    listed: Sequence[tuple[str, float]]
    least: float | None
    rests: Mapping[str, str]
    ahead: frozenset[str]
    exact: bool


def margin(reply: Reply, label: str, labels: Sequence[str], exact: bool = False) -> Margin | None:
    """Return by how much ``label`` was likelier than the nearest other one of ``labels``; None where unknown.

    Others part from it at one token or another, one that goes on where ``label`` ends at the token behind
    it: the smallest gap there between what goes on with ``label`` and what begins another.
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
    """Return how near the likeliest other set was: the smallest log-odds, either way, of any label being in.

    Known of a classifier alone, which decides each label by itself (one listed token, none generated). What
    a language model lists beside the first label it names is another order as well as another set, and that
    it names no more is not listed at all: None.
    """
    (token, *more) = reply.logprobs or (None,)
    if token is None or more or reply.completion_tokens or not token.top:
        return None
    if not {name for name, _ in token.top} <= set(labels):
        return None
    return Margin(min(abs(_log_odds(logprob)) for _, logprob in token.top))


def probabilities(reply: Reply, labels: Sequence[str], exact: bool = False) -> dict[str, float] | None:
    """The probability of each label, normalised over ``labels``; None where one of them is not listed."""
    logs = _log_probabilities(reply, labels, exact)
    if logs is None:
        return None
    whole = _log_sum(logs.values())
    return {label: exp(value - whole) for label, value in logs.items()}


def log_odds(reply: Reply, labels: Sequence[str], exact: bool = False) -> dict[str, float] | None:
    """Of each label against all the others together (with two labels, against the other one)."""
    logs = _log_probabilities(reply, labels, exact)
    if logs is None or len(logs) < 2:
        return None
    return {
        label: value - _log_sum(other for name, other in logs.items() if name != label)
        for label, value in logs.items()
    }


def expectation(reply: Reply, steps: Sequence[str]) -> float | None:
    """The mean of a scale's ``steps``, single digits, by the probabilities listed where the reply states one.

    Steps that are not listed there count for nothing. None where a step is longer, or where the reply begins
    with anything else.
    """
    if any(len(step) > 1 for step in steps):
        return None
    token = next((one for one in reply.logprobs or () if _fold(one.text)), None)
    if token is None or _fold(token.text) not in steps:
        return None
    listed = [(float(word), exp(logprob)) for word, logprob in _listed(token, False) if word in steps]
    whole = fsum(mass for _, mass in listed)
    return fsum(step * mass for step, mass in listed) / whole if whole else None


def _log_probabilities(reply: Reply, labels: Sequence[str], exact: bool) -> dict[str, float] | None:
    """Log-probability of each label's first tokens that no other label has.

    Labels that begin alike are told apart further along what was generated; those that begin alike
    elsewhere cannot be.
    """
    found: dict[str, float] = {}
    for place in _places(reply, labels, exact):
        told = place.rests.keys() - place.ahead if len(place.ahead) > 1 else place.rests
        for label in told:
            own = _mass(place, label)
            if own == -inf:
                return None
            found[label] = place.path + own
        if len(place.ahead) == 1:
            return {label: found[label] for label in labels}
    return None


def _places(reply: Reply, labels: Sequence[str], exact: bool) -> Iterator[_Place]:
    """The tokens at which some labels part from what was generated; the last leaves one label."""
    rests = {label: label if exact else label.casefold() for label in labels}
    if len(set(rests.values())) != len(labels):
        return
    path = 0.0
    for token in reply.logprobs or ():
        text = token.text if exact else _fold(token.text)
        if not _fold(token.text) and all(rests.values()):
            path += token.logprob  # a quotation mark, or white space, before the label
            continue
        ahead = frozenset(label for label, rest in rests.items() if _begins(rest, text, exact))
        if not ahead:
            return
        if len(ahead) < len(rests):
            least = min((logprob for _, logprob in token.top), default=None)
            yield _Place(path, _listed(token, exact), least, rests, ahead, exact)
        if len(ahead) == 1:
            return
        path += token.logprob
        left = {label: rest[len(text) :] for label, rest in rests.items() if label in ahead}
        rests = left if exact else {label: rest.lstrip() for label, rest in left.items()}


def _mass(place: _Place, label: str) -> float:
    """Log-probability of all alternatives at ``place`` that begin ``label`` and no other one."""
    return _log_sum(
        logprob
        for word, logprob in place.listed
        if [name for name, rest in place.rests.items() if _begins(rest, word, place.exact)] == [label]
    )


def _gap(place: _Place, label: str) -> Margin | None:
    """Return what goes on with ``label`` at ``place`` over the likeliest of those that part there.

    Where none of those is listed, each is less likely than the last that is: a bound.
    """
    exact = place.exact
    rivals = [rest for name, rest in place.rests.items() if name not in place.ahead]
    against = {word for word, _ in place.listed if any(_begins(rest, word, exact) for rest in rivals)}
    own = max(
        logprob
        for word, logprob in place.listed
        if word not in against and _begins(place.rests[label], word, exact)
    )
    if against:
        return Margin(own - max(logprob for word, logprob in place.listed if word in against))
    return Margin(own - place.least, is_bound=True) if place.least is not None else None


def _listed(token: Token, exact: bool) -> list[tuple[str, float]]:
    """What was generated and its alternatives, folded unless they are to be ``exact``."""
    listed = {token.text: token.logprob, **dict(token.top)}
    return [(word if exact else _fold(word), logprob) for word, logprob in listed.items()]


def _begins(rest: str, text: str, exact: bool) -> bool:
    """Whether ``text`` goes on with a label of which ``rest`` is left: after its end comes no word, and
    under a constraint nothing but the end of the answer (an empty or special token, a closing quote)."""
    if not rest:
        return (not text or text[0] in '<"') if exact else not text[:1].isalnum()
    return bool(text) and rest.startswith(text)


def _log_odds(logprob: float) -> float:
    """Of what has the log-probability ``logprob``, against its contrary."""
    return inf if logprob >= 0 else logprob - log(-expm1(logprob))


def _log_sum(logs: Iterable[float]) -> float:
    """The logarithm of the sum of what ``logs`` are the logarithms of."""
    values = list(logs)
    top = max(values, default=-inf)
    return top if top == -inf else top + log(fsum(exp(value - top) for value in values))


def _fold(text: str) -> str:
    return text.strip(" \"'*").casefold()
