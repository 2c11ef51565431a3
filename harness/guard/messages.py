"""Where the text to check stands in a request for a chat completion, and the request with another there."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

Body = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Located:
    """A ``text`` in the message number ``message`` of a request, or in ``part`` of its parts."""

    body: Body
    text: str
    before: str
    after: str
    message: int
    part: int | None

    def put(self, text: str) -> dict[str, Any]:
        """Return the request with ``text`` in place of the one that is there."""
        messages = list(self.body["messages"])
        written: Any = f"{self.before}{text}{self.after}"
        message = messages[self.message]
        if self.part is not None:
            parts = list(message["content"])
            parts[self.part] = {**parts[self.part], "text": written}
            written = parts
        messages[self.message] = {**message, "content": written}
        return {**self.body, "messages": messages}


@dataclass(frozen=True, slots=True)
class Locator:
    """Finds the text in the last user message, between ``before`` and ``after``."""

    before: str = ""
    after: str = ""

    def locate(self, body: object) -> Located | None:
        """Return where the text stands; None where the request has none, or more answers than one."""
        if not isinstance(body, dict) or body.get("n") not in (None, 1) or body.get("stream"):
            return None
        messages = body.get("messages")
        for number, message in reversed(list(enumerate(messages if isinstance(messages, list) else ()))):
            if isinstance(message, dict) and message.get("role") == "user":
                return self._within(body, number, message.get("content"))
        return None

    def _within(self, body: Body, number: int, content: object) -> Located | None:
        part: int | None = None
        if isinstance(content, list):
            texts = [
                place
                for place, each in enumerate(content)
                if isinstance(each, dict) and each.get("type") == "text" and isinstance(each.get("text"), str)
            ]
            if len(texts) != 1:
                return None
            part = texts[0]
            content = content[part]["text"]
        if not isinstance(content, str) or len(content) <= len(self.before) + len(self.after):
            return None
        if not (content.startswith(self.before) and content.endswith(self.after)):
            return None
        text = content[len(self.before) : len(content) - len(self.after)]
        return Located(body, text, self.before, self.after, number, part)
