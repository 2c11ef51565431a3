"""The optional parameters of a request, and what an endpoint's error says about them.

Providers name a parameter in many ways (``'seed'``, ``"seed"``, ``presencePenalty``, "Logprobs is not enabled
for…", ``body -> top_p``), so a name counts in any quoting, case and spelling.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from dataclasses import replace

from harness.dialect import Dialect

SYSTEM = "system"
"""The system turn, which can be left out by putting it into the user's."""
LIMITS = ("max_tokens", "max_completion_tokens")
OPTIONAL = (
    "min_p",
    "top_k",
    "repeat_penalty",
    "repetition_penalty",
    "frequency_penalty",
    "presence_penalty",
    "top_p",
    "seed",
    "top_logprobs",
    "logprobs",
    "structured_outputs",
    "grammar",
    "response_format",
    "temperature",
)
"""Parameters that an answer can do without. Of several that an error names, the first is left out first."""
TOP_LOGPROBS = 5
"""How many of the likeliest tokens are asked for at each place."""
CALLED: Mapping[str, str] = {
    "logprobs": r"log[\s_-]?prob(?:abilitie)?s",
    "top_logprobs": r"top[\s_-]?log[\s_-]?prob(?:abilitie)?s",
    "response_format": r"response[\s_-]?format|json[\s_-]?(?:schema|mode|output)|structured[\s_-]?outputs?",
    "structured_outputs": r"structured[\s_-]?outputs?|guided[\s_-]?\w+",
}
"""What else a parameter is called."""
WARM = 0.01
"""The temperature for an endpoint that does not take zero: answers are all but always the likeliest."""

_NO_SYSTEM = re.compile(
    r"(?:system|developer)['\"`]? (?:role|message|prompt|instruction)s?\b.{0,40}"
    r"(?:not|un|n't) ?(?:supported|enabled|allowed|available)"
    r"|(?:not|n't) support(?:ed)?:? (?:the )?['\"`]?(?:system|developer)\b"
    r"|roles must alternate|only user and assistant roles"
)
_NO_CHAT = re.compile(r"chat template|not a chat model")
_ABOVE_ZERO = re.compile(
    r"(?:strictly |be )positive|(?:greater|larger|more|higher) than 0|> ?0(?:\.0)?\b|\(0(?:\.0)?, "
)
_AT_MOST = re.compile(
    r"(?:at most|no more than|not exceed|up to|less than or equal to|<=|maximum|max allowed"
    r"|(?:range|between|from) \[?\(?\d+(?:,| and| to))\D{0,20}(\d+)"
)


def adapted(
    dialect: Dialect, parameter: str, words: str, sent: Mapping[str, object] | None = None
) -> Dialect | None:
    """Return a dialect that avoids what the error's ``parameter`` or ``words`` say was not understood.

    ``words`` are in lower case. ``sent`` is the request's body; without it, a parameter counts as named only
    in quotes. None where they name nothing that has an alternative.
    """
    if dialect.system and _NO_SYSTEM.search(words):
        return replace(dialect, system=False)
    if dialect.chat and _NO_CHAT.search(words):
        return replace(dialect, chat=False)
    known = (*LIMITS, *OPTIONAL)
    if not (names := [name for name in known if parameter and _names(name, parameter.lower())]):
        names = [name for name in known if _names(name, words, quoted=sent is None)]
    for name in names:
        if sent is None or name in sent:
            better = _valued(dialect, name, words) or without(dialect, [name])
            if better is not None:
                return better
    return None


def without(dialect: Dialect, names: Collection[str]) -> Dialect | None:
    """Return ``dialect`` without the parameters ``names``; None where that is what it already is.

    Of the two names of the token limit, the other one is taken, unless it was refused before.
    """
    better = dialect
    for name in names:
        if name == SYSTEM:
            better = replace(better, system=False)
        elif name in LIMITS:
            other = LIMITS[name == LIMITS[0]]
            if name == better.token_limit and other not in better.dropped:
                better = replace(better, token_limit=other, dropped=(*better.dropped, name))
        elif name not in better.dropped:
            better = replace(better, dropped=(*better.dropped, name))
    return None if better == dialect else better


def _names(name: str, words: str, quoted: bool = False) -> bool:
    """Return whether ``words`` name a parameter."""
    called = CALLED.get(name) or r"[\s_-]?".join(name.split("_"))
    before, after = (r"['\"`]", r"['\"`]") if quoted else (r"(?<![a-z0-9_])", r"(?![a-z0-9_])")
    return re.search(f"{before}(?:{called}){after}", words) is not None


def _valued(dialect: Dialect, name: str, words: str) -> Dialect | None:
    """Return a dialect with a value that the endpoint says it takes; None where it names none."""
    if name == "temperature" and name not in dialect.values and _ABOVE_ZERO.search(words):
        return replace(dialect, values={**dialect.values, name: WARM})
    bound = _AT_MOST.search(words) if "logprobs" in name and "top_logprobs" not in dialect.values else None
    if bound and 0 < (most := int(bound[1])) < TOP_LOGPROBS:
        return replace(dialect, values={**dialect.values, "top_logprobs": most})
    return None
