"""Rows of data sets on the Hugging Face hub, or in a folder of the same layout (extra ``[datasets]``)."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from pathlib import Path

from harness.core import DocumentOptions
from harness.documents.rows import Row
from harness.errors import DocumentError
from harness.hub import unreachable


def title(options: DocumentOptions) -> str:
    """Return the name of a data set for messages: ``stanfordnlp/imdb test``."""
    return " ".join(str(part) for part in (options.dataset, options.name, options.split) if part)


def rows(options: DocumentOptions, labels: Collection[str]) -> Iterator[Row]:
    """Stream the rows, with class numbers replaced by names where all names of a column are ``labels``.

    Raises ``DocumentError`` where the extra, the split or the revision is missing, or reading fails.
    """
    try:
        import datasets
    except ImportError as error:
        raise DocumentError(
            f"{options.dataset}: reading it needs an extra: pip install 'hinter-harness[datasets]'"
        ) from error
    local = Path(str(options.dataset)).exists()
    if options.split is None:
        raise DocumentError(f"{options.dataset}: name its split, such as --split test")
    if options.revision is None and not local:
        raise DocumentError(
            f"{options.dataset}: pin a commit with --revision, so that the run can be repeated "
            "(or use --revision main for the current state)"
        )
    if not local and (away := unreachable()) is not None:
        raise DocumentError(f"{title(options)}: {away}")
    try:
        stream = datasets.load_dataset(
            str(options.dataset),
            options.name,
            split=options.split,
            revision=None if local else options.revision,
            streaming=True,
        )
        names = _class_names(stream.features, labels)
        for row in stream:
            yield {key: _named(value, names[key]) if key in names else value for key, value in row.items()}
    except DocumentError:
        raise
    except Exception as error:  # whatever the transport and the format raise
        reason = str(error).strip().splitlines() or [type(error).__name__]
        raise DocumentError(f"{title(options)}: {reason[0]}") from error


def _class_names(features: Mapping[str, object] | None, labels: Collection[str]) -> dict[str, list[str]]:
    """Return the class names of each column that has them, where all are labels of the task."""
    class_names: dict[str, list[str]] = {}
    folded = {label.lower() for label in labels}
    for key, feature in (features or {}).items():
        names = getattr(getattr(feature, "feature", feature), "names", None)
        if names and folded.issuperset(name.lower() for name in names):
            class_names[key] = list(names)
    return class_names


def _named(value: object, names: list[str]) -> object:
    if isinstance(value, list):
        return [_named(item, names) for item in value]
    return names[value] if isinstance(value, int) and 0 <= value < len(names) else value
