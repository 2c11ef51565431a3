"""Linguistic capabilities: what to search for, how to make seeds of it, what a model must answer.

S²LCT, section 3.1 and Table 1. They are data, in ``data/capabilities.toml``, whose comment explains the keys;
a user's file of the same form adds to them.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from hashlib import sha256
from pathlib import Path

from harness.core import canonical
from harness.errors import ConfigError
from harness.files import DATA, read_toml
from harness.suites.linguistic.clauses import CLAIM, COPULA, FORMS, NEGATIONS
from harness.suites.linguistic.sentiment import SentimentLexicon, word_class
from harness.suites.sentiment_oracle import SENTIMENTS, Sentiment

BUNDLED = DATA / "capabilities.toml"
PAPER = DATA / "capabilities-paper.toml"
CLASSES = {"adjectives": "a", "nouns": "n", "verbs": "v", "words": None}
VARIANT_KEYS = {"search", "template", "negate", "expected", "validate"}
RULE_KEYS = {"label", "shorter_than", "include", "exclude", "start", "form", "affirmative"}
_NEGATED = re.compile(r"(?:not|no|never|neither|n['’]t|nt)\b", re.IGNORECASE)
_NAMED = re.compile(r"\{(\w+)\}")

Words = Sequence[tuple[str, str]]
"""The words of a sentence with their fine tags, without punctuation."""

Kind = tuple[Sentiment, str | None]
"""A sentiment and a part of speech of the lexicon, such as ``("neutral", "n")``; None stands for any."""


@dataclass(frozen=True, slots=True)
class Rule:
    """The conditions on a sentence.

    ``shorter_than`` counts words. The sentence must start with one word of each list of ``start`` in turn
    and have the ``form`` (``clauses.FORMS``); if ``affirmative``, it must negate nothing, and with a
    ``start``, no negation may follow that.
    """

    label: frozenset[str]
    shorter_than: int | None = None
    include: tuple[Kind, ...] = ()
    exclude: tuple[Kind, ...] = ()
    start: tuple[tuple[str, ...], ...] = ()
    form: str | None = None
    affirmative: bool = False

    def begins(self, text: str) -> bool:
        """Return whether the sentence begins as the rule requires, ignoring case."""
        words = text.lower().split(None, len(self.start))
        continuation = words[len(self.start)] if len(words) > len(self.start) else ""
        return (
            len(words) >= len(self.start)
            and all(word in map(str.lower, choices) for word, choices in zip(words, self.start, strict=False))
            and not (self.affirmative and _NEGATED.match(continuation))
        )

    def holds(self, words: Words, lexicon: SentimentLexicon) -> bool:
        """Return whether the number of words and their sentiments satisfy the rule, whatever its label."""
        if self.shorter_than is not None and len(words) >= self.shorter_than:
            return False
        if self.affirmative and not self.start and any(word.lower() in NEGATIONS for word, _ in words):
            return False
        kinds = _kinds(words, lexicon)
        return kinds.issuperset(self.include) and kinds.isdisjoint(self.exclude)

    def has_included(self, words: Words, lexicon: SentimentLexicon) -> bool:
        """Return whether ``words`` are of all the kinds that must occur."""
        return _kinds(words, lexicon).issuperset(self.include)


def _kinds(words: Words, lexicon: SentimentLexicon) -> set[Kind]:
    kinds: set[Kind] = set()
    for word, tag in words:
        sentiment = lexicon.sentiment(word, tag)
        kinds |= {(sentiment, word_class(word, tag)), (sentiment, None)}
    return kinds


@dataclass(frozen=True, slots=True)
class Variant:
    """One row of a capability.

    Each part of ``template`` is the name of a search, or a list of wordings from which one is chosen.
    """

    search: Mapping[str, Rule]
    expected: frozenset[str]
    template: tuple[str | tuple[str, ...], ...] = ()
    negate: bool = False
    validate: bool = False

    @property
    def transformation(self) -> str:
        """How the seed is made: ``none``, ``negation`` or ``template``."""
        if self.negate:
            return "negation"
        return "template" if self.template else "none"

    @property
    def denies(self) -> bool:
        """Whether the seed denies what the sentence found says."""
        return self.negate or any(rule.form == CLAIM for rule in self.search.values())


@dataclass(frozen=True, slots=True)
class Capability:
    """A linguistic capability with its variants."""

    name: str
    title: str
    variants: tuple[Variant, ...]


@dataclass(frozen=True, slots=True)
class Capabilities:
    """Capabilities by name; ``digest`` is the SHA-256 of their definitions."""

    by_name: Mapping[str, Capability]
    digest: str

    def select(self, names: Iterable[str]) -> Capabilities:
        """Return the capabilities ``names``, in that order. Raises ``ConfigError`` for an unknown name."""
        chosen = list(dict.fromkeys(names))
        for name in chosen:
            if name not in self.by_name:
                raise ConfigError(
                    f"unknown capability {name!r}, known capabilities: {', '.join(self.by_name)}"
                )
        return Capabilities({name: self.by_name[name] for name in chosen}, self.digest)


def load(path: str | Path | None = None) -> Capabilities:
    """Load the bundled capabilities; those at ``path`` are added or replace them by name.

    ``paper`` stands for the rules and wordings of Table 1 as they were printed. Raises ``ConfigError`` naming
    the file and the key.
    """
    path = PAPER if path == "paper" else path
    content = read_toml(BUNDLED, ConfigError)
    if path is not None:
        content |= read_toml(path, ConfigError)
    by_name = {name: _CapabilityReader(BUNDLED if path is None else Path(path), name).capability(value)
             for name, value in content.items()}  # fmt: skip
    return Capabilities(by_name, sha256(canonical(content).encode()).hexdigest())


@dataclass(frozen=True, slots=True)
class _CapabilityReader:
    """Reads one capability; errors name ``file`` and ``name``."""

    file: Path
    name: str

    def capability(self, value: object) -> Capability:
        """Return the capability that the table ``value`` defines."""
        table = self._table(value, {"title", "variant"}, self.name)
        variants = table.get("variant")
        if not isinstance(variants, list) or not variants:
            raise self._wrong(f"{self.name}.variant: give one or more, as [[{self.name}.variant]]")
        places = [f"{self.name}.variant {number}" for number in range(1, len(variants) + 1)]
        return Capability(
            self.name, str(table.get("title", self.name)), tuple(map(self._variant, variants, places))
        )

    def _variant(self, value: object, place: str) -> Variant:
        table = self._table(value, VARIANT_KEYS, place)
        search = table.get("search")
        if not isinstance(search, dict) or not search:
            raise self._wrong(f"{place}.search: say what to search for")
        rules = {name: self._rule(rule, f"{place}.search.{name}") for name, rule in search.items()}
        parts = self._list(table.get("template", []), f"{place}.template")
        template = tuple(self._part(part, rules, f"{place}.template") for part in parts)
        used = [part for part in template if isinstance(part, str)]
        if sorted(used) != sorted(rules) and (template or len(rules) != 1):
            raise self._wrong(
                f"{place}.template: must have each searched sentence exactly once: {', '.join(rules)}"
            )
        negate = table.get("negate", False) is True
        if negate:
            if template or not all(len(rule.start) == 2 or rule.form == COPULA for rule in rules.values()):
                raise self._wrong(
                    f'{place}.negate: needs form = "{COPULA}" or a start of two words, and no template'
                )
            rules = {name: replace(rule, affirmative=True) for name, rule in rules.items()}
        expected = self._labels(table.get("expected"), f"{place}.expected")
        return Variant(rules, expected, template, negate, table.get("validate", False) is True)

    def _part(self, part: object, rules: Mapping[str, Rule], place: str) -> str | tuple[str, ...]:
        if isinstance(part, list):
            return self._texts(part, place)
        match = _NAMED.fullmatch(part) if isinstance(part, str) else None
        if match is None or match[1] not in rules:
            names = ", ".join(f"{{{name}}}" for name in rules)
            raise self._wrong(f"{place}: {part!r} is neither a list of wordings nor one of {names}")
        return match[1]

    def _rule(self, value: object, place: str) -> Rule:
        table = self._table(value, RULE_KEYS, place)
        length = table.get("shorter_than")
        if length is not None and (not isinstance(length, int) or length < 1):
            raise self._wrong(f"{place}.shorter_than: must be a number of words above zero")
        start = self._list(table.get("start", []), f"{place}.start")
        form = table.get("form")
        if form not in (None, *FORMS):
            raise self._wrong(f"{place}.form: must be one of {', '.join(FORMS)}")
        return Rule(
            self._labels(table.get("label"), f"{place}.label"),
            length,
            self._kinds(table.get("include", []), f"{place}.include"),
            self._kinds(table.get("exclude", []), f"{place}.exclude"),
            tuple(self._texts(choices, f"{place}.start") for choices in start),
            form,
            table.get("affirmative", False) is True,
        )

    def _labels(self, value: object, place: str) -> frozenset[str]:
        if not isinstance(value, list) or not value or not all(label in SENTIMENTS for label in value):
            raise self._wrong(f"{place}: must be a list of one or more of {', '.join(SENTIMENTS)}")
        return frozenset(value)

    def _kinds(self, value: object, place: str) -> tuple[Kind, ...]:
        kinds = {f"{s} {word}": (s, kind) for s in SENTIMENTS for word, kind in CLASSES.items()}
        written = self._list(value, place)
        if wrong := [kind for kind in written if kind not in list(kinds)]:
            raise self._wrong(f"{place}: {wrong[0]!r} is not SENTIMENT adjectives, nouns, verbs or words")
        return tuple(kinds[str(kind)] for kind in written)

    def _texts(self, value: object, place: str) -> tuple[str, ...]:
        if not isinstance(value, list) or not value or not all(isinstance(v, str) for v in value):
            raise self._wrong(f"{place}: must be a list of texts")
        return tuple(value)

    def _list(self, value: object, place: str) -> list[object]:
        if not isinstance(value, list):
            raise self._wrong(f"{place}: must be a list")
        return value

    def _table(self, value: object, keys: set[str], place: str) -> Mapping[str, object]:
        if not isinstance(value, dict):
            raise self._wrong(f"{place}: must be a table")
        unknown = sorted(value.keys() - keys)
        if unknown:
            raise self._wrong(f"{place}.{unknown[0]}: unknown key, known keys: {', '.join(sorted(keys))}")
        return value

    def _wrong(self, what: str) -> ConfigError:
        return ConfigError(f"{self.file}: {what}")
