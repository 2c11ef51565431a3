"""A stand-in for vLLM on PATH."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with the stand-in on PATH, no GPU, logs kept here, and what the stand-in was told."""
    script = tmp_path / "bin" / "vllm"
    script.parent.mkdir()
    fake = Path(__file__).with_name("fake_vllm.py").read_text(encoding="utf-8")
    script.write_text(f"#!{sys.executable}\n{fake}", encoding="utf-8")
    script.chmod(0o755)
    (tmp_path / "logs").mkdir()
    monkeypatch.setenv("PATH", f"{script.parent}{os.pathsep}{os.defpath}")
    monkeypatch.setenv("FAKE_VLLM_HOME", str(tmp_path))
    monkeypatch.setenv("TMPDIR", str(tmp_path / "logs"))
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "")
    monkeypatch.delenv("VLLM_BATCH_INVARIANT", raising=False)
    return tmp_path
