"""Each pair of sentences is decided once, kept, and only where a mutant's verdict hangs on it."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest

from harness.core import Case, Document
from harness.language.parsers import CachedParser, Parse, Parser, SpacyParser, Split
from harness.language.verdict_cache import VerdictCache
from harness.suites import lexicon
from harness.suites.hinter.suite import Hinter
from harness.suites.hinter.tag_comparison import tolerant_table_comp
from tests.suites.hinter import literal


class Counting(Parser):
    """A parser that notes what it is asked; ``bad`` words make a sentence of other parts of speech."""

    name = "counting"

    def __init__(self, parser: Parser, bad: Sequence[str] = ()) -> None:
        self._parser = parser
        self._bad = bad
        self.asked: list[str] = []

    def split(self, text: str) -> Split:
        return self._parser.split(text)

    def parse(self, sentences: Sequence[str]) -> list[Parse]:
        self.asked += sentences
        return [self._parse(sentence) for sentence in sentences]

    def _parse(self, sentence: str) -> Parse:
        words = sentence.split()
        tags = tuple("BAD" if any(bad in word for bad in self._bad) else "NN" for word in words)
        return Parse(tuple(range(len(words))), tags, tags)


WORDS = lexicon.parse(
    """
    [attribute.race]
    pairs = [["black", "white"], ["black", "brown"]]
    [attribute.gender]
    pairs = [["man", "woman"], ["man", "girl"]]
    [attribute.body]
    pairs = [["old", "young"]]
    """
)


def cases(suite: Hinter, *texts: str) -> list[Case]:
    return list(suite.cases(Document(str(i), text) for i, text in enumerate(texts)))


def test_a_sentence_is_asked_about_once_however_many_mutants_hold_it(plain_parser: SpacyParser) -> None:
    counting = Counting(plain_parser)
    made = cases(
        Hinter(WORDS, CachedParser(counting), order=3), *["The black man left. The old man came."] * 3
    )
    assert len(made) == 3 * (1 + 5 + 8 + 4)
    assert len(counting.asked) == len(set(counting.asked))
    assert all(case.valid for case in made)


def test_where_variations_meet_is_not_parsed_if_another_sentence_fails(plain_parser: SpacyParser) -> None:
    """A man alone in the second sentence does not conform as a woman, so no mutant with her is valid."""
    text = "The black man left. A man came."
    parser = Counting(plain_parser, bad=["woman"])
    made = cases(Hinter(WORDS.select(["race", "gender"]), parser), text)
    asked = {sentence for sentence in parser.asked if "black" not in sentence and "left" in sentence}
    assert asked == {
        "The white man left.",
        "The brown man left.",
        "The white girl left.",
        "The brown girl left.",
    }
    for case in made[1:]:
        assert (case.reason is None) is ("woman" not in case.text)
        assert literal.inv_check(parser, text, case.text) == case.reason


@pytest.mark.parametrize("order", [2, 3])
def test_verdicts_kept_on_disk_are_not_decided_again(
    tmp_path: Path, plain_parser: SpacyParser, order: int
) -> None:
    texts = ["The black man left his old house.He was glad.", "An old man, black."]
    first, second = Counting(plain_parser, ["girl"]), Counting(plain_parser, ["girl"])
    path = tmp_path / "verdicts.sqlite"
    suites = [Hinter(WORDS, parser, order, verdicts=VerdictCache(path)) for parser in (first, second)]
    assert cases(suites[0], *texts) == cases(suites[1], *texts)
    assert first.asked
    assert not second.asked


def test_another_parser_does_not_read_what_one_kept(tmp_path: Path, plain_parser: SpacyParser) -> None:
    path = tmp_path / "verdicts.sqlite"
    cases(Hinter(WORDS, Counting(plain_parser), verdicts=VerdictCache(path)), "The black man left.")
    other = Counting(plain_parser, bad=["white"])
    other.name = "other"
    found = cases(Hinter(WORDS, other, verdicts=VerdictCache(path)), "The black man left.")
    assert {case.valid for case in found if "white" in case.text} == {False}


def test_parts_of_speech_alone(tmp_path: Path, plain_parser: SpacyParser, parser: CachedParser) -> None:
    """``pos`` keeps what Algorithm 3 keeps without its comparison of dependencies, also where a verdict of
    both is kept."""
    texts = ("My old mother told the French boys a story about Japanese soldiers.She left.",)
    words = lexicon.parse(
        """
        attribute.race.pairs = [["French", "Middle Eastern"], ["French", "Dutch"], ["Japanese", "Welsh"]]
        attribute.gender.pairs = [["boys", "girls"], ["mother", "father"], ["She", "He"]]
        """
    )
    kept = VerdictCache(tmp_path / "verdicts.sqlite")
    strict = cases(Hinter(words, parser, verdicts=kept), *texts)
    loose = cases(Hinter(words, parser, invariant="pos", verdicts=kept), *texts)
    for case, other in zip(loose, strict, strict=True):
        assert case.id == other.id
        if case.role == "original" or case.reason == "duplicate":
            continue
        text = texts[int(case.document)]
        before, after = (literal.sentence_split(plain_parser, one) for one in (text, case.text))
        same = len(before) == len(after) and all(
            tolerant_table_comp(
                literal.dependency_tree(plain_parser, a).pos, literal.dependency_tree(plain_parser, b).pos
            )
            for a, b in zip(before, after, strict=True)
        )
        assert case.valid is same, case.text
    assert {case.reason for case in strict} >= {None, "dependency"}
    assert sum(case.valid for case in loose) > sum(case.valid for case in strict)


def test_without_the_invariant_the_parser_still_tells_him_from_his(parser: CachedParser) -> None:
    words = lexicon.load().select(["gender"])
    found = cases(Hinter(words, parser, order=1, invariant="none"), "I told her that her dog bit.")
    assert all(case.valid for case in found)
    assert "I told him that his dog bit." in {case.text for case in found}
