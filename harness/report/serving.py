"""What served the model of a run, in words: the server, its version, what it computes with."""

from __future__ import annotations

from collections.abc import Mapping

from harness.numerals import listed
from harness.report.summary import Summary

NAMES = {"vllm": "vLLM", "llamacpp": "llama.cpp"}


def server(summary: Summary) -> str:
    """Return ``vLLM 0.32.0, float32, not batch-invariant (no NVIDIA GPU)``; "" where that is not known."""
    facts = summary.model_facts
    own = facts.get("vllm")
    if isinstance(own, Mapping):
        return _own(own)
    local = facts.get("transformers")
    if isinstance(local, Mapping):
        packages = [
            f"{package} {local[package]}" for package in ("transformers", "torch") if package in local
        ]
        return ", ".join([*packages, *([f"on {local['device']}"] if local.get("device") else [])])
    name = NAMES.get(str(facts.get("server", "")))
    if name is None:
        return ""
    versions = facts.get("versions")
    told = [str(one) for one in versions] if isinstance(versions, list | tuple) else []
    if name != "vLLM":
        return name
    untold = "its dtype and batch invariance are not told"
    return f"{name} {listed(told)}; {untold}" if told else f"{name} of a version that is not told; {untold}"


def _own(facts: Mapping[str, object]) -> str:
    """Return the words for a server that was started for the run."""
    version, dtype = facts.get("version"), facts.get("dtype")
    parts = [
        f"vLLM {version}" if version else "vLLM of a version that is not known",
        str(dtype) if dtype else "dtype not known",
        f"{'' if facts.get('batch_invariant') else 'not '}batch-invariant",
    ]
    why = facts.get("batch_invariance")
    return ", ".join(parts) + (f" ({why})" if why else "")
