"""Import the groups that posts are about, as in the Social Bias Inference Corpus (SBIC, Sap et al. 2020).

Each row of a table names a group and its category: ``targetMinority`` and ``targetCategory`` of SBIC's
aggregates (JSON lists), or ``group`` and ``category``. Most names are free text. A phrase that ends in a
plain noun for persons can be exchanged for another with the same noun without changing number or gender:
"Asian folks" for "Irish folks". Everything else is dropped, including slurs and insults, which are mostly
bare nouns.
"""

from __future__ import annotations

import csv
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path

import tomli_w

from harness.errors import LexiconError
from harness.suites.hinter.lexicon_lint import cleaned

GROUP_COLUMNS = ("targetMinority", "group")
CATEGORY_COLUMNS = ("targetCategory", "category")
PERSONS = ("people", "folks", "women", "men", "children", "kids", "girls", "boys")
PLAIN = re.compile(r"[^\W\d_]+(?:[ -][^\W\d_]+)*")
DESCRIBING_WORDS = 2
NO_DESCRIPTION = {
    "all",
    "and",
    "any",
    "every",
    "hideous",
    "in",
    "many",
    "most",
    "no",
    "non",
    "not",
    "of",
    "or",
    "some",
    "the",
    "ugly",
    "who",
    "with",
}
# First 12 hex digits of the SHA-256 of lower-case slurs and insults, so that they need not be spelled out.
# fmt: off
OFFENSIVE = {
    "08a841e99678", "120f6e5b4ea3", "158869a97379", "16ea09fc78ca", "22fc75e65a0e", "3b1e0d7c5dd4",
    "4b18aefe826a", "566f532d486c", "886d51e97ad7", "8f5083e3e5c7", "98b52c4b6b7d", "9915ba2d8222",
    "9ae315a94e42", "bb87adf8aa78", "c2c3b68b4883", "c3de533e9b7f", "cc02032349c8", "e84dde508a60",
    "eef3bd091670", "f9d0d9b18ae9",
}
# fmt: on
FIELD_LIMIT = 1_000_000  # characters; a whole post is one field


@dataclass(frozen=True)
class Groups:
    """The imported phrases, by attribute and plain noun; ``dropped`` has a line for each name left out."""

    attributes: Mapping[str, Mapping[str, tuple[str, ...]]]
    dropped: tuple[str, ...]
    rows: int
    sources: tuple[str, ...]

    @property
    def phrases(self) -> int:
        """The number of phrases in all attributes."""
        return sum(len(phrases) for nouns in self.attributes.values() for phrases in nouns.values())


def is_table(file: Path) -> bool:
    """Return whether the first line of ``file`` has the columns of a group and its category."""
    try:
        with file.open(encoding="utf-8-sig") as lines:
            header = next(csv.reader(lines), [])
    except (OSError, UnicodeDecodeError, csv.Error):
        return False
    return None not in _columns(header)


def read(files: Sequence[Path], attribute: str | None = None) -> Groups:
    """Read the groups in ``files``, optionally only those of the category ``attribute``.

    Repeated names are not reported, since a table of posts repeats its groups. Raises ``LexiconError`` if a
    file cannot be read, or if no two groups can replace each other.
    """
    accepted: dict[str, dict[str, dict[str, tuple[str, str]]]] = {}
    dropped: dict[tuple[str, str], str] = {}
    rows = 0
    for where, name, category in _names(files):
        if attribute is not None and category != attribute:
            continue
        rows += 1
        reason = _fault(name)
        if reason is None:
            phrases = accepted.setdefault(category, {}).setdefault(name.split()[-1].lower(), {})
            phrases.setdefault(name.lower(), (name, where))
        else:
            dropped.setdefault((category, name.lower()), f"{where}: {name!r} dropped: {reason}")
    alone = [
        f"{where}: {name!r} dropped: there is no other group of {noun} to exchange it with"
        for nouns in accepted.values()
        for noun, phrases in nouns.items()
        for name, where in phrases.values()
        if len(phrases) == 1
    ]
    attributes = {
        category: {
            noun: tuple(name for name, _ in phrases.values())
            for noun, phrases in nouns.items()
            if len(phrases) > 1
        }
        for category, nouns in accepted.items()
    }
    attributes = {category: nouns for category, nouns in attributes.items() if nouns}
    if not attributes:
        scope = f" of category {attribute!r}" if attribute else ""
        raise LexiconError(f"{', '.join(map(str, files))}: no two groups{scope} can replace each other")
    sources = tuple(file.name for file in files)
    return Groups(attributes, (*dropped.values(), *alone), rows, sources)


def to_toml(groups: Groups) -> str:
    """Return the lexicon as TOML: one set for each plain noun, whose phrases all replace each other."""
    tables = {
        category: {
            "sets": [
                {"name": noun, "groups": {phrase.rsplit(" ", 1)[0]: [phrase] for phrase in phrases}}
                for noun, phrases in nouns.items()
            ]
        }
        for category, nouns in groups.attributes.items()
    }
    return f"# Groups imported from {', '.join(groups.sources)}\n" + tomli_w.dumps({"attribute": tables})


def _names(files: Sequence[Path]) -> Iterator[tuple[str, str, str]]:
    """Yield the location, name and category of each group that has exactly one category."""
    csv.field_size_limit(FIELD_LIMIT)
    for file in files:
        try:
            with file.open(encoding="utf-8-sig", newline="") as lines:
                reader = csv.DictReader(lines)
                group, category = _columns(reader.fieldnames or ())
                for row in reader:
                    categories = _listed(row.get(category or "") or "")
                    for name in _listed(row.get(group or "") or ""):
                        if name and len(categories) == 1:
                            yield f"{file}: line {reader.line_num}", name, categories[0]
        except OSError as error:
            raise LexiconError(f"{file}: {error.strerror or error}") from error
        except UnicodeDecodeError as error:
            raise LexiconError(f"{file}: not UTF-8 at byte {error.start}") from error
        except csv.Error as error:
            raise LexiconError(f"{file}: line {reader.line_num}: {error}") from error


def _columns(header: Sequence[str]) -> tuple[str | None, str | None]:
    by_name = {name.strip().lower(): name for name in header}
    group, category = (
        next((by_name[n.lower()] for n in names if n.lower() in by_name), None)
        for names in (GROUP_COLUMNS, CATEGORY_COLUMNS)
    )
    return group, category


def _listed(field: str) -> list[str]:
    """Return the entries of a field that holds a JSON list of texts or a single text."""
    try:
        entries = json.loads(field) if field.startswith("[") else [field]
    except ValueError:
        entries = [field]
    return [name for entry in entries if (name := cleaned(str(entry)))]


def _fault(name: str) -> str | None:
    words = name.lower().split()
    described = re.split(r"[ -]", name.lower())
    if any(sha256(word.encode()).hexdigest()[:12] in OFFENSIVE for word in described):
        return "it is a slur or an insult"
    if not PLAIN.fullmatch(name):
        return "it names more than one group, or not in plain words"
    if words[-1] not in PERSONS:
        return f"it does not end in one of {', '.join(PERSONS)}"
    if not 1 <= len(words) - 1 <= DESCRIBING_WORDS or NO_DESCRIPTION & set(described):
        return "it is not a short description of a group"
    return None
