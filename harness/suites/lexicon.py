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
    groups = { european = ["British"], asian = ["Indian", "Japanese"] }
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from hashlib import sha256
from pathlib import Path

from harness.core import Span, canonical
from harness.errors import LexiconError
from harness.files import DATA, parse_toml, read_text
from harness.suites.matching import Matcher, Terms

BUNDLED = DATA / "lexicons"
USUAL_ATTRIBUTES = ("race", "gender", "body")
ATTRIBUTE_KEYS = {"description", "groups", "pairing", "sets", "pairs", "case_sensitive"}
SET_KEYS = {"name", "groups", "pairing"}
PAIRINGS = ("aligned", "across")

Pair = tuple[str, str]


@dataclass(frozen=True)
class Attribute:
    """The dictionary of one attribute: each term's replacements, in the order written."""

    name: str
    targets: Mapping[str, tuple[str, ...]]
    groups: Mapping[str, tuple[str, ...]]
    case_sensitive: frozenset[str] = frozenset()
    description: str = ""

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
        content = {a.name: [a.pairs, sorted(a.case_sensitive)] for a in self.attributes.values()}
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
    and of the bundled lexicon the usual ones. Raises ``LexiconError``, also for an attribute defined twice.
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
    parts = [bundled] if any(path.startswith("+") for path in paths) else []
    parts += [load(path.removeprefix("+")) for path in paths]
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
        main = {"groups": table["groups"], "pairing": table.get("pairing", "aligned")}
        places = {f"{where}.groups": main, **places}
    pairs: list[Pair] = []
    groups: dict[str, tuple[str, ...]] = {}
    for here, entry in places.items():
        members, pairing = _set(entry, here)
        pairs += _paired(members, pairing, here)
        for group, words in members.items():
            groups[group] = tuple(dict.fromkeys([*groups.get(group, ()), *words]))
    pairs += _written_pairs(table.get("pairs", []), where)
    targets: dict[str, list[str]] = {}
    for word, other in pairs:
        if word != other and other not in targets.setdefault(word, []):
            targets[word].append(other)
    if not targets:
        raise LexiconError(f"{where} is empty: give groups or pairs")
    sensitive = _strings(table.get("case_sensitive", []), f"{where}.case_sensitive")
    return Attribute(
        name,
        {word: tuple(others) for word, others in targets.items()},
        groups,
        frozenset(sensitive),
        str(table.get("description", "")),
    )


def _set(entry: object, where: str) -> tuple[dict[str, list[str]], object]:
    """Return the groups of a set and its pairing, which ``_paired`` checks."""
    if not isinstance(entry, dict) or not isinstance(entry.get("groups"), dict):
        raise LexiconError(f"{where} needs a table of groups")
    unknown = sorted(set(entry) - SET_KEYS)
    if unknown:
        raise LexiconError(f"{where}: unknown key {unknown[0]!r}, known keys: {', '.join(sorted(SET_KEYS))}")
    groups = {group: _strings(words, f"{where}.{group}") for group, words in entry["groups"].items()}
    return groups, entry.get("pairing", "aligned")


def _paired(groups: dict[str, list[str]], pairing: object, where: str) -> Iterator[Pair]:
    if pairing not in PAIRINGS:
        raise LexiconError(f"{where}: pairing {pairing!r} is not one of {', '.join(PAIRINGS)}")
    sizes = {group: len(words) for group, words in groups.items()}
    if pairing == "aligned" and len(set(sizes.values())) > 1:
        listed = ", ".join(f"{group} has {size}" for group, size in sizes.items())
        raise LexiconError(f"{where}: aligned groups must have the same length, but {listed}")
    for group, words in groups.items():
        for other, others in groups.items():
            if group == other:
                continue
            for i, word in enumerate(words):
                yield from ((word, target) for target in ([others[i]] if pairing == "aligned" else others))


def _written_pairs(pairs: object, where: str) -> Iterator[Pair]:
    if not isinstance(pairs, list):
        raise LexiconError(f"{where}.pairs must be a list of [source, target]")
    for number, pair in enumerate(pairs, 1):
        words = _strings(pair, f"{where}.pairs[{number}]")
        if len(words) != 2:
            raise LexiconError(f"{where}.pairs[{number}] must be [source, target], not {len(words)} words")
        yield (words[0], words[1])


def _strings(value: object, where: str) -> list[str]:
    if not isinstance(value, list) or not all(isinstance(v, str) and v.strip() for v in value):
        raise LexiconError(f"{where} must be a list of words")
    return [" ".join(v.split()) for v in value]
