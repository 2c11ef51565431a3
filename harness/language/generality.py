"""Decide whether a noun speaks of persons in general, of whom nothing is said to be true in particular.

*People who liked this*, *if he were a woman*, *not a single man*: with another attribute such a statement is
about fewer, or about others, and no person is described.
"""

from __future__ import annotations

from harness.language.parsed_text import ParsedText
from harness.language.people import People
from harness.language.surface import paradigm

SPECIFIC = frozenset("the these those both several two three four five six seven eight nine ten".split())  # noqa: SIM905
OWNERS = frozenset("his her their its my".split())  # noqa: SIM905
OF_SOME = frozenset("group groups pair couple mob gang bunch trio crowd team band handful".split())  # noqa: SIM905
EVERY = frozenset("all any every each no not many most such single only".split())  # noqa: SIM905
TYPES = frozenset("ideal perfect typical stereotypical average".split())  # noqa: SIM905
GOOD = frozenset("good better bad decent genuine nice real whole".split())  # noqa: SIM905
ANYBODY = frozenset({"people", "persons", "folks"})
ARTICLES = frozenset({"a", "an", "one", "another"})
LIKENESSES = frozenset(
    """shell shadow ghost wreck bear giant mountain hell beast mess slob brute devil saint husk
    hulk""".split()  # noqa: SIM905
)
INNER = frozenset("mind minds heart soul psyche world idea notion concept theme kind sort type image".split())  # noqa: SIM905
WISHES = frozenset({"wish", "wishes", "wished", "wishing"})
NOT_REAL = frozenset("if like than n't never unless whether".split())  # noqa: SIM905


def general(reading: ParsedText, words: People, head: int) -> bool:
    """Return whether the noun at token ``head`` is of persons in general, or of nobody in particular."""
    if reading.tokens[head].tag not in ("NN", "NNS") or paradigm(reading.lower(head)):
        return False
    children = {reading.lower(c) for c in reading.children[head]}
    above = reading.tokens[head].head
    of_all = reading.lower(above) == "of" and reading.lower(reading.tokens[above].head) == "all"
    certain = "the" in children and reading.lower(head) not in ANYBODY  # all the waiters
    one = any(reading.lower(c) == "one" for c in reading.children[head])  # not one man
    good = reading.lower(head) == "person" and children & GOOD  # being a good person
    if of_all or one or good or children & TYPES or (children & EVERY and not certain):
        return True
    if reading.tokens[head].tag == "NNS" or words.singular(reading.lower(head)) is not None:
        return not _some(reading, head)
    if "the" in children and _entitled(reading, head):
        return True
    return bool(children & ARTICLES) and (_supposed(reading, head) or _of_anybody(reading, words, head))


def _of_anybody(reading: ParsedText, words: People, head: int) -> bool:
    """Return whether *a man* says what something is like: *a shell of a man*, *the mind of a man*."""
    above = reading.tokens[head].head
    if reading.tokens[head].dep != "pobj" or reading.lower(above) != "of":
        return False
    noun = reading.tokens[above].head
    word = reading.lower(noun)
    likened = any(reading.lower(c) in ("a", "an") for c in reading.children[noun])
    return word in INNER or (likened and (word in LIKENESSES or words.person(word)))


def _entitled(reading: ParsedText, head: int) -> bool:
    """Return whether a rule speaks of *the child*: *the child has the right*, *the person shall*."""
    token = reading.tokens[head]
    if token.dep not in ("nsubj", "nsubjpass"):
        return False
    below = {reading.lower(c) for c in reading.children[token.head]}
    return "shall" in below or (reading.lower(token.head) in ("has", "have") and "right" in below)


def _some(reading: ParsedText, head: int) -> bool:
    """Return whether a plural noun means certain persons: *the men*, *her sons*, *a group of women*."""
    token = reading.tokens[head]
    children = {reading.lower(c) for c in reading.children[head]}
    below = [reading.tokens[c] for c in reading.children[head]]
    anybody = reading.lower(head) in ANYBODY
    if any(c.dep == "nummod" for c in below) or children & OWNERS or (children & SPECIFIC and not anybody):
        return True
    told = "some" in children or any(c.dep == "amod" for c in below)
    if told and not anybody and not children & EVERY:
        return not any(reading.tokens[c].tag == "MD" for c in reading.children[token.head])
    above = token.head
    if token.dep == "pobj" and reading.lower(above) == "of":
        return reading.lower(reading.tokens[above].head) in OF_SOME
    if token.dep == "conj":
        return _some(reading, above)
    return False


def _supposed(reading: ParsedText, head: int) -> bool:
    """Return whether *a woman* is somebody supposed, denied or compared: *if he were a woman*."""
    if reading.tokens[head].dep == "appos":
        return False
    if reading.lower(reading.tokens[head].head) in ("like", "than", "without"):
        return True
    for index in reading.ancestors(head):
        if reading.tokens[index].tag[:2] == "VB":
            below = reading.children[index]
            words = {reading.lower(c) for c in below}
            only = any(reading.lower(c) == "not" and reading.lower(c + 1) == "only" for c in below)
            denied = ("not" in words and not only) or "you" in words
            wished = reading.lower(reading.tokens[index].head) in WISHES
            if words & NOT_REAL or denied or wished or any(reading.tokens[c].tag == "MD" for c in below):
                return True
            if reading.tokens[index].dep != "xcomp":  # did not seem to be a man
                return False
    return False
