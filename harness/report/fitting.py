"""Widths of columns in a terminal: no word and no number is broken, and what has no room is left out."""

from __future__ import annotations

from collections.abc import Sequence

FRAME = 3
"""The characters that a column takes besides its content: two spaces and a line; the table takes one more."""
LONGEST = 24
"""The length from which a word of the first column may be broken."""


def fitted(heads: Sequence[str], rows: Sequence[Sequence[str]], room: int) -> list[int]:
    """Return the widths of the leading columns that fit into ``room`` characters, one at least.

    Texts wrap between words; a cell with a digit in it, beyond the first column, stays on one line.
    """
    columns = [(head, [row[place] for row in rows]) for place, head in enumerate(heads)]
    least = [_least(head, cells, place == 0) for place, (head, cells) in enumerate(columns)]
    most = [max(map(_length, (head, *cells))) for head, cells in columns]
    shown = max(1, sum(_taken(least[: n + 1]) <= room for n in range(len(least))))
    least, widths = least[:shown], most[:shown]
    while (over := _taken(widths) - room) > 0 and widths != least:
        slack = [width - narrowest for width, narrowest in zip(widths, least, strict=True)]
        widest = max(range(shown), key=lambda place: (slack[place] > 0, widths[place]))
        others = [width for place, width in enumerate(widths) if slack[place] and width < widths[widest]]
        goal = max(least[widest], widths[widest] - over, max(others, default=0) - 1)
        widths[widest] = min(goal, widths[widest] - 1)
    return widths


def _taken(widths: Sequence[int]) -> int:
    return sum(widths) + FRAME * len(widths) + 1


def _least(head: str, cells: Sequence[str], first: bool) -> int:
    words = max(map(_longest_word, (head, *cells)) if first else [_longest_word(head)], default=1)
    if first:
        return max(1, min(words, LONGEST))
    figures = (_length(cell) if any(map(str.isdigit, cell)) else _longest_word(cell) for cell in cells)
    return max(words, *figures, 1)


def _longest_word(text: str) -> int:
    return max(map(_length, text.split()), default=0)


def _length(text: str) -> int:
    from rich.cells import cell_len

    return max(map(cell_len, text.split("\n")))
