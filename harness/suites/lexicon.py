"""Bias dictionaries: the terms of an attribute, and which may replace which (HINTER, section 3).

A lexicon is TOML. Each attribute has groups, whose words replace one another, and directed pairs::

    [attribute.gender.groups]            # aligned lists: the i-th words replace each other
    male = ["man", "actor"]
    female = ["woman", "actress"]

    [attribute.gender]
    pairs = [["man", "woman"]]           # directed: man -> woman
    case_sensitive = ["Miss"]            # matched only as written

    [[attribute.race.sets]]              # more than one set of groups
    pairing = "across"                   # every word replaces every word of the other groups
    form = "adjective"                   # what the words are in a sentence
    word_only = false                    # exchanged only where each pair stands by itself
    groups = { european = ["British"], asian = ["Indian", "Japanese"] }
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from hashlib import sha256
from itertools import permutations
from pathlib import Path
from typing import Literal, get_args

from harness.core import Operation, Span, canonical
from harness.errors import LexiconError
from harness.files import DATA, parse_toml, read_text
from harness.suites.matching import Matcher, Terms

BUNDLED = DATA / "lexicons"
USUAL_ATTRIBUTES = ("race", "gender", "body")
ATTRIBUTE_KEYS = {"description", "groups", "pairing", "form", "word_only", "sets", "pairs", "case_sensitive"}
SET_KEYS = {"name", "groups", "pairing", "form", "word_only"}
PAIRINGS = ("aligned", "across")

Pair = tuple[str, str]
Form = Literal["adjective", "noun", "nouns", "pronoun", "title", "state", "name"]
"""What a word is in a sentence: a noun for one person, nouns for several; "state" is a mass noun."""

FORMS: tuple[Form, ...] = get_args(Form)


@dataclass(frozen=True, slots=True)
class Exchange:
    """One word that may replace another, with the groups that they stand for.

    ``form`` is None where the dictionary does not say. ``word_only`` exchanges are no change of the attribute
    of a person ("CEO" for "nurse"): they hold only where each pair of the dictionary stands by itself.
    """

    source: str
    target: str
    source_group: str
    target_group: str
    form: Form | None = None
    word_only: bool = False

    @property
    def operation(self) -> Operation:
        """Whether the target adds words to the source ("women", "disabled women"), drops some, or neither."""
        if _adds(self.source, self.target):
            return "insertion"
        return "removal" if _adds(self.target, self.source) else "exchange"


def _meant(exchange: Exchange) -> tuple[str, str, str, Form | None]:
    return exchange.source_group, exchange.target, exchange.target_group, exchange.form


def _of_one_group(exchanges: Sequence[Exchange]) -> bool:
    return len({e.source_group for e in exchanges}) == 1 and not any(e.word_only for e in exchanges)


@dataclass(frozen=True)
class Attribute:
    """The dictionary of one attribute: by term, the exchanges that replace it, in the order written."""

    name: str
    exchanges: Mapping[str, tuple[Exchange, ...]]
    groups: Mapping[str, tuple[str, ...]]
    case_sensitive: frozenset[str] = frozenset()
    description: str = ""

    @cached_property
    def targets(self) -> Mapping[str, tuple[str, ...]]:
        """Each term's distinct replacements, in the order written."""
        return {
            source: tuple(dict.fromkeys(exchange.target for exchange in exchanges))
            for source, exchanges in self.exchanges.items()
        }

    @cached_property
    def peers(self) -> Mapping[str, tuple[str, ...]]:
        """Each term's peers: the other terms of its group that are exchanged for the very same words."""
        meant = {term: frozenset(map(_meant, exchanges)) for term, exchanges in self.exchanges.items()}
        alike: dict[frozenset[object], list[str]] = {}
        for term, meaning in meant.items():
            alike.setdefault(meaning, []).append(term)
        return {
            term: tuple(peer for peer in alike[meant[term]] if peer != term and _of_one_group(exchanges))
            for term, exchanges in self.exchanges.items()
        }

    @property
    def words(self) -> tuple[str, ...]:
        """All distinct terms, sources and targets alike."""
        return tuple(dict.fromkeys([*self.targets, *(t for ts in self.targets.values() for t in ts)]))

    @property
    def pairs(self) -> tuple[Pair, ...]:
        """All directed pairs (source, target)."""
        return tuple((source, target) for source, targets in self.targets.items() for target in targets)

    @cached_property
    def _matcher(self) -> Matcher:
        return Matcher({self.name: self._terms})

    @property
    def _terms(self) -> Terms:
        return Terms(self.targets, self.case_sensitive)

    def find(self, text: str) -> dict[str, list[Span]]:
        """Return the spans of all occurrences of the attribute's terms, leftmost first, then longest."""
        return self._matcher.find(text).get(self.name, {})


@dataclass(frozen=True)
class Lexicon:
    """The dictionaries of several attributes, by name; ``source`` says where they were read from."""

    attributes: Mapping[str, Attribute]
    source: str = "bundled"

    @property
    def digest(self) -> str:
        """SHA-256 of everything in the dictionaries that affects mutants."""
        content = {
            a.name: [a.pairs, sorted(a.case_sensitive), *_particulars(a)] for a in self.attributes.values()
        }
        return sha256(canonical(content).encode()).hexdigest()

    @cached_property
    def _matcher(self) -> Matcher:
        return Matcher({name: attribute._terms for name, attribute in self.attributes.items()})

    def find(self, text: str) -> dict[str, dict[str, list[Span]]]:
        """Return all occurrences of terms by attribute, found in one pass; omit attributes without any."""
        return self._matcher.find(text)

    def select(self, names: Iterable[str]) -> Lexicon:
        """Return the lexicon restricted to ``names``, in that order.

        Raises ``LexiconError`` for an unknown or repeated name.
        """
        chosen = list(names)
        for name in chosen:
            if name not in self.attributes:
                available = ", ".join(self.attributes)
                raise LexiconError(f"unknown attribute {name!r}: {self.source} has {available}")
            if chosen.count(name) > 1:
                raise LexiconError(f"attribute {name!r} is given twice")
        return Lexicon({name: self.attributes[name] for name in chosen}, self.source)


def by_source(exchanges: Iterable[Exchange]) -> dict[str, tuple[Exchange, ...]]:
    """Return ``exchanges`` by source, in order; drop equal ones and words exchanged for themselves."""
    by_term: dict[str, dict[Exchange, None]] = {}
    for exchange in exchanges:
        if exchange.source != exchange.target:
            by_term.setdefault(exchange.source, {})[exchange] = None
    return {source: tuple(distinct) for source, distinct in by_term.items()}


def load(path: str | Path | None = None) -> Lexicon:
    """Load the lexicon at ``path`` (a TOML file or a folder of them), or the bundled one.

    Raises ``LexiconError`` naming the file and the key.
    """
    if path is None:
        return _load_files(sorted(BUNDLED.glob("*.toml")), "the bundled lexicon")
    path = Path(path)
    if path.is_dir():
        files = sorted(path.glob("*.toml"))
        if not files:
            raise LexiconError(f"{path}: this folder has no *.toml file")
        return _load_files(files, str(path))
    return _load_files([path], str(path))


def choose(paths: Sequence[str], names: Sequence[str] | None = None) -> Lexicon:
    """Return the attributes ``names`` of the lexicons at ``paths``; without paths, of the bundled one.

    A path that begins with ``+`` adds to the bundled lexicon. ``names`` None: all attributes of the files,
    and of the bundled lexicon the usual ones. An attribute of the files takes the place of a bundled one that
    is not usual. Raises ``LexiconError``, also for an attribute defined twice.
    """
    if names is not None:
        return _together(paths, load()).select(names)
    return _together(paths, load().select(USUAL_ATTRIBUTES))


def every(path: str | None) -> Lexicon:
    """Return all attributes of the lexicon at ``path``, with the bundled ones if it begins with ``+``."""
    return _together([path] if path else [], load())


def _together(paths: Sequence[str], bundled: Lexicon) -> Lexicon:
    if not paths:
        return bundled
    parts = [load(path.removeprefix("+")) for path in paths]
    if any(path.startswith("+") for path in paths):
        replaced = {name for part in parts for name in part.attributes} - set(USUAL_ATTRIBUTES)
        parts.insert(0, bundled.select(name for name in bundled.attributes if name not in replaced))
    attributes: dict[str, Attribute] = {}
    sources: dict[str, str] = {}
    for part in parts:
        for name, attribute in part.attributes.items():
            if name in attributes:
                raise LexiconError(
                    f"{part.source}: attribute {name!r} is in {sources[name]}, too: give it another name"
                )
            attributes[name], sources[name] = attribute, part.source
    return Lexicon(attributes, " and ".join(part.source for part in parts))


def parse(text: str, source: str = "lexicon") -> Lexicon:
    """Parse the lexicon written in ``text``. Raises ``LexiconError`` naming ``source`` and the key."""
    data = parse_toml(text, source, LexiconError)
    unknown = sorted(set(data) - {"attribute"})
    if unknown:
        raise LexiconError(f"{source}: unknown key {unknown[0]!r}: a lexicon has [attribute.NAME] tables")
    tables = data.get("attribute")
    if not isinstance(tables, dict) or not tables:
        raise LexiconError(f"{source}: no [attribute.NAME] table, so the lexicon is empty")
    return Lexicon({name: _attribute(name, table, source) for name, table in tables.items()}, source)


def _load_files(files: Iterable[Path], source: str) -> Lexicon:
    attributes: dict[str, Attribute] = {}
    for file in files:
        for name, attribute in parse(read_text(file, LexiconError), str(file)).attributes.items():
            if name in attributes:
                raise LexiconError(f"{file}: attribute {name!r} is defined twice")
            attributes[name] = attribute
    return Lexicon(attributes, source)


def _attribute(name: str, table: object, source: str) -> Attribute:
    where = f"{source}: attribute.{name}"
    if not isinstance(table, dict):
        raise LexiconError(f"{where} must be a table")
    unknown = sorted(set(table) - ATTRIBUTE_KEYS)
    if unknown:
        raise LexiconError(
            f"{where}: unknown key {unknown[0]!r}, known keys: {', '.join(sorted(ATTRIBUTE_KEYS))}"
        )
    sets = table.get("sets", [])
    if not isinstance(sets, list):
        raise LexiconError(f"{where}.sets must be a list of tables")
    places: dict[str, object] = {f"{where}.sets[{number}]": entry for number, entry in enumerate(sets, 1)}
    if "groups" in table:
        main = {key: table[key] for key in SET_KEYS & table.keys()}
        places = {f"{where}.groups": main, **places}
    exchanges: list[Exchange] = []
    groups: dict[str, tuple[str, ...]] = {}
    for here, entry in places.items():
        written = _set(entry, here)
        exchanges += written.exchanges(here)
        for group, words in written.groups.items():
            groups[group] = tuple(dict.fromkeys([*groups.get(group, ()), *words]))
    exchanges += _written_pairs(table, where)
    if not (by_term := by_source(exchanges)):
        raise LexiconError(f"{where} is empty: give groups or pairs")
    sensitive = _strings(table.get("case_sensitive", []), f"{where}.case_sensitive")
    return Attribute(name, by_term, groups, frozenset(sensitive), str(table.get("description", "")))


@dataclass(frozen=True)
class _Set:
    """A set of groups, as written; ``exchanges`` pairs their words."""

    groups: Mapping[str, list[str]]
    pairing: str
    form: Form | None
    word_only: bool

    def exchanges(self, where: str) -> Iterator[Exchange]:
        """Yield the exchanges between any two groups.

        Raises ``LexiconError`` if aligned groups differ in length.
        """
        aligned = self.pairing == "aligned"
        sizes = {group: len(words) for group, words in self.groups.items()}
        if aligned and len(set(sizes.values())) > 1:
            listed = ", ".join(f"{group} has {size}" for group, size in sizes.items())
            raise LexiconError(f"{where}: aligned groups must have the same length, but {listed}")
        for (group, words), (other, others) in permutations(self.groups.items(), 2):
            for i, word in enumerate(words):
                for target in [others[i]] if aligned else others:
                    yield Exchange(word, target, group, other, self.form, self.word_only)


def _set(entry: object, where: str) -> _Set:
    """Return the set that ``entry`` describes. Raises ``LexiconError`` naming the key that is wrong."""
    if not isinstance(entry, dict) or not isinstance(entry.get("groups"), dict):
        raise LexiconError(f"{where} needs a table of groups")
    unknown = sorted(set(entry) - SET_KEYS)
    if unknown:
        raise LexiconError(f"{where}: unknown key {unknown[0]!r}, known keys: {', '.join(sorted(SET_KEYS))}")
    groups = {group: _strings(words, f"{where}.{group}") for group, words in entry["groups"].items()}
    pairing = entry.get("pairing", "aligned")
    if pairing not in PAIRINGS:
        raise LexiconError(f"{where}: pairing {pairing!r} is not one of {', '.join(PAIRINGS)}")
    return _Set(groups, pairing, _form(entry, where), _word_only(entry, where))


def _form(entry: Mapping[str, object], where: str) -> Form | None:
    form = entry.get("form")
    if form is not None and form not in FORMS:
        raise LexiconError(f"{where}: form {form!r} is not one of {', '.join(FORMS)}")
    return next((known for known in FORMS if known == form), None)


def _word_only(entry: Mapping[str, object], where: str) -> bool:
    word_only = entry.get("word_only", False)
    if not isinstance(word_only, bool):
        raise LexiconError(f"{where}: word_only must be true or false, not {word_only!r}")
    return word_only


def _written_pairs(table: Mapping[str, object], where: str) -> Iterator[Exchange]:
    """Yield the attribute's own pairs, whose groups are called like their words."""
    pairs = table.get("pairs", [])
    if not isinstance(pairs, list):
        raise LexiconError(f"{where}.pairs must be a list of [source, target]")
    form, word_only = _form(table, where), _word_only(table, where)
    for number, pair in enumerate(pairs, 1):
        words = _strings(pair, f"{where}.pairs[{number}]")
        if len(words) != 2:
            raise LexiconError(f"{where}.pairs[{number}] must be [source, target], not {len(words)} words")
        source, target = words
        yield Exchange(source, target, source, target, form, word_only)


def _strings(value: object, where: str) -> list[str]:
    if not isinstance(value, list) or not all(isinstance(v, str) and v.strip() for v in value):
        raise LexiconError(f"{where} must be a list of words")
    return [" ".join(v.split()) for v in value]


def _adds(shorter: str, longer: str) -> bool:
    """Return whether ``longer`` has the words of ``shorter``, in that order, and more."""
    words = iter(longer.lower().split())
    return len(longer.split()) > len(shorter.split()) and all(
        word in words for word in shorter.lower().split()
    )


def _particulars(attribute: Attribute) -> Iterator[list[str | bool | None]]:
    """Yield the exchanges whose form or limits a dictionary states."""
    for exchanges in attribute.exchanges.values():
        for each in exchanges:
            if each.form or each.word_only:
                yield [each.source, each.target, each.form, each.word_only]
