"""All flips of a run, one row each, with both texts and both answers."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from harness.core import NEAR_TIE
from harness.spreadsheets import disarmed

if TYPE_CHECKING:
    import polars as pl

    from harness.folder import RunFolder

Flip = Mapping[str, Any]

COLUMNS = (
    *("case", "document", "relation", "attributes", "groups", "words", "hidden", "confirmed", "near_tie"),
    *("other", "expected", "other_answer", "answer", "other_text", "text"),
)
"""The columns of a row; ``other`` is the case compared with, mostly the original."""
LABELS = ("expected", "other_answer", "answer")
EXPECTED = "expected"
"""The relation of a case to the labels that are right, not to another case."""
AT_ONCE = 200


def flips(folder: RunFolder) -> Iterator[Flip]:
    """Yield the flips of the run, in the order of its verdicts. Raises ``RunError``.

    Only some texts are in memory at a time, whatever the size of the run.
    """
    table = _joined(folder)
    for batch in table.collect_batches(chunk_size=AT_ONCE, maintain_order=True):
        for row in batch.iter_rows(named=True):
            changes = _changes(row)
            yield {
                **{name: row[name] for name in COLUMNS if name in row},
                "groups": [f"{name}: {source} → {target}" for name, source, target in changes],
                "words": [f"{s['source']} → {s['target']}" for s in row["substitutions"]],
                "other_answer": _answer(row, "other_"),
                "answer": _answer(row, ""),
            }


def as_csv(rows: Iterator[Flip]) -> Iterator[str]:
    """Yield the lines of a CSV file, its cells disarmed, lists joined; the first has the names."""
    stream = io.StringIO(newline="")
    writer = csv.writer(stream)
    writer.writerow(COLUMNS)
    for row in rows:
        writer.writerow(disarmed(_cell(row[name], "no label" if name in LABELS else "")) for name in COLUMNS)
        yield stream.getvalue()
        stream.seek(0)
        stream.truncate()
    yield stream.getvalue()


def as_json(rows: Iterator[Flip]) -> Iterator[str]:
    """Yield a JSON object a line."""
    for row in rows:
        yield json.dumps({name: row[name] for name in COLUMNS}, ensure_ascii=False) + "\n"


def _joined(folder: RunFolder) -> pl.LazyFrame:
    """Return the biased verdicts beside the cases and answers that they compare."""
    import polars as pl

    cases = folder.scan("cases").select("id", "group", "role", "text", "substitutions", "traits", "expected")
    answers = folder.scan("answers").select("case", "outcome", "labels", "score")
    originals = cases.filter(role="original").unique("group", keep="first", maintain_order=True)
    tie = (pl.col("margin") < NEAR_TIE).fill_null(value=False)
    near = pl.when(tie & pl.col("margin_is_bound").fill_null(value=False)).then(None).otherwise(tie)
    biased = folder.scan("verdicts").filter(status="biased")
    judged = biased.with_columns(near_tie=pl.when(pl.col("margin").is_not_null()).then(near))
    flipped = judged.join(cases, left_on="case", right_on="id", how="left", maintain_order="left").join(
        originals.select("group", original="id"), on="group", how="left", maintain_order="left"
    )
    star = (pl.col("relation") != EXPECTED) & (pl.col("original") != pl.col("case"))
    original = pl.when(star).then("original")
    of_other = answers.rename(lambda name: f"other_{name}")
    others = cases.rename(lambda name: f"other_{name}")
    return (
        flipped.with_columns(other=pl.coalesce("other", original))
        .join(others, left_on="other", right_on="other_id", how="left", maintain_order="left")
        .join(answers, on="case", how="left", maintain_order="left")
        .join(of_other, left_on="other", right_on="other_case", how="left", maintain_order="left")
        .with_columns(expected=pl.coalesce("expected", "other_expected"))
    )


def _changes(row: Flip) -> Iterator[tuple[str, str, str]]:
    """Yield each attribute with the group of the other case and that of this one, where both are known."""
    before = {s["attribute"]: s["target_group"] for s in row["other_substitutions"] or ()}
    after = {s["attribute"]: s for s in row["substitutions"] or ()}
    if after:
        for name, change in after.items():
            source, target = before.get(name, change["source_group"]), change["target_group"]
            if source or target:
                yield name, source or "none", target or "none"
        return
    ours, theirs = (json.loads(row[name] or "{}") for name in ("traits", "other_traits"))
    for name in row["attributes"]:
        if name in ours and name in theirs:
            yield name, theirs[name], ours[name]


def _answer(row: Flip, prefix: str) -> Sequence[str] | float | None:
    """Return the labels or the score; None if there is no other case, or its answer was not read."""
    labels: Sequence[str] | None = row[f"{prefix}labels"]
    score: float | None = row[f"{prefix}score"]
    return score if labels is None else labels


def _cell(value: object, nothing: str) -> str:
    """Return a value as text, an empty list as ``nothing``."""
    if isinstance(value, list):
        return ", ".join(map(str, value)) or nothing
    if isinstance(value, bool):
        return "yes" if value else "no"
    return "" if value is None else str(value)
