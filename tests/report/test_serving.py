"""What served the model of a run, in words."""

from __future__ import annotations

from typing import Any

import pytest

from harness.report import serving
from tests.report.builders import summary_of

OWN = {"version": "0.32.0", "dtype": "bfloat16", "batch_invariant": True, "batch_invariance": "NVIDIA GPU"}
NOT_TOLD = "its dtype and batch invariance are not told"


@pytest.mark.parametrize(
    ("facts", "words"),
    [
        ({}, ""),
        ({"server": ""}, ""),
        ({"server": "llamacpp"}, "llama.cpp"),
        ({"server": "vllm", "versions": ["0.31.0", "0.32.0"]}, f"vLLM 0.31.0 and 0.32.0; {NOT_TOLD}"),
        ({"server": "vllm", "versions": []}, f"vLLM of a version that is not told; {NOT_TOLD}"),
        ({"server": "vllm", "vllm": OWN}, "vLLM 0.32.0, bfloat16, batch-invariant (NVIDIA GPU)"),
        (
            {
                "vllm": {
                    "version": None,
                    "dtype": None,
                    "batch_invariant": False,
                    "batch_invariance": "no GPU",
                }
            },
            "vLLM of a version that is not known, dtype not known, not batch-invariant (no GPU)",
        ),
        (
            {"transformers": {"torch": "2.13.0", "transformers": "5.24.0", "device": "cpu"}},
            "transformers 5.24.0, torch 2.13.0, on cpu",
        ),
    ],
)
def test_the_server_in_words(facts: dict[str, Any], words: str) -> None:
    assert serving.server(summary_of(model_facts=facts)) == words
