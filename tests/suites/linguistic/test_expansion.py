"""Figure 3, "Or both.", step by step; what a grown sentence must pass; Algorithm 1 on other trees."""

from __future__ import annotations

import pytest

from harness.language import constituency
from harness.language.parsers import CachedParser
from harness.language.trees import Tree, phrase
from harness.suites.linguistic import capabilities, grammar, sentiment
from harness.suites.linguistic.expansion import Expander, masked_sentences
from harness.suites.linguistic.grammar import Grammar
from harness.suites.linguistic.seeds import Seed
from tests.suites.linguistic.fixed import LEXICON, FixedParser, FixedSuggester, FixedTrees

LC1 = capabilities.load().by_name["LC1"].variants[0]
LC9 = capabilities.load().by_name["LC9"].variants[0]
SENTENCE = "Or both."
TREE = phrase(
    "FRAG", [Tree("CC", (), 0, 2), phrase("NP", [Tree("DT", (), 3, 7)]), Tree(".", (), 7, 8)]
)  # the left tree of Figure 3
REFERENCE = Grammar({("NP", ("DT", "NNS")): 1})


def seed(text: str, variant: capabilities.Variant) -> Seed:
    return Seed("LC", variant, text, ("d",))


def test_figure_3_step_1_the_tree_has_two_productions() -> None:
    assert [p.production for p in TREE.phrases()] == [("FRAG", ("CC", "NP", ".")), ("NP", ("DT",))]
    assert str(constituency.load("flat").trees([SENTENCE])[0][0]) == f"(ROOT {TREE})"


def test_figure_3_step_2_the_mask_stands_where_the_reference_has_one_more_symbol() -> None:
    (masked,) = masked_sentences(SENTENCE, [TREE], REFERENCE)
    assert str(masked) == "Or both {MASK}."
    assert masked.symbols == ("NNS",)
    assert masked.production == "NP -> DT [NNS]"
    bundled = masked_sentences(SENTENCE, [TREE], grammar.load())
    assert ("Or both {MASK}.", ("NNS",)) in {(str(m), m.symbols) for m in bundled}


def test_figure_3_step_3_ways_and_things_are_validated(parser: CachedParser) -> None:
    suggester = FixedSuggester(["ways", "things", "failures", "good", "of", "never"])
    expander = Expander(
        REFERENCE,
        FixedTrees({SENTENCE: TREE}),
        suggester,
        parser,
        sentiment.load("bundled"),
        masks=5,
        words=6,
    )
    (expansions,) = expander.expand([seed(SENTENCE, LC1)], "0")
    assert suggester.asked == [("Or both ", ".")]
    assert [e.text for e in expansions if e.reason is None] == ["Or both ways.", "Or both things."]
    assert {e.words[0]: e.reason for e in expansions if e.reason} == {
        "failures": "sentiment",
        "good": "sentiment",
        "of": "pos",
        "never": "negation",
    }


def expand(words: list[str], variant: capabilities.Variant, tags: dict[str, str]) -> dict[str, str | None]:
    parser = FixedParser({"or": "CC", "both": "DT"} | tags)
    expander = Expander(
        REFERENCE, FixedTrees({SENTENCE: TREE}), FixedSuggester(words), parser, LEXICON, masks=5, words=20
    )
    (expansions,) = expander.expand([seed(SENTENCE, variant)], "0")
    return {e.words[0]: e.reason for e in expansions}


def test_the_rule_holds_again_only_where_the_capability_says_so() -> None:
    tags = {"both": "CC", "ways": "NNS"}  # no adjective is left, which LC1 asks for
    assert expand(["ways"], LC1, tags) == {"ways": "rule"}
    assert expand(["ways"], LC9, tags) == {"ways": None}


def test_each_check_gives_its_reason() -> None:
    tags = {"ways": "NNS", "joy": "NNS", "both": "DT"}
    found = expand(["ways", "joy", "car", "Never", "both"], LC9, tags)
    assert found == {"ways": None, "joy": "sentiment", "car": "pos", "Never": "negation", "both": "repeated"}


def test_a_word_that_no_check_needs_a_parse_for_is_not_parsed() -> None:
    parser = FixedParser({})
    expander = Expander(
        REFERENCE, FixedTrees({SENTENCE: TREE}), FixedSuggester(["not", "both"]), parser, LEXICON
    )
    expander.expand([seed(SENTENCE, LC9)], "0")
    assert parser.parsed == 0


def words_of(text: str, *tags: str) -> list[Tree]:
    leaves, at = [], 0
    for word, tag in zip(text.split(), tags, strict=True):
        at = text.index(word, at)
        leaves.append(Tree(tag, (), at, at + len(word)))
        at += len(word)
    return leaves


def masks(text: str, tree: Tree, *right: tuple[str, ...]) -> set[str]:
    reference = Grammar({(tree.label, symbols): 1 for symbols in right})
    return {str(m) for m in masked_sentences(text, [tree], reference)}


def test_masks_stand_in_their_places() -> None:
    text = "The cat"
    tree = phrase("NP", words_of(text, "DT", "NN"))
    assert masks(text, tree, ("DT", "JJ", "NN")) == {"The {MASK} cat"}
    assert masks(text, tree, ("DT", "JJ", "JJ", "NN")) == {"The {MASK} {MASK} cat"}
    assert masks(text, tree, ("DT", "NN", "NN")) == {"The {MASK} cat", "The cat {MASK}"}
    assert masks(text, tree, ("PDT", "DT", "JJ", "NN")) == {"{MASK} the {MASK} cat"}


def test_a_name_keeps_its_capital_behind_a_first_word() -> None:
    assert masks("Ann sang", phrase("NP", words_of("Ann sang", "NNP", "NN")), ("RB", "NNP", "NN")) == {
        "{MASK} Ann sang"
    }
    assert masks("I sang", phrase("NP", words_of("I sang", "PRP", "NN")), ("RB", "PRP", "NN")) == {
        "{MASK} I sang"
    }


def grow(text: str, tree: Tree, right: tuple[str, ...], words: list[str]) -> dict[str, str | None]:
    expander = Expander(
        Grammar({(tree.label, right): 1}),
        FixedTrees({text: tree}),
        FixedSuggester(words),
        FixedParser({}),
        LEXICON,
    )
    (expansions,) = expander.expand([seed(text, LC9)], "0")
    return {e.text: e.reason for e in expansions}


def test_a_first_word_takes_the_capital_of_the_sentence() -> None:
    tree = phrase("NP", words_of("Cats", "NN"))
    assert grow("Cats", tree, ("NN", "NN"), ["house"]) == {"House cats": None, "Cats house": None}


def test_an_article_must_agree() -> None:
    text = "A cat"
    tree = phrase("NP", words_of(text, "DT", "NN"))
    assert grow(text, tree, ("DT", "NN", "NN"), ["house", "attic"]) == {
        "A house cat": None,
        "A cat house": None,
        "A attic cat": "article",
        "A cat attic": None,
    }


def test_several_gaps_are_filled_together_by_rank() -> None:
    text = "The cat"
    tree = phrase("NP", words_of(text, "DT", "NN"))
    found = grow(text, tree, ("DT", "NN", "NN", "NN"), ["house", "town"])
    assert "The cat house house" in found
    assert "The town cat town" in found
    assert "The house cat town" not in found


@pytest.mark.parametrize("salt", ["0", "1"])
def test_at_most_so_many_masks_are_taken_the_same_ones_each_time(salt: str) -> None:
    def asked() -> list[tuple[str, ...]]:
        suggester = FixedSuggester([])
        tree = FixedTrees({SENTENCE: TREE})
        Expander(grammar.load(), tree, suggester, FixedParser({}), LEXICON, masks=3).expand(
            [seed(SENTENCE, LC9)], salt
        )
        return suggester.asked

    assert len(asked()) == 3
    assert asked() == asked()


def test_a_seed_that_cannot_grow_has_no_expansions() -> None:
    expander = Expander(
        Grammar({("X", ("Y",)): 1}),
        FixedTrees({SENTENCE: TREE}),
        FixedSuggester(["a"]),
        FixedParser({}),
        LEXICON,
    )
    assert expander.expand([seed(SENTENCE, LC9)], "0") == [[]]
    assert expander.expand([], "0") == []
