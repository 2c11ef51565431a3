"""Bracketed trees as treebanks write them."""

from __future__ import annotations

import pytest

from harness.language.trees import read


def one(text: str) -> str:
    (tree,) = read(text.splitlines())
    return str(tree)


def test_functions_indices_and_traces_go() -> None:
    text = "( (S (NP-SBJ=2 (NNP Vinken)) (VP (MD will) (NP (-NONE- *T*-1)) (PP-CLR|X (IN as))) (. .)) )"
    assert one(text) == "(ROOT (S (NP NNP) (VP MD (PP IN)) .))"


def test_brackets_in_the_text_are_words() -> None:
    assert one("(S (-LRB- -LRB-) (NN a)\n (-RRB- -RRB-))") == "(S -LRB- NN -RRB-)"


def test_what_holds_traces_alone_is_left_out() -> None:
    assert list(read(["( (S (NP (-NONE- *))))"])) == []


def test_productions_and_leaves() -> None:
    (tree,) = read(["(S (NP (DT a) (NN b)) (VP (VBZ c)))"])
    assert [p.production for p in tree.phrases()] == [
        ("S", ("NP", "VP")),
        ("NP", ("DT", "NN")),
        ("VP", ("VBZ",)),
    ]
    assert [leaf.label for leaf in tree.leaves()] == ["DT", "NN", "VBZ"]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("(S (NN a))\nword", "line 2: 'word' stands outside"),
        ("(S (NN a)", "the end: 1 brackets"),
        (")", "line 1"),
    ],
)
def test_what_is_no_tree_is_placed(text: str, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        list(read(text.splitlines()))
