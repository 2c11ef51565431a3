"""The search rules of each capability on sentences written for them, every template of Table 1, the choice
of seeds."""

from __future__ import annotations

import re
import tomllib
from itertools import product
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.core import Document
from harness.language.parsers import CachedParser
from harness.suites.linguistic import capabilities
from harness.suites.linguistic.capabilities import Capability, Variant
from harness.suites.linguistic.seeds import Search, Seed, Sentence, negate, transform, words
from tests.suites.linguistic.fixed import LEXICON, FixedParser

BUNDLED = capabilities.load()
PAPER = capabilities.load("paper")
SENTENCES = tomllib.loads(Path(__file__).with_name("sentences.toml").read_text(encoding="utf-8"))
LABELS = {"positive": "positive", "negative": "negative", "neutral": "neutral"}
P, N, M = "The jokes are good.", "The jokes fall flat.", "It was made in winter."
LIKED = [
    "Previously, I used to like it saying that",
    "Last time, I agreed with saying that",
    "I liked it much as to say that",
]
DISLIKED = [
    "I used to disagree with saying that",
    "Last time, I didn't like it saying that",
    "I hated it much as to say that",
]
TURN = ["but", "although", "on the other hand"]
OTHERS = ["Some people think that", "Many people agree with that", "They think that", "You agree with that"]
ASKED = ["Do I think that", "Do I agree that"]
GOOD, FLAT, WINTER = "the jokes are good", "the jokes fall flat", "it was made in winter"
# By capability and variant: what the searches found, and every seed that Table 1 allows.
TABLE_1 = {
    ("LC1", 0): ([M], {M}),
    ("LC2", 0): ([P], {P}),
    ("LC2", 1): ([N], {N}),
    ("LC3", 0): (
        [P],
        {
            f"{a} {GOOD} {b} {c}"
            for a, b, c in product(LIKED, TURN, ["now I don't like it.", "now I hate it."])
        },
    ),
    ("LC3", 1): ([N], {f"{a} {FLAT} {b} now I like it." for a, b in product(DISLIKED, TURN)}),
    ("LC4", 0): (["This is a mess."], {"This is not a mess.", "This isn't a mess."}),
    ("LC5", 0): (["Those are his."], {"Those are not his.", "Those aren't his."}),
    ("LC6", 0): (
        [N],
        {
            f"{a} {FLAT} {b}"
            for a, b in product(["I agreed that", "I thought that"], ["but it wasn't", "but I didn't"])
        },
    ),
    ("LC7", 0): (
        [P, M],
        {f"{a} {WINTER}, {GOOD}." for a in ["I wouldn't say,", "I do not think,", "I don't agree with,"]},
    ),
    ("LC8", 0): ([P, N], {f"{a} {GOOD} but I think that {FLAT}." for a in OTHERS}),
    ("LC8", 1): ([P, N], {f"{a} {FLAT} but I think that {GOOD}." for a in OTHERS}),
    ("LC9", 0): ([P], {f"{a} {GOOD}? yes" for a in ASKED}),
    ("LC9", 1): ([N], {f"{a} {FLAT}? yes" for a in ASKED}),
    ("LC10", 0): ([P], {f"{a} {GOOD}? no" for a in ASKED}),
    ("LC11", 0): ([N], {f"{a} {FLAT}? no" for a in ASKED}),
}


def documents(lines: list[str]) -> list[Document]:
    pairs = [line.split(":", 1) for line in lines]
    return [Document(f"d{i}", text.strip(), frozenset([label])) for i, (label, text) in enumerate(pairs)]


def search(name: str, parser: CachedParser | FixedParser, seeds: int = 50, seed: int = 0) -> Search:
    return Search([PAPER.by_name[name]], LABELS, parser, LEXICON, seeds, seed)


def accepted(name: str, line: str, parser: CachedParser) -> bool:
    """Whether any rule of the capability, looked for by itself, makes a seed of the sentence."""
    rules = [rule for variant in PAPER.by_name[name].variants for rule in variant.search.values()]
    alone = Capability(name, name, tuple(Variant({"sentence": rule}, rule.label) for rule in rules))
    looking = Search([alone], LABELS, parser, LEXICON, 50, 0)
    looking.read(documents([line]))
    return bool(looking.seeds(alone))


@pytest.mark.parametrize("name", SENTENCES)
def test_the_rules_accept_what_is_right(name: str, parser: CachedParser) -> None:
    assert len(SENTENCES[name]["right"]) >= 8
    missed = [line for line in SENTENCES[name]["right"] if not accepted(name, line, parser)]
    assert missed == []


@pytest.mark.parametrize("name", SENTENCES)
def test_the_rules_refuse_near_misses(name: str, parser: CachedParser) -> None:
    assert len(SENTENCES[name]["near"]) >= 8
    wrong = [line for line in SENTENCES[name]["near"] if accepted(name, line, parser)]
    assert wrong == []


def test_every_capability_has_sentences_and_every_variant_its_templates() -> None:
    assert list(SENTENCES) == list(PAPER.by_name)
    assert set(TABLE_1) == {(n, i) for n, c in PAPER.by_name.items() for i in range(len(c.variants))}


@pytest.mark.parametrize(("name", "index"), TABLE_1)
def test_every_template_of_table_1(name: str, index: int) -> None:
    variant = PAPER.by_name[name].variants[index]
    sentences, expected = TABLE_1[name, index]
    verb = re.compile(r"\b(?:is|are)\b")
    chosen = {
        name: Sentence("d", text, verb=match.start() if (match := verb.search(text)) else 0)
        for name, text in zip(variant.search, sentences, strict=True)
    }
    made = [transform(variant, chosen, f"{choice:x}") for choice in range(200)]
    assert {text for text, _ in made} == expected
    for text, spans in made:
        assert len(spans) == len(sentences)
        assert all(text[start:end][1:] in "".join([text, *sentences]) for start, end in spans)


def test_a_sentence_that_more_follows_loses_its_end_marks_and_no_other() -> None:
    variant = PAPER.by_name["LC9"].variants[0]

    def asked(text: str, named: bool = False) -> str:
        return transform(variant, {"sentence": Sentence("d", text, named)}, "0")[0]

    assert asked("Go, see it.  ") == "Do I think that go, see it? yes"
    assert asked("Mr. X is back!", named=True) == "Do I think that Mr. X is back? yes"
    assert asked("I came.") == "Do I think that I came? yes"
    assert asked("NASA is back") == "Do I think that NASA is back? yes"


@pytest.mark.parametrize(
    ("sentence", "verb", "word", "negated"),
    [
        ("This is a mess.", 5, "not", "This is not a mess."),
        ("This is a mess.", 5, "n't", "This isn't a mess."),
        ("The jokes were late.", 10, "n't", "The jokes weren't late."),
        ("It's a mess.", 2, "n't", "It isn't a mess."),
        ("It’s a mess.", 2, "not", "It is not a mess."),
        ("That is", 5, "not", "That is not"),
    ],
)
def test_negation(sentence: str, verb: int, word: str, negated: str) -> None:
    assert negate(sentence, verb, word) == negated


def test_what_has_no_such_verb_is_not_negated() -> None:
    with pytest.raises(ValueError, match="no form of be"):
        negate("This fails", 5, "not")


LINES = [f"{label}: This is {label} sentence {n}." for label in LABELS for n in range(60)]


def seeds(lines: list[str], wanted: int, seed: int, name: str = "LC8") -> list[Seed]:
    looking = search(name, FixedParser({}), wanted, seed)
    looking.read(documents(lines))
    return looking.seeds(PAPER.by_name[name])


def test_the_choice_depends_on_the_seed_and_on_no_order() -> None:
    chosen = {s.text for s in seeds(LINES, 5, 1)}
    assert len(chosen) == 5
    assert chosen == {s.text for s in seeds(LINES[::-1], 5, 1)}
    assert chosen != {s.text for s in seeds(LINES, 5, 2)}


@given(st.integers(0, 12), st.integers(1, 9))
def test_no_more_seeds_than_wanted_and_none_twice(sentences: int, wanted: int) -> None:
    lines = [line for line in LINES if int(re.findall(r"\d+", line)[0]) < sentences]
    made = seeds(lines, wanted, 0)
    assert len(made) == min(wanted, sentences)
    assert len({s.id for s in made}) == len({s.text for s in made}) == len(made)


def test_the_variants_of_a_capability_share_the_seeds() -> None:
    expected = [tuple(s.variant.expected) for s in seeds(LINES, 10, 0)]
    assert expected.count(("positive",)) == expected.count(("negative",)) == 5


def test_the_scarcer_sentences_of_a_template_are_used_again() -> None:
    lines = ["neutral: This is one.", *(f"positive: This is number {n}." for n in range(6))]
    assert len(seeds(lines, 50, 0, "LC7")) == 6


def test_a_sentence_that_comes_twice_is_one_seed() -> None:
    assert len(seeds(["negative: This is one.", "negative: This is one."], 50, 0, "LC11")) == 1


def test_only_what_a_rule_may_accept_is_parsed() -> None:
    parser = FixedParser({})
    looking = search("LC1", parser)
    looking.read(documents(["neutral: A long one " + "and on " * 20, "positive: The red door."]))
    assert parser.parsed == 0
    looking.read(documents(["neutral: The red door."]))
    assert parser.parsed == 1


def test_a_text_of_several_labels_or_none_is_left_out() -> None:
    looking = search("LC9", FixedParser({}))
    looking.read([Document("a", P, frozenset(LABELS)), Document("b", P), Document("c", P, frozenset(["x"]))])
    assert looking.seeds(PAPER.by_name["LC9"]) == []


def found(names: list[str], lines: list[str], wanted: int) -> dict[str, list[Seed]]:
    chosen = [PAPER.by_name[name] for name in names]
    looking = Search(chosen, LABELS, FixedParser({}), LEXICON, wanted, 0)
    looking.read(documents(lines))
    return {capability.name: looking.seeds(capability) for capability in chosen}


def sources(made: list[Seed]) -> set[str]:
    return {name for seed in made for name in seed.documents}


def test_capabilities_have_sentences_of_their_own_while_there_are_enough() -> None:
    made = found(["LC6", "LC11"], LINES, 20)
    assert [len(some) for some in made.values()] == [20, 20]
    assert not sources(made["LC6"]) & sources(made["LC11"])
    scarce = found(["LC6", "LC11"], LINES, 40)
    assert [len(some) for some in scarce.values()] == [40, 40]
    assert len(sources(scarce["LC6"]) & sources(scarce["LC11"])) == 20  # of the sixty negative ones


def test_no_sentence_makes_two_seeds_of_one_capability() -> None:
    for name in ("LC3", "LC8"):
        made = seeds(LINES, 30, 0, name)
        used = [document for seed in made for document in seed.documents]
        assert len(used) == len(set(used))
        assert len({tuple(sorted(seed.variant.expected)) for seed in made}) == 2


KEPT = [
    ("LC3", "positive: This is a lovely film.", "this is a lovely film, but now I"),
    ("LC4", "negative: The film is a failure.", "The film is"),
    ("LC5", "neutral: This is a film about two brothers.", "a film about two brothers."),
    ("LC6", "negative: The plot is a mess.", "the plot is a mess, but"),
    ("LC9", "positive: The people in the room loved it.", "the people in the room loved it? Yes."),
    ("LC10", "positive: Ann gives a lovely performance.", "that Ann gives a lovely performance? No."),
]
LEFT = [
    ("LC3", "positive: A lovely film."),  # no statement
    ("LC3", "positive: This is a film."),  # no word of its label
    ("LC4", "negative: This is a good movie in spurts, but when it doesn't work, it's dull."),
    ("LC4", "negative: The failure is a film."),  # what is not negated judges
    ("LC5", "neutral: This is a bad film."),
    ("LC6", "negative: The film is not good."),  # negated already
    ("LC9", "positive: The lovely film is not dull."),  # a word of the other label
    ("LC3", "positive: Ann gives a lovely performance."),  # "it" would be nothing
    ("LC8", "positive: Ann gives a lovely performance."),  # of a film with Ann
    ("LC9", "positive: The charm of the piece is intact."),  # what it says judges nothing
    ("LC10", "positive: The film is about Ann's lovely voice."),  # it is lovely all the same
    ("LC10", "positive: Ann shines in this lovely film."),
    ("LC11", "negative: Why was this mess made?"),
]


def made_of(name: str, line: str, parser: CachedParser) -> list[Seed]:
    looking = Search([BUNDLED.by_name[name]], LABELS, parser, LEXICON, 5, 0)
    looking.read(documents([line]))
    return looking.seeds(BUNDLED.by_name[name])


@pytest.mark.parametrize(("name", "line", "within"), KEPT)
def test_the_bundled_rules_take_clear_statements(
    name: str, line: str, within: str, parser: CachedParser
) -> None:
    (made,) = made_of(name, line, parser)
    assert within in made.text


@pytest.mark.parametrize(("name", "line"), LEFT)
def test_the_bundled_rules_leave_what_would_be_labelled_wrongly(
    name: str, line: str, parser: CachedParser
) -> None:
    assert made_of(name, line, parser) == []


def test_what_hyphens_join_is_one_word(parser: CachedParser) -> None:
    text = "A heavy-handed, made-for-home film - or two."
    (parse,) = parser.parse([text])
    assert [word for word, _ in words(text, parse)] == [
        *("A", "heavy-handed", "made-for-home", "film", "or", "two")
    ]
