"""Whether an occupation in a text is one person's job and can be exchanged: *off guard* is not.

An occupation in doubt is passed over: one template fewer is better than a wrong one.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Sequence
from itertools import islice

from harness.core import Span
from harness.language.antecedents import SUBJECTS
from harness.language.entities import Resolution
from harness.language.generality import general
from harness.language.mentions import who_clause
from harness.language.parsed_text import ParsedText
from harness.language.people import people
from harness.language.person_names import NAME_TAGS, quotations
from harness.language.persons import vocabulary
from harness.suites.biasfinder.templates import Reason, Refusal

DETERMINERS = frozenset({"det", "poss", "predet"})
NAMED = frozenset({"compound", "nmod", "amod", "appos"})
COMPLEMENTS = frozenset(
    {"of", "for", "to", "behind"}
)  # the writer of three novels is no butcher of three novels
DESCENT = frozenset("age breed descent faith kind origin race sort".split())  # noqa: SIM905
QUALITIES = frozenset("awful bad better good great horrible lousy poor terrible worse".split())  # noqa: SIM905
THINGS = frozenset("it this that these which what here there".split())  # noqa: SIM905
FAVORITE = frozenset({"favorite", "favourite"})
BROADCASTS = frozenset("tv television serie series show network episode season".split())  # noqa: SIM905
OTHERS = frozenset({"another", "other"})
TYPES = frozenset("actual real true typical other".split())  # noqa: SIM905
MAKERS = frozenset(
    """filmmaker designer writer screenwriter scriptwriter director producer editor composer
    cinematographer""".split()  # noqa: SIM905
)
FILMS = frozenset("film films movie movies picture show series script".split())  # noqa: SIM905
RELATIONS = frozenset({"boss", "chief", "supervisor"})
ABILITIES = frozenset({"cook", "dancer", "driver", "judge", "player", "singer"})
OTHER_WORDS = {
    "doctor": ("dr",),
    "surgeon": ("dr",),
    "officer": ("cop", "cops"),
    "driver": ("cabby", "cabbie"),
    "teacher": ("student", "students", "pupil", "pupils"),
    "cook": ("culinary",),
    "farmer": ("crop", "crops"),
}
STEM = 4  # letters that tell a verb of the same work
_JOINED = re.compile(r"[-/&’'\"“”«»‘]")


class Worker:
    """An occupation: the tokens of its noun ``[noun, head]``, and ``first``, where its modifiers begin."""

    def __init__(self, reading: ParsedText, first: int, noun: int, head: int) -> None:
        self.first, self.noun, self.head = first, noun, head
        self.span: Span = (reading.tokens[first].start, reading.tokens[head].end)


def objection(resolution: Resolution, worker: Worker, linked: Collection[int]) -> Refusal | None:
    """Return why ``worker`` cannot be exchanged, None if it can.

    ``linked`` are the head tokens of all mentions that are exchanged with it.
    """
    checks: Sequence[tuple[Reason, Callable[[], bool]]] = (
        ("not-a-person", lambda: _of_thing(resolution.reading, worker)),
        ("not-a-person", lambda: _bare(resolution.reading, worker)),
        ("not-a-person", lambda: _type(resolution.reading, worker)),
        ("not-a-person", lambda: _in_title(resolution.reading, worker)),
        ("maker", lambda: _makes_it(resolution.reading, worker)),
        ("joined", lambda: _joined(resolution.reading, worker)),
        ("complement", lambda: _completed(resolution.reading, worker.head)),
        ("word-left", lambda: _left(resolution.reading, worker, linked)),
        ("other-title", lambda: _titled(resolution, worker)),
    )
    text = resolution.reading.text[slice(*worker.span)]
    return next((Refusal(reason, text) for reason, applies in checks if applies()), None)


def _of_thing(reading: ParsedText, worker: Worker) -> bool:
    """Return whether the noun describes a thing: *it's the ultimate judge*, *a TV pilot*."""
    token = reading.tokens[worker.head]
    if reading.lower(worker.head) == "pilot" and any(
        reading.lower(i).removesuffix("s") in BROADCASTS for i in range(len(reading.tokens))
    ):
        return True
    if token.dep not in ("attr", "acomp", "oprd"):
        return False
    quality = {reading.lower(child) for child in reading.children[worker.head]} & QUALITIES
    if quality and reading.lower(worker.head) in ABILITIES:
        return True  # he takes taxis, for he is a terrible driver
    subjects = [c for c in reading.children[token.head] if reading.tokens[c].dep in SUBJECTS]
    return any(_thing(reading, subject) for subject in subjects) and who_clause(reading, worker.head) is None


def _thing(reading: ParsedText, subject: int) -> bool:
    word = reading.lower(subject)
    common = reading.tokens[subject].tag in ("NN", "NNS")
    return word in THINGS or (common and not people().person(word))


def _bare(reading: ParsedText, worker: Worker) -> bool:
    """Return whether a noun without a determiner names no person by the way: *caught off guard*."""
    token = reading.tokens[worker.head]
    if _determined(reading, worker.head):
        return False
    if worker.first and reading.tokens[worker.first - 1].tag in ("DT", "PRP$", "POS"):
        return False
    beside = reading.tokens[token.head]
    if token.dep in NAMED and beside.tag in NAME_TAGS:
        return False
    return not any(
        reading.tokens[c].dep == "appos" and reading.tokens[c].tag in NAME_TAGS
        for c in reading.children[worker.head]
    )


def _type(reading: ParsedText, worker: Worker) -> bool:
    """Return whether a noun means a kind of person, or a relation: *an actual teacher*, *his supervisor*."""
    children = {reading.lower(c) for c in reading.children[worker.head]}
    token = reading.tokens[worker.head]
    if (
        (children & TYPES)
        or (reading.lower(worker.head) in RELATIONS and reading.owned(worker.head))
        or _without(reading, worker.head)
        or general(reading, people(), worker.head)
    ):
        return True
    would = any(reading.lower(c) == "would" for c in reading.children[token.head])
    return token.dep in SUBJECTS and would and bool(children & {"a", "an"})


def _without(reading: ParsedText, head: int) -> bool:
    """Return whether there is no such person: *without a lawyer*, *without so much as a lawyer*."""
    return any(reading.lower(index) == "without" for index in islice(reading.ancestors(head), 3))


def _makes_it(reading: ParsedText, worker: Worker) -> bool:
    """Return whether a noun may be for who made the work reviewed: *the writer* in a text about a film."""
    if reading.lower(worker.head) not in MAKERS:
        return False
    credited = reading.lower(reading.tokens[worker.head].head) == "as"
    introduced = any(reading.lower(c) in ("a", "an") for c in reading.children[worker.head])
    return (credited or not introduced) and any(reading.lower(i) in FILMS for i in range(len(reading.tokens)))


def _in_title(reading: ParsedText, worker: Worker) -> bool:
    """Return whether the words belong to a title, a fixed phrase or a name: *The Wedding Singer*."""
    start, end = worker.span
    spans = [*quotations(reading.text), *people().fixed(reading.text)]
    if any(low < end and start < high for low, high in spans):
        return True
    opens = start == 0 or reading.tokens[worker.first - 1].sentence != reading.tokens[worker.first].sentence
    head = reading.word(worker.head)
    return head.istitle() and not (opens and worker.first == worker.head)


def _joined(reading: ParsedText, worker: Worker) -> bool:
    """Return whether a sign or a coordinated adjective ties the words to others: *director/writer*."""
    start, end = worker.span
    text = reading.text
    noun = text[reading.tokens[worker.noun].start : end].replace("'s", "")
    possessive = re.match(r"['’]s\b", text[end : end + 2]) is not None
    after = "" if possessive else text[end : end + 1]
    if _JOINED.search(text[max(0, start - 1) : start] + noun + after) or "/" in text[start:end]:
        return True
    if _coordinated(reading, worker.head):
        return True
    outside = [c for c in reading.children[worker.head] if c < worker.first]
    modifiers = any(reading.tokens[c].dep in (*NAMED, "cc", "conj") for c in outside)
    return modifiers or _adjective_list(reading, worker)


def _coordinated(reading: ParsedText, head: int) -> bool:
    """Return whether the noun goes on with another for the same person: *a writer, director and agent*."""
    others = [c for c in reading.children[head] if c > head and reading.tokens[c].dep == "conj"]
    if any(reading.tokens[c].tag == "NN" and not _determined(reading, c) for c in others):
        return True
    if head + 2 >= len(reading.tokens) or reading.lower(head + 1) not in ("and", "or"):
        return False
    return reading.tokens[head + 2].tag == "NN"


def _determined(reading: ParsedText, head: int) -> bool:
    return any(reading.tokens[child].dep in DETERMINERS for child in reading.children[head])


def _adjective_list(reading: ParsedText, worker: Worker) -> bool:
    """Return whether adjectives stand before the modifiers: *an emotional and clumsy barber*."""
    index = worker.first - 1
    while index >= 0 and reading.tokens[index].tag in ("CC", ",", "RB"):
        index -= 1
    return index >= 0 and index < worker.first - 1 and reading.tokens[index].tag[:2] == "JJ"


def _completed(reading: ParsedText, head: int) -> bool:
    """Return whether the noun needs the words around it: *the writer of novels*, *my favorite writer*."""
    if any(reading.lower(c) in FAVORITE or reading.tokens[c].tag == "JJS" for c in reading.children[head]):
        return True
    follows = head + 1
    if follows == len(reading.tokens) or reading.lower(follows) not in COMPLEMENTS:
        return False
    return not any(reading.lower(child) in DESCENT for child in reading.children[follows])


def _left(reading: ParsedText, worker: Worker, linked: Collection[int]) -> bool:
    """Return whether the word stands elsewhere, maybe for the same person: *a barber … the two barbers*."""
    noun = reading.lower(worker.head)
    forms = {noun, f"{noun}s", f"{noun[:-1]}ies", *OTHER_WORDS.get(noun, ())}
    below = set(reading.subtree(worker.head))
    return _does_it(reading, worker.head) or any(
        reading.lower(index).rstrip(".") in forms
        and index not in linked
        and (index in below or not _another(reading, index, index > worker.head))
        for index in range(len(reading.tokens))
    )


def _does_it(reading: ParsedText, head: int) -> bool:
    """Return whether a verb near by tells of the work: *the coach … coaches the boys*."""
    noun = reading.lower(head)
    stem = noun[:-2] if noun.endswith(("er", "or")) else noun
    if len(stem) < STEM:
        return False
    sentence = reading.tokens[head].sentence
    return any(
        token.tag[:2] == "VB" and abs(token.sentence - sentence) <= 1 and reading.lower(i).startswith(stem)
        for i, token in enumerate(reading.tokens)
    )


def _another(reading: ParsedText, index: int, later: bool) -> bool:
    """Return whether a noun phrase names another person than the worker, after whom it may come ``later``.

    Such are *another pilot* after *a pilot*, and *the engineer beside her*.
    """
    if reading.tokens[index].tag == "NNS":
        return False
    children = reading.children[index]
    above = reading.tokens[index].head
    subjects = [c for c in reading.children[above] if reading.tokens[c].dep in SUBJECTS]
    if reading.tokens[index].dep == "attr" and not subjects:
        return False  # she is a nurse, tired of being a nurse
    if later and any(reading.lower(child) in OTHERS for child in children if child < index):
        return True
    beside = any(
        child > index and (reading.tokens[child].dep == "prep" or reading.lower(child) == "next")
        for child in children
    )
    return later and (beside or who_clause(reading, index) is not None)


def _titled(resolution: Resolution, worker: Worker) -> bool:
    """Return whether the worker has the title of a profession or a rank: *the scientist Dr. Simon*."""
    reading = resolution.reading
    ranks = {title for title, gender in vocabulary().titles.items() if gender is None}
    mentions = [
        m for e in resolution.entities if worker.head in {m.head for m in e.mentions} for m in e.mentions
    ]
    starts = [reading.at(m.start) for m in mentions if m.kind == "name"]
    before = [index - 1 for index in starts if index]
    return any(
        reading.lower(index).rstrip(".") in ranks and index != worker.head
        for index in [*before, worker.head + 1]
        if index < len(reading.tokens)
    )
