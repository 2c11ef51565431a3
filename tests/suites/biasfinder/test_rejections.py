"""Texts that may speak of another person, or of none: refused. Beside each, one like it that is not."""

from __future__ import annotations

import pytest

from harness.suites.biasfinder import gender
from harness.suites.biasfinder.templates import Refusal
from tests.suites.biasfinder.resolved import NOUNS, resolved


def found(text: str) -> str:
    template = gender.template(*resolved(text), NOUNS)
    return template.reason if isinstance(template, Refusal) else "template"


@pytest.mark.parametrize(
    ("refused", "kept"),
    [
        (
            "Jake tries hard. Everyone should see this once in his life.",
            "Jake tries hard. You should see this once in his theatre.",
        ),
        (
            "Emily is fine. One of the characters sings, and then she dies.",
            "Emily is fine. One of the songs is long, and then she dies.",
        ),
        (
            "A poor version of Emily Green. She deserves better.",
            "A poor picture of Emily Green. She is better.",
        ),
        ("It reminds me of SHIRLEY VALENTINE.", "It reminds me of Shirley Valentine."),
        ("I thank Jesus for this film.", "I thank Jake for this film."),
        ("I saw 'Jake' last week.", "I saw Jake last week."),
        (
            "The clerk shot, and the boss wiped the blood off his glasses.",
            "The boss shot, and then wiped the blood off his glasses.",
        ),
        ("A reader should bring his or her hat.", "A reader should bring his hat."),
        ("A reader finds what s/he wants.", "A reader finds what he wants."),
        ('"Tank Girl" is fun.', "The girl is fun."),
        ("It is a song about The man of sorrow.", "It is a song about the man of sorrow."),
        ('I call my daughter "Adelaide" today.', "I call my daughter today."),
        ("I met a girl named Nikita.", "I met a girl near me."),
        ("kintaro will ride on, and he will save us.", "It will ride on, and he will save us."),
        ("Streep glows and you see she has it.", "It glows and you see she has it."),
        ("Alfred Hitchcock is dead. Hitch would laugh.", "Alfred Hitchcock is dead. Nobody would laugh."),
        ("Miles fed the cat, and his fur shone.", "Miles fed the baby, and his hat shone."),
        ("It shows the cruelty of man.", "It shows the cruelty of a man."),
        (
            "it is dull. it drags on. that guy is no good. he tries.",
            "It is dull. It drags on. That guy tries.",
        ),
        ("Steven is held up as a masterpiece.", "Steven is held up as a bore."),
        ("I liked the otherwise admirable Roger Dodger.", "I liked Roger Dodger."),
        ("Do watch Jason's Lyric.", "Do watch Jason's hat."),
        ("It was nominated for Oscar.", "It was written for Oliver."),
        ("You know God likes that, but he sleeps.", "You know it, but he sleeps."),
        (
            "One of them is possessed. Jake came, and one of the boys said that he left.",
            "Jake came and left.",
        ),
        ("She is like other women, and she is tired.", "She is like that, and she is tired."),
        ("She wore a bra in bed.", "She wore a hat in bed."),
        ("Mary Moore (Mrs. Stark) sings.", "Mary Moore (in May) sings."),
        ("Mary Moore is the best actress here.", "Mary Moore is the best here."),
    ],
)
def test_what_may_be_somebody_else_is_refused(refused: str, kept: str) -> None:
    assert found(refused) != "template"
    assert found(kept) == "template"


def test_nobody_visits_her_is_about_her() -> None:
    assert found("Emily is old, and nobody visits her.") == "template"
