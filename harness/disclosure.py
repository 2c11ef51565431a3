"""What may leave the process as text: no secret, no control character.

Every key that is read is registered here. Texts of servers are redacted as they arrive, and once more where
text goes out: to the terminal, the log and a traceback.
"""

from __future__ import annotations

import json
from urllib.parse import quote

SHORTEST = 8
"""The length below which a word is no secret but a placeholder, such as ``none`` or ``EMPTY``."""
HIDDEN = "[key]"

_spellings: list[str] = []


def keep_secret(secret: str) -> None:
    """Hide ``secret`` from now on wherever text leaves the process, also as JSON or an address spells it."""
    if len(secret) < SHORTEST:
        return
    inside = json.dumps(secret)[1:-1]
    spelled = {secret, inside, inside.replace("/", "\\/"), quote(secret, safe="")}
    _spellings[:] = sorted({*_spellings, *spelled}, key=len, reverse=True)


def redacted(text: str) -> str:
    """Return ``text`` with every secret hidden."""
    for secret in _spellings:
        if secret in text:
            text = text.replace(secret, HIDDEN)
    return text


def redacted_bytes(content: bytes) -> bytes:
    """Return the UTF-8 text ``content``, or what is not even that, with every secret hidden."""
    return redacted(content.decode("utf-8", "surrogateescape")).encode("utf-8", "surrogateescape")


def visible(text: str) -> str:
    """Return ``text`` on one line, with control characters escaped."""
    if text.isprintable():
        return text
    return "".join(
        character if character.isprintable() else character.encode("unicode_escape").decode("ascii")
        for character in text
    )


def visible_lines(text: str) -> str:
    """Return ``text`` with its line breaks, other control characters escaped."""
    return "\n".join(map(visible, text.split("\n")))


def one_line(text: object, most: int = 300) -> str:
    """Return the first ``most`` characters of ``text`` on one line, fit to be shown."""
    return visible(redacted(" ".join(str(text).split())))[:most]
