"""Decide whether a word of a dictionary describes a person where it stands, and whom.

The sentence's structure decides: the word is a noun for a person, or an attribute or a predicate of such a
noun, a pronoun or a name. Words in names, titles of works and fixed phrases describe nobody, and neither do
definitions of legal persons.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from harness.core import Span
from harness.language.antecedents import SUBJECTS
from harness.language.parsed_text import ParsedText
from harness.language.people import KINSHIP, People
from harness.language.person_names import NAME_TAGS, quotations
from harness.language.persons import Mention
from harness.language.surface import paradigm

MODIFIERS = frozenset({"amod", "compound", "nmod"})
ARGUMENTS = frozenset({"nsubj", "nsubjpass", "dobj", "pobj", "appos"})
PREDICATES = frozenset({"acomp", "attr", "oprd"})
OUTSIDE = frozenset({"intj", "npadvmod", "vocative", "dep"})
DETERMINERS = frozenset({"det", "poss", "nummod", "predet"})
COPULAS = frozenset(
    "be is was are were been being am 's 'm 're became become becomes remained seemed".split()  # noqa: SIM905
)
TEACHERS = frozenset(
    "teacher teachers professor professors tutor major majors speaker speakers translator interpreter".split()  # noqa: SIM905
)
PERSONAL = frozenset(
    {"i", "we", "you", "he", "she", "they", "who", "everyone", "someone", "anyone", "nobody"}
)
GREETINGS = frozenset({"goodbye", "hello", "dear", "saving", "driving", "finding"})
OCCUPATIONS = frozenset("actor actress waiter waitress salesman saleswoman".split())  # noqa: SIM905
LAW = frozenset("shall article code section offence provided provides convention act law".split())  # noqa: SIM905
DUTIES = frozenset("failure refusal obligation duty right".split())  # noqa: SIM905
DEFINITES = frozenset("the his her their its my our".split())  # noqa: SIM905
LEGAL_DETERMINERS = frozenset({"any", "such"})
NOUN_TAGS = frozenset({"NN", "NNS", "NNP", "NNPS"})
PLURAL_TAGS = frozenset({"NNS", "NNPS"})
_LEGAL = re.compile(
    r"\b(?:corporations?|partnerships?|entity|entities|firms?|Persons?|hereto|thereof|hereof|Agreement|Company|Article"
    r"|Section|applicants?|proceedings|Convention|Government|Executive|Employer|court|Court|pursuant)\b"
)
LEGAL_NOUNS = frozenset("person persons landlord landlords chairman host heir heirs".split())  # noqa: SIM905


@dataclass(frozen=True)
class Meaning:
    """What the words of one text mean: ``names`` are its mentions of persons by name."""

    reading: ParsedText
    words: People
    untouchable: Sequence[Span]
    names: dict[int, Mention]
    legal: bool
    demonyms: frozenset[str]

    @classmethod
    def of(
        cls, reading: ParsedText, mentions: Iterable[Mention], words: People, demonyms: frozenset[str]
    ) -> Meaning:
        """Prepare the decisions on ``reading``, in which ``mentions`` refer to single persons."""
        fixed = [*quotations(reading.text), *words.fixed(reading.text)]
        names = {
            index: mention
            for mention in mentions
            if mention.kind == "name" and reading.word(mention.head) not in demonyms
            for index in reading.between(*mention.span)
        }
        legal = len(set(_LEGAL.findall(reading.text))) > 1
        return cls(reading, words, fixed, names, legal, demonyms)

    def described(self, span: Span) -> int | None:
        """Return the head token of the person that the word at ``span`` describes; None if it is nobody."""
        first, last = self.reading.at(span[0]), self.reading.at(span[1] - 1)
        if (
            first is None
            or last is None
            or any(low < span[1] and span[0] < high for low, high in self.untouchable)
        ):
            return None
        if first in self.names:
            return self._titled(first)
        if (self.reading.tokens[first].start, self.reading.tokens[last].end) != span:
            return None  # part of a longer token, as in an address
        if paradigm(self.reading.lower(last)):
            return None if self._in_name(first, last) else last
        if self._in_name(first, last):
            return None
        bare = self.reading.tokens[last].dep in PREDICATES and not self._determined(last, first)
        if self._is_noun(last) and not (bare and self._demonym(last)):
            return last if self._names_person(first, last) else None
        return self._modified(last)

    def named(self, span: Span) -> int | None:
        """Return the head of the name that begins with the word at ``span``, or None."""
        first = self.reading.at(span[0])
        mention = None if first is None else self.names.get(first)
        return mention.head if mention and mention.start == span[0] else None

    def _titled(self, first: int) -> int | None:
        """Return the name after a title that expresses a gender, except in *Goodbye Mr. Chips*."""
        mention = self.names[first]
        if mention.title is None or self.reading.tokens[first].start != mention.title[0]:
            return None
        before = first - 1
        within = (
            first > 0
            and self._capital(before)
            and (
                self.reading.tokens[before].tag in NAME_TAGS | {"UH"}
                or self.reading.lower(before) in GREETINGS
            )
        )
        return None if within else mention.head

    def _in_name(self, first: int, last: int) -> bool:
        """Return whether the word is part of a capitalised run, such as the title of a work."""
        if self._shouted(first):
            return True
        if not self.reading.word(first)[:1].isupper():
            return False
        neighbours = [
            index
            for index in (first - 1, last + 1)
            if 0 <= index < len(self.reading.tokens)
            and self.reading.tokens[index].sentence == self.reading.tokens[first].sentence
        ]
        if self._starts(first):
            if self._title_follows(last):
                return True
            return any(self._capital(index) and index not in self.names for index in neighbours)
        if not self._demonym(first):
            return True
        return any(
            self._capital(index) and index not in self.names and not self._starts(index)
            for index in neighbours
        )

    def _title_follows(self, last: int) -> bool:
        """Return whether a sentence goes on like a title: *Children of a Lesser God was filmed …*"""
        labelled = {i for e in self.reading.named if e.label != "WORK_OF_ART" for i in range(e.first, e.last)}
        for index in range(last + 1, min(last + 6, len(self.reading.tokens))):
            if self._capital(index):
                return (
                    index not in labelled
                    and index not in self.names
                    and self.reading.tokens[index].tag in NAME_TAGS
                )
            if self.reading.lower(index) not in ("of", "a", "the", "in", "and", "on", "to", "for"):
                return False
        return False

    def _shouted(self, index: int) -> bool:
        word = self.reading.word(index)
        return len(word) > 2 and word.isupper()

    def _capital(self, index: int) -> bool:
        word = self.reading.word(index)
        return (
            word[:1].isupper()
            and word not in ("I", "A")
            and self.reading.tokens[index].tag not in ("PRP", "PRP$")
        )

    def _starts(self, index: int) -> bool:
        """Return whether the token opens its sentence, quotation marks aside."""
        sentence = self.reading.tokens[index].sentence
        while index > 0 and self.reading.tokens[index - 1].sentence == sentence:
            index -= 1
            if self.reading.word(index)[:1].isalnum():
                return False
        return True

    def _is_noun(self, last: int) -> bool:
        token = self.reading.tokens[last]
        if token.tag not in NOUN_TAGS and not (
            self._demonym(last) and token.dep in ARGUMENTS and self._determined(last, last)
        ):
            return False
        return token.dep not in MODIFIERS or token.head < last

    def _names_person(self, first: int, last: int) -> bool:
        """Return whether a noun stands for one person or several."""
        token, word = self.reading.tokens[last], self.reading.lower(last)
        if token.dep in OUTSIDE or self._next_noun(last) or self._exclaimed(last) or self._named(first, last):
            return False
        if word in LEGAL_NOUNS and self._legal_person(last):
            return False
        if self._generic(last):
            return False
        determined = self._determined(last, first)
        if token.tag in PLURAL_TAGS or self.words.singular(word) is not None:
            owners = token.dep == "poss"  # the girls' school
            demonym = self.reading.word(last).capitalize() in self.demonyms
            nation = (demonym or self.reading.word(last)[:1].isupper()) and self._of_nation(last)
            return not (owners or nation or self._of_people(last))
        if self.words.person(word) and self.reading.word(last)[:1].islower():
            return determined or word in KINSHIP or token.dep in ("appos", "compound")
        return determined and (token.dep != "pobj" or self._indefinite(last))

    def _generic(self, last: int) -> bool:
        """Return whether a noun means nobody: *any man alive*, *you are the man*, *a shelter for women*."""
        token = self.reading.tokens[last]
        children = {self.reading.lower(c) for c in self.reading.children[last]}
        if children & {"any", "every", "each", "no"} and (
            self.legal or self.words.gender(self.reading.lower(last))
        ):
            return True
        if token.dep == "attr" and children == {"the"}:
            return True
        if self.legal and not children & DEFINITES and (token.dep == "poss" or self._rules(last)):
            return True
        above = self.reading.tokens[token.head]
        plural = token.tag == "NNS" and token.dep == "pobj" and self.reading.lower(token.head) == "for"
        return plural and self.reading.tokens[above.head].tag in NOUN_TAGS and above.head < last

    def _rules(self, last: int) -> bool:
        """Return whether a law speaks: *a child shall not …*, *failure to hand over a child*."""
        above = {self.reading.lower(i) for i in self.reading.ancestors(last)}
        words = map(self.reading.lower, self.reading.sentence(self.reading.tokens[last].sentence))
        return not LAW.isdisjoint(words) or not DUTIES.isdisjoint(above)

    def _exclaimed(self, last: int) -> bool:
        """Return whether the noun addresses somebody: *geez, people.*"""
        if self.reading.children[last] and any(c < last for c in self.reading.children[last]):
            return False
        before = self.reading.word(last - 1) if last else "."
        after = self.reading.word(last + 1) if last + 1 < len(self.reading.tokens) else "."
        return before in (",", ".", "!", "?", "-", "...") and after in (",", ".", "!", "?", "...", ";")

    def _named(self, first: int, last: int) -> bool:
        """Return whether the noun is part of a name or has one: *the Coen brothers*, *one like Eva*."""
        for child in self.reading.children[last]:
            token = self.reading.tokens[child]
            modifier = child < first and token.dep in MODIFIERS
            if modifier and token.tag in NAME_TAGS and not self._demonym(child):
                return True
            compound = modifier and child == first - 1 and token.dep == "compound"
            if compound and token.tag in ("NN", "NNS") and not self._acts(last):
                return True
            if self.reading.lower(child) in ("like", "as") and any(
                self.reading.tokens[c].tag in NAME_TAGS for c in self.reading.children[child]
            ):
                return True
        return False

    def _acts(self, last: int) -> bool:
        """Return whether a noun is that of an occupation with a gender: *character actors*."""
        word = self.reading.lower(last)
        return (self.words.singular(word) or word) in OCCUPATIONS

    def _demonym(self, index: int) -> bool:
        return self.reading.word(index) in self.demonyms

    def _determined(self, last: int, first: int) -> bool:
        """Return whether a noun has a determiner, if need be that of another with it: *his wife and son*."""
        if any(self.reading.tokens[c].dep in DETERMINERS and c < first for c in self.reading.children[last]):
            return True
        token = self.reading.tokens[last]
        return token.dep == "conj" and token.tag == "NN" and self._determined(token.head, token.head)

    def _indefinite(self, last: int) -> bool:
        children = {self.reading.lower(c) for c in self.reading.children[last]}
        return bool(children & {"a", "an", "one", "another", "every", "each", "some"})

    def _of_nation(self, last: int) -> bool:
        """Return whether a definite plural stands for a nation: *the Germans*."""
        children = self.reading.children[last]
        definite = any(self.reading.lower(c) == "the" for c in children)
        return definite and not any(self.reading.tokens[c].dep == "nummod" for c in children)

    def _of_people(self, last: int) -> bool:
        """Return whether *people* means a nation: *the people of Spain*, *the Kurdish people*."""
        if self.reading.lower(last) != "people":
            return False
        children = self.reading.children[last]
        words = {self.reading.lower(c) for c in children}
        named = "of" in words or ("the" in words and any(map(self._demonym, children)))
        return named or self.reading.tokens[last].dep in ("ROOT", "attr")

    def _next_noun(self, last: int) -> bool:
        """Return whether a noun or a hyphen follows directly, so that the word is part of a compound."""
        after = last + 1
        if after >= len(self.reading.tokens) or after in self.names:
            return False
        token = self.reading.tokens[after]
        return (
            (token.tag in NOUN_TAGS and token.dep not in ("npadvmod", "appos") and token.head == last)
            or (
                token.tag in NOUN_TAGS
                and self.reading.tokens[last].head == after
                and self.reading.tokens[last].dep in MODIFIERS
            )
            or self.reading.word(after) in ("-", "/")
        )

    def _legal_person(self, last: int) -> bool:
        if self.legal or self.reading.lower(last) == "persons":
            return True
        if self.reading.lower(last) != "person":
            return False
        children = {self.reading.lower(c) for c in self.reading.children[last]}
        return bool(children & LEGAL_DETERMINERS)

    def _modified(self, last: int) -> int | None:
        """Return the person that an adjective or a noun in front of another describes."""
        if last + 1 < len(self.reading.tokens) and self.reading.lower(last + 1) == "to":
            return None  # blind to the facts
        token = self.reading.tokens[last]
        while token.dep == "conj" and self.reading.tokens[token.head].dep in MODIFIERS | PREDICATES:
            last = token.head
            token = self.reading.tokens[last]
        if (
            token.dep in MODIFIERS
            and token.head > last
            and self._demonym(last)
            and self._of_subject(token.head)
        ):
            return None
        if token.dep in MODIFIERS and token.head > last:
            return token.head if token.head not in self.names and self._person(token.head) else None
        return self._predicated(token.head) if token.dep in PREDICATES else None

    def _of_subject(self, head: int) -> bool:
        """Return whether a demonym may name a language or a nation: *English teacher*, *the French*."""
        word = self.reading.lower(head)
        definite = any(self.reading.lower(c) == "the" for c in self.reading.children[head])
        return word in TEACHERS or (definite and word in ("people", "brothers", "sisters", "public", "men"))

    def _predicated(self, verb: int) -> int | None:
        """Return the person of whom a predicate of ``verb`` is said: *the singer was Welsh*."""
        if self.reading.lower(verb) not in COPULAS:
            return None
        subject = next(
            (c for c in self.reading.children[verb] if self.reading.tokens[c].dep in SUBJECTS), None
        )
        if subject is None:
            return None
        parts = [
            o
            for c in self.reading.children[subject]
            if self.reading.lower(c) == "of"
            for o in self.reading.children[c]
        ]
        return next((index for index in [*parts, subject] if self._subject(index)), None)

    def _person(self, head: int) -> bool:
        """Return whether the noun at ``head`` is a person, and no part of a compound or a name."""
        if head in self.names:
            return True
        if self._demonym(head) and self._determined(head, head):
            return self.reading.tokens[head].tag in NOUN_TAGS and not self._next_noun(head)
        token, word = self.reading.tokens[head], self.reading.lower(head)
        if not self.words.person(word) or self.reading.word(head)[:1].isupper() or self._next_noun(head):
            return False
        if word in LEGAL_NOUNS and self._legal_person(head):
            return False
        return token.tag in NOUN_TAGS and not (
            token.dep in MODIFIERS and token.head > head and token.head not in self.names
        )

    def _subject(self, subject: int) -> bool:
        return self.reading.lower(subject) in PERSONAL or self._person(subject)
