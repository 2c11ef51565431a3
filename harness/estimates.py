"""Token counts estimated from characters and words, where no tokenizer is available.

A *bound* is generous, for what must not be exceeded: a budget, a rate limit, a context. A *likely* value is
what a plan promises. Requests depend on bounds (``max_tokens`` is part of a request, and so of its key), the
price in a plan on likely values.
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
    """Return a number of tokens that ``text`` is very unlikely to exceed."""
    return math.ceil(len(text) / FEWEST_CHARACTERS_A_TOKEN)


def bytes_bound(size: int) -> int:
    """Return a number of tokens that a body of ``size`` bytes is very unlikely to exceed."""
    return math.ceil(size / FEWEST_CHARACTERS_A_TOKEN)


def characters_within(tokens: int) -> int:
    """Return the number of characters that fit into ``tokens``, by the measure of ``text_bound``."""
    return int(tokens * FEWEST_CHARACTERS_A_TOKEN)


def prompt_bound(messages: Iterable[Message]) -> int:
    """Return a number of tokens that a prompt is very unlikely to exceed."""
    return sum(text_bound(message.content) + MOST_TOKENS_A_MESSAGE for message in messages)


def likely_prompt(messages: Iterable[Message]) -> int:
    """Return the likely number of tokens of a prompt."""
    return sum(
        round(len(message.content) / LIKELY_CHARACTERS_A_TOKEN) + LIKELY_TOKENS_A_MESSAGE
        for message in messages
    )


def answer_bound(labels: Sequence[str], several: bool) -> int:
    """Return the most tokens that an answer is expected to take, including some words around it.

    With ``several`` labels per text, up to ``LABELS_AN_ANSWER`` labels of the usual length; else the longest
    label.
    """
    words = sorted(len(label.split()) for label in labels)
    if not several:
        return TOKENS_TO_SPARE + MOST_TOKENS_A_WORD * words[-1]
    usual = MOST_TOKENS_A_WORD * round(sum(words) / len(words) + 1)
    return TOKENS_TO_SPARE + usual * min(len(words), LABELS_AN_ANSWER)


def likely_answer(labels: Iterable[str]) -> int:
    """Return the likely number of tokens in a bare answer: the longest label and the end."""
    return 1 + LIKELY_TOKENS_A_WORD * max(len(label.split()) for label in labels)
