"""Coreference: which expressions in a text refer to the same person, by resolvers behind one small interface.

The built-in resolver links by rules over a spaCy parse: matching names, appositions and predicates, and for
pronouns the most salient antecedent (see ``antecedents``).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from harness.errors import ParserError
from harness.language.antecedents import Chain, most_salient, rivals, subordinate
from harness.language.entities import Entity, Reader, Resolution, Resolver
from harness.language.mentions import find
from harness.language.parsed_text import ParsedText
from harness.language.persons import Mention, Vocabulary, vocabulary

COPULAS = frozenset(
    {"be", "is", "was", "'s", "’s", "are", "were", "been", "being", "am", "'m", "became", "becomes"}
)
OWN = frozenset({"my", "our"})
DEFINITE = frozenset({"the", "this", "that"})
POSTMODIFIERS = frozenset({"prep", "relcl", "acl", "advmod", "amod"})
RESOLVERS = ("rules", "coreferee", "fastcoref", "stanza")


class RuleResolver:
    """The default resolver, which needs nothing but the spaCy pipeline."""

    def __init__(self, reader: Reader, words: Vocabulary | None = None) -> None:
        self.reader = reader
        self._words = words or vocabulary()
        self.name = f"rules over {reader.name}"

    def resolve(self, texts: Iterable[str]) -> Iterator[Resolution]:
        """Yield the resolution of each text, in order."""
        for reading in self.reader.read(texts):
            yield self.link(reading)

    def link(self, reading: ParsedText) -> Resolution:
        """Return the resolution of a text that was read."""
        return link(reading, find(reading, self._words))

    def entities(self, text: str) -> tuple[Entity, ...]:
        """Return the entities of ``text``."""
        return next(self.resolve([text])).entities


def load(name: str = "rules", pipeline: str | None = None) -> Resolver:
    """Load the resolver called ``name``: rules, coreferee, fastcoref or stanza.

    Raises ``ParserError`` for an unknown name and where a resolver is not installed.
    """
    if name not in RESOLVERS:
        raise ParserError(f"unknown coreference resolver {name!r}: use {', '.join(RESOLVERS)}")
    if name == "rules":
        from harness.language.spacy_docs import SpacyReader

        return RuleResolver(SpacyReader(pipeline, vocabulary().given_names))
    from harness.language import coreference_adapters

    return coreference_adapters.load(name, pipeline)


def link(reading: ParsedText, mentions: Sequence[Mention]) -> Resolution:
    """Group ``mentions``, given in text order, into entities, and note the rivals of each pronoun's own."""
    chains: list[Chain] = []
    of_head: dict[int, Chain] = {}
    waiting: list[Mention] = []
    for mention in mentions:
        chain = _antecedent(reading, mention, chains, of_head)
        if chain is None:
            chain = Chain()
            chains.append(chain)
            if mention.kind == "pronoun":
                waiting.append(mention)
        chain.add(mention)
        of_head[mention.head] = chain
    for pronoun in waiting:
        _look_ahead(reading, pronoun, chains, of_head)
    ordered = [sorted(chain.mentions, key=lambda m: m.start) for chain in chains if chain.mentions]
    by_place = sorted(ordered, key=lambda members: members[0].start)
    entities = tuple(Entity(tuple(members)) for members in by_place)
    return Resolution(reading, entities, rivals(reading, entities))


def _antecedent(
    reading: ParsedText, mention: Mention, chains: Sequence[Chain], of_head: dict[int, Chain]
) -> Chain | None:
    if mention.kind == "pronoun":
        return most_salient(reading, mention, chains)
    tied = _tied(reading, mention, of_head)
    if tied is not None and tied.agrees(mention.gender) and not _other_name(reading, tied, mention):
        return tied
    if mention.kind == "name":
        return next((c for c in reversed(chains) if _same_name(reading, c, mention)), None)
    return _same_noun(reading, mention, chains)


def _tied(reading: ParsedText, mention: Mention, of_head: dict[int, Chain]) -> Chain | None:
    """Return the chain that grammar equates with ``mention``.

    Such are an apposition, a predicate (*she is a girl*) and a compound (*actor Jake*).
    """
    token = reading.tokens[mention.head]
    if token.dep == "appos":
        return of_head.get(token.head)
    if mention.kind == "name":
        for child in reading.children[mention.head]:
            if reading.tokens[child].dep in ("compound", "nmod", "appos", "amod") and child in of_head:
                return of_head[child]
    verb = token.head
    if token.dep == "attr" and reading.lower(verb) in COPULAS:
        children = reading.children[verb]
        if not any(reading.tokens[c].dep == "neg" for c in children):
            subject = next((c for c in children if reading.tokens[c].dep == "nsubj"), None)
            return of_head.get(subject) if subject is not None else None
    return None


def _other_name(reading: ParsedText, chain: Chain, mention: Mention) -> bool:
    """Return whether the names differ: *Diaz, Marsden, Langella* is a list that parses as an apposition."""
    named = mention.kind == "name" and any(m.kind == "name" for m in chain.mentions)
    return named and not _same_name(reading, chain, mention)


def _same_name(reading: ParsedText, chain: Chain, mention: Mention) -> bool:
    """Return whether one name's words are among the other's: *Drew Barrymore*, *Barrymore*, *Drew*."""
    if not chain.agrees(mention.gender):
        return False
    words = _words(reading, mention)
    return any(
        words <= other or other <= words
        for other in (_words(reading, m) for m in chain.mentions if m.kind == "name")
    )


def _words(reading: ParsedText, mention: Mention) -> set[str]:
    return {w.strip(".").casefold() for w in reading.text[mention.start : mention.end].split()}


def _same_noun(reading: ParsedText, mention: Mention, chains: Sequence[Chain]) -> Chain | None:
    """Return the latest chain with the same noun as a definite noun phrase, or as one of the writer's own.

    None where the phrase itself specifies its referent (*the engineer next to her*) or is of another kind
    (*the young man*, *the old man*). *My wife* is always the same person.
    """
    children = reading.children[mention.head]
    if any(c > mention.head and reading.tokens[c].dep in POSTMODIFIERS for c in children):
        return None
    determiners = {reading.lower(c) for c in children if reading.tokens[c].dep in ("det", "poss")}
    own = determiners & OWN
    if not own and not determiners & DEFINITE:
        return None
    word = reading.lower(mention.head)
    for chain in reversed(chains):
        for other in chain.mentions:
            same = other.kind == "nominal" and reading.lower(other.head) == word
            if (
                same
                and _alike(reading, mention.head, other.head)
                and (not own or own & set(map(reading.lower, reading.children[other.head])))
            ):
                return chain
    return None


def _alike(reading: ParsedText, noun: int, other: int) -> bool:
    """Return whether the adjectives of two nouns may describe one person: one has none, or both share one."""
    told = ("amod", "compound")
    sets = [
        {reading.lower(c) for c in reading.children[i] if reading.tokens[c].dep in told}
        for i in (noun, other)
    ]
    return not all(sets) or bool(sets[0] & sets[1])


def _look_ahead(
    reading: ParsedText, pronoun: Mention, chains: list[Chain], of_head: dict[int, Chain]
) -> None:
    """Link a pronoun without an antecedent to a name later in its sentence: *When he sings, Jake …*"""
    pronoun_chain = of_head[pronoun.head]
    sentence = reading.tokens[pronoun.head].sentence
    for chain in chains:
        first = chain.mentions[0] if chain.mentions else None
        if (
            first
            and chain is not pronoun_chain
            and first.kind != "pronoun"
            and first.start > pronoun.start
            and reading.tokens[first.head].sentence == sentence
            and chain.agrees(pronoun.gender)
            and subordinate(reading, pronoun.head, first.head)
        ):
            for mention in pronoun_chain.mentions:
                chain.add(mention)
                of_head[mention.head] = chain
            pronoun_chain.mentions.clear()
            return
