"""Trees of sentences: flat phrases over spaCy's dependencies, and Stanza's where it is installed."""

from __future__ import annotations

import os
import tarfile
from importlib.util import find_spec
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from harness.errors import ParserError
from harness.language import constituency
from harness.language.constituency import FlatConstituency, StanzaConstituency
from harness.language.trees import Tree

FIXTURES = Path(__file__).parents[2] / os.environ.get("HINTER_SHARED", "../shared") / "fixtures"
WORDS = st.sampled_from(
    [
        "a",
        "I",
        ",",
        ".",
        "!",
        "?",
        "the",
        "film",
        "was",
        "not",
        "and",
        "it",
        "saw",
        "of",
        "old",
        "n't",
        "who",
        "to",
    ]
)


@pytest.fixture(scope="module")
def flat() -> FlatConstituency:
    return FlatConstituency()


@pytest.fixture(scope="module")
def stanza_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    pytest.importorskip("stanza", reason="Stanza is not installed")
    archive = FIXTURES / "stanza_fix.tar.xz"
    if not archive.is_file():
        pytest.skip(f"no Stanza models at {archive}")
    folder = tmp_path_factory.mktemp("stanza")
    with tarfile.open(archive) as file:
        file.extractall(folder, filter="data")
    return folder / "stanza_fix"


@pytest.mark.parametrize(
    ("text", "tree"),
    [
        ("Or both.", "(ROOT (FRAG CC (NP DT) .))"),
        ("The old man sleeps.", "(ROOT (S (NP DT JJ NN) (VP VBZ) .))"),
        ("This isn't a very bad film.", "(ROOT (S (NP DT) (VP VBZ RB (NP DT (ADJP RB JJ) NN)) .))"),
        ("She has not seen it.", "(ROOT (S (NP PRP) (VP VBZ RB (VP VBN (NP PRP))) .))"),
        ("He sat in the house.", "(ROOT (S (NP PRP) (VP VBD (PP IN (NP DT NN))) .))"),
        (
            "The man in the house was old.",
            "(ROOT (S (NP (NP DT NN) (PP IN (NP DT NN))) (VP VBD (ADJP JJ)) .))",
        ),
        ("I think that it works.", "(ROOT (S (NP PRP) (VP VBP (SBAR IN (S (NP PRP) (VP VBZ)))) .))"),
    ],
)
def test_flat_phrases(flat: FlatConstituency, text: str, tree: str) -> None:
    ((found,),) = flat.trees([text])
    assert str(found) == tree


def test_a_tree_a_sentence(flat: FlatConstituency) -> None:
    one, none, two = flat.trees(["It works.", " ", "It works. She knows."])
    assert (len(one), len(none), len(two)) == (1, 0, 2)


def well_formed(text: str, trees: tuple[Tree, ...]) -> None:
    """Every word once, in order; every phrase spans its words."""
    leaves = [leaf for tree in trees for leaf in tree.leaves()]
    assert "".join(text[leaf.start : leaf.end] for leaf in leaves).split() == ["".join(text.split())]
    assert all(one.end <= other.start for one, other in pairwise(leaves))
    for tree in trees:
        for phrase in tree.phrases():
            own = list(phrase.leaves())
            assert (phrase.start, phrase.end) == (own[0].start, own[-1].end)


@settings(deadline=None, max_examples=60)
@given(st.lists(WORDS, min_size=1, max_size=14))
@example(["a", "who", ",", ","])  # a comma that depends on the comma before it
@example(["a", "I", "saw", "and", "saw"])  # arcs that cross
def test_flat_phrases_of_any_words_hold_each_word_in_its_place(
    flat: FlatConstituency, words: list[str]
) -> None:
    text = " ".join(words)
    well_formed(text, flat.trees([text])[0])


def test_the_name_says_which_trees_they_are(flat: FlatConstituency) -> None:
    assert flat.name.startswith("flat phrases of spacy:")
    assert constituency.load("flat").name == flat.name


def test_an_unknown_kind_is_named() -> None:
    with pytest.raises(ParserError, match="unknown kind of trees 'benepar': use stanza or flat"):
        constituency.load("benepar")


def test_without_the_extra_the_default_is_flat_and_stanza_an_error() -> None:
    if find_spec("stanza"):
        pytest.skip("Stanza is installed")
    assert isinstance(constituency.load(), FlatConstituency)
    with pytest.raises(ParserError, match=r"hinter-harness\[stanza\]"):
        constituency.load("stanza")


def test_stanzas_trees_have_their_words(stanza_folder: Path) -> None:
    loaded = constituency.load(f"stanza:{stanza_folder}")
    assert isinstance(loaded, StanzaConstituency)
    assert "stanza constituency" in loaded.name
    texts = ["The film isn't bad .", "Or both. This is the second one."]
    found = loaded.trees(texts)
    for text, trees in zip(texts, found, strict=True):
        well_formed(text, trees)
        assert all(tree.label == "ROOT" for tree in trees)
    assert loaded.trees([]) == []


def test_a_folder_without_models_is_named(stanza_folder: Path, tmp_path: Path) -> None:
    with pytest.raises(ParserError, match="no English Stanza models in "):
        constituency.load(f"stanza:{tmp_path}")
