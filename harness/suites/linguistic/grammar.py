"""The reference grammar: which productions an open treebank has, and where a seed's own may grow into one.

S²LCT, section 3.2.1 and Algorithm 1: a seed's production whose right-hand side is a sub-sequence of a
reference one with the same left-hand side may take the extra symbols, in their places, as masks.
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
# Parts of speech, in a treebank's own sense, of what is not a word of letters standing alone.
UNSPOKEN = frozenset(["ADD", "AFX", "GW", "HYPH", "LS", "NFP", "POS", "SYM", "XX"])
MOST_MASKS = 2  # in one phrase: of more, the words suggested no longer fit each other

Insertion = tuple[tuple[int, str], ...]
"""Extra symbols: (the number of the phrase's children before it, the symbol), left to right."""


@dataclass(frozen=True)
class Grammar:
    """Productions with how often each was seen; ``source`` says where they were read."""

    counts: Mapping[Production, int]
    source: str = "bundled"
    _known: dict[Production, Mapping[Insertion, int]] = field(default_factory=dict, compare=False, repr=False)

    @cached_property
    def digest(self) -> str:
        """SHA-256 of the productions."""
        return sha256(canonical(sorted(map(_written, self.counts))).encode()).hexdigest()

    @cached_property
    def _phrases(self) -> frozenset[str]:
        return frozenset(left for left, _ in self.counts)

    @cached_property
    def _longer(self) -> dict[tuple[str, int], list[tuple[str, ...]]]:
        """Right-hand sides by their left-hand side and length."""
        index: dict[tuple[str, int], list[tuple[str, ...]]] = {}
        for left, right in self.counts:
            index.setdefault((left, len(right)), []).append(right)
        return index

    def insertions(self, production: Production) -> Mapping[Insertion, int]:
        """What ``production`` may take, with how often the production that it becomes was seen.

        At most ``MOST_MASKS`` symbols, all of them parts of speech of words: a phrase cannot be one word,
        and a mark of punctuation is none.
        """
        if production not in self._known:
            self._known[production] = dict(sorted(self._insertions(production)))
        return self._known[production]

    def _insertions(self, production: Production) -> Iterator[tuple[Insertion, int]]:
        left, own = production
        for extra in range(1, MOST_MASKS + 1):
            for right in self._longer.get((left, len(own) + extra), ()):
                for insertion in _embeddings(own, right):
                    if all(self._masks(symbol) for _, symbol in insertion):
                        yield insertion, self.counts[left, right]

    def _masks(self, symbol: str) -> bool:
        return symbol not in self._phrases and symbol[:1].isalpha() and symbol not in UNSPOKEN


def treebank(paths: Iterable[Path]) -> Iterator[Tree]:
    """The trees of bracketed files, one at a time, and of folders those in the files that are treebanks' by
    their names. Raises ``ConfigError``, which names the file and the line."""
    for file in (file for path in paths for file in _files(path)):
        try:
            with file.open(encoding="utf-8") as lines:
                yield from read(lines)
        except (OSError, ValueError) as error:
            raise ConfigError(f"{file}: {getattr(error, 'strerror', None) or error}") from error


def learn(trees: Iterable[Tree], source: str) -> Grammar:
    """The grammar of a treebank, its trees taken one at a time. Raises ``ConfigError`` where it has none."""
    counts: Counter[Production] = Counter()
    for tree in trees:
        counts.update(phrase.production for phrase in tree.phrases())
    if not counts:
        raise ConfigError(
            f"{source}: no trees in it, write them in brackets: (S (NP (PRP I)) (VP (VBP see)))"
        )
    return Grammar(counts, source)


def load(path: str | Path | None = None) -> Grammar:
    """The grammar at ``path`` (a table as of ``to_tsv``), or the bundled one. Raises ``ConfigError``."""
    file = Path(path) if path else BUNDLED
    counts: dict[Production, int] = {}
    for number, line in enumerate(read_text(file, ConfigError).split("\n"), 1):
        if line.strip() and not line.startswith("#"):
            production, count = _row(line, f"{file}: line {number}")
            counts[production] = counts.get(production, 0) + count
    if not counts:
        raise ConfigError(f"{file}: no productions in it: make it with `hinter grammar learn TREES`")
    return Grammar(counts, str(path) if path else "bundled")


def to_tsv(grammar: Grammar, comment: Sequence[str] = ()) -> Iterator[str]:
    """The table's lines: what ``comment`` says, then the productions, the most frequent first."""
    yield from (f"# {line}\n" for line in comment)
    for production, count in sorted(grammar.counts.items(), key=lambda item: (-item[1], item[0])):
        yield f"{_written(production)}\t{count}\n"


def _files(path: Path) -> list[Path]:
    if not path.is_dir():
        return [path]
    found = sorted(file for file in path.rglob("*") if file.suffix in SUFFIXES)
    if not found:
        raise ConfigError(f"{path}: no treebank in this folder, no file ends with {', '.join(SUFFIXES)}")
    return found


def _row(line: str, place: str) -> tuple[Production, int]:
    cells = line.split("\t")
    if len(cells) != 3 or not cells[0].strip() or not cells[1].strip() or not cells[2].strip().isdecimal():
        raise ConfigError(f"{place}: not a production, write SYMBOL<TAB>SYMBOL SYMBOL …<TAB>COUNT")
    return (cells[0].strip(), tuple(cells[1].split())), int(cells[2])


def _written(production: Production) -> str:
    left, right = production
    return f"{left}\t{' '.join(right)}"


def _embeddings(own: tuple[str, ...], right: tuple[str, ...]) -> Iterator[Insertion]:
    """What must be put into ``own`` to make it ``right``, for each way in which it is a sub-sequence."""
    if len(own) > len(right):
        return
    stack: list[tuple[int, int, Insertion]] = [(0, 0, ())]
    while stack:
        at, to, extra = stack.pop()
        if to == len(right):
            if at == len(own):
                yield extra
            continue
        if len(extra) < len(right) - len(own):
            stack.append((at, to + 1, (*extra, (at, right[to]))))
        if at < len(own) and own[at] == right[to]:
            stack.append((at + 1, to + 1, extra))
