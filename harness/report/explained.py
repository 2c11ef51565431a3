"""What ``explanations.json`` holds, as the page and the terminal show it (S²LCT, Figure 5)."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from harness.language.differences import Piece, changes, excerpt

BARS = 12
LEGEND = "*: not the same in both texts; +: enough, with the others so marked, to keep the answer"
THIS, OTHER = "This case", "Compared with"
UNITS = {
    "log-odds": "log-odds",
    "score": "the model's score",
    "answer": "1: without it, another answer",
    "rating": "above zero, the word raises the score",
}


@dataclass(frozen=True, slots=True)
class Bar:
    """A word's contribution; ``share`` of the largest one shown, in percent; ``kept``: enough with others."""

    word: str
    value: float
    share: float
    kept: bool
    changed: bool


@dataclass(frozen=True, slots=True)
class Words:
    """What one text's words contribute: the largest bars in text order, and the words kept as one line.

    ``decide``: there are such words.
    """

    title: str
    unit: str
    bars: Sequence[Bar]
    more: int
    kept: str
    decide: bool


@dataclass(frozen=True, slots=True)
class Explanation:
    """An explanation as a card shows it; ``shrunk`` are title, answer and marked text of each part."""

    note: str
    shrunk: Sequence[tuple[str, str, Sequence[Piece]]]
    share: str
    of: str
    texts: Sequence[Words]


def read(folder: Path) -> dict[str, Mapping[str, Any]]:
    """The explanations by case; none where nothing was explained."""
    file = folder / "explanations.json"
    if not file.exists():
        return {}
    return {one["case"]: one for one in json.loads(file.read_text(encoding="utf-8"))["cases"]}


def view(found: Mapping[str, Any]) -> Explanation:
    """One explanation for a card."""
    shrunk = found["shrunk"]
    return Explanation(
        note="" if found["status"] == "complete" else f"{found['status']}: {found['reason']}",
        shrunk=list(_parts(shrunk)) if shrunk else (),
        share=_share(shrunk) if shrunk else "",
        of="this part" if found["words_of"] == "part" else "the whole text",
        texts=[_words(text, found) for text in found["texts"]],
    )


def lines(found: Mapping[str, Any]) -> Iterator[str]:
    """One explanation for a terminal."""
    shown = view(found)
    yield found["case"] + (f" against {found['other']}" if found["other"] else "")
    if shown.note:
        yield f"  {shown.note}"
    if shown.shrunk:
        yield f"  the shortest part that shows it: {shown.share}"
        for _, answer, pieces in shown.shrunk:
            yield f"    {answer}: {' '.join(''.join(piece.text for piece in pieces).split())}"
    for text in shown.texts:
        yield f"  {text.title}; words of {shown.of} that keep it: {text.kept}"
        for bar in text.bars:
            drawn = ("#" if bar.value >= 0 else "-") * round(abs(bar.share) / 5)
            marks = ("*" if bar.changed else " ") + ("+" if bar.kept else " ")
            yield f"    {marks} {bar.word:<20.20} {bar.value:+8.3f} {drawn}".rstrip()


def _parts(shrunk: Mapping[str, Any]) -> Iterator[tuple[str, str, Sequence[Piece]]]:
    one, other = shrunk["original"], shrunk["mutant"]
    for title, text, spans, answer in zip(
        (OTHER, THIS), (one, other), changes(one, other), shrunk["answers"], strict=True
    ):
        yield title, _answer(answer), excerpt(text, spans)


def _share(shrunk: Mapping[str, Any]) -> str:
    kept, of = shrunk["sentences"]
    said = f"{100 * shrunk['share']:.0f} % of the words, {kept} of {of} sentences"
    return said if shrunk["minimal"] else f"{said}; perhaps not the shortest, the limit was reached"


def _words(text: Mapping[str, Any], found: Mapping[str, Any]) -> Words:
    kept, words = text["kept"], text["words"]
    units = set(kept["units"]) if kept else set()
    largest = sorted(range(len(words)), key=lambda unit: -abs(words[unit]["contribution"]))
    shown = sorted(unit for unit in largest[:BARS] if words[unit]["contribution"] or unit in units)
    end = max((abs(words[unit]["contribution"]) for unit in shown), default=0.0) or 1.0
    bars = [
        Bar(
            words[unit]["word"],
            words[unit]["contribution"],
            100 * words[unit]["contribution"] / end,
            unit in units,
            words[unit]["changed"],
        )
        for unit in shown
    ]
    role = THIS if text["case"] == found["case"] else OTHER
    title = f"{role}: {_answer(text['answer'])}"
    return Words(title, UNITS[text["measure"]], bars, len(words) - len(bars), _kept(text), bool(units))


def _kept(text: Mapping[str, Any]) -> str:
    """Return the words that are enough, gaps between them marked."""
    kept, words = text["kept"], text["words"]
    if kept is None:
        return "not found"
    if not kept["units"]:
        return f"no word is needed: {_side(text) or 'the answer is the same'} with every word masked"
    said, before = [], -1
    for unit in kept["units"]:
        said += ["…"] * (unit > before + 1) + [words[unit]["word"]]
        before = unit
    said += ["…"] * (before + 1 < len(words))
    likely = kept["probability"]
    sure = _side(text) if likely is None else f"probability {likely:.2f}"
    return f"{' '.join(said)} ({sure})" if sure else " ".join(said)


def _side(text: Mapping[str, Any]) -> str:
    """Return the score of the words kept and its side of the middle; "" where there is no score."""
    score, answer, compared = text["kept"].get("score"), text["answer"], text.get("compared")
    if score is None:
        return ""
    if not isinstance(compared, int | float) or compared == answer:
        return f"score {score:.4g}"
    return f"score {score:.4g}, {'below' if answer < compared else 'above'} {(answer + compared) / 2:.4g}"


def _answer(answer: Sequence[str] | float) -> str:
    """Return labels, or a score, as a reader sees them."""
    return f"{answer:.4g}" if isinstance(answer, int | float) else ", ".join(answer) or "no label"
