"""The content of ``explanations.json`` for the page and the terminal (S²LCT, Figure 5)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from pydantic import Field, ValidationError

from harness.blocks import Block
from harness.core import JsonObject
from harness.errors import RunError
from harness.language.differences import Piece, changes, excerpt
from harness.numerals import counted, percent

NAME = "explanations.json"
SCHEMA = 1
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
    """The words that suffice to keep an answer, by their position in the text.

    None where the answer holds with every word masked. ``probability`` and ``score`` are those of the answer
    to these words alone, None where it has none. ``minimal``: no single word can be left out.
    """

    units: tuple[int, ...]
    probability: float | None
    score: float | None = None
    minimal: bool


class Text(Block):
    """One of the two texts: its answer, each word's contribution by ``measure``, and the sufficient words.

    ``compared`` is the answer of the other text, or of the text with every word masked where there is no
    other. ``probability`` is that of the answer, None where it is not known.
    """

    case: str
    answer: Answer
    compared: Answer | None = None
    probability: float | None = None
    measure: str
    words: tuple[Word, ...]
    kept: Kept | None


class Shrunk(Block):
    """The shortest parts of both texts whose answers still differ.

    ``sentences`` and ``clauses`` each hold two numbers: how many are left, and out of how many; ``share``, of
    1, is the share of all words that is left. ``minimal``: the change disappears if any single clause is left
    out. ``tests`` counts the pairs of parts tried.
    """

    original: str
    mutant: str
    answers: tuple[Answer, Answer]
    sentences: tuple[int, int]
    clauses: tuple[int, int]
    minimal: bool
    tests: int
    share: float


class Flip(Block):
    """A biased case, explained against ``other``; ``requests`` is the number of texts asked about.

    ``status`` is ``partial`` where the budget ran out, ``gone`` where the answers, asked for again, do not
    show the flip; ``reason`` says why in words.
    """

    case: str
    other: str | None
    status: Literal["complete", "partial", "gone"]
    reason: str | None
    shrunk: Shrunk | None
    words_of: Literal["whole", "part"]
    texts: tuple[Text, ...]
    requests: int


@dataclass(frozen=True, slots=True)
class Settings:
    """The settings with which flips are explained.

    ``probability``: the least with which an answer must hold; ``mask`` replaces a masked word, "" leaves the
    word out. ``whole``: explain the words of the whole texts even where a shorter part shows the flip, which
    takes far more requests.
    """

    method: str = "occlusion"
    probability: float = 0.9
    mask: str = ""
    whole: bool = False


class Explanations(Block):
    """The content of ``explanations.json``."""

    schema_: int = Field(alias="schema")
    settings: Settings
    cases: tuple[Flip, ...]

    def to_json(self) -> JsonObject:
        """Return the JSON values of the file."""
        return self.model_dump(mode="json", by_alias=True)


class Asked(Block):
    """The requests of a command: sent to the model, answered from the cache, and failed for good."""

    sent: int
    cached: int
    failed: int


class Answered(Block):
    """The answer of ``hinter explain``: the settings, what was asked, and the cases that were chosen."""

    settings: Settings
    requests: Asked
    cases: tuple[Flip, ...]

    def to_json(self) -> JsonObject:
        """Return the JSON values that ``--json`` prints."""
        return self.model_dump(mode="json")


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
    """The contributions of one text's words: bars in text order, and the words kept as one line.

    There is a bar for the words that differ, then those kept, then the largest; ``more`` counts the words
    without one. ``decide`` tells whether any word is kept.
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


def load(folder: Path) -> Explanations:
    """Return the content of the file in ``folder``; no cases where there is no file. Raises ``RunError``."""
    file = folder / NAME
    if not file.exists():
        return Explanations(schema=SCHEMA, settings=Settings(), cases=())
    try:
        explanations = Explanations.model_validate_json(file.read_bytes())
    except (OSError, ValidationError) as error:
        raise RunError(f"{file}: not written by hinter explain: delete it") from error
    if explanations.schema_ != SCHEMA:
        raise RunError(f"{file}: schema {explanations.schema_}, not {SCHEMA}: delete it")
    return explanations


def read(folder: Path) -> dict[str, Flip]:
    """Return the explanations by case; empty if nothing was explained. Raises ``RunError``."""
    return {flip.case: flip for flip in load(folder).cases}


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
        if text.more:
            yield f"       without {counted(text.more, 'further word')}"


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
    first = sorted(
        range(len(words)),
        key=lambda unit: (not words[unit].changed, unit not in units, -abs(words[unit].contribution)),
    )
    charted = sorted(
        unit for unit in first[:BARS] if words[unit].changed or unit in units or words[unit].contribution
    )
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
