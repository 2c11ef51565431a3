"""Documents from files (tables, JSON, Parquet, Excel, or a folder of these) and Hugging Face data sets.

A fault in a row is a ``DocumentError`` that names the file and the row (1 is the first data row).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from hashlib import sha256
from itertools import islice
from pathlib import Path

from harness.core import Document, DocumentOptions, canonical
from harness.documents import hub
from harness.documents.gold import Gold
from harness.documents.rows import Row, rows
from harness.documents.sources import sources
from harness.documents.tables import Expected, folded
from harness.errors import DocumentError
from harness.files import DATA, read_toml

__all__ = ["Row", "digest", "label_names", "read", "sample"]

TEXT_COLUMNS = ("text", "review", "sentence", "content")
LABEL_COLUMNS = ("label", "labels", "sentiment", "polarity")
SCORE_COLUMN = "score"
ID_COLUMN = "id"
OURS = frozenset([*TEXT_COLUMNS, *LABEL_COLUMNS, SCORE_COLUMN, ID_COLUMN])


@dataclass(frozen=True, slots=True)
class _Layout:
    """The layout of a task's rows: the arguments of ``read``, prepared."""

    options: DocumentOptions
    gold: Gold
    clean: Callable[[str], str]
    adapt: Callable[[Row], Row | None]
    paragraphs: bool


def read(
    options: DocumentOptions,
    labels: Sequence[str],
    aliases: Mapping[str, str] | None = None,
    clean: Callable[[str], str] = str,
    *,
    adapt: Callable[[Row], Row | None] = lambda row: row,
    multi_label: bool = False,
    paragraphs: bool = False,
    numbered: bool = True,
) -> Iterator[Document]:
    """Yield the documents that ``options`` select, with gold labels checked against ``labels``.

    ``aliases`` maps other spellings (lower case) to labels. With ``numbered``, an integer is an index into
    ``labels`` unless an alias says otherwise. ``clean`` corrects each text before use. ``adapt`` maps the
    columns of a published layout to ours (text, label, id), or returns None for a row that is not part of the
    task. With ``paragraphs``, a text may be a list of paragraphs, which are joined by line breaks. With
    ``multi_label``, a field may hold several labels, as a list or separated by semicolons or commas; ``None``
    stands for no label.

    Raises ``DocumentError`` for a fault in the options, a file or a row.
    """
    spellings = {str(place): label for place, label in enumerate(labels)} if numbered else {}
    spellings |= dict(aliases or {}) | {label.lower(): label for label in labels}
    layout = _Layout(options, Gold(tuple(labels), spellings, multi_label), clean, adapt, paragraphs)
    return islice(_documents(layout), options.limit)


def sample(file: str) -> str:
    """Return the path of a bundled file of texts."""
    return str(DATA / file)


@cache
def label_names(name: str, key: str = "names") -> tuple[str, ...]:
    """Return the official labels of the data set ``name``, in order, or with ``key`` "codes" their codes."""
    return tuple(read_toml(DATA / "labels.toml", DocumentError)[name][key])


def digest(options: DocumentOptions) -> str:
    """Return a SHA-256 of the data files, so that a run can tell when its texts have changed.

    For a data set of the hub, it covers the name and revision; for a local one, its files too.
    """
    total = sha256()
    if options.dataset is not None:
        total.update(canonical((options.dataset, options.name, options.split, options.revision)).encode())
        paths = sorted(path for path in Path(options.dataset).rglob("*") if path.is_file())
    else:
        paths = [source.path for source in sources(options.path, options.intake.note)]
    for file in paths:
        with file.open("rb") as stream:
            while block := stream.read(1 << 20):
                total.update(block)
    return total.hexdigest()


def _documents(layout: _Layout) -> Iterator[Document]:
    options = layout.options
    if options.dataset is not None:
        yield from _source(hub.rows(options, layout.gold.labels), layout, hub.title(options), "", set())
        return
    seen = set[str]()
    columns = {folded(name) for name in (*TEXT_COLUMNS, options.text_column) if name}
    note = options.intake.note
    for file in sources(options.path, note):
        of_file = rows(file.path, file.name, Expected(layout.gold.spellings, columns), note)
        yield from _source(of_file, layout, file.name, file.prefix, seen)


def _source(
    rows: Iterator[Row], layout: _Layout, source: str, prefix: str, seen: set[str]
) -> Iterator[Document]:
    """Yield the documents of one file or data set; ``seen`` collects the ids."""
    number = 0
    for number, published in enumerate(rows, 1):
        row = layout.adapt(_ours(published, f"{source}: row {number}"))
        if row is None:
            layout.options.intake.left_out += 1
            continue
        document = _document(row, layout, source, number, prefix)
        if document.id in seen:
            raise DocumentError(
                f"{source}: row {number}: duplicate id {document.id!r} (a row without an id takes its number)"
            )
        seen.add(document.id)
        yield document
    if number == 0:
        raise DocumentError(f"{source}: no rows")


def _ours(row: Row, where: str) -> Row:
    """Return ``row`` with the usual columns by their usual names, whatever their case and white space."""
    odd = {name: usual for name in row if name not in OURS and (usual := folded(name)) in OURS}
    if not odd:
        return row
    names = [odd.get(name, name) for name in row]
    if len(set(names)) < len(names):
        raise DocumentError(f"{where}: two columns of one name: {', '.join(row)}")
    return dict(zip(names, row.values(), strict=True))


def _document(row: Row, layout: _Layout, source: str, number: int, prefix: str) -> Document:
    where, options = f"{source}: row {number}", layout.options
    text_column = _column(row, options.text_column, TEXT_COLUMNS, source)
    if text_column is None:
        raise DocumentError(
            f"{source}: no column named {' or '.join(TEXT_COLUMNS)}: the columns are {', '.join(row)}; "
            "name yours with --text-column"
        )
    text = _text(row[text_column], layout, where, text_column)
    name = str(row[ID_COLUMN]) if row.get(ID_COLUMN) not in (None, "") else str(number)
    name = prefix + _encodable(name, where, ID_COLUMN)
    if not options.labelled:
        return Document(name, text)
    label_column = _column(row, options.label_column, LABEL_COLUMNS, source)
    if label_column is None and layout.gold.labels and len(row.keys() - {text_column, ID_COLUMN}) > 0:
        names = " or ".join(LABEL_COLUMNS)
        options.intake.note(
            f"{source}: no gold labels, since no column is named {names}: the columns are {', '.join(row)}; "
            "name yours with --label-column"
        )
    labels = None if label_column is None else layout.gold.of(row[label_column], where)
    return Document(name, text, labels)


def _text(value: object, layout: _Layout, where: str, column: str) -> str:
    if layout.paragraphs and isinstance(value, list) and all(isinstance(part, str) for part in value):
        value = "\n".join(value)
    if not isinstance(value, str | None):
        raise DocumentError(f"{where}: {column!r} is {type(value).__name__}, not text")
    text = layout.clean(value or "")
    if not text.strip():
        raise DocumentError(f"{where}: {column!r} is empty")
    return _encodable(text, where, column)


def _encodable(text: str, where: str, column: str) -> str:
    try:
        text.encode()
    except UnicodeEncodeError as error:
        raise DocumentError(f"{where}: {column!r} has a lone surrogate at character {error.start}") from None
    return text


def _column(row: Row, chosen: str | None, usual: Sequence[str], source: str) -> str | None:
    if chosen is None:
        return next((name for name in usual if name in row), None)
    same = [chosen] if chosen in row else [name for name in row if folded(name) == folded(chosen)]
    if len(same) != 1:
        raise DocumentError(f"{source}: no column {chosen!r}: the columns are {', '.join(row)}")
    return same[0]
