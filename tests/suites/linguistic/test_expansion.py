"""What grows where, and what a grown sentence must pass; Algorithm 1 on small trees."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import pytest

from harness.language import constituency
from harness.language.parsers import CachedParser, Parser
from harness.language.trees import Production, Tree, phrase
from harness.suites.linguistic import capabilities, grammar, modifiers
from harness.suites.linguistic.capabilities import Rule, Variant
from harness.suites.linguistic.expansion import LEAST_GAIN, Expander
from harness.suites.linguistic.grammar import Grammar
from harness.suites.linguistic.masks import masked_sentences
from harness.suites.linguistic.seeds import Seed
from tests.suites.linguistic.fixed import LEXICON, FixedParser, FixedSuggester, FixedTrees

WORDS = modifiers.load()
LC1 = capabilities.load().by_name["LC1"].variants[0]
LC9 = capabilities.load().by_name["LC9"].variants[0]
LC10 = capabilities.load().by_name["LC10"].variants[0]
SENTENCE = "The cat is here."
TAGS = {
    "the": "DT",
    "a": "DT",
    "cat": "NN",
    "is": "VBZ",
    "here": "RB",
    "new": "JJ",
    "old": "JJ",
    "dull": "JJ",
}


def words_of(text: str, *tags: str) -> list[Tree]:
    leaves, at = [], 0
    for word, tag in zip(text.split(), tags, strict=True):
        at = text.index(word, at)
        leaves.append(Tree(tag, (), at, at + len(word)))
        at += len(word)
    return leaves


TREE = phrase("S", [phrase("NP", words_of("The cat", "DT", "NN")), Tree("VBZ", (), 8, 10)])
REFERENCE = Grammar({("NP", ("DT", "JJ", "NN")): 1})


def seed(text: str, variant: Variant, *spans: tuple[int, int]) -> Seed:
    return Seed("LC", variant, text, ("d",), spans or ((0, len(text)),))


@dataclass
class FixedJudge:
    """Gives each word the gain it was made with; remembers what it was asked."""

    gains: dict[str, float]
    name: str = "fixed"
    asked: list[str] = field(default_factory=list)

    def gain(self, before: str, word: str, after: str) -> float:
        self.asked.append(word)
        return self.gains[word]


def expander(
    words: Sequence[str],
    tree: Tree = TREE,
    text: str = SENTENCE,
    reference: Grammar = REFERENCE,
    parser: Parser | None = None,
    **given: Any,
) -> Expander:
    trees, parsed = FixedTrees({text: tree}), parser or FixedParser(TAGS)
    return Expander(reference, trees, FixedSuggester(words), parsed, LEXICON, WORDS, **given)


def expand(
    words: list[str],
    variant: Variant = LC9,
    tags: dict[str, str] | None = None,
    judge: FixedJudge | None = None,
    most: int | None = None,
) -> dict[str, str | None]:
    made = expander(words, parser=FixedParser(TAGS | (tags or {})), judge=judge, most=most)
    (expansions,) = made.expand([seed(SENTENCE, variant)], "0")
    return {e.word: e.reason for e in expansions}


def test_a_mask_stands_where_the_reference_has_one_more_symbol() -> None:
    (parse,) = FixedParser(TAGS).parse([SENTENCE])
    (masked,) = masked_sentences(seed(SENTENCE, LC9), [TREE], parse, REFERENCE)
    assert str(masked) == "The {MASK} cat is here."
    assert masked.symbol == "JJ"
    assert masked.production == "NP -> DT [JJ] NN"


def masks(text: str, tree: Tree, right: tuple[str, ...], *spans: tuple[int, int]) -> set[str]:
    (parse,) = FixedParser(TAGS).parse([text])
    reference = Grammar({(tree.label, right): 1})
    return {str(m) for m in masked_sentences(seed(text, LC9, *spans), [tree], parse, reference)}


def test_only_modifiers_are_masked_within_the_sentences_that_were_found() -> None:
    text = "The cat"
    tree = phrase("NP", words_of(text, "DT", "NN"))
    assert masks(text, tree, ("DT", "JJ", "NN")) == {"The {MASK} cat"}
    assert masks(text, tree, ("DT", "NN", "NN")) == set()
    assert masks(text, tree, ("PDT", "DT", "NN")) == set()
    assert masks(text, tree, ("DT", "JJ", "NN"), (4, 7)) == set()


def test_the_rule_holds_again_only_where_the_capability_says_so() -> None:
    neutral = Variant({"sentence": Rule(frozenset(["neutral"]), shorter_than=5)}, LC9.expected, validate=True)
    assert expand(["new"], neutral) == {"new": "rule"}
    assert expand(["new"], LC9) == {"new": None}


def test_each_check_gives_its_reason() -> None:
    tags = {"good": "JJ", "tree": "NN"}
    found = expand(["new", "good", "tree", "never", "supposed", "the", "clearly"], LC9, tags)
    assert found == {
        "new": None,
        "good": "sentiment",
        "tree": "pos",
        "never": "negation",
        "supposed": "weakening",
        "the": "repeated",
        "clearly": "place",
    }


def test_the_rest_of_the_sentence_must_be_read_as_before() -> None:
    @dataclass
    class Changing(FixedParser):
        """Reads *cat* as a verb beside *new*."""

        def _parse(self, sentence: str):  # type: ignore[no-untyped-def]
            self.tags = {**self.tags, "cat": "VB" if "new" in sentence else "NN"}
            return super()._parse(sentence)

    (expansions,) = expander(["new", "old"], parser=Changing(TAGS)).expand([seed(SENTENCE, LC9)], "0")
    assert {e.word: e.reason for e in expansions} == {"new": "syntax", "old": None}


def test_the_judge_refuses_what_is_unlikely() -> None:
    judge = FixedJudge({"new": LEAST_GAIN["JJ"], "old": LEAST_GAIN["JJ"] - 0.1})
    assert expand(["new", "old", "never"], judge=judge) == {
        "new": None,
        "old": "unlikely",
        "never": "negation",
    }
    assert sorted(judge.asked) == ["new", "old"]


def test_who_is_sure_is_so_once() -> None:
    text = "The cat sees it definitely."
    tree = phrase("S", [*words_of("The cat", "DT", "NN"), Tree("VBZ", (), 8, 12)])
    parser = FixedParser(TAGS | {"definitely": "NN", "ultimately": "RB", "sees": "VBZ"})
    reference = Grammar({("S", ("DT", "NN", "RB", "VBZ")): 1})
    (expansions,) = expander(["ultimately"], tree, text, reference, parser).expand([seed(text, LC9)], "0")
    assert [e.reason for e in expansions] == ["repeated"] * len(expansions)
    assert expansions


def test_no_more_is_judged_than_is_wanted() -> None:
    judge = FixedJudge({"new": 0.0, "old": 0.0})
    assert list(expand(["new", "old", "never"], judge=judge, most=1).values()).count(None) == 1
    assert len(judge.asked) == 1


@pytest.mark.parametrize(("word", "reason"), [("really", None), ("clearly", "negation")])
def test_behind_a_negation_only_some_adverbs_stand(
    word: str, reason: str | None, parser: CachedParser
) -> None:
    text = "It isn't painful."
    reference = Grammar({("ADJP", ("RB", "JJ")): 1, ("VP", ("VBZ", "RB", "RB", "ADJP")): 1})
    tree = phrase("ADJP", [Tree("JJ", (), 9, 16)])
    (expansions,) = expander([word], tree, text, reference, parser).expand([seed(text, LC9)], "0")
    assert [(e.text, e.reason) for e in expansions] == [(f"It isn't {word} painful.", reason)]


def test_a_degree_of_what_is_negated_stands_next_to_the_negation(parser: CachedParser) -> None:
    text = "It isn't a dull film."  # "It isn't a very dull film": it may be dull
    reference = Grammar({("NP", ("DT", "RB", "JJ", "NN")): 1})
    tree = phrase("NP", [Tree("DT", (), 9, 10), Tree("JJ", (), 11, 15), Tree("NN", (), 16, 20)])
    (expansions,) = expander(["very"], tree, text, reference, parser).expand([seed(text, LC9)], "0")
    assert [e.reason for e in expansions] == ["negation"]


def test_a_word_that_no_check_needs_a_parse_for_is_not_parsed() -> None:
    parser = FixedParser(TAGS)
    expander(["not", "the"], parser=parser).expand([seed(SENTENCE, LC9)], "0")
    assert parser.parsed == 2  # the seed alone, for its places and for its syntax


def test_what_is_denied_after_the_sentence_is_not_limited(parser: CachedParser) -> None:
    text = "Do I think that the film is dull? No."
    found = text.index("the film"), text.index("?")
    reference = Grammar({("ADJP", ("RB", "JJ")): 1})
    tree = phrase("ADJP", [Tree("JJ", (), 28, 32)])
    made = expander(["really", "very", "clearly"], tree, text, reference, parser)
    (expansions,) = made.expand([seed(text, LC10, found)], "0")
    assert {e.word: e.reason for e in expansions} == {
        "really": None,
        "very": "negation",
        "clearly": "negation",
    }


def test_an_article_must_agree() -> None:
    text = "A cat"
    tree = phrase("NP", words_of(text, "DT", "NN"))
    (expansions,) = expander(["new", "old"], tree, text).expand([seed(text, LC9)], "0")
    assert {e.text: e.reason for e in expansions} == {"A new cat": None, "A old cat": "article"}


@pytest.mark.parametrize("salt", ["0", "1"])
def test_at_most_so_many_masks_are_taken_the_same_ones_each_time(salt: str, parser: CachedParser) -> None:
    def asked() -> list[tuple[str, str]]:
        suggester = FixedSuggester([])
        text = "The film is a story of a town in a country."
        (trees,) = constituency.load("flat").trees([text])
        made = Expander(
            grammar.load(), FixedTrees({text: trees[0]}), suggester, parser, LEXICON, WORDS, masks=3
        )
        made.expand([seed(text, LC9)], salt)
        return suggester.asked

    assert len(asked()) == 3
    assert asked() == asked()


def test_a_seed_that_cannot_grow_has_no_expansions() -> None:
    made = expander(["a"], reference=Grammar({("X", ("Y",)): 1}), parser=FixedParser({}))
    assert made.expand([seed(SENTENCE, LC9)], "0") == [[]]
    assert made.expand([], "0") == []


def test_every_gap_has_its_turn_before_one_has_two() -> None:
    tree = phrase("S", [*words_of("The cat is", "DT", "NN", "VBZ"), Tree("RB", (), 11, 15)])
    counts: dict[Production, int] = {
        ("S", ("DT", "JJ", "NN", "VBZ", "RB")): 1,
        ("S", ("DT", "NN", "RB", "VBZ", "RB")): 1,
    }
    adjectives, adverbs = ("new", "old", "unlisted"), ("ultimately", "genuinely")
    words = [*adjectives, *adverbs]
    parser = FixedParser(TAGS | {"unlisted": "JJ", "sees": "VBZ"} | dict.fromkeys(adverbs, "RB"))
    judge, text = FixedJudge(dict.fromkeys(words, 0.0)), "The cat sees it."
    made = expander(words, tree, text, Grammar(counts), parser, judge=judge, most=4)
    (expansions,) = made.expand([seed(text, LC9)], "0")
    taken = [e.masked.symbol for e in expansions if e.reason is None]
    assert (taken.count("JJ"), taken.count("RB")) == (2, 2)
