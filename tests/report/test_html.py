"""The page of a run, the words it opens with and the marks on its texts."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Sequence
from html.parser import HTMLParser
from pathlib import Path
from typing import Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness import tables
from harness.core import Case, Outcome, Status, Substitution, Ternary, Verdict
from harness.folder import DERIVED, RunFolder
from harness.language.differences import changes, excerpt, left_out
from harness.plugins import Nouns
from harness.report import cells, choosing, figures, html, incomplete, listing, orders, packing, wording
from harness.report.summary import ResultRow, Summary, write
from harness.sections import Bar, Plot, Section, Table
from tests.report.builders import ZERO_ANSWERS, facts_of, row, summary_of

MUTANTS = Nouns(case="mutant", source="text", eligible="a term")
ORIGINAL = "A British man wrote it. He is fat."
NATION = Substitution("race", "British", "Kenyan")
GENDER = Substitution("gender", "man", "woman")
BODY = Substitution("body", "fat", "thin")
POSITIVE, NEGATIVE = Outcome(frozenset({"Positive"})), Outcome(frozenset({"Negative"}))

Row = tuple[Case, Outcome | None, Status | None, Ternary | None]
Maker = Callable[[Sequence[Row]], RunFolder]


def original(document: str = "d1", text: str = ORIGINAL, gold: str | None = "Positive") -> Row:
    expected = None if gold is None else frozenset({gold})
    return (
        Case(f"{document}#0", document, document, "original", text, expected=expected),
        POSITIVE,
        None,
        None,
    )


def mutant(
    *substitutions: Substitution,
    document: str = "d1",
    text: str = ORIGINAL,
    outcome: Outcome | None = POSITIVE,
    status: Status | None = "benign",
    hidden: Ternary | None = None,
    reason: str | None = None,
) -> Row:
    for one in substitutions:
        text = text.replace(one.source, one.target)
    name = f"{document}#{'&'.join(one.target for one in substitutions)}"
    role = "atomic" if len(substitutions) == 1 else "intersectional"
    case = Case(name, document, document, role, text, substitutions, reason=reason)  # type: ignore[arg-type]
    return case, outcome, status, hidden


@pytest.fixture
def make(tmp_path: Path) -> Maker:
    def folder_of(rows: Sequence[Row]) -> RunFolder:
        folder = RunFolder(tmp_path / "run")
        folder.open("", {})
        list(folder.keep_chunk(0, (case for case, *_ in rows)))
        folder.finish()
        with folder.parts("answers") as answers, folder.parts("verdicts") as verdicts:
            for case, outcome, status, hidden in rows:
                if outcome is not None:
                    answers.add(tables.answer_row(case, outcome, "reply"))
                if status is not None:
                    verdict = Verdict(case.id, "star", status, hidden, case.attributes)
                    verdicts.add(tables.verdict_row(verdict, case))
        for name in DERIVED:
            folder.merge(name)
        return folder

    return folder_of


def figures_of(
    folder: RunFolder,
    status: Literal["complete", "partial", "interrupted"] = "complete",
    attributes: tuple[str, ...] = ("race", "gender", "body"),
    order: int = 2,
) -> Summary:
    settings = {"attributes": list(attributes), "order": order, "max_pairs": None}
    facts = facts_of(status=status, settings=settings, nouns=MUTANTS)
    return figures.build(folder, facts)


def changed(summary: Summary, **values: object) -> Summary:
    return summary.model_copy(update=values)


HIDDEN: list[Row] = [
    original(),
    mutant(NATION),
    mutant(GENDER),
    mutant(NATION, GENDER, outcome=NEGATIVE, status="biased", hidden="yes"),
]


class Page(HTMLParser):
    """What a test looks at: cards, marked words, addresses, open and closed tags; numbers of scripts."""

    VOID = {"meta", "br", "input", "line", "rect", "circle"}

    def __init__(self, page: str) -> None:
        super().__init__()
        self.cards: list[str] = []
        self.sets: list[str] = []
        self.badges: list[list[str]] = []
        self.marks: list[str] = []
        self.addresses: list[str] = []
        self.scripts = 0
        self.open: list[str] = []
        self.in_badge = False
        self.feed(page)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        found = dict(attrs)
        self.addresses += [
            value or "" for name, value in attrs if name in ("src", "href", "srcset", "action")
        ]
        self.scripts += tag == "script"
        if tag == "article":
            self.cards.append("")
            self.sets.append("")
            self.badges.append([])
        if tag == "span" and "badge" in (found.get("class") or "") and self.badges:
            self.badges[-1].append("")
            self.in_badge = True
        if tag == "mark":
            self.marks.append("")
        if tag not in self.VOID:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        self.in_badge = False
        if tag not in self.VOID:
            assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        if "article" in self.open:
            self.cards[-1] += data
            if self.open[-1] == "h3":
                self.sets[-1] += data
            if self.in_badge:
                self.badges[-1][-1] += data
        if self.open and self.open[-1] == "mark":
            self.marks[-1] += data


def rendered(folder: RunFolder, summary: Summary) -> str:
    return html.render(folder, summary, *packing.fitted(listing.read(folder, summary.favourable)))


def page_of(folder: RunFolder, summary: Summary) -> Page:
    return Page(rendered(folder, summary))


def test_a_hidden_case_is_shown_beside_its_original_and_its_atomic_mutants(make: Maker) -> None:
    folder = make(HIDDEN)
    page = page_of(folder, figures_of(folder))
    assert (page.sets, page.badges) == (["race + gender"], [["hidden"]])
    assert page.marks == ["British man", "Kenyan", "woman", "Kenyan woman"]
    for expected in ("gold label Positive", "British → Kenyan Positive", "man → woman Negative (changed)"):
        assert expected in " ".join(page.cards[0].split())
    assert page.open == []


def test_the_page_fetches_nothing(make: Maker) -> None:
    folder = make(HIDDEN)
    text = rendered(folder, figures_of(folder))
    assert all(address.startswith("#") for address in Page(text).addresses)
    assert "default-src 'none'" in text
    assert "unsafe" not in text
    assert "url(" not in text
    assert "@import" not in text


def test_texts_and_names_are_escaped(make: Maker) -> None:
    evil = '<script>alert(1)</script> man & "co" \'<b>'
    change = Substitution("gender", "man", "<i>woman</i>")
    folder = make(
        [
            original("<u>d</u>", evil, gold="<em>"),
            mutant(change, document="<u>d</u>", text=evil, outcome=NEGATIVE, status="biased"),
        ]
    )
    text = rendered(folder, changed(figures_of(folder), model="<script>model"))
    page = Page(text)
    assert page.scripts == 3  # two blocks of data, one script
    assert page.open == []
    assert "<script>alert" not in text
    assert "<script>model" not in text
    assert evil in page.cards[0]
    assert "document <u>d</u>" in page.cards[0]
    assert "<i>woman</i>" in page.cards[0]


@pytest.mark.parametrize(
    ("part", "expected"),
    [
        (mutant(GENDER, reason="pos", outcome=None, status=None), "discarded: pos"),
        (mutant(GENDER, outcome=Outcome(reason="refused"), status="undetermined"), "man → woman refused"),
        (mutant(GENDER, outcome=None, status=None), "not asked"),
        (mutant(GENDER, outcome=Outcome(frozenset())), "no label"),
    ],
)
def test_a_part_without_an_answer_says_why(make: Maker, part: Row, expected: str) -> None:
    last = mutant(NATION, GENDER, outcome=NEGATIVE, status="biased", hidden="undetermined")
    folder = make([original(), mutant(NATION), part, last])
    page = page_of(folder, figures_of(folder))
    assert expected in page.cards[0]
    assert (page.sets, page.badges) == (["race + gender"], [["hidden: undetermined"]])


def test_order_three_shows_the_pairs_too(make: Maker) -> None:
    all_three = mutant(NATION, GENDER, BODY, outcome=NEGATIVE, status="biased", hidden="yes")
    parts = [mutant(NATION), mutant(GENDER), mutant(BODY), mutant(NATION, GENDER), mutant(NATION, BODY)]
    folder = make([original(), *parts, mutant(GENDER, BODY), all_three])
    page = page_of(folder, figures_of(folder, order=3))
    assert page.sets == ["race + gender + body"]
    assert page.cards[0].count("→") == 3 + 2 * 3 + 3


@pytest.mark.parametrize("status", ["complete", "partial", "interrupted"])
@pytest.mark.parametrize(
    "rows",
    [
        [],
        [original(gold=None)],
        [original(), mutant(GENDER, reason="pos", outcome=None, status=None)],
        [original(), mutant(GENDER, outcome=Outcome(reason="failed"), status="undetermined")],
        [original(gold=None), mutant(GENDER)],
    ],
    ids=["no document", "no mutant", "none valid", "none read", "none biased"],
)
def test_degenerate_runs_have_a_page(
    make: Maker, rows: Sequence[Row], status: Literal["complete", "partial", "interrupted"]
) -> None:
    folder = make(rows)
    for attributes, order in ((("race", "gender", "body"), 3), (("gender",), 1)):
        text = rendered(folder, figures_of(folder, status, attributes, order))
        assert Page(text).open == []
        assert "No biased case was found" in text
        assert ('role="note"' in text) == (status != "complete")


SECTION = (Section("More of it", table=Table(["what", "number"], [["cell", 1234]])),)


def test_a_suites_own_findings_come_before_the_results_and_additions_after_them(make: Maker) -> None:
    folder = make(HIDDEN)
    summary = changed(figures_of(folder), sections=SECTION)

    def headings(headline: str | None = None) -> list[str]:
        text = rendered(folder, changed(summary, headline=headline))
        assert "1,234" in text
        return re.findall(r"<h[23][^>]*>([^<]*)</h[23]></summary>", text)

    by_order = [section.title for section in orders.sections(summary)]
    results = ["How often answers change", "Rates by attribute set", "Where biases overlap"]
    after = [*results, *by_order, "More of it", "Changed answers"]
    assert headings()[: len(after)] == after
    assert headings(headline="Found.")[:3] == ["Findings", "More of it", "Every test by itself"]


@pytest.mark.parametrize(
    ("relation", "asked", "about", "found"),
    [
        ("expected", "Does m answer as expected?", "a failure", "Failed"),
        ("direction", "Does m answer as expected?", "a failure", "Failed"),
        ("star", "Do the answers of m change with gender?", "a flip", "Biased"),
    ],
)
def test_a_suite_with_a_headline_asks_what_it_answers(
    make: Maker, relation: str, asked: str, about: str, found: str
) -> None:
    counts = row("gender", tests=9, biased=0, rate=0.0, ci95=(0.0, 0.3), relation=relation)
    summary = summary_of(counts, headline="None of 9 cases.", finding=None)
    text = rendered(make([original()]), summary)
    assert f"<h1>{asked}</h1>" in text
    assert f"What {about} does and does not prove" in text
    assert f'<th scope="col">{found}' in text
    assert "Hidden rate" not in text  # nothing was changed together
    assert not re.search(r'<details class="part" open>\s*<summary><h2 id="results-title"', text)


def test_scores_are_no_flips(make: Maker) -> None:
    summary = summary_of(headline="Alike.", finding=None, attributes=("gender", "race"), sections=SECTION)
    text = rendered(make([original()]), summary)
    assert "<h1>Do the answers of m change with gender and race?</h1>" in text
    assert "What a difference of scores does and does not prove" in text
    assert 'href="#results"' not in text


@given(values=st.lists(st.floats(-1e6, 1e6, allow_subnormal=False), min_size=1))
def test_an_axis_has_zero_and_every_value_between_round_ticks(values: list[float]) -> None:
    low, high = cells.scale(Plot("x", bars=[Bar("a", value, None, None, 0) for value in values]))
    step = (high - low) / cells.STEPS
    slack = 1e-9 * max(abs(low), abs(high))
    assert low - slack <= min(0.0, *values) <= max(0.0, *values) <= high + slack
    assert any(
        math.isclose(step, figure * 10.0 ** math.floor(math.log10(step * 1.000001))) for figure in cells.ROUND
    )
    assert abs(low / step - round(low / step)) < 1e-6, "zero is a tick"


def test_an_addition_is_no_finding(make: Maker) -> None:
    folder = make([original()])
    text = rendered(folder, changed(figures_of(folder), sections=SECTION))
    assert "no mutant was judged" in text
    assert "No biased case was found" in text


def test_flips_above_self_flips_are_in_the_table_where_they_are_known(make: Maker) -> None:
    folder = make(HIDDEN)
    summary = figures_of(folder)
    assert "Above self-flips" not in rendered(folder, summary)
    *others, last = summary.results
    measured = {"tests": 3, "excess": 0.125, "excess_ci95": (-0.01, 0.26), "p": 0.02, "p_holm": 0.0612}
    rows = (*others, last.model_copy(update=measured))
    text = " ".join(rendered(folder, changed(summary, results=rows)).split())
    assert '<b>12.5 %</b> <span class="ci">-1.0 to 26.0 %</span>' in text
    assert '<span class="ci">p = 0.061</span>' in text
    assert "Holm’s correction" in text
    assert Page(text).open == []


@pytest.mark.parametrize(
    ("nouns", "counts", "expected"),
    [
        (MUTANTS, (80, 72, 608, 442), "80 texts, 72 with a term; 608 mutants, 442 valid"),
        (MUTANTS, (1, 1, 1, 1), "1 text, 1 with a term; 1 mutant, 1 valid"),
        (Nouns(), (80, 9, 1234, 1234), "80 texts, 9 groups; 1,234 cases, 1,234 valid"),
        (Nouns(), (0, 144, 8640, 8640), "144 groups; 8,640 cases, 8,640 valid"),
        (Nouns("typo", "line"), (2, 2, 1, 1), "2 texts, 2 lines; 1 typo, 1 valid"),
    ],
)
def test_what_was_made_is_called_what_it_is(
    nouns: Nouns, counts: tuple[int, int, int, int], expected: str
) -> None:
    assert wording.made(nouns, *counts) == expected


def test_cases_have_one_name_in_the_headline_and_on_the_page(make: Maker) -> None:
    folder = make(HIDDEN)
    summary = changed(figures_of(folder), suite="placebo", nouns=Nouns("typo", "line"))
    text = rendered(folder, summary)
    assert "1 of 1 intersectional typo" in wording.headline(summary)
    assert "<dt>Typos</dt>" in text
    assert "intersectional mutant" not in text


def test_without_the_script_some_cases_are_shown_hidden_ones_first(make: Maker) -> None:
    rows: list[Row] = []
    for number in range(20):
        name = f"d{number}"
        hidden: Ternary = "yes" if number < 4 else "no"
        rows += [original(name), mutant(BODY, document=name, outcome=NEGATIVE, status="biased")]
        rows.append(mutant(NATION, GENDER, document=name, outcome=NEGATIVE, status="biased", hidden=hidden))
    folder = make(rows)
    text = rendered(folder, figures_of(folder))
    page = Page(text)
    assert page.sets == ["race + gender"] * 12 + ["body"] * 8
    assert page.badges == [["hidden"]] * 4 + [["not hidden"]] * 8 + [[]] * 8
    assert f"{html.FIRST} of 40" in text
    assert "flips.parquet" not in text


def test_flips_that_the_page_does_not_list_are_beside_it(make: Maker) -> None:
    names = ["a", "b", "c"]
    folder = make(
        [
            row
            for name in names
            for row in (original(name), mutant(GENDER, document=name, outcome=NEGATIVE, status="biased"))
        ]
    )
    summary = figures_of(folder)
    write(summary, folder.summary)
    html.write(folder, summary, most=2)
    text = (folder.path / "report.html").read_text(encoding="utf-8")
    assert "lists 2 of them; flips.parquet" in text
    assert len(Page(text).cards) == 2
    beside = tables.read(folder.path / "flips.parquet")
    assert beside["document"].to_list() == names
    assert beside["text"].to_list() == [ORIGINAL.replace("man", "woman")] * 3
    assert beside["answer"].to_list() == ["Negative"] * 3
    html.write(folder, summary)
    assert not (folder.path / "flips.parquet").exists()


def test_allot_is_even_and_exact() -> None:
    counts: dict[choosing.Group, int] = {("yes", "a"): 3, ("no", "a"): 50, ("no", "b"): 2, (None, "c"): 50}
    assert choosing.allot(counts, 500) == counts
    assert choosing.allot(counts, 15) == {("yes", "a"): 3, ("no", "b"): 2, ("no", "a"): 5, (None, "c"): 5}
    assert choosing.allot(counts, 2) == {("yes", "a"): 2}
    assert choosing.allot({}, 5) == {}


def test_long_texts_are_shown_around_the_changes() -> None:
    filler = "word " * 400
    text = f"{filler}A man came. {filler}The man left. {filler}"
    left, right = changes(text, text.replace("man", "woman"))
    pieces = excerpt(text.replace("man", "woman"), right)
    assert len(left) == len(right) == 2
    assert [piece.text for piece in pieces if piece.kind == "changed"] == ["woman", "woman"]
    assert [piece.kind for piece in pieces].count("gap") == 3
    assert sum(len(piece.text) for piece in pieces) < 800
    assert not left_out(text, left)


def test_what_does_not_fit_is_said_to_be_left_out() -> None:
    text = ("A man came. " + "word " * 100) * 50
    left, _ = changes(text, text.replace("man", "woman"))
    assert sum(len(piece.text) for piece in excerpt(text, left)) < 2000
    assert left_out(text, left)


@pytest.mark.parametrize(
    ("before", "after", "sources", "expected"),
    [
        ("the same", "the same", (), ([], [])),
        ("a man", "an old man", (), (["a"], ["an old"])),
        ("one man here", "one trans man here", ("man",), (["man"], ["trans man"])),
        ("people here", "people with pain here", ("people",), (["people"], ["people with pain"])),
        ("she won", "she won today", (), (["won"], ["won today"])),
        ("Mrs. Day left. He won.", "Mr Day left. She won.", (), (["Mrs.", "He"], ["Mr", "She"])),
        ("", "new", (), ([""], ["new"])),
    ],
)
def test_changes_are_whole_words(
    before: str, after: str, sources: Sequence[str], expected: tuple[list[str], list[str]]
) -> None:
    left, right = changes(before, after, sources)
    assert ([before[a:b] for a, b in left], [after[a:b] for a, b in right]) == expected


def test_headline_counts_changes_hidden_ones_and_accuracy(make: Maker) -> None:
    folder = make(HIDDEN)
    assert wording.headline(figures_of(folder)) == (
        "local:some changed its answer on 1 of 1 intersectional mutant "
        "(100.0 %, 95 % interval 20.7 to 100.0 %). "
        "It changed its answer on none of 2 mutants of a single attribute (95 % interval 0 to 65.8 %). "
        "The model matches the gold label on 1 of 1 original (100.0 %)."
    )


def told(*rows: ResultRow) -> str:
    return wording.headline(summary_of(*rows))


def test_headline_with_what_is_not_known() -> None:
    both = row(tests=430, biased=37, undetermined=18, hidden=12, hidden_undetermined=6)
    assert told(both) == (
        "m changed its answer on 37 of 412 intersectional mutants (9.0 %, 95 % interval 6.6 to 12.1 %)."
    )
    assert wording.hidden(summary_of(both)) == (
        "Of the 31 changes for which this is known, 12 (38.7 %) are hidden: no single attribute alone shows"
        " them."
    )
    assert "none is hidden" in wording.hidden(summary_of(row(tests=9, biased=2)))
    assert "is unknown" in wording.hidden(summary_of(row(tests=9, biased=2, hidden_undetermined=2)))
    assert "no comparable pair of answers" in told(row(tests=4, undetermined=4), row("gender", tests=4))


@pytest.mark.parametrize(
    ("rows", "expected"),
    [
        ([], "None of 3 documents has a term of race, gender and body, so nothing was tested."),
        ([original(gold=None)], "No mutants were generated from 1 document, so nothing was tested."),
        (
            [original(gold=None), mutant(GENDER, reason="pos", outcome=None, status=None)],
            "The only mutant was not valid, so nothing was tested.",
        ),
        (
            [original(gold=None), mutant(GENDER, outcome=Outcome(reason="failed"), status="undetermined")],
            "The only test could not be decided: 1 of 2 answers failed permanently.",
        ),
    ],
)
def test_headline_says_why_there_is_nothing(make: Maker, rows: Sequence[Row], expected: str) -> None:
    assert wording.headline(figures_of(make(rows))) == expected


def test_a_run_stopped_early_is_not_taken_for_one_without_terms(make: Maker) -> None:
    folder = make([])
    for status, stopped in (("interrupted", None), ("partial", "the budget of 5 requests is used up")):
        summary = changed(figures_of(folder), status=status, stopped=stopped)
        assert wording.headline(summary) == "The run stopped before any test was judged."
        assert "to resume where it stopped" in incomplete.missing(summary)[0]


@pytest.mark.parametrize(
    ("unread", "expected"),
    [
        ({"unparsed": 12}, "None of the 9 tests could be decided: 12 of 12 answers are not labels."),
        (
            {"refused": 1, "failed": 3},
            "None of the 9 tests could be decided: 3 of 4 answers failed permanently.",
        ),
        ({"read": 11, "truncated": 1}, "None of the 9 tests could be decided: 1 of 12 answers was cut off."),
        ({"read": 9}, "None of the 9 tests could be decided, because answers are missing."),
    ],
)
def test_headline_says_why_nothing_could_be_decided(unread: dict[str, int], expected: str) -> None:
    answers = {**ZERO_ANSWERS, **unread}
    assert wording.headline(summary_of(row(tests=9, undetermined=9), answers=answers)) == expected


def test_missing_says_how_much(make: Maker) -> None:
    failed = mutant(GENDER, outcome=Outcome(reason="failed"), status="undetermined")
    folder = make([original(), failed, mutant(NATION, outcome=None, status=None)])
    assert incomplete.missing(figures_of(folder)) == []
    lines = incomplete.missing(figures_of(folder, "interrupted"))
    assert lines[0].startswith("Interrupted after 1 of 3 texts: ")
    assert lines[1:] == [
        "1 of the 3 texts made so far was not answered.",
        "1 answer failed permanently.",
        "1 test is undetermined because an answer it needs is missing.",
    ]


def test_noise_is_told_or_said_to_be_unknown() -> None:
    assert "did not measure" in wording.noise(summary_of())
    flips = {"repeats": 3, "originals": 80, "answers": 240, "flips": 12, "rate": 0.05, "ci95": (0.02, 0.12)}
    assert wording.noise(summary_of(noise=flips)).endswith(
        "12 of 240 repeated answers to 80 originals (5.0 %, 95 % interval 2.0 to 12.0 %)."
    )
