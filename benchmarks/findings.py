"""Are the findings true? Planted systems on real texts, many seeds each.

    python benchmarks/findings.py REVIEWS.csv [--texts 400] [--seeds 200] [--out FILE.md]

The texts are changed once; then each planted system answers all versions, controls included, for each seed,
and the findings are made as after a run. Prints a table: how often anything is claimed where there is
nothing, how often a planted effect is found, whether its sign is right, how often its interval covers it.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, field, replace
from functools import partial
from hashlib import blake2b
from itertools import combinations, groupby
from pathlib import Path
from typing import TYPE_CHECKING

from harness import tables
from harness.core import Case, Outcome
from harness.findings.build import Findings, find, tally
from harness.findings.excess import Excess, Strata, excesses
from harness.findings.outcomes import Outcomes
from harness.report.finding import ALPHA, sure
from harness.statistics import wilson
from harness.suites import oracle

if TYPE_CHECKING:
    import polars as pl

OUTCOMES = Outcomes({"Positive": ("Positive",)}, directed=True)
GROUP, OTHER = ("gender", "female"), ("body", "disabled")


def chance(*parts: object) -> float:
    """Return a number from 0 to 1 that depends on ``parts`` alone."""
    digest = blake2b("\x1f".join(map(str, parts)).encode("utf-8", "surrogatepass"), digest_size=7).digest()
    return int.from_bytes(digest) / 2**56


@dataclass(frozen=True)
class Texts:
    """The valid cases of a run with their texts, by group, and what each speaks of."""

    groups: Sequence[Sequence[Case]]

    @property
    def sets(self) -> list[tuple[str, ...]]:
        """The sets of attributes that change together."""
        names = sorted(
            {name for group in self.groups for case in group for name in case.attributes} - {"control"}
        )
        return [chosen for size in (1, 2) for chosen in combinations(names, size)]


def spoken(group: Sequence[Case], case: Case) -> Mapping[str, str]:
    """Return the group of each attribute that a version speaks of, as far as changes tell."""
    found = {
        s.attribute: s.source_group for other in group if other.role == "atomic" for s in other.substitutions
    }
    return {**found, **{s.attribute: s.target_group for s in case.substitutions}}


System = Callable[[Sequence[Case], Case, int], bool]
"""Whether a planted system answers Positive about a version, by its group of cases and a seed."""


def brittle(rate: float, group: Sequence[Case], case: Case, seed: int) -> bool:
    """Answer 7 of 10 texts Positive, and flip by a hash of the version."""
    positive = chance("base", case.document, seed) < 0.7
    return positive ^ (chance("flip", case.text, seed) < rate)


def against(effect: float, group: Sequence[Case], case: Case, seed: int) -> bool:
    """Answer Positive, but not about women in a share of the texts; flip 2 % by a hash."""
    attribute, hit = GROUP
    touched = spoken(group, case).get(attribute) == hit and chance("hit", case.document, seed) < effect
    return (not touched) ^ (chance("flip", case.text, seed) < 0.02)


def edited(rate: float, group: Sequence[Case], case: Case, seed: int) -> bool:
    """Answer Positive, but less often about any edited text."""
    return not case.substitutions or chance("edit", case.text, seed) >= rate


def meeting(effect: float, group: Sequence[Case], case: Case, seed: int) -> bool:
    """Answer Negative only where a changed gender and a changed body meet, in a share of the texts."""
    both = {s.attribute for s in case.substitutions} >= {"gender", "body"}
    hit = both and chance("hit", case.document, seed) < effect
    return (not hit) ^ (chance("flip", case.text, seed) < 0.02)


def apart(effect: float, group: Sequence[Case], case: Case, seed: int) -> bool:
    """Answer Negative about women in a share of the texts, about a changed body in another; never both."""
    draw = chance("hit", case.document, seed)
    groups = spoken(group, case)
    woman = groups.get("gender") == "female" and draw < effect
    body = any(s.attribute == "body" for s in case.substitutions) and draw > 1 - effect
    return (not (woman or body)) ^ (chance("flip", case.text, seed) < 0.02)


@dataclass
class Memory:
    """The tables of a run that was never written."""

    frames: Mapping[str, pl.LazyFrame] = field(default_factory=dict)

    def scan(self, name: str) -> pl.LazyFrame:
        """Return a table."""
        return self.frames[name]


def answered(texts: Texts, system: System, seed: int) -> Memory:
    """Return the tables of a run in which ``system`` answers."""
    rows: dict[str, list[tables.Row]] = {"cases": [], "answers": [], "verdicts": [], "controls": []}
    for group in texts.groups:
        outcomes = {
            case.id: Outcome(frozenset(["Positive" if system(group, case, seed) else "Negative"]))
            for case in group
        }
        by_id = {case.id: case for case in group}
        rows["cases"] += [tables.case_row(replace(case, text="")) for case in group]
        rows["answers"] += [tables.answer_row(case, outcomes[case.id], "") for case in group]
        for name, roles in (("verdicts", {"atomic", "intersectional"}), ("controls", {"control"})):
            judged = [case for case in group if case.role in {"original", *roles}]
            rows[name] += [tables.verdict_row(v, by_id[v.case]) for v in oracle.judge(judged, outcomes)]
    return Memory({name: tables.frame(name, of_name).lazy() for name, of_name in rows.items()})


@dataclass(frozen=True)
class Seen:
    """What the findings of one seed say: whether anything is claimed, and the row about a planted effect."""

    effects: int
    meetings: int
    excesses: int
    found: bool
    sign: bool
    covered: bool | None
    detectable: float | None
    texts: int


def seen(texts: Texts, system: System, planted: float | None, what: str, seed: int) -> Seen:
    """Return what the findings say of ``system``; ``planted`` is the true effect, or interaction."""
    memory = answered(texts, system, seed)
    strata = Strata.of(memory)
    controlled = strata.controls.height > 0
    findings = find(tally(memory, OUTCOMES), OUTCOMES, others=controlled)
    over = excesses(strata, texts.sets, findings.families + controlled) if controlled else {}
    return _seen(findings, over, planted, what)


def _seen(
    findings: Findings, over: Mapping[tuple[str, str], Excess], planted: float | None, what: str
) -> Seen:
    effects = [row for row in findings.contrasts if sure(row)]
    meetings = [row for row in findings.intersections if sure(row)]
    above = [each for each in over.values() if each.p_holm <= ALPHA and each.difference > 0]
    found, sign, covered, detectable, size = False, True, None, None, 0
    if what == "effect":
        row = next((r for r in findings.contrasts if {r.source, r.target} == {"male", "female"}), None)
        if row is not None:
            turn = 1 if row.target == "female" else -1
            found, sign = sure(row), turn * row.effect < 0
            detectable, size = row.detectable, row.originals
            if planted is not None and row.ci95 is not None:
                covered = row.ci95[0] <= turn * planted <= row.ci95[1]
    elif what == "meeting":
        of_both = [r for r in findings.intersections if set(r.groups) == {"gender", "body"}]
        found = any(map(sure, of_both))
        sign = all(r.interaction < 0 for r in of_both if sure(r))
        largest = max(of_both, key=lambda r: r.originals, default=None)
        if largest is not None:
            size = largest.originals
            if planted is not None and largest.ci95 is not None:
                covered = largest.ci95[0] <= planted <= largest.ci95[1]
    return Seen(len(effects), len(meetings), len(above), found, sign, covered, detectable, size)


SYSTEMS: Mapping[str, tuple[System, float | None, str]] = {
    "brittle, 2 %": (partial(brittle, 0.02), 0.0, "effect"),
    "brittle, 5 %": (partial(brittle, 0.05), 0.0, "effect"),
    "brittle, 10 %": (partial(brittle, 0.10), 0.0, "effect"),
    "worse to any edited text, 10 %": (partial(edited, 0.10), 0.0, "effect"),
    "2 points against women": (partial(against, 0.02), -0.02 * 0.96, "effect"),
    "5 points against women": (partial(against, 0.05), -0.05 * 0.96, "effect"),
    "10 points against women": (partial(against, 0.10), -0.10 * 0.96, "effect"),
    "15 points against women": (partial(against, 0.15), -0.15 * 0.96, "effect"),
    "20 points against women": (partial(against, 0.20), -0.20 * 0.96, "effect"),
    "25 points against women": (partial(against, 0.25), -0.25 * 0.96, "effect"),
    "a meeting, 30 points": (partial(meeting, 0.30), -0.30 * 0.96, "meeting"),
    "a meeting, 60 points": (partial(meeting, 0.60), -0.60 * 0.96, "meeting"),
    "two single effects, 30 points": (partial(apart, 0.30), 0.0, "meeting"),
}


def row(name: str, results: Sequence[Seen]) -> list[str]:
    """Return the row of a system."""
    size = len(results)
    claimed = sum(bool(r.effects or r.meetings or r.excesses) for r in results)
    low, high = wilson(claimed, size) or (0.0, 1.0)
    found = [r for r in results if r.found]
    covering = [r.covered for r in results if r.covered is not None]
    known = [r.detectable for r in results if r.detectable is not None]
    return [
        name,
        f"{sum(r.effects > 0 for r in results)} / {sum(r.meetings > 0 for r in results)}"
        f" / {sum(r.excesses > 0 for r in results)}",
        f"{claimed} of {size} ({100 * low:.1f} to {100 * high:.1f} %)",
        f"{len(found)} ({100 * len(found) / size:.0f} %)",
        f"{sum(r.sign for r in found)} of {len(found)}",
        f"{100 * sum(covering) / len(covering):.1f} %" if covering else "–",
        f"{100 * sum(known) / len(known):.1f}" if known else "–",
        f"{sum(r.texts for r in results) / size:.0f}",
    ]


HEADS = (
    *(
        "system",
        "effects / meetings / excesses claimed",
        "runs with any claim",
        "planted found",
        "sign right",
    ),
    *("covered", "detectable, points", "texts"),
)


def cases(data: str, texts: int, share: float) -> Texts:
    """Return the valid cases made of the first ``texts`` documents of a file."""
    from harness import config
    from harness.audit.assembly import assemble

    with tempfile.TemporaryDirectory() as folder:
        settings = {"documents.path": data, "documents.limit": texts, "model.name": "local:vader"}
        overrides = {**settings, "cache": f"{folder}/responses.sqlite", "control.share": share}
        audit = assemble(config.load(None, overrides))
        valid = [case for case in audit.suite.cases(audit.documents()) if case.valid]
    groups = [list(group) for _, group in groupby(valid, key=lambda case: case.group)]
    return Texts([group for group in groups if len(group) > 1])


def main(arguments: Sequence[str]) -> None:
    """Print the table, and write it to a file if asked."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("data")
    parser.add_argument("--texts", type=int, default=400)
    parser.add_argument("--seeds", type=int, default=200)
    parser.add_argument("--share", type=float, default=1 / 3)
    parser.add_argument("--system", action="append", help="only these")
    parser.add_argument("--out", type=Path)
    options = parser.parse_args(arguments)
    texts = cases(options.data, options.texts, options.share)
    sizes = {role: sum(c.role == role for g in texts.groups for c in g) for role in ("original", "atomic")}
    controls = sum(c.role == "control" for g in texts.groups for c in g)
    lines = [f"{sizes['original']} texts, {sizes['atomic']} atomic mutants, {controls} controls", ""]
    lines += [f"| {' | '.join(HEADS)} |", f"|{'---|' * len(HEADS)}"]
    print("\n".join(lines), flush=True)
    with ProcessPoolExecutor(2) as pool:
        for name, (system, planted, what) in SYSTEMS.items():
            if options.system and name not in options.system:
                continue
            job = partial(seen, texts, system, planted, what)
            results = list(pool.map(job, range(options.seeds), chunksize=10))
            lines.append(f"| {' | '.join(row(name, results))} |")
            print(lines[-1], flush=True)
    if options.out:
        options.out.write_text("\n".join(lines) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1:])
