"""The columns of a run's tables: their types, and what each holds. docs/reference.md lists them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    import polars as pl

SUBSTITUTION = ("attribute", "source", "target", "operation", "source_group", "target_group")
Kind = Literal["text", "true or false", "number", "whole number", "list of texts", "list of substitutions"]


@dataclass(frozen=True, slots=True)
class Column:
    """The type of a column, and a sentence about what it holds."""

    kind: Kind
    about: str


MARGIN = {
    "margin": Column(
        "number",
        "By how much the answer was likelier than the next one, as a difference of natural logarithms; of two"
        " answers compared, the smaller margin. Null without log-probabilities.",
    ),
    "margin_is_bound": Column(
        "true or false",
        "Whether `margin` is only a lower bound, because the next answer is not among those listed.",
    ),
}
CASES: Mapping[str, Column] = {
    "id": Column("text", "The name of the case, unique in the run."),
    "group": Column(
        "text", "The group that the case is judged in: an original with its mutants, or a template."
    ),
    "document": Column(
        "text",
        "The document that the case was made from; of a suite with its own texts, the unit"
        " that is resampled.",
    ),
    "role": Column(
        "text", "`original`, `atomic`, `intersectional`, `variant`, `seed`, `expansion` or `control`."
    ),
    "text": Column("text", "The text that the model is asked about."),
    "valid": Column("true or false", "Whether the case passed the suite's checks."),
    "reason": Column("text", "Why the case was discarded; null where it is valid."),
    "substitutions": Column(
        "list of substitutions",
        "What was replaced: `attribute`, `source` and `target` of each substitution, its `operation`"
        " (exchange, insertion or removal), and the groups that it leaves and enters, `source_group` and"
        " `target_group`.",
    ),
    "traits": Column(
        "text", "What else the suite says of the case, such as a name or a capability, as JSON."
    ),
    "expected": Column("list of texts", "The labels that are right; null where none is known."),
    "weight": Column("number", "How many cases this one stands for, where cases were drawn from more."),
}
ANSWERS: Mapping[str, Column] = {
    "case": Column("text", "The id of the case."),
    "outcome": Column(
        "text",
        "`read`, or why no answer was read: `refused`, `filtered`, `unparsed`, `truncated`, `too-long`,"
        " `failed`.",
    ),
    "labels": Column("list of texts", "The labels that were read; null where there are none to read."),
    "score": Column("number", "The score that was read, from 0 to 1, of a task that rates; else null."),
    "measures": Column("text", "The measures of an answer in free form by name, as JSON; else null."),
    "reply": Column("text", "The reply as it came, or the message of a failure."),
    **MARGIN,
    "log_odds": Column(
        "number",
        "The log-odds (natural logarithm) of a favourable answer against all others; null without"
        " log-probabilities, or where no answer is favourable.",
    ),
    "mass": Column(
        "number",
        "The probability of all labels together, where each is listed: near zero, the model was forced to"
        " answer with a label.",
    ),
}
VERDICTS: Mapping[str, Column] = {
    "case": Column("text", "The id of the case."),
    "relation": Column(
        "text", "The metamorphic relation that was checked, such as `star`, `pairs` or `expected`."
    ),
    "status": Column("text", "`biased`, `benign` or `undetermined`."),
    "hidden": Column("text", "`yes`, `no` or `undetermined`; null where the question does not arise."),
    "attributes": Column("list of texts", "The attributes that were changed together."),
    "document": Column("text", "The document of the case."),
    "confirmed": Column(
        "true or false",
        "Whether the flip was there each time it was asked again; null where it"
        " was not asked again, or no repeat was read.",
    ),
    **MARGIN,
    "shift": Column(
        "number",
        "By how much the log-odds of the other case's label changed; between scores, their difference."
        " Null where it is not known.",
    ),
    "other": Column("text", "The id of the case compared with; null: the group's original."),
    "weight": Column("number", "The weight of the case."),
}
NOISE: Mapping[str, Column] = {
    "document": Column("text", "The document whose original was asked again."),
    "asked": Column("whole number", "How many more times it was asked."),
    "read": Column("whole number", "How many of the repeated answers were read."),
    "flips": Column("whole number", "How many of these were not the first answer."),
}
REPEATS: Mapping[str, Column] = {
    "case": ANSWERS["case"],
    "repeat": Column("whole number", "Which of the repeats it is, from 1."),
    **{name: ANSWERS[name] for name in ("outcome", "labels", "score", "measures", "reply")},
}
PREFERENCES: Mapping[str, Column] = {
    "case": Column("text", "The case whose answer is compared with that to its original."),
    "repeat": Column("whole number", "0; or the repeat whose answer is compared with the first one."),
    "forwards": Column(
        "text",
        "What the judge said with the original's answer first: `First`, `Second`, `Tie`, or why that could"
        " not be read; null where the two answers are alike, and nobody was asked.",
    ),
    "backwards": Column("text", "The same with the original's answer second."),
    "preference": Column(
        "whole number",
        "1 if the answer is preferred in both orders, -1 if that to the original is, else 0.",
    ),
}
FLIPS: Mapping[str, Column] = {
    "case": VERDICTS["case"],
    "document": VERDICTS["document"],
    "relation": VERDICTS["relation"],
    "attributes": VERDICTS["attributes"],
    "groups": Column("list of texts", "The groups that differ, such as `gender: male → female`."),
    "words": Column("list of texts", "The words that were changed, such as `he → she`."),
    "direction": Column(
        "text",
        "`worse` or `better`: whether the case gets a favourable answer that the other does not, or the"
        " reverse; of scores `lower` or `higher`. Null where neither is so.",
    ),
    "hidden": VERDICTS["hidden"],
    "confirmed": VERDICTS["confirmed"],
    "near_tie": Column("true or false", "Whether one of the two answers was nearly tied; null if not known."),
    "margin": VERDICTS["margin"],
    "shift": VERDICTS["shift"],
    "other": Column("text", "The id of the case compared with, mostly the original."),
    "expected": Column("text", "The labels that are right, joined by commas."),
    "other_answer": Column("text", "The answer to the case compared with."),
    "answer": Column("text", "The answer to the case."),
    "other_text": Column("text", "The text of the case compared with."),
    "text": Column("text", "The text of the case."),
}
JUDGED: Mapping[str, Column] = {
    "case": Column("text", "The id of a mutant that a model did not find right."),
    "reason": Column("text", "`judged-wrong`, or `not-judged` where no reply of the model could be read."),
}
COLUMNS: Mapping[str, Mapping[str, Column]] = {
    "cases": CASES,
    "answers": ANSWERS,
    "verdicts": VERDICTS,
    "discarded": VERDICTS,
    "controls": VERDICTS,
    "noise": NOISE,
    "repeats": REPEATS,
    "preferences": PREFERENCES,
    "flips": FLIPS,
    "judged": JUDGED,
}


def schema(table: str) -> dict[str, pl.DataType]:
    """Return the polars schema of the table called ``table``."""
    import polars as pl

    substitution = pl.Struct(dict.fromkeys(SUBSTITUTION, pl.String()))
    types: Mapping[Kind, pl.DataType] = {
        "text": pl.String(),
        "true or false": pl.Boolean(),
        "number": pl.Float64(),
        "whole number": pl.Int64(),
        "list of texts": pl.List(pl.String()),
        "list of substitutions": pl.List(substitution),
    }
    return {name: types[column.kind] for name, column in COLUMNS[table].items()}
