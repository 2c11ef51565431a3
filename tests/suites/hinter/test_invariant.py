"""The invariant is the paper's Algorithms 3 and 4, whichever way it is computed."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import islice
from pathlib import Path

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from harness.core import Document
from harness.language.parsers import CachedParser, Parse, Parser, SpacyParser, Split
from harness.suites import lexicon
from harness.suites.hinter.conformity import Conformity
from harness.suites.hinter.invariant import DocumentInvariant
from harness.suites.hinter.mutation import mutant, mutations, unique, variations
from harness.suites.hinter.suite import Hinter
from harness.suites.hinter.tag_comparison import (
    DEPENDENCY,
    POS,
    SENTENCES,
    check,
    compare,
    tolerant_table_comp,
)
from tests.suites.hinter import literal

# Algorithm 4


@pytest.mark.parametrize(
    ("first", "second", "alike"),
    [
        ("", "", True),
        ("A", "", True),  # one left over, one allowed
        ("", "ABC", True),  # three left over, three allowed
        ("A", "A", True),
        ("A", "B", False),  # one error, none allowed
        ("ABC", "ABD", False),
        ("AB", "BA", False),
        ("DN", "DJN", True),  # "the man" -> "the disabled man": N/J is an error and shifts past J
        ("DJN", "DN", True),  # and back
        ("DN", "DJJN", True),  # two inserted: N/J shifts to the second J, but it is passed as well
        ("DNV", "DJJNV", True),  # N/J shifts, V/N shifts: two errors, two allowed
        ("DNVP", "DJJNVX", False),  # N/J and V/N shift, then P/X: three errors, two allowed
        ("DNV", "DJNV", True),
        ("DNV", "DJNX", False),  # the insertion is allowed, the mismatch beside it is not
        ("DNVP", "DNVPX", True),  # the remainder is the difference
        ("DNVP", "XDNVP", True),  # inserted at the start
        ("DNVP", "DNXP", False),
        ("AAB", "AB", True),  # B/A shifts, then both end
        ("ABAB", "AB", True),  # two left over, two allowed
        ("ABC", "XYZAB", False),  # A/X and B/Z shift, then C/B: three errors, two allowed
        ("ABCD", "X", True),  # X shifts once, two are left over: three errors, three allowed
        ("AB", "C", True),  # A/C shifts past B: one error, one allowed, though no tag is shared
    ],
)
def test_tolerant_comparison_by_hand(first: str, second: str, alike: bool) -> None:
    assert tolerant_table_comp(first, second) is alike


tags = st.lists(st.sampled_from("ABC"), max_size=9)


@given(tags)
def test_a_sequence_is_like_itself(some: list[str]) -> None:
    assert tolerant_table_comp(some, list(some))


@given(st.lists(st.tuples(st.sampled_from("AB"), st.sampled_from("AB")), max_size=6))
def test_sequences_of_one_length_are_alike_when_equal_only(both: list[tuple[str, str]]) -> None:
    first, second = [a for a, _ in both], [b for _, b in both]
    assert tolerant_table_comp(first, second) is (first == second)


@given(tags, tags, st.permutations("ABC"))
def test_only_equality_of_tags_counts_and_no_side_comes_first(
    first: list[str], second: list[str], names: list[str]
) -> None:
    new = dict(zip("ABC", names, strict=True))
    alike = tolerant_table_comp(first, second)
    assert tolerant_table_comp([new[t] for t in first], [new[t] for t in second]) is alike
    assert tolerant_table_comp(second, first) is alike


@given(tags, tags)
def test_errors_are_bounded_by_the_difference_of_lengths(first: list[str], second: list[str]) -> None:
    errors, limit = literal.errors(first, second), abs(len(first) - len(second))
    assert tolerant_table_comp(first, second) is (errors <= limit)


@given(tags, st.integers(0, 9), st.sampled_from("ABCX"))
def test_one_insertion_is_always_tolerated(some: list[str], at: int, new: str) -> None:
    longer = [*some[:at], new, *some[at:]]
    # One error where the insertion shows first, none after the shift; or the rest is one too long.
    assert tolerant_table_comp(some, longer) is (literal.errors(some, longer) <= 1)
    if new not in some:
        assert tolerant_table_comp(some, longer)


# Algorithm 3


def parse_of(pos: str, dep: str) -> Parse:
    offsets = tuple(range(len(pos.split())))
    return Parse(offsets, tuple(pos.split()), tuple(dep.split()))


def test_parts_of_speech_come_before_dependencies() -> None:
    before = parse_of("PRP VBD PRP$ NN", "nsubj ROOT poss dobj")
    assert compare(before, before) is None
    assert compare(before, parse_of("PRP VBD PRP NN", "nsubj ROOT poss dobj")) == POS
    assert compare(before, parse_of("PRP VBD PRP NN", "nsubj ROOT dobj dobj")) == POS
    assert compare(before, parse_of("PRP VBD PRP$ NN", "nsubj ROOT dobj dobj")) == DEPENDENCY
    longer = parse_of("PRP VBD PRP$ JJ NN", "nsubj ROOT poss amod dobj")
    assert compare(before, longer) is compare(longer, before) is None


@pytest.mark.parametrize(
    ("original", "changed", "reason"),
    [
        # Figure 3: (b) conforms, (c) does not: PRP$ (his) against PRP (him).
        ("Her performance was great.", "His performance was great.", None),
        ("Her performance was great.", "Him performance was great.", POS),
        ("I like the man.", "I like the disabled man.", None),
        ("I like the disabled man.", "I like the man.", None),
        ("I like the man. He left.", "I like the man He left.", SENTENCES),
        ("I like Mr. He left.", "I like him. He left.", SENTENCES),
        ("The man left.", "The man left.", None),
        ("", "", None),
        ("", "A man.", SENTENCES),
    ],
)
def test_algorithm_3_on_real_text(parser: Parser, original: str, changed: str, reason: str | None) -> None:
    assert check(parser, original, changed) == reason
    assert literal.inv_check(parser, original, changed) == reason


def test_the_first_sentence_that_differs_gives_the_reason() -> None:
    class Lettered(Parser):
        name = "lettered"

        def split(self, text: str) -> Split:
            return Split(tuple((i, i + 2) for i in range(0, len(text), 2)), True)

        def parse(self, sentences: Sequence[str]) -> list[Parse]:
            return [Parse((0,), (sentence[0],), (sentence[1],)) for sentence in sentences]

    assert check(Lettered(), "aaaaaa", "aaabba") == DEPENDENCY
    assert check(Lettered(), "aaaaaa", "aabaab") == POS
    assert check(Lettered(), "aaaa", "aaaaaa") == SENTENCES


# The same from fewer parses


class Shapes(Parser):
    """spaCy's sentences, with tags made up at once that every change of a sentence may move."""

    name = "shapes"

    def __init__(self, parser: Parser) -> None:
        self._parser = parser

    def split(self, text: str) -> Split:
        return self._parser.split(text)

    def parse(self, sentences: Sequence[str]) -> list[Parse]:
        return [self._parse(sentence) for sentence in sentences]

    @staticmethod
    def _parse(sentence: str) -> Parse:
        words = sentence.split()
        pos = tuple("V" if word.strip('."”)!')[-1:] in "aeiouy" else "C" for word in words)
        dep = tuple("R" if (len(sentence) + i) % 5 == 0 else "d" for i in range(len(words)))
        return Parse(tuple(range(len(words))), pos, dep)


WORDS = lexicon.parse(
    """
    [attribute.gender]
    pairs = [["man", "woman"], ["man", "Mr."], ["Mr.", "Mrs."], ["Mr.", "man"], ["he", "she"], ["Mr", "CEO"],
             ["man", "CEO"]]
    [attribute.race]
    pairs = [["U.S.", "French"], ["French", "U.S."], ["French", "Thai"], ["old", "St."], ["Thai", "Yahoo!"]]
    [attribute.body]
    pairs = [["old", "young"], ["old man", "young man"], ["tall", "very tall"], ["man", "disabled man"],
             ["man", "“man.”"], ["tall", "a. b"]]
    """
)
PIECES = (
    *("man", "old man", "Mr.", "Mr", "U.S.", "French", "he", "he", "tall", "old\n\nman", "Thai", "the", "so"),
    *(
        ". ",
        ".",
        "... ",
        "…",
        "! ",
        "?",
        '"',
        " “",
        "” ",
        ")",
        " (",
        "\n",
        "\n\n",
        "\n \n",
        " ",
        " ",
        " ",
        ",",
    ),
)
texts = st.lists(st.sampled_from(PIECES), min_size=1, max_size=14).map("".join)


def decided(text: str, words: lexicon.Lexicon, parser: Parser) -> tuple[dict[str, str | None], int]:
    """Reasons by mutant, as ``DocumentInvariant`` gives them, and how many it decided the exact way."""
    found, _ = unique(variations(text, words, words.find(text), lambda offset: None))
    conformity = Conformity(parser)
    invariant = DocumentInvariant(text, conformity.split(text), found, 3, conformity)
    needed = invariant.needed()
    while not invariant.done:
        invariant.take(conformity.reasons(needed))
        needed = invariant.needed()
    made = [mutant(text, one) for one in mutations(found, 3)]
    reasons = [invariant.reason(one, mutant(text, one)) for one in mutations(found, 3)]
    return dict(zip(made, reasons, strict=True)), conformity.exact


def alike(reasons: dict[str, str | None], expected: dict[str, str | None]) -> bool:
    """The same mutants are valid; of those that are not, the reason given is that of one of the sentences."""
    return {t: r is None for t, r in reasons.items()} == {t: r is None for t, r in expected.items()}


@settings(max_examples=1000, suppress_health_check=[HealthCheck.too_slow], deadline=None)
@given(texts)
@example("the man.He left")  # "CEO.He" is one token, so one sentence less
@example("the old\n\nman left. French")
@example('"the man." he left')
@example("French\n\nMr.Mr.French. U.S.Mr.Mr. “French")  # another sentence fails first, and boundaries move
def test_the_shortcut_decides_as_algorithm_3_does(plain_parser: SpacyParser, text: str) -> None:
    shapes = Shapes(plain_parser)
    reasons, _ = decided(text, WORDS, shapes)
    assert alike(reasons, {changed: literal.inv_check(shapes, text, changed) for changed in reasons})


@pytest.mark.parametrize(
    ("text", "exact"),
    [
        ("The tall French man left. So he did.", False),
        ("I saw the French teams... He left.So it ended!", False),
        ("The Thai team left. So he did.", True),  # "Yahoo!" ends a sentence
        ("So the man left.", True),  # “man.” too
        ("The old\n\nman left.", True),  # crosses a border
        ("I saw the man.He left.", True),  # "CEO.He" would be one word
    ],
)
def test_what_may_move_the_end_of_a_sentence_is_decided_exactly(
    plain_parser: SpacyParser, text: str, exact: bool
) -> None:
    harmless = lexicon.parse("attribute.x.pairs = [['tall', 'small'], ['French', 'Thai'], ['he', 'she']]")
    _, count = decided(text, WORDS if exact else harmless, plain_parser)
    assert (count > 0) is exact


@settings(max_examples=60, suppress_health_check=[HealthCheck.too_slow], deadline=None)
@given(texts)
def test_the_shortcut_decides_as_algorithm_3_does_with_real_parses(
    plain_parser: SpacyParser, parser: CachedParser, text: str
) -> None:
    reasons, _ = decided(text, WORDS, parser)
    for changed, reason in islice(reasons.items(), 12):
        assert (literal.inv_check(plain_parser, text, changed) is None) is (reason is None)


def reviews(folder: Path, count: int) -> list[Document]:
    """Short reviews that hold terms of two attributes at least."""
    lines = (folder / "biasfinder" / "imdb_small" / "test.csv").read_text(encoding="utf-8").split("\n")
    words = lexicon.load()
    documents = (Document(str(i), line.partition("\t")[2]) for i, line in enumerate(lines))
    short = (d for d in documents if 0 < len(d.text) < 700)
    return list(
        islice((d for d in short if sum(bool(a.find(d.text)) for a in words.attributes.values()) > 1), count)
    )


def test_the_suite_keeps_and_discards_what_the_paper_does(
    shared_data: Path, plain_parser: SpacyParser, parser: CachedParser
) -> None:
    """On real reviews, mutant by mutant, up to order 3."""
    documents = {d.id: d for d in reviews(shared_data, 15)}
    assert len(documents) == 15
    suite = Hinter(lexicon.load(), parser, order=3, max_pairs=2, seed=1)
    seen: dict[str | None, int] = {}
    for case in suite.cases(iter(documents.values())):
        if case.role == "original" or case.reason == "duplicate":
            continue
        expected = literal.inv_check(plain_parser, documents[case.document].text, case.text)
        assert case.valid is (expected is None), case.text
        seen[case.reason] = seen.get(case.reason, 0) + 1
    assert {None, POS, DEPENDENCY} <= seen.keys()
    assert sum(seen.values()) > 100
