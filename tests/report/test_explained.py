"""An explanation on a screen: what differs is always shown, whatever else contributes more."""

from __future__ import annotations

from harness.report import explained
from harness.report.explained import BARS, Flip, Kept, Text, Word

CONTRIBUTIONS = [5.0 - number / 10 for number in range(20)]


def flip(changed: int, kept: tuple[int, ...] = (), contribution: float = 0.01) -> Flip:
    """Twenty words, of which one differs; its ``contribution`` is next to nothing."""
    values = dict(enumerate(CONTRIBUTIONS)) | {changed: contribution}
    words = tuple(Word(word=f"w{n}", contribution=v, changed=n == changed) for n, v in values.items())
    text = Text(
        case="x",
        answer=("Positive",),
        measure="log-odds",
        words=words,
        kept=Kept(units=kept, probability=0.95, minimal=True),
    )
    return Flip(
        case="x",
        other="y",
        status="complete",
        reason=None,
        shrunk=None,
        words_of="whole",
        texts=(text,),
        requests=20,
    )


def test_the_word_that_differs_has_a_bar_however_little_it_contributes() -> None:
    for contribution in (0.01, 0.0, -0.01):
        [words] = explained.view(flip(17, contribution=contribution)).texts
        assert [bar.word for bar in words.bars if bar.changed] == ["w17"]
        assert len(words.bars) == BARS
        assert words.more == len(CONTRIBUTIONS) - BARS
        assert any(line.split()[:2] == ["*", "w17"] for line in explained.lines(flip(17)))


def test_the_words_that_suffice_have_bars_and_stand_in_text_order() -> None:
    [words] = explained.view(flip(17, kept=(3, 19))).texts
    assert {"w3", "w17", "w19"} <= {bar.word for bar in words.bars}
    places = [int(bar.word[1:]) for bar in words.bars]
    assert places == sorted(places)
    assert [bar.word for bar in words.bars if bar.sufficient] == ["w3", "w19"]


def test_the_words_without_a_bar_are_counted() -> None:
    assert "       without 8 further words" in list(explained.lines(flip(17)))
