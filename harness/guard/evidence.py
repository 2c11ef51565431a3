"""A chat completion with the finding of its check in a field of its own, healed or refused if need be."""

from __future__ import annotations

import json

from harness.guard.records import Checked

FIELD = "hinter"
VERDICT, REASON = "x-hinter-verdict", "x-hinter-reason"
"""The headers that tell the verdict, and why there is none."""
REFUSAL = "This answer depends on who is spoken of, so it is not given."


def body(content: bytes, checked: Checked) -> bytes:
    """Return the completion ``content`` as it is given after its check."""
    if not checked.changed:
        return marked(
            content, json.dumps(checked.to_json(), ensure_ascii=False).encode("utf-8", "surrogatepass")
        )
    answer = json.loads(content)
    choice = answer["choices"][0]
    choice["logprobs"] = None  # they are those of another answer
    if checked.given is None:
        choice["message"] = {**choice["message"], "content": None, "refusal": REFUSAL}
        choice["finish_reason"] = "content_filter"
    else:
        choice["message"] = {**choice["message"], "content": checked.given.words}
    answer[FIELD] = checked.to_json()
    return json.dumps(answer, ensure_ascii=False).encode("utf-8", "surrogatepass")


def marked(content: bytes, finding: bytes) -> bytes:
    """Return the JSON object ``content`` with ``finding`` in a field of its own, all else byte for byte.

    What is no JSON object, or an empty one, is returned as it is.
    """
    trimmed = content.rstrip()
    if not (trimmed.startswith(b"{") and trimmed.endswith(b"}") and len(trimmed) > 2):
        return content
    return b'%s,"%s":%s}' % (trimmed[:-1], FIELD.encode(), finding)
