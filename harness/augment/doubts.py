"""When the label of a text may not hold for its versions: where it follows from the person spoken of.

"The applicant is a woman" is true of one version and false of the other. Whether a label follows from a
changed attribute cannot be known from one row, so this looks for what shows it: a question or a label that
names the attribute or a group of it, and a text that is about the attribute itself.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from harness.core import Span, Substitution
from harness.language.people import people
from harness.suites.lexicon import Attribute, Lexicon

NAMES: Mapping[str, str] = {
    "age": "age aged ages ageism ageist elderly generation youth",
    "appearance": "appearance looks beauty",
    "body": "body disability disabilities disabled ableism ableist illness obesity age",
    "disability": "disability disabilities disabled ableism ableist impairment accessibility",
    "gender": "gender genders gendered sex sexes sexism sexist feminism feminist feminists misogyny"
    " misogynist misogynistic patriarchy motherhood fatherhood masculinity femininity",
    "names": "ethnicity ethnic race gender sex",
    "occupation": "occupation occupations profession professions job jobs",
    "race": "race races racial racism racist racists ethnicity ethnic nationality nationalities citizenship"
    " xenophobia xenophobic immigration immigrant immigrants",
    "religion": "religion religions religious faith faiths islamophobia antisemitism",
    "sexual_orientation": "sexuality orientation homophobia homophobic",
    "social_class": "class wealth poverty income",
}
"""Words for the attributes of the bundled lexicons. Any attribute has its own name besides."""
UNMARKED = frozenset({"plain", "none"})
"""Groups of versions in which an attribute is not mentioned."""
_WORD = re.compile(r"[\w-]+")

QUESTION, LABEL, TEXT = "the question names it", "the label names it", "the text is about it"
"""Why a label may not hold where an attribute changes."""


class Doubts:
    """The doubts about the labels of a task that asks with the words ``asked``."""

    def __init__(self, asked: str, lexicon: Lexicon) -> None:
        self._asked = asked
        self._lexicon = lexicon
        self._topics: dict[str, Topic] = {}
        self._questioned: dict[str, bool] = {}

    def why(self, changes: Iterable[Substitution], labels: Iterable[str], text: str) -> str:
        """Return why ``labels`` of ``text`` may not hold where it is changed so; "" for no reason."""
        said = " / ".join(labels)
        for change in changes:
            topic = self._topic(change.attribute)
            for reason, found in (
                (QUESTION, self._questioned[change.attribute]),
                (LABEL, topic.named(said) or topic.grouped(said) or _has(said, change)),
                (TEXT, topic.named(text) or topic.about(text)),
            ):
                if found:
                    return f"{change.attribute}: {reason}"
        return ""

    def _topic(self, name: str) -> Topic:
        if name not in self._topics:
            topic = Topic.of(name, self._lexicon.attributes.get(name))
            self._topics[name] = topic
            self._questioned[name] = topic.named(self._asked) or topic.speaks_of_persons(self._asked)
        return self._topics[name]


@dataclass(frozen=True)
class Topic:
    """The words by which an attribute, and its groups, are named."""

    names: frozenset[str]
    groups: frozenset[str]
    subjects: frozenset[str]
    attribute: Attribute | None

    @classmethod
    def of(cls, name: str, attribute: Attribute | None) -> Topic:
        names = {*NAMES.get(name, "").split(), *name.lower().split("_")}
        groups = attribute.groups if attribute else ()
        words = {part for group in groups if group not in UNMARKED for part in group.lower().split("_")}
        return cls(frozenset(names), frozenset(words), people().about.get(name, frozenset()), attribute)

    def named(self, text: str) -> bool:
        """Return whether ``text`` names the attribute itself: *gender*, *racism*."""
        return not self.names.isdisjoint(_words(text))

    def about(self, text: str) -> bool:
        """Return whether ``text`` has a word that only texts about the attribute have."""
        return not self.subjects.isdisjoint(_words(text))

    def grouped(self, label: str) -> bool:
        """Return whether ``label`` names a group, or has a word for one."""
        return not self.groups.isdisjoint(_words(label)) or any(self._persons(label))

    def speaks_of_persons(self, question: str) -> bool:
        """Return whether ``question`` has a word for a group that is no part of a name."""
        return any(not re.match(r"\s+[A-Z]", question[end:]) for _, end in self._persons(question))

    def _persons(self, text: str) -> Iterator[Span]:
        """Yield the words in ``text`` for persons of a group; those that tell no group are left out."""
        if self.attribute is None:
            return
        for term, spans in self.attribute.find(text).items():
            exchanges = self.attribute.exchanges[term]
            if any(not e.word_only and e.operation != "insertion" for e in exchanges):
                yield from spans


def _has(label: str, change: Substitution) -> bool:
    """Return whether ``label`` has the words that were replaced, or those in their place."""
    words = _words(label)
    return any(_words(each) <= words for each in (change.source, change.target) if _words(each))


def _words(text: str) -> frozenset[str]:
    return frozenset(word.lower() for word in _WORD.findall(text))
