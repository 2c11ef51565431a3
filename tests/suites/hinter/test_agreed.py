"""A mutant is valid where both of two parsers say so, and is counted where only one does."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import product

import pytest
import spacy
from hypothesis import given, settings
from hypothesis import strategies as st

from harness.core import Case, Document
from harness.errors import ParserError
from harness.language.parsers import CachedParser, Parse, Parser, Split, another_pipeline, default_pipeline
from harness.suites import lexicon
from harness.suites.hinter.suite import Hinter, Invariant

WORDS = lexicon.load().select(["race", "gender", "body"])
TEXTS = st.sampled_from(
    [
        "The British waiter was rude. He blamed the old men.",
        "An Irish woman met a Greek man, and the women laughed.",
        "A black actor and his brother saw the children.",
    ]
)


@dataclass
class Other:
    """A second parser: another's, but some words have another part of speech."""

    parser: Parser
    strange: frozenset[str]

    @property
    def name(self) -> str:
        return f"other {sorted(self.strange)}"

    def split(self, text: str) -> Split:
        return self.parser.split(text)

    def parse(self, sentences: Sequence[str]) -> list[Parse]:
        return [self._read(s, p) for s, p in zip(sentences, self.parser.parse(sentences), strict=True)]

    def _read(self, sentence: str, parse: Parse) -> Parse:
        words = (sentence[at:].split()[0].strip(".,") for at in parse.offsets)
        tags = ("XX" if word in self.strange else tag for word, tag in zip(words, parse.pos, strict=True))
        return replace(parse, pos=tuple(tags))


@pytest.fixture(scope="module")
def made(parser: CachedParser) -> Callable[..., dict[str, str | None]]:
    def reasons(
        text: str, order: int, invariant: Invariant, first: Parser, second: Parser | None = None
    ) -> dict[str, str | None]:
        suite = Hinter(WORDS, first, order, max_pairs=4, invariant=invariant, second=second)
        cases: list[Case] = list(suite.cases(iter([Document("t", text)])))
        return {case.id: case.reason for case in cases if case.role != "original"}

    return reasons


@settings(max_examples=20)
@given(
    TEXTS, st.sampled_from([1, 2, 3]), st.frozensets(st.sampled_from(["Nigerian", "Arab", "she", "disabled"]))
)
def test_a_mutant_is_valid_where_both_parsers_pass_it(
    parser: CachedParser,
    made: Callable[..., dict[str, str | None]],
    text: str,
    order: int,
    strange: frozenset[str],
) -> None:
    other = Other(parser, strange)
    first, second = (made(text, order, "strict", each) for each in (parser, other))
    both = made(text, order, "agreed", parser, other)
    for name, reason in both.items():
        passes = (first[name] is None, second[name] is None)
        expected = {(True, True): None, (False, False): first[name]}.get(passes, "parsers-disagree")
        assert reason == ("duplicate" if first[name] == "duplicate" else expected)
    assert set(product([True, False], repeat=2)) >= {(first[n] is None, second[n] is None) for n in both}


def test_the_second_parser_is_another_one() -> None:
    first = default_pipeline()
    others = [name for name in spacy.util.get_installed_models() if "en_core_web" in name and name != first]
    if others:
        assert another_pipeline(f"spacy:{first} 3.8.0") in others
    else:
        with pytest.raises(ParserError, match="no second English spaCy pipeline is installed"):
            another_pipeline(f"spacy:{first} 3.8.0")
