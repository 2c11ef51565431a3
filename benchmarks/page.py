"""How large is the page of a run with many flips, and how fast in a browser?

    python benchmarks/page.py REVIEWS.csv [--flips 100000] [--runs 3] [--chromium /usr/bin/chromium]

The reviews (column ``text``) get mutants of one attribute and of two, which all flip but a few, and the
page is made of them. Prints its size, the time to make it, and in headless Chromium the first paint, the time
until the list is there, and that of each filter, search and order with the drawing of the list: the median of
five. With several runs it is the page that compares them: the second never changes its answer, so that each
flip is a case in which they part, and the others half of the time. Needs Playwright and a Chromium.
"""

from __future__ import annotations

import argparse
import csv
import random
import statistics
import sys
import tempfile
import time
import zlib
from collections.abc import Iterator, Sequence
from itertools import cycle, islice, product
from pathlib import Path
from typing import Any

from harness import tables
from harness.answering.runner import Counts
from harness.core import Case, Margin, Outcome, Role, Substitution, Ternary, Verdict
from harness.findings.outcomes import Outcomes
from harness.folder import DERIVED, RunFolder
from harness.plugins import Nouns
from harness.report import comparison, comparison_page, figures, html
from harness.report.pairing import Run

GROUPS = {
    "race": ("African", "Asian", "European", "American", "Arab", "Nigerian", "Polish", "Chinese"),
    "body": ("blind", "deaf", "overweight", "trans", "autistic", "disabled", "young", "old"),
}
LABELS = ("Positive", "Negative")
BENIGN = 0.5
"""The share of the mutants that do not flip."""
REPEATS = 5
DEADLINE = 60_000
FILTERS = (
    ("attribute set", "#attributes=race"),
    ("two groups", "#from=race%3A+american&to=race%3A+polish"),
    ("hidden, near tie", "#hidden=yes&near_tie=true"),
    ("a word that all have", "#q=the"),
    ("a rare word", "#q=heartbreaking"),
    ("words of a change", "#q=old+"),
    ("largest shift", "#sort=shift"),
    ("document, filtered", "#attributes=body&sort=document"),
)
COMPARED = (
    ("changed in one run", "#changed_in=run0"),
    ("not changed in one", "#run%3A2=not+changed"),
    *(one for one in FILTERS if "hidden" not in one[1] and "shift" not in one[1]),
)
Filters = Sequence[tuple[str, str]]


def mutants(number: int, text: str, rng: random.Random) -> Iterator[tuple[Case, bool, Ternary | None]]:
    """Yield a review as a case, and its mutants, with whether each flips and is hidden."""
    name = str(number)
    yield Case(f"{name}#0", name, name, "original", text, expected=frozenset({LABELS[0]})), False, None
    words = text.split(" ")
    first, second = sorted(rng.sample(range(len(words)), 2)) if len(words) > 1 else (0, 0)
    changed = {
        attribute: [_exchange(attribute, words[place], word) for word in own]
        for (attribute, own), place in zip(GROUPS.items(), (first, second), strict=True)
    }
    places = {"race": first, "body": second}
    alone: dict[str, bool] = {}

    def case(*parts: Substitution) -> Case:
        put = {places[one.attribute]: one.target for one in parts}
        mutant = " ".join(put.get(place, word) for place, word in enumerate(words))
        role: Role = "atomic" if len(parts) == 1 else "intersectional"
        return Case(f"{name}#{rng.getrandbits(48):012x}", name, name, role, mutant, parts)

    for one in (*changed["race"], *changed["body"]):
        alone[one.target] = rng.random() > BENIGN
        yield case(one), alone[one.target], None
    for one, other in product(changed["race"], changed["body"]):
        hidden: Ternary = "no" if alone[one.target] or alone[other.target] else "yes"
        yield case(one, other), rng.random() > BENIGN, hidden


def _exchange(attribute: str, word: str, other: str) -> Substitution:
    return Substitution(attribute, word, other, (), "exchange", "american", other.lower())


def fill(folder: RunFolder, reviews: Sequence[str], flips: int, number: int = 0) -> None:
    """Write the tables of a run that has ``flips`` flips; those of run 1 are none, of a later one fewer."""
    rng = random.Random(0)
    left = flips
    rows = []
    folder.open("", {})
    each = -(-flips // len(reviews))
    with folder.parts("answers") as answers, folder.parts("verdicts") as verdicts:
        for place, text in enumerate(islice(cycle(reviews), 10 * len(reviews))):
            if left <= 0:
                break
            here = min(each, left)
            for case, flip, hidden in mutants(place, text, rng):
                flipped = flip and here > 0
                here, left = here - flipped, left - flipped
                flipped = flipped and (
                    number == 0 or (number > 1 and zlib.crc32(case.id.encode()) % number > 0)
                )
                outcome = Outcome(frozenset({LABELS[flipped]}))
                answers.add(tables.answer_row(case, outcome, "reply"))
                if case.role != "original":
                    verdict = Verdict(
                        case.id,
                        "star",
                        "biased" if flipped else "benign",
                        hidden if flipped else None,
                        case.attributes,
                        Margin(2 * rng.random()),
                        rng.gauss(0, 2),
                    )
                    verdicts.add(tables.verdict_row(verdict, case))
                rows.append(case)
    list(folder.keep_chunk(0, rows))
    folder.finish()
    for name in DERIVED:
        folder.merge(name)


def facts() -> figures.Facts:
    """Return what a run would say of itself."""
    return figures.Facts(
        status="complete",
        suite="hinter",
        task="imdb",
        model="local:planted",
        parser="none",
        documents=0,
        shortened=0,
        nouns=Nouns("mutant", "text", "a term"),
        settings={"attributes": list(GROUPS), "order": 2, "max_pairs": None},
        counts=Counts(),
        repeats=0,
        confirm=0,
        prices=None,
        facts={},
        seconds=0.0,
        outcomes=Outcomes({LABELS[0]: (LABELS[0],)}, directed=True),
    )


def page_of(folder: Path, reviews: Sequence[str], flips: int, runs: int) -> Path:
    """Return the page of a run, or of several, in ``folder``; prints how long it took to make."""
    made = []
    for number in range(runs):
        run = RunFolder(folder / f"run{number}")
        fill(run, reviews, flips, number)
        made.append(Run(f"run{number}", figures.build(run, facts()), run.scan("verdicts"), run))
    start = time.perf_counter()
    if runs == 1:
        html.write(run, made[0].summary)
        page = run.path / "report.html"
    else:
        page = folder / "compare.html"
        page.write_text(comparison_page.render(comparison.compare(made), made), encoding="utf-8")
    print(f"page made in: {time.perf_counter() - start:.0f} s")
    return page


def measure(page: Path, chromium: str, filters: Filters) -> Iterator[tuple[str, str]]:
    """Yield what was measured in the browser, in words and numbers."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox", "--disable-gpu"])
        paints, ready = [], []
        for _ in range(REPEATS):
            tab = browser.new_page(viewport={"width": 1280, "height": 900})
            tab.goto(page.as_uri(), timeout=DEADLINE)
            tab.wait_for_selector(".row", timeout=DEADLINE)
            ready.append(_entry(tab, "filter", "startTime"))
            paints.append(_entry(tab, "first-contentful-paint", "startTime"))
            if len(paints) < REPEATS:
                tab.close()
        yield "first paint", f"{statistics.median(paints):.0f} ms"
        yield "list unpacked", f"{statistics.median(ready):.0f} ms"
        for name, address in filters:
            times = [_timed(tab, address) for _ in range(REPEATS)]
            shown = tab.evaluate("document.getElementById('shown').textContent")
            yield f"{name}: {shown}", f"{statistics.median(times):.0f} ms (first {times[0]:.0f})"
        browser.close()


def _timed(tab: Any, address: str) -> float:
    """Return the milliseconds that a filter takes, from another one."""
    tab.evaluate("location.hash = '#q='")
    tab.wait_for_timeout(50)
    tab.evaluate("performance.clearMeasures('filter')")
    tab.evaluate(f"location.hash = {address!r}")
    tab.wait_for_function("performance.getEntriesByName('filter', 'measure').length > 0", timeout=DEADLINE)
    return _entry(tab, "filter", "duration")


def _entry(tab: Any, name: str, value: str) -> float:
    """Return a value of what the page measured: the last of its entries of this name, in milliseconds."""
    return float(tab.evaluate(f"performance.getEntriesByName({name!r}).at(-1).{value}"))


def main() -> None:
    """Measure and print."""
    form = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=form)
    parser.add_argument("reviews", type=Path)
    parser.add_argument("--flips", type=int, default=100_000)
    parser.add_argument("--runs", type=int, default=1)
    parser.add_argument("--chromium", default="/usr/bin/chromium")
    parser.add_argument("--keep", type=Path, help="A folder to keep the runs and their page in.")
    options = parser.parse_args()
    csv.field_size_limit(sys.maxsize)
    with options.reviews.open(encoding="utf-8", newline="") as file:
        reviews = [row["text"] for row in csv.DictReader(file) if " " in row["text"]]
    with tempfile.TemporaryDirectory() as temporary:
        page = page_of((options.keep or Path(temporary)).resolve(), reviews, options.flips, options.runs)
        size, characters = page.stat().st_size, sum(map(len, reviews))
        print(f"size: {size / 1e6:.1f} MB, of {characters / 1e6:.1f} million characters of reviews")
        filters = FILTERS if options.runs == 1 else COMPARED
        for name, value in measure(page, options.chromium, filters):
            print(f"{name}: {value}", flush=True)


if __name__ == "__main__":
    main()
