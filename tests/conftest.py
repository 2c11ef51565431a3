"""What many tests need: the shared data, and one spaCy parser for the whole session."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from harness.language.parsers import CachedParser, SpacyParser, default_pipeline

ROOT = Path(__file__).parents[1]


@pytest.fixture(scope="session")
def shared_data() -> Path:
    """The shared data of HINTER, BiasFinder and others; tests that read it skip where it is absent."""
    folder = (ROOT / os.environ.get("HINTER_SHARED", "../shared") / "data").resolve()
    if not folder.is_dir():
        pytest.skip(f"no shared data at {folder}: set HINTER_SHARED")
    return folder


@pytest.fixture(scope="session")
def plain_parser() -> SpacyParser:
    """spaCy without a cache: every sentence is parsed when asked for."""
    return SpacyParser(default_pipeline())


@pytest.fixture(scope="session")
def parser(plain_parser: SpacyParser) -> CachedParser:
    return CachedParser(plain_parser)
