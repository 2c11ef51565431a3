"""Rows of data sets of the Hugging Face hub, or of a local folder of that kind: the extra ``[datasets]``."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from pathlib import Path
from typing import Any

from harness.core import DocumentOptions
from harness.errors import DocumentError

Row = Mapping[str, Any]


def title(options: DocumentOptions) -> str:
    """How a data set is named in messages: ``stanfordnlp/imdb test``."""
    return " ".join(str(part) for part in (options.dataset, options.name, options.split) if part)


def rows(options: DocumentOptions, labels: Collection[str]) -> Iterator[Row]:
    """The rows, streamed. Class numbers become names where all the names are ``labels`` of the task.

    Raises ``DocumentError``.
    """
    try:
        import datasets
    except ImportError as error:
        raise DocumentError(
            f"{options.dataset}: reading it needs an extra: pip install 'hinter-harness[datasets]'"
        ) from error
    local = Path(str(options.dataset)).exists()
    if options.split is None:
        raise DocumentError(f"{options.dataset}: say which split, with --split test")
    if options.revision is None and not local:
        raise DocumentError(
            f"{options.dataset}: say which commit, with --revision, so that the run can be repeated "
            "(or --revision main for whatever is there today)"
        )
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
    except Exception as error:  # the library raises whatever the transport and the format raise
        said = str(error).strip().splitlines() or [type(error).__name__]
        raise DocumentError(f"{title(options)}: {said[0]}") from error


def _class_names(features: Mapping[str, Any] | None, labels: Collection[str]) -> dict[str, list[str]]:
    """The class names of the columns that have some, where all of them are labels of the task."""
    found: dict[str, list[str]] = {}
    folded = {label.lower() for label in labels}
    for key, feature in (features or {}).items():
        names = getattr(getattr(feature, "feature", feature), "names", None)
        if names and folded.issuperset(name.lower() for name in names):
            found[key] = list(names)
    return found


def _named(value: Any, names: list[str]) -> Any:
    if isinstance(value, list):
        return [_named(one, names) for one in value]
    return names[value] if isinstance(value, int) and 0 <= value < len(names) else value
