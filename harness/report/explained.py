"""The content of ``explanations.json`` for the page and the terminal (S²LCT, Figure 5)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from pydantic import ValidationError

from harness.errors import RunError
from harness.language.differences import Piece, changes, excerpt
from harness.numerals import percent
from harness.report.summary import Block

NAME = "explanations.json"
BARS = 12
LEGEND = "*: differs between the texts; +: the words with this mark suffice to keep the answer"
THIS, OTHER = "This case", "Compared with"
UNITS = {
    "log-odds": "log-odds",
    "score": "the model's score",
    "answer": "1: the answer changes without it",
    "rating": "above zero: the word raises the score",
}
Answer = tuple[str, ...] | float
"""Labels, or a score."""


class Word(Block):
    """A word, its contribution to the answer, and whether it differs between the two texts."""

    word: str
    contribution: float
    changed: bool


class Kept(Block):
    """The words, by position, that suffice to keep the answer, and the probability or score they give it."""

    units: tuple[int, ...]
    probability: float | None
    minimal: bool
    score: float | None = None


class Text(Block):
    """One of the two texts: its answer, each word's contribution by ``measure``, and the sufficient words.

    ``compared`` is the answer of the other text.
    """

    case: str
    answer: Answer
    compared: Answer | None = None
    measure: str
    words: tuple[Word, ...]
    kept: Kept | None


class Shrunk(Block):
    """The shortest parts of both texts whose answers still differ.

    ``share`` is the share of words left; ``sentences`` are the numbers of sentences left and in all.
    """

    original: str
    mutant: str
    answers: tuple[Answer, Answer]
    share: float
    sentences: tuple[int, int]
    minimal: bool


class Flip(Block):
    """A biased case explained against ``other``; ``reason`` says why it is not ``complete``, if so."""

    case: str
    other: str | None
    status: Literal["complete", "partial", "gone"]
    reason: str | None
    shrunk: Shrunk | None
    words_of: Literal["whole", "part"]
    texts: tuple[Text, ...]


class _File(Block):
    cases: tuple[Flip, ...]


@dataclass(frozen=True, slots=True)
class Bar:
    """A word's contribution; ``share`` is in percent of the largest; ``sufficient`` words keep the answer."""

    word: str
    value: float
    share: float
    sufficient: bool
    changed: bool


@dataclass(frozen=True, slots=True)
class Words:
    """The contributions of one text's words: the largest bars in text order, and the words kept as one line.

    ``decide`` tells whether any word is kept.
    """

    title: str
    unit: str
    bars: Sequence[Bar]
    more: int
    sufficient: str
    decide: bool


@dataclass(frozen=True, slots=True)
class Explanation:
    """An explanation for a card; ``shrunk`` holds title, answer and marked text of each part."""

    note: str
    shrunk: Sequence[tuple[str, str, Sequence[Piece]]]
    share: str
    of: str
    texts: Sequence[Words]


def read(folder: Path) -> dict[str, Flip]:
    """Return the explanations by case; empty if nothing was explained. Raises ``RunError``."""
    file = folder / NAME
    if not file.exists():
        return {}
    try:
        cases = _File.model_validate_json(file.read_bytes()).cases
    except (OSError, ValidationError) as error:
        raise RunError(f"{file}: not written by hinter explain: delete it") from error
    return {flip.case: flip for flip in cases}


def view(flip: Flip) -> Explanation:
    """Return one explanation for a card."""
    shrunk = flip.shrunk
    return Explanation(
        note="" if flip.status == "complete" else f"{flip.status}: {flip.reason}",
        shrunk=list(_parts(shrunk)) if shrunk else (),
        share=_share(shrunk) if shrunk else "",
        of="this part" if flip.words_of == "part" else "the whole text",
        texts=[_words(text, flip) for text in flip.texts],
    )


def lines(flip: Flip) -> Iterator[str]:
    """Yield one explanation for a terminal."""
    explanation = view(flip)
    yield flip.case + (f" against {flip.other}" if flip.other else "")
    if explanation.note:
        yield f"  {explanation.note}"
    if explanation.shrunk:
        yield f"  shortest part that flips: {explanation.share}"
        for _, answer, pieces in explanation.shrunk:
            yield f"    {answer}: {' '.join(''.join(piece.text for piece in pieces).split())}"
    for text in explanation.texts:
        yield f"  {text.title}; words of {explanation.of} that keep it: {text.sufficient}"
        for bar in text.bars:
            line = ("#" if bar.value >= 0 else "-") * round(abs(bar.share) / 5)
            marks = ("*" if bar.changed else " ") + ("+" if bar.sufficient else " ")
            yield f"    {marks} {bar.word:<20.20} {bar.value:+8.3f} {line}".rstrip()


def _parts(shrunk: Shrunk) -> Iterator[tuple[str, str, Sequence[Piece]]]:
    texts = shrunk.original, shrunk.mutant
    for title, text, spans, answer in zip((OTHER, THIS), texts, changes(*texts), shrunk.answers, strict=True):
        yield title, _answer(answer), excerpt(text, spans)


def _share(shrunk: Shrunk) -> str:
    left, whole = shrunk.sentences
    share = f"{percent(shrunk.share, places=0)} of the words, {left} of {whole} sentences"
    return share if shrunk.minimal else f"{share}; perhaps not the shortest, because the limit was reached"


def _words(text: Text, flip: Flip) -> Words:
    words = text.words
    units = set(text.kept.units) if text.kept else set()
    largest = sorted(range(len(words)), key=lambda unit: -abs(words[unit].contribution))
    charted = sorted(unit for unit in largest[:BARS] if words[unit].contribution or unit in units)
    end = max((abs(words[unit].contribution) for unit in charted), default=0.0) or 1.0
    bars = [
        Bar(
            words[unit].word,
            words[unit].contribution,
            100 * words[unit].contribution / end,
            unit in units,
            words[unit].changed,
        )
        for unit in charted
    ]
    role = THIS if text.case == flip.case else OTHER
    title = f"{role}: {_answer(text.answer)}"
    return Words(title, UNITS[text.measure], bars, len(words) - len(bars), _kept(text), bool(units))


def _kept(text: Text) -> str:
    """Return the sufficient words, with gaps between them marked."""
    sufficient, words = text.kept, text.words
    if sufficient is None:
        return "not found"
    side = _side(text, sufficient)
    if not sufficient.units:
        return f"no word is needed: {side or 'the answer is the same'} with every word masked"
    pieces, before = [], -1
    for unit in sufficient.units:
        pieces += ["…"] * (unit > before + 1) + [words[unit].word]
        before = unit
    pieces += ["…"] * (before + 1 < len(words))
    sure = side if sufficient.probability is None else f"probability {sufficient.probability:.2f}"
    return f"{' '.join(pieces)} ({sure})" if sure else " ".join(pieces)


def _side(text: Text, words: Kept) -> str:
    """Return the score of the kept words and its side of the middle; "" if there is no score."""
    if words.score is None:
        return ""
    answer, compared = text.answer, text.compared
    if isinstance(answer, tuple) or compared is None or isinstance(compared, tuple) or compared == answer:
        return f"score {words.score:.4g}"
    side = "below" if answer < compared else "above"
    return f"score {words.score:.4g}, {side} {(answer + compared) / 2:.4g}"


def _answer(answer: Answer) -> str:
    """Return labels or a score as text."""
    return (", ".join(answer) or "no label") if isinstance(answer, tuple) else f"{answer:.4g}"
