"""All flips of a run, one row each, with both texts and both answers."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal

from harness import columns
from harness.core import NEAR_TIE, Tables
from harness.report import summary as summaries
from harness.spreadsheets import disarmed

if TYPE_CHECKING:
    import polars as pl

    from harness.folder import RunFolder

Flip = Mapping[str, Any]

COLUMNS = tuple(columns.FLIPS)
"""The columns of a row."""
NAME = "flips"
LABELS = ("expected", "other_answer", "answer")
EXPECTED = "expected"
"""The relation of a case to the labels that are right, not to another case."""
AT_ONCE = 200
REFUSALS = ("refused", "filtered")
"""The answers not read of which the list of the page tells: who is refused may be a finding."""
PLACES = 4
"""The decimals of a margin and of a shift."""

Kind = Literal["changed", "unread", "control"]


def flips(folder: RunFolder) -> Iterator[Flip]:
    """Yield the flips of the run, in the order of its verdicts. Raises ``RunError``.

    Only some texts are in memory at a time, whatever the size of the run.
    """
    favourable = summaries.read(folder.summary).favourable
    table = _joined(folder, folder.scan("verdicts").filter(status="biased"), ("text",))
    for batch in table.collect_batches(chunk_size=AT_ONCE, maintain_order=True):
        for row in batch.iter_rows(named=True):
            flip = _flip(row, favourable)
            yield {name: flip[name] for name in COLUMNS}


def listed(folder: RunFolder, favourable: Sequence[str], most: int) -> Iterator[Flip]:
    """Yield what the page lists, without texts: flips, refusals where a test needed an answer, controls.

    At most ``most`` of them, flips first. Each has the keys of a flip but the texts, and beside them
    its ``kind``, ``group``, ``substitutions``, ``traits`` and both outcomes.
    """
    left = most
    for kind, verdicts in _kinds(folder).items():
        for flip in tested(folder, verdicts.head(left), favourable):
            left -= 1
            yield {**flip, "kind": kind}


def tested(tables: Tables, verdicts: pl.LazyFrame, favourable: Sequence[str]) -> Iterator[Flip]:
    """Yield tests of a run as flips without texts, whatever came of them."""
    for row in _joined(tables, verdicts, ()).collect(engine="streaming").iter_rows(named=True):
        yield _flip(row, favourable)


def numbers(folder: RunFolder) -> dict[Kind, int]:
    """Return how many rows of each kind the run has."""
    import polars as pl

    return {kind: int(rows.select(pl.len()).collect().item()) for kind, rows in _kinds(folder).items()}


def _kinds(folder: RunFolder) -> dict[Kind, pl.LazyFrame]:
    """Return the verdicts of each kind, in the order in which the page lists them."""
    import polars as pl

    refused = folder.scan("answers").filter(pl.col("outcome").is_in(REFUSALS)).select("case")
    originals = folder.scan("cases").filter(role="original").select("id", "document")
    silent = originals.join(refused, left_on="id", right_on="case", how="semi").select("document").unique()
    unread = folder.scan("verdicts").filter(status="undetermined")
    for name, table in (
        ("case", refused),
        ("other", refused.rename({"case": "other"})),
        ("document", silent),
    ):
        flag = table.with_columns(pl.lit(True).alias(f"{name}_refused"))
        unread = unread.join(flag, on=name, how="left", maintain_order="left")
    compared = pl.col("document_refused") & pl.col("other").is_null()
    unread = unread.filter(pl.col("case_refused") | pl.col("other_refused") | compared)
    return {
        "changed": folder.scan("verdicts").filter(status="biased"),
        "unread": unread.drop(pl.selectors.ends_with("_refused")),
        "control": folder.scan("controls").filter(status="biased"),
    }


def as_csv(rows: Iterator[Flip]) -> Iterator[str]:
    """Yield the lines of a CSV file, its cells disarmed, lists joined; the first has the names."""
    stream = io.StringIO(newline="")
    writer = csv.writer(stream)
    writer.writerow(COLUMNS)
    for row in rows:
        writer.writerow(_safe(row[name], "no label" if name in LABELS else "") for name in COLUMNS)
        yield stream.getvalue()
        stream.seek(0)
        stream.truncate()
    yield stream.getvalue()


def write(folder: RunFolder) -> None:
    """Write all flips to ``flips.parquet``. Raises ``RunError``."""
    with folder.parts(NAME) as parts:
        for flip in flips(folder):
            labels = {name: None if flip[name] is None else cell(flip[name], "no label") for name in LABELS}
            parts.add({**flip, **labels}, len(flip["text"]) + len(flip["other_text"] or ""))
    folder.merge(NAME)


def _safe(value: object, nothing: str) -> str:
    """Return the cell of a value; a number below zero is no formula."""
    text = cell(value, nothing)
    return text if isinstance(value, float) else disarmed(text)


def as_json(rows: Iterator[Flip]) -> Iterator[str]:
    """Yield a JSON object a line."""
    for row in rows:
        yield json.dumps({name: row[name] for name in COLUMNS}, ensure_ascii=False) + "\n"


def _joined(tables: Tables, verdicts: pl.LazyFrame, texts: Sequence[str]) -> pl.LazyFrame:
    """Return verdicts beside the cases and answers that they compare, with these columns of ``texts``."""
    import polars as pl

    kept = ("id", "group", "role", "substitutions", "traits", "expected", *texts)
    cases = tables.scan("cases").select(kept)
    answers = tables.scan("answers").select("case", "outcome", "labels", "score")
    originals = cases.filter(role="original").unique("group", keep="first", maintain_order=True)
    tie = (pl.col("margin") < NEAR_TIE).fill_null(value=False)
    near = pl.when(tie & pl.col("margin_is_bound").fill_null(value=False)).then(None).otherwise(tie)
    judged = verdicts.with_columns(near_tie=pl.when(pl.col("margin").is_not_null()).then(near))
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
        .with_columns(pl.col("margin", "shift").round(PLACES))
    )


def _flip(row: Flip, favourable: Sequence[str]) -> dict[str, Any]:
    """Return a row of the tables as a flip, with whatever else it has."""
    return {
        **row,
        "groups": [f"{name}: {source} → {target}" for name, source, target in _changes(row)],
        "words": [arrow(s) for s in row["substitutions"] or ()],
        "direction": _direction(row, favourable),
        "other_answer": _answer(row, "other_"),
        "answer": _answer(row, ""),
    }


def arrow(substitution: Mapping[str, str]) -> str:
    """Return ``man → woman``."""
    return f"{substitution['source']} → {substitution['target']}"


def _direction(row: Flip, favourable: Sequence[str]) -> str | None:
    """Return how the case fares beside the other: ``better`` or ``worse``; of scores ``higher`` or ``lower``.

    None where no answer is favourable, where both are alike in that, or where one was not read.
    """
    before, after = _answer(row, "other_"), _answer(row, "")
    if before is None or after is None:
        return None
    if isinstance(before, float) or isinstance(after, float):
        return None if before == after else ("higher" if after > before else "lower")  # type: ignore[operator]
    good = set(favourable)
    had, has = not good.isdisjoint(before), not good.isdisjoint(after)
    return None if had == has else "better" if has else "worse"


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


def cell(value: object, nothing: str = "") -> str:
    """Return a value as text, an empty list as ``nothing``."""
    if isinstance(value, list):
        return ", ".join(map(str, value)) or nothing
    if isinstance(value, bool):
        return "yes" if value else "no"
    return "" if value is None else str(value)
