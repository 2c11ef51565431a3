"""The reference grammar: the productions of an open treebank, and where a seed's may grow into one.

S²LCT, section 3.2.1 and Algorithm 1: if the right-hand side of a seed's production is a subsequence of a
reference one with the same left-hand side, the seed may take the extra symbol, in its place, as a mask.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from hashlib import sha256
from pathlib import Path

from harness.core import canonical
from harness.errors import ConfigError
from harness.files import DATA, read_text
from harness.language.trees import Production, Tree, read

BUNDLED = DATA / "grammar.tsv"
SUFFIXES = (".mrg", ".parse", ".ptb", ".tree", ".trees")
# Treebank tags of anything that is not a separate word of letters.
UNSPOKEN = frozenset(["ADD", "AFX", "GW", "HYPH", "LS", "NFP", "POS", "SYM", "XX"])

Insertion = tuple[int, str]
"""An extra symbol: the number of the phrase's children before it, and the symbol."""


@dataclass(frozen=True)
class Grammar:
    """Productions with their frequencies; ``source`` says where they were read from."""

    counts: Mapping[Production, int]
    source: str = "bundled"
    _cache: dict[Production, Mapping[Insertion, int]] = field(default_factory=dict, compare=False, repr=False)

    @cached_property
    def digest(self) -> str:
        """SHA-256 of the productions."""
        return sha256(canonical(sorted(map(_written, self.counts))).encode()).hexdigest()

    @cached_property
    def _phrases(self) -> frozenset[str]:
        return frozenset(left for left, _ in self.counts)

    @cached_property
    def _longer(self) -> dict[tuple[str, int], list[tuple[str, ...]]]:
        """Right-hand sides by left-hand side and length."""
        index: dict[tuple[str, int], list[tuple[str, ...]]] = {}
        for left, right in self.counts:
            index.setdefault((left, len(right)), []).append(right)
        return index

    def insertions(self, production: Production) -> Mapping[Insertion, int]:
        """Return what ``production`` may take, with the frequency of the production it becomes.

        It takes one symbol: more words, each suggested for its own gap, would not fit each other. It is a
        part of speech of words, since a phrase cannot be a single word and a punctuation mark is no word.
        """
        if production not in self._cache:
            self._cache[production] = dict(sorted(self._insertions(production)))
        return self._cache[production]

    def _insertions(self, production: Production) -> Iterator[tuple[Insertion, int]]:
        left, symbols = production
        for right in self._longer.get((left, len(symbols) + 1), ()):
            for at, symbol in enumerate(right):
                if right[:at] + right[at + 1 :] == symbols and self._masks(symbol):
                    yield (at, symbol), self.counts[left, right]

    def _masks(self, symbol: str) -> bool:
        return symbol not in self._phrases and symbol[:1].isalpha() and symbol not in UNSPOKEN


def treebank(paths: Iterable[Path]) -> Iterator[Tree]:
    """Yield the trees of bracketed files, one at a time.

    A folder stands for the files in it with a treebank's suffix. Raises ``ConfigError`` naming the file and
    the line.
    """
    for file in (file for path in paths for file in _files(path)):
        try:
            with file.open(encoding="utf-8") as lines:
                yield from read(lines)
        except (OSError, ValueError) as error:
            raise ConfigError(f"{file}: {getattr(error, 'strerror', None) or error}") from error


def learn(trees: Iterable[Tree], source: str) -> Grammar:
    """Learn the grammar of a treebank, one tree at a time. Raises ``ConfigError`` if there are no trees."""
    counts: Counter[Production] = Counter()
    for tree in trees:
        counts.update(phrase.production for phrase in tree.phrases())
    if not counts:
        raise ConfigError(
            f"{source}: no trees found; write them in brackets: (S (NP (PRP I)) (VP (VBP see)))"
        )
    return Grammar(counts, source)


def load(path: str | Path | None = None) -> Grammar:
    """Load the grammar at ``path`` (a table from ``to_tsv``) or the bundled one. Raises ``ConfigError``."""
    file = Path(path) if path else BUNDLED
    counts: dict[Production, int] = {}
    for number, line in enumerate(read_text(file, ConfigError).split("\n"), 1):
        if line.strip() and not line.startswith("#"):
            production, count = _row(line, f"{file}: line {number}")
            counts[production] = counts.get(production, 0) + count
    if not counts:
        raise ConfigError(f"{file}: no productions found; make the table with `hinter grammar learn TREES`")
    return Grammar(counts, str(path) if path else "bundled")


def to_tsv(grammar: Grammar, comment: Sequence[str] = ()) -> Iterator[str]:
    """Yield the lines of the table: ``comment``, then the productions, the most frequent first."""
    yield from (f"# {line}\n" for line in comment)
    for production, count in sorted(grammar.counts.items(), key=lambda item: (-item[1], item[0])):
        yield f"{_written(production)}\t{count}\n"


def _files(path: Path) -> list[Path]:
    if not path.is_dir():
        return [path]
    files = sorted(file for file in path.rglob("*") if file.suffix in SUFFIXES)
    if not files:
        raise ConfigError(
            f"{path}: this folder has no treebank, that is, no file ending in {', '.join(SUFFIXES)}"
        )
    return files


def _row(line: str, place: str) -> tuple[Production, int]:
    cells = line.split("\t")
    if len(cells) != 3 or not cells[0].strip() or not cells[1].strip() or not cells[2].strip().isdecimal():
        raise ConfigError(f"{place}: not a production; write SYMBOL<TAB>SYMBOL SYMBOL …<TAB>COUNT")
    return (cells[0].strip(), tuple(cells[1].split())), int(cells[2])


def _written(production: Production) -> str:
    left, right = production
    return f"{left}\t{' '.join(right)}"
