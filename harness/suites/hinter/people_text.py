"""A text whose persons and words for persons are known: what every change of a person needs to look up."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cached_property
from typing import Literal

from harness.core import Span, Substitution
from harness.language.entities import Resolution
from harness.language.mentions import PARADIGM_GENDER
from harness.language.parsed_text import ParsedText
from harness.language.people import People
from harness.language.persons import Gender
from harness.language.surface import Edit, article_edit, begins_sentence, carry_case, paradigm
from harness.suites.hinter.clarity import LONG
from harness.suites.hinter.meaning import Meaning
from harness.suites.hinter.mutation import Variation
from harness.suites.hinter.persons import Persons
from harness.suites.hinter.places import Place
from harness.suites.lexicon import Attribute, Exchange, Form

MeaningOf = Literal["person", "likely", "off"]
"""Where a word changes: where it describes a person, where it likely does, or anywhere."""
MODIFYING: frozenset[Form | None] = frozenset({None, "adjective", "pronoun", "title", "name"})


class PeopleText:
    """A resolved text, with the decisions on its words.

    ``meaning`` off: any word may be changed; likely: also where the text may say more of the person, or of
    the attribute (``lenient``).
    """

    def __init__(
        self,
        resolution: Resolution,
        words: People,
        demonyms: frozenset[str],
        meaning: MeaningOf = "person",
    ) -> None:
        self.reading: ParsedText = resolution.reading
        self.text = resolution.reading.text
        self.words = words
        mentions = [m for entity in resolution.entities if entity.person for m in entity.mentions]
        self.meaning = Meaning.of(self.reading, mentions, words, demonyms)
        self.persons = Persons(resolution, words, apart=not self.long_legal)
        self.lenient = meaning == "likely"
        self._anything = meaning == "off"
        self._keys: dict[Span, str] = {}

    @cached_property
    def vocabulary(self) -> frozenset[str]:
        """The words of the text in lower case."""
        return frozenset(map(self.reading.lower, range(len(self.reading.tokens))))

    @property
    def long_legal(self) -> bool:
        """Whether this is a long legal text, whose parties have roles and names that no rule here links."""
        return self.meaning.legal and self.reading.tokens[-1].sentence >= LONG

    def place(self, attribute: Attribute, term: str, span: Span) -> Place:
        """Return the place of ``term`` at ``span``, with the head of the person it describes."""
        name = all(exchange.form == "name" for exchange in attribute.exchanges.get(term, ()))
        head = self.meaning.named(span) if name else self.meaning.described(span)
        if head is None and self._anything:
            head = self.reading.at(span[1] - 1)
        return Place(attribute.name, term, span, head)

    def exchanges(self, attribute: Attribute, place: Place) -> list[Exchange]:
        """Return the exchanges of a term that fit its form where it stands."""
        last = self.reading.at(place.span[1] - 1)
        noun = last is not None and last == place.head and not paradigm(self.reading.lower(last))
        allowed = MODIFYING
        if noun and last is not None and last not in self.meaning.names:
            allowed = frozenset({None, "nouns" if self.persons.plural(last) else "noun"})
        return [
            exchange
            for exchange in attribute.exchanges.get(place.term, ())
            if not exchange.word_only and exchange.form in allowed
        ]

    def gender_at(self, index: int) -> Gender | None:
        """Return the gender that the token at ``index`` expresses."""
        return self.gender_of(self.reading.lower(index))

    def gender_of(self, word: str) -> Gender | None:
        """Return the gender that a pronoun or a noun in lower case expresses."""
        return PARADIGM_GENDER.get(paradigm(word) or "") or self.words.gender(word)

    def variation(
        self,
        attribute: str,
        words: Mapping[Span, str],
        exchange: Exchange,
        groups: tuple[str, str] | None = None,
        edits: tuple[Edit, ...] | None = None,
    ) -> Variation:
        """Return the change of the words at the spans ``words`` to those they map to.

        ``exchange`` is the dictionary's; ``groups`` are those left and entered if they are not its own, and
        ``edits`` what is done to the text if it is not the replacement of the words.
        """
        ordered = sorted(words.items())
        if edits is None:
            edits = tuple(e for span, word in ordered for e in self._edits(span, word, exchange))
        source_group, target_group = groups or (exchange.source_group, exchange.target_group)
        substitution = Substitution(
            attribute,
            "/".join(dict.fromkeys(self._source(span, exchange) for span, _ in ordered)),
            "/".join(dict.fromkeys(word for _, word in ordered)),
            tuple(span for span, _ in ordered),
            exchange.operation,
            source_group,
            target_group,
        )
        return Variation(substitution, edits, persons=frozenset(self._person(span) for span, _ in ordered))

    def _source(self, span: Span, exchange: Exchange) -> str:
        """Return the word at ``span`` as the dictionary or a sentence writes it."""
        written = self.text[slice(*span)]
        if written.lower() == exchange.source.lower():
            return exchange.source
        proper = written.istitle() and not begins_sentence(self.text, span[0])
        return written if proper else written.lower()

    def _person(self, span: Span) -> str:
        """Return the key of the person whom the word at ``span`` is about, found once for all its changes."""
        if span not in self._keys:
            head = self.meaning.described(span)
            if head is None:
                head = self.meaning.named(span)
            if head is None:
                head = self.reading.at(span[0])
            self._keys[span] = "" if head is None else self.persons.of(head).key
        return self._keys[span]

    def _edits(self, span: Span, word: str, exchange: Exchange) -> Iterator[Edit]:
        start, end = span
        written = self.text[start:end]
        if word[:1].isupper() and written[:1].isupper():
            new = word.upper() if written.isupper() and len(written) > 1 else word
        else:
            source = exchange.source if written.lower() == exchange.source.lower() else written.lower()
            new = carry_case(written, source, word, begins_sentence(self.text, start))
        article = article_edit(self.text, start, written, new)
        if article is not None:
            yield article
        yield Edit(start, end, new)
