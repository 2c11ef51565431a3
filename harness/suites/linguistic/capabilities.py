"""Linguistic capabilities: which sentences are searched, how a seed is made of them, what a model must say.

S²LCT, section 3.1 and Table 1. They are data, ``data/capabilities.toml``, whose comment says what the keys
mean; a user's file of the same form adds to them.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from hashlib import sha256
from pathlib import Path
from typing import Any

from harness.core import canonical
from harness.errors import ConfigError
from harness.files import DATA, read_toml
from harness.suites.linguistic.sentiment import SENTIMENTS, Sentiment, SentimentLexicon, word_class

BUNDLED = DATA / "capabilities.toml"
CLASSES = {"adjectives": "a", "nouns": "n", "verbs": "v"}
VARIANT_KEYS = {"search", "template", "negate", "expected", "validate"}
RULE_KEYS = {"label", "shorter_than", "include", "exclude", "start"}
_NEGATED = re.compile(r"(?:not|no|never|neither|n['’]t|nt)\b", re.IGNORECASE)
_NAMED = re.compile(r"\{(\w+)\}")

Words = Sequence[tuple[str, str]]
"""The words of a sentence with their fine tags, punctuation left out."""

Kind = tuple[Sentiment, str]
"""A sentiment and a part of speech of the lexicon, as ``("neutral", "n")``."""


@dataclass(frozen=True, slots=True)
class Rule:
    """What a sentence must be. ``shorter_than`` counts words; ``start`` is a word of each list in turn, and
    ``affirmative`` says that no negation may follow it."""

    label: frozenset[str]
    shorter_than: int | None = None
    include: tuple[Kind, ...] = ()
    exclude: tuple[Kind, ...] = ()
    start: tuple[tuple[str, ...], ...] = ()
    affirmative: bool = False

    @property
    def tags(self) -> bool:
        """Whether the rule asks for parts of speech or a number of words, and so for a parser."""
        return bool(self.include or self.exclude or self.shorter_than)

    def begins(self, text: str) -> bool:
        """Whether the sentence begins as it must; what is written in capitals does too."""
        words = text.lower().split(None, len(self.start))
        rest = words[len(self.start)] if len(words) > len(self.start) else ""
        return (
            len(words) >= len(self.start)
            and all(word in map(str.lower, some) for word, some in zip(words, self.start, strict=False))
            and not (self.affirmative and _NEGATED.match(rest))
        )

    def holds(self, words: Words, lexicon: SentimentLexicon) -> bool:
        """Whether the number of words and their sentiments are as they must be; the label is not asked."""
        if self.shorter_than is not None and len(words) >= self.shorter_than:
            return False
        if not self.include and not self.exclude:
            return True
        kinds = {(lexicon.sentiment(word, tag), word_class(word, tag)) for word, tag in words}
        return kinds.issuperset(self.include) and kinds.isdisjoint(self.exclude)


@dataclass(frozen=True, slots=True)
class Variant:
    """One row of a capability. A part of ``template`` is the name of a search, or wordings of which one is
    chosen."""

    search: Mapping[str, Rule]
    expected: frozenset[str]
    template: tuple[str | tuple[str, ...], ...] = ()
    negate: bool = False
    validate: bool = False

    @property
    def transformation(self) -> str:
        """How the seed is made: ``none``, ``negation`` or ``template``."""
        return "negation" if self.negate else "template" if self.template else "none"


@dataclass(frozen=True, slots=True)
class Capability:
    """A linguistic capability with its variants."""

    name: str
    title: str
    variants: tuple[Variant, ...]


@dataclass(frozen=True, slots=True)
class Capabilities:
    """Capabilities by name; ``digest`` is the SHA-256 of what they say."""

    by_name: Mapping[str, Capability]
    digest: str

    def select(self, names: Iterable[str]) -> Capabilities:
        """Those of ``names`` alone, in that order. Raises ``ConfigError``."""
        chosen = list(dict.fromkeys(names))
        for name in chosen:
            if name not in self.by_name:
                raise ConfigError(f"unknown capability {name!r}: known are {', '.join(self.by_name)}")
        return Capabilities({name: self.by_name[name] for name in chosen}, self.digest)


def load(path: str | Path | None = None) -> Capabilities:
    """The bundled capabilities, those of ``path`` added or in their place. Raises ``ConfigError``."""
    content = read_toml(BUNDLED, ConfigError)
    if path is not None:
        content |= read_toml(path, ConfigError)
    found = {name: _CapabilityReader(BUNDLED if path is None else Path(path), name).capability(value)
             for name, value in content.items()}  # fmt: skip
    return Capabilities(found, sha256(canonical(content).encode()).hexdigest())


@dataclass(frozen=True, slots=True)
class _CapabilityReader:
    """Reads one capability; ``name`` is what errors name."""

    file: Path
    name: str

    def capability(self, value: Any) -> Capability:
        self._keys(value, {"title", "variant"}, self.name)
        variants = value.get("variant", [])
        if not isinstance(variants, list) or not variants:
            raise self._wrong(f"{self.name}.variant: give one or more, [[{self.name}.variant]]")
        places = [f"{self.name}.variant {number}" for number in range(1, len(variants) + 1)]
        made = tuple(map(self._variant, variants, places))
        return Capability(self.name, str(value.get("title", self.name)), made)

    def _variant(self, value: Any, place: str) -> Variant:
        self._keys(value, VARIANT_KEYS, place)
        search = value.get("search")
        if not isinstance(search, dict) or not search:
            raise self._wrong(f"{place}.search: say what to look for")
        rules = {name: self._rule(rule, f"{place}.search.{name}") for name, rule in search.items()}
        template = tuple(self._part(part, rules, f"{place}.template") for part in value.get("template", ()))
        used = [part for part in template if isinstance(part, str)]
        if sorted(used) != sorted(rules) and (template or len(rules) != 1):
            raise self._wrong(f"{place}.template: must have each searched sentence once: {', '.join(rules)}")
        negate = value.get("negate", False) is True
        if negate and (template or not all(len(rule.start) == 2 for rule in rules.values())):
            raise self._wrong(f"{place}.negate: needs a start of two words, and no template")
        rules = {name: replace(rule, affirmative=negate) for name, rule in rules.items()}
        expected = self._labels(value.get("expected"), f"{place}.expected")
        return Variant(rules, expected, template, negate, value.get("validate", False) is True)

    def _part(self, part: Any, rules: Mapping[str, Rule], place: str) -> str | tuple[str, ...]:
        if isinstance(part, list):
            return self._texts(part, place)
        match = _NAMED.fullmatch(part) if isinstance(part, str) else None
        if match is None or match[1] not in rules:
            known = ", ".join(f"{{{name}}}" for name in rules)
            raise self._wrong(f"{place}: {part!r} is neither a list of wordings nor one of {known}")
        return match[1]

    def _rule(self, value: Any, place: str) -> Rule:
        self._keys(value, RULE_KEYS, place)
        length = value.get("shorter_than")
        if length is not None and (not isinstance(length, int) or length < 1):
            raise self._wrong(f"{place}.shorter_than: a number of words above zero")
        return Rule(
            self._labels(value.get("label"), f"{place}.label"),
            length,
            self._kinds(value.get("include", []), f"{place}.include"),
            self._kinds(value.get("exclude", []), f"{place}.exclude"),
            tuple(self._texts(some, f"{place}.start") for some in value.get("start", ())),
        )

    def _labels(self, value: Any, place: str) -> frozenset[str]:
        if not isinstance(value, list) or not value or not set(value) <= set(SENTIMENTS):
            raise self._wrong(f"{place}: a list of one or more of {', '.join(SENTIMENTS)}")
        return frozenset(value)

    def _kinds(self, value: Any, place: str) -> tuple[Kind, ...]:
        known = {f"{s} {word}": (s, kind) for s in SENTIMENTS for word, kind in CLASSES.items()}
        wrong = [kind for kind in value if kind not in known] if isinstance(value, list) else [value]
        if wrong:
            raise self._wrong(f"{place}: {wrong[0]!r} is not SENTIMENT adjectives, nouns or verbs")
        return tuple(known[kind] for kind in value)

    def _texts(self, value: Any, place: str) -> tuple[str, ...]:
        if not isinstance(value, list) or not value or not all(isinstance(v, str) for v in value):
            raise self._wrong(f"{place}: a list of texts")
        return tuple(value)

    def _keys(self, value: Any, known: set[str], place: str) -> None:
        if not isinstance(value, dict):
            raise self._wrong(f"{place}: must be a table")
        unknown = sorted(value.keys() - known)
        if unknown:
            raise self._wrong(f"{place}.{unknown[0]}: unknown key, known are {', '.join(sorted(known))}")

    def _wrong(self, what: str) -> ConfigError:
        return ConfigError(f"{self.file}: {what}")
