"""How many tokens: estimates from characters and words, where no tokenizer is at hand.

A *bound* is generous, for what must not be exceeded: a budget, a rate limit, a context. A *likely* value is
what a plan promises. Both stand here, side by side; what a request of a run asks for depends on the first
(``max_tokens`` is part of the request, and so of its key), the price in a plan on the second.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

from harness.core import Message

FEWEST_CHARACTERS_A_TOKEN = 3.0  # fewer than English has, so that a bound errs on the safe side
LIKELY_CHARACTERS_A_TOKEN = 4.2  # of English prose under the usual byte-pair vocabularies
MOST_TOKENS_A_MESSAGE = 8  # a chat template's marks around a message
LIKELY_TOKENS_A_MESSAGE = 4
MOST_TOKENS_A_WORD = 3  # of a label, however it is spelt
LIKELY_TOKENS_A_WORD = 2
LABELS_AN_ANSWER = 15  # of a task with several labels a text
TOKENS_TO_SPARE = 60  # around the label: "The sentiment of this text is …"


def text_bound(text: str) -> int:
    """Return a number of tokens that ``text`` hardly exceeds."""
    return math.ceil(len(text) / FEWEST_CHARACTERS_A_TOKEN)


def characters_within(tokens: int) -> int:
    """Return how many characters of a text are within ``tokens``, by the measure of ``text_bound``."""
    return int(tokens * FEWEST_CHARACTERS_A_TOKEN)


def prompt_bound(messages: Iterable[Message]) -> int:
    """Return a number of tokens that a prompt hardly exceeds."""
    return sum(text_bound(message.content) + MOST_TOKENS_A_MESSAGE for message in messages)


def likely_prompt(messages: Iterable[Message]) -> int:
    """Return the likely number of tokens of a prompt."""
    return sum(
        round(len(message.content) / LIKELY_CHARACTERS_A_TOKEN) + LIKELY_TOKENS_A_MESSAGE
        for message in messages
    )


def answer_bound(labels: Sequence[str], several: bool) -> int:
    """Return how many tokens an answer may take: the longest label, or with ``several`` labels a text so many
    of the usual length, and some words around."""
    words = sorted(len(label.split()) for label in labels)
    if not several:
        return TOKENS_TO_SPARE + MOST_TOKENS_A_WORD * words[-1]
    usual = MOST_TOKENS_A_WORD * round(sum(words) / len(words) + 1)
    return TOKENS_TO_SPARE + usual * min(len(words), LABELS_AN_ANSWER)


def likely_answer(labels: Iterable[str]) -> int:
    """Return the likely number of tokens of a bare answer: the longest label, and the end."""
    return 1 + LIKELY_TOKENS_A_WORD * max(len(label.split()) for label in labels)
