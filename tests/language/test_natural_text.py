"""Tokenized text becomes text as people write it; what people wrote stays."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.language.natural_text import natural


@pytest.mark.parametrize(
    ("tokenized", "written"),
    [
        ("it wo n't do -lrb- or will it -rrb- .", "It won't do (or will it)."),
        ("when it does n't work , it 's dull .", "When it doesn't work, it's dull."),
        ("he 's `` the man '' .", 'He\'s "the man".'),
        ("a film called ' the end ' .", "A film called 'the end'."),
        ("the filmmakers ' point", "The filmmakers' point"),
        ("director\\/writer , 4\\*", "Director/writer, 4*"),
        ("who knew ... i did", "Who knew... I did"),
        ("it can not be gon na cost $ 20", "It cannot be gonna cost $20"),
    ],
)
def test_the_marks_of_a_tokenizer_go(tokenized: str, written: str) -> None:
    assert natural(tokenized) == written


@pytest.mark.parametrize(
    "text",
    [
        "It's fine, I think (and you?).",
        "So good :( I cried",
        "@user I love it!",
        "eBay is great.",
        '"No," she said, "it isn\'t."',
        "http://a.b/c is down",
        "",
    ],
)
def test_what_people_wrote_stays(text: str) -> None:
    assert natural(text) == text


@given(st.text(alphabet=st.characters(codec="ascii", categories=("L", "N", "Po", "Zs")), max_size=60))
def test_no_letter_is_lost_and_none_added(text: str) -> None:
    assert [c.lower() for c in natural(text) if c.isalnum()] == [c.lower() for c in text if c.isalnum()]
