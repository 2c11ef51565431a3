"""The EEC and its pairs, generated once."""

from __future__ import annotations

import pytest

from harness.suites.eec.assessments import Pairings, pairings
from harness.suites.eec.corpus import Sentence, Spec, load, sentences


@pytest.fixture(scope="session")
def eec() -> Spec:
    return load()


@pytest.fixture(scope="session")
def corpus(eec: Spec) -> list[Sentence]:
    return list(sentences(eec))


@pytest.fixture(scope="session")
def eec_pairs(eec: Spec) -> Pairings:
    return pairings(eec)
