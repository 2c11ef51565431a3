"""The Hugging Face hub: whether it answers, asked once and quickly before its own libraries try for long."""

from __future__ import annotations

import os

from harness import http_client

ADDRESS = "https://huggingface.co"
SECONDS = 5.0
YES = frozenset({"1", "on", "true", "yes"})


def unreachable() -> str | None:
    """Return why the hub cannot be used, with its address; None where it answers.

    The address is ``HF_ENDPOINT``, if set. With ``HF_HUB_OFFLINE`` the hub is not asked.
    """
    address = os.environ.get("HF_ENDPOINT") or ADDRESS
    if os.environ.get("HF_HUB_OFFLINE", "").lower() in YES:
        return f"HF_HUB_OFFLINE is set, so that {address} is not asked"
    fault = http_client.fault_of(address, SECONDS)
    return None if fault is None else f"{address} does not answer: {fault}"
