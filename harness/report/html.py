"""``report.html``: one self-contained page of a run, from its tables and its summary.

The page holds a bounded number of biased cases whatever the size of the run: which ones is decided on
counts alone, and only the rows of those are read, so many characters at a time.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import TYPE_CHECKING, Any

from harness.core import KEY_SEPARATOR
from harness.language.differences import Piece, changes, excerpt, left_out
from harness.report import cells, explained, wording

if TYPE_CHECKING:
    import polars as pl
    from jinja2 import Environment

    from harness.core import Span
    from harness.folder import RunFolder

Substitutions = Sequence[Mapping[str, str]]

MAX_CARDS = 500
CHARACTERS_AT_ONCE = 30_000_000
HIDDEN_ORDER = ("yes", "undetermined", "no", None)
AXES = (0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0)


@dataclass(frozen=True, slots=True)
class Line:
    """One text of a card: what it is, what was answered (or why not), and its excerpt."""

    name: str
    answer: str
    status: str
    pieces: Sequence[Piece]
    left_out: bool


@dataclass(frozen=True, slots=True)
class Card:
    """A biased case beside its original and the mutants of its parts. ``hidden`` is "" if atomic."""

    case: str
    document: str
    kind: str
    attributes: str
    hidden: str
    gold: str
    lines: Sequence[Line]


def render(folder: RunFolder, figures: Mapping[str, Any], limit: int = MAX_CARDS) -> str:
    """The page of the run in ``folder``, with at most ``limit`` cards and those of cases explained.

    ``figures`` is its summary.
    """
    chosen, total = choose(folder.scan("verdicts"), limit)
    explanations = explained.read(folder.path)
    chosen += [case for case in explanations if case not in set(chosen)]
    rows = [row for row in figures["results"] if row["tests"]]
    shown = figures.get("sections", [])
    own = "headline" in figures  # the suite's sections are its findings; else its results are
    return (
        environment()
        .get_template("report.html.jinja")
        .render(
            figures=figures,
            rows=rows,
            findings=shown if own else [],
            appended=[] if own else shown,
            beyond_noise=any(row.get("p_holm") is not None for row in rows),
            headline=wording.headline(figures),
            missing=[*filter(None, [wording.chosen(figures)]), *wording.missing(figures)],
            notes=[*filter(None, _notes(figures))],
            charted=[row for row in rows if row["rate"] is not None],
            axis=axis(rows),
            venn=[pair for pair in figures.get("venn", []) if pair["regions"]],
            cards=list(cards(folder, chosen)),
            explained={case: explained.view(one) for case, one in explanations.items()},
            total=total,
            wording=wording,
        )
    )


def _notes(figures: Mapping[str, Any]) -> Iterator[str]:
    yield wording.noise(figures)
    yield from wording.cautions(figures)
    yield from wording.estimates(figures)
    yield wording.discarded(figures)


def environment() -> Environment:
    """Where the pages' templates come from; what is put into them is escaped."""
    from jinja2 import Environment, PackageLoader, StrictUndefined

    environment = Environment(
        loader=PackageLoader("harness", "report"),
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
        undefined=StrictUndefined,
    )
    environment.filters |= {
        "percent": wording.percent,
        "interval": wording.interval,
        "count": wording.count,
        "chance": wording.chance,
        "biased": wording.biased,
        "written": cells.written,
        "scale": cells.scale,
        "unit": lambda text: text.replace(" %", "\u00a0%"),
    }
    return environment


def axis(rows: Sequence[Mapping[str, Any]]) -> float:
    """The end of the chart's scale: the first round rate above all that is drawn."""
    reach = [
        max(row["rate"], *(bounds[1] for bounds in (row["ci95"], row.get("ci95_by_original")) if bounds))
        for row in rows
        if row["rate"] is not None
    ]
    return next(end for end in AXES if end >= max(reach, default=1.0) or end == AXES[-1])


def choose(verdicts: pl.LazyFrame, limit: int) -> tuple[list[str], int]:
    """At most ``limit`` biased cases in the order they are shown, and how many there are.

    Hidden ones first, then evenly over the attribute sets; those of one set evenly over the run.
    """
    import polars as pl

    key = pl.col("attributes").list.join(KEY_SEPARATOR)
    biased = verdicts.filter(pl.col("status") == "biased").with_columns(key=key)
    shown_first = pl.col("hidden").eq_missing(pl.lit("yes"))  # of the many pairs that a case may be in
    biased = biased.sort(~shown_first, maintain_order=True).unique("case", keep="first", maintain_order=True)
    counts = {
        (hidden, name): count
        for hidden, name, count in biased.group_by("hidden", "key").len().sort("key").collect().rows()
    }
    quota = allot(counts, limit)
    chosen: list[str] = []
    for hidden, name in sorted(quota, key=lambda group: (HIDDEN_ORDER.index(group[0]), group[1])):
        same = pl.col("hidden").eq_missing(pl.lit(hidden)) & (pl.col("key") == name)
        step = counts[hidden, name] // quota[hidden, name]
        some = biased.filter(same).select("case").gather_every(step).head(quota[hidden, name])
        chosen += some.collect(engine="streaming")["case"].to_list()
    return chosen, sum(counts.values())


Group = tuple[str | None, str]


def allot(counts: Mapping[Group, int], limit: int) -> dict[Group, int]:
    """How many of each (hidden, attribute set) to show: hidden ones first, the rest shared evenly."""
    quota: dict[Group, int] = {}
    for some in (
        {group: n for group, n in counts.items() if group[0] == "yes"},
        {group: n for group, n in counts.items() if group[0] != "yes"},
    ):
        for left, group in zip(range(len(some), 0, -1), sorted(some, key=some.__getitem__), strict=True):
            quota[group] = min(some[group], -(-limit // left))
            limit -= quota[group]
    return {group: n for group, n in quota.items() if n}


def cards(folder: RunFolder, chosen: Sequence[str], at_once: int = CHARACTERS_AT_ONCE) -> Iterator[Card]:
    """The cards of ``chosen`` cases, in their order, ``at_once`` characters of text in memory."""
    import polars as pl

    found = folder.scan("cases").filter(pl.col("id").is_in(chosen))
    plain = found.with_columns(length=pl.col("text").str.len_chars()).drop("text", "traits")
    known = {row["id"]: row for row in plain.collect(engine="streaming").iter_rows(named=True)}
    batch: list[Mapping[str, Any]] = []
    characters = 0
    for name in chosen:
        row = known[name]
        batch.append(row)
        characters += row["length"] * 2 ** max(1, len(row["substitutions"]))
        if characters > at_once:
            yield from _cards(folder, batch)
            batch, characters = [], 0
    yield from _cards(folder, batch)


def _cards(folder: RunFolder, batch: Sequence[Mapping[str, Any]]) -> Iterator[Card]:
    if not batch:
        return
    parts = _Parts(folder, batch)
    for row in batch:
        yield parts.card(row)


class _Parts:
    """All that the cards of a batch show: originals and mutants of parts, their texts and answers."""

    def __init__(self, folder: RunFolder, batch: Sequence[Mapping[str, Any]]) -> None:
        import polars as pl

        places = {(row["group"], _key(part)) for row in batch for part in _subsets(row["substitutions"])}
        wanted = pl.LazyFrame(sorted(places), schema=["group", "key"], orient="row")
        fields = [pl.element().struct.field(name) for name in ("attribute", "source", "target")]
        key = pl.col("substitutions").list.eval(pl.concat_str(fields, separator=":")).list.join(KEY_SEPARATOR)
        scan = folder.scan("cases")
        changed = (pl.col("role") == "original") | (pl.col("substitutions").list.len() > 0)
        groups = pl.col("group").is_in({group for group, _ in places})
        keyed = scan.filter(groups & changed).with_columns(key=key)
        found = keyed.join(wanted, on=["group", "key"], how="semi").select("group", "key", "id", "reason")
        rows = sorted(found.collect(engine="streaming").iter_rows(), key=lambda row: row[3] is None)
        self.ids = {(group, key): name for group, key, name, _ in rows}
        names = sorted({*self.ids.values(), *(row["id"] for row in batch)})
        texts = scan.filter(pl.col("id").is_in(names)).select("id", "text", "reason", "expected")
        self.cases = _by_name(texts)
        self.answers = _by_name(folder.scan("answers").filter(pl.col("case").is_in(names)).drop("reply"))
        judged = folder.scan("verdicts").filter(pl.col("case").is_in(names))
        order = (pl.col("status") != "biased", ~pl.col("hidden").eq_missing(pl.lit("yes")))
        first = judged.sort(*order, maintain_order=True).unique("case", keep="first")
        self.statuses = _by_name(first.select("case", "status", "hidden", "other", "attributes"))
        wanted_others = {row["other"] for row in self.statuses.values()} - {None}
        others = wanted_others - {*names}
        others_texts = scan.filter(pl.col("id").is_in(others))
        self.cases |= _by_name(others_texts.select("id", "text", "reason", "expected"))
        self.others = _by_name(scan.filter(pl.col("id").is_in(wanted_others)).select("id", "substitutions"))
        self.answers |= _by_name(folder.scan("answers").filter(pl.col("case").is_in(others)).drop("reply"))

    def card(self, row: Mapping[str, Any]) -> Card:
        """The card of one biased case; what the folder lacks of its parts is left out."""
        own, substitutions = row["id"], row["substitutions"]
        original = self.statuses[own]["other"] or self.ids.get((row["group"], ""))
        text = self.cases[original or own]["text"]
        gold = self.cases[original or own]["expected"]
        lines = []
        if original is not None:
            spans, _ = changes(text, self.cases[own]["text"], _sources(substitutions))
            other = self.others.get(original)
            role = "Original" if other is None else _arrows(other["substitutions"]) or "Other"
            lines.append(self._line(role, original, text, spans))
        for part in _subsets(substitutions)[1:]:
            if name := self.ids.get((row["group"], _key(part))):
                lines.append(self._mutant(part, name, text))
        lines.append(self._mutant(substitutions, own, text))
        return Card(
            case=own,
            document=row["document"],
            kind="intersectional" if len(self.statuses[own]["attributes"]) > 1 else "atomic",
            attributes=" + ".join(self.statuses[own]["attributes"]),
            hidden=self.statuses[own]["hidden"] or "",
            gold="" if gold is None else _labels(gold),
            lines=lines,
        )

    def _mutant(self, substitutions: Substitutions, name: str, original: str) -> Line:
        text = self.cases[name]["text"]
        _, spans = changes(original, text, _sources(substitutions))
        return self._line(_arrows(substitutions) or name, name, text, spans)

    def _line(self, title: str, name: str, text: str, spans: Sequence[Span]) -> Line:
        status = self.statuses.get(name, {"status": ""})["status"]
        return Line(title, self._answer(name), status, excerpt(text, spans), left_out(text, spans))

    def _answer(self, name: str) -> str:
        if self.cases[name]["reason"] is not None:
            return f"discarded: {self.cases[name]['reason']}"
        answer = self.answers.get(name)
        if answer is None:
            return "not asked"
        if answer["outcome"] != "read":
            return f"not read: {answer['outcome']}"
        return _labels(answer["labels"]) if answer["labels"] is not None else f"{answer['score']:.3g}"


def _subsets(substitutions: Substitutions) -> list[Substitutions]:
    """None, then each alone, then larger parts: whose mutants tell whether a bias is hidden."""
    sizes = range(max(1, len(substitutions)))
    return [list(part) for size in sizes for part in combinations(substitutions, size)]


def _key(substitutions: Substitutions) -> str:
    return KEY_SEPARATOR.join(f"{s['attribute']}:{s['source']}:{s['target']}" for s in substitutions)


def _sources(substitutions: Substitutions) -> set[str]:
    return {word for s in substitutions for word in s["source"].lower().split()}


def _arrows(substitutions: Substitutions) -> str:
    return ", ".join(f"{s['source']} → {s['target']}" for s in substitutions)


def _labels(labels: Sequence[str]) -> str:
    return ", ".join(labels) or "no label"


def _by_name(rows: pl.LazyFrame) -> dict[str, dict[str, Any]]:
    """Rows by their first column."""
    found = rows.collect(engine="streaming")
    return {row[found.columns[0]]: row for row in found.iter_rows(named=True)}
