"""Which words for an occupation name one person's job and can be exchanged, and which cannot."""

from __future__ import annotations

import pytest

from harness.suites.biasfinder import occupation, templates
from harness.suites.biasfinder.sources import Miner
from harness.suites.biasfinder.templates import Refusal
from tests.suites.biasfinder.resolved import JOBS, NOUNS, resolved, resolver


def mined(text: str) -> str:
    found = occupation.template(*resolved(text), JOBS)
    return f"!{found.reason}" if isinstance(found, Refusal) else templates.write(found, originals=False)


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("The end caught me off guard.", "not-a-person"),
        ("It's the ultimate judge.", "not-a-person"),
        ("They filmed a pilot for the network, and a pilot it stayed.", "not-a-person"),
        ("I saw the Wedding Singer.", "not-a-person"),
        ("She takes a taxi, for she is a terrible driver.", "not-a-person"),
        ("The director/writer is lost.", "joined"),
        ("He met a sleazy but not unsympathetic lawyer.", "joined"),
        ("She thanked the writer of three novels.", "complement"),
        ("He is my favorite writer.", "complement"),
        ("He was an architect's architect.", "word-left"),
        ("There is a barber here, and there are other barbers.", "word-left"),
        ("She was a nurse, tired of being a nurse.", "word-left"),
        ("The coach smiled. He coaches the boys to victory.", "word-left"),
        ("The teacher is bored, as are the students.", "word-left"),
        ("He reported it to his supervisor, who suspended him.", "not-a-person"),
        ("They sent him away without so much as a lawyer.", "not-a-person"),
        ("She is a surprisingly good singer.", "not-a-person"),
        ("She was known as a barber, banker and owner of a shop.", "joined"),
        ("He has a long list of films as a filmmaker.", "maker"),
        ("He shows his driver's license.", "not-a-person"),
        ("Everybody has problems with letting their guard down.", "not-a-person"),
        ("It is about a hypochondriac going to the doctor.", "not-a-person"),
        ("The film owes much to its designer Anna.", "maker"),
        ("We met the scientist Dr. Simon Bar.", "other-title"),
    ],
)
def test_what_is_no_job_of_one_person_alone_is_refused(text: str, reason: str) -> None:
    assert mined(text) == f"!{reason}"


@pytest.mark.parametrize(
    ("text", "template"),
    [
        ("The co-writer met a nurse.", "The co-writer met <det> <occupation>."),
        ("A barber came, and a banker listened.", "<det> <occupation> came, and a banker listened."),
        ("The writer of novels met a nurse.", "The writer of novels met <det> <occupation>."),
        ("He is a doctor of mixed breed.", "He is <det> <occupation> of mixed breed."),
        ("The writer's wit shines through.", "The <occupation>'s wit shines through."),
        (
            "He is the leading surgeon, but the chief surgeon is Amos Weath.",
            "!word-left",
        ),
    ],
)
def test_the_first_job_that_can_be_exchanged_is(text: str, template: str) -> None:
    assert mined(text) == template


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("Jake is a doctor, and he sings.", None),
        ("The doctor's assistant forgets where she was.", None),
        ("Jake met a doctor, and he sings.", "other-worker"),
        ("The lawyer washed his hands.", None),
    ],
)
def test_worker_and_gendered_person_are_one(text: str, reason: str | None) -> None:
    miner = Miner("gender+occupation", resolver(), NOUNS, JOBS)
    found = miner.template(*resolved(text))
    assert (found.reason if isinstance(found, Refusal) else None) == reason
