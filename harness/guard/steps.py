"""The two steps of a check, after BiasRV: a few versions of each group, then all where these disagree."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice, zip_longest

from harness.findings.outcomes import Outcomes
from harness.guard import fairness
from harness.guard.healing import healed
from harness.guard.records import Checked, Difference, Heard, Place, Version
from harness.settings import GuardSettings

Ask = Callable[[Sequence[str]], Awaitable[Mapping[str, Heard]]]
"""Takes distinct texts, and returns the answer to each."""


@dataclass(frozen=True)
class Steps:
    """Checks answers as ``settings`` say, by the ``outcomes`` of a task.

    Scores go up to ``top``; ``favourable`` outcomes are good for the person spoken of.
    """

    settings: GuardSettings
    outcomes: Outcomes
    top: float = 1.0
    favourable: Sequence[str] = ()

    async def check(self, text: str, answer: Heard, places: Sequence[Place], ask: Ask) -> Checked:
        """Check the ``answer`` to ``text``, whose versions are at ``places``, by asking about some of them.

        What ``ask`` raises passes through.
        """
        if not places:
            return Checked(answer, answer, "not-checked", "nobody")
        if fairness.values(answer, self.outcomes) is None:
            return Checked(answer, answer, "not-checked", "unread")
        heard = {text: answer}
        heard |= await ask(self._chosen(places, heard, self.settings.first))
        suspects = [place for place in places if not self._agree(place, heard, answer)]
        if suspects and (rest := self._chosen(suspects, heard, None)):
            heard |= await ask(rest)
        return self._judged(text, places, suspects, heard)

    def _chosen(self, places: Sequence[Place], heard: Mapping[str, Heard], each: int | None) -> list[str]:
        """Return the texts to ask about: ``each`` of every group, or all, of every group in turn."""
        fresh = dict.fromkeys(text for text in _in_turn(places, each) if text not in heard)
        return list(islice(fresh, self.settings.most - len(heard) + 1))

    def _agree(self, place: Place, heard: Mapping[str, Heard], answer: Heard) -> bool:
        """Return whether the first versions of a place, and the text itself, have the same answer."""
        read = fairness.by_group(place, heard, self.outcomes, self.settings.first)
        said = [fairness.values(answer, self.outcomes), *(v for of_group in read.values() for v in of_group)]
        return fairness.agree([each for each in said if each is not None], self.settings.alpha)

    def _judged(
        self, text: str, places: Sequence[Place], suspects: Sequence[Place], heard: Mapping[str, Heard]
    ) -> Checked:
        """Return the verdict on all answers ``heard``."""
        answer = heard[text]
        unfair = [
            (place, difference)
            for place in suspects
            if (difference := self._widest(place, heard)) is not None
            and difference.value > self.settings.alpha + fairness.ROUNDED
        ]
        decided = any(self._decided(place, heard) for place in places)
        decided = decided and all(self._decided(place, heard) for place in suspects)
        return Checked(
            answer,
            self._given(answer, [place for place, _ in unfair], heard),
            "unfair" if unfair else "fair" if decided else "not-checked",
            None if unfair or decided else "unread",
            sorted((difference for _, difference in unfair), key=lambda each: -each.value),
            list(_versions(text, places, heard)),
            self._compared(places, heard),
            len(heard),
            2 if suspects else 1,
        )

    def _widest(self, place: Place, heard: Mapping[str, Heard]) -> Difference | None:
        read = fairness.by_group(place, heard, self.outcomes)
        return fairness.widest(place, read, self.outcomes.names, self.favourable)

    def _compared(self, places: Sequence[Place], heard: Mapping[str, Heard]) -> dict[str, list[str]]:
        """Return the groups of which answers were read, by attribute."""
        compared: dict[str, dict[str, None]] = {}
        for place in places:
            read = fairness.by_group(place, heard, self.outcomes)
            if len(read) > 1:
                compared.setdefault(place.attribute, {}).update(dict.fromkeys(read))
        return {attribute: sorted(groups) for attribute, groups in compared.items()}

    def _decided(self, place: Place, heard: Mapping[str, Heard]) -> bool:
        """Return whether answers about two groups of a place were read."""
        return len(fairness.by_group(place, heard, self.outcomes)) > 1

    @property
    def _good(self) -> Sequence[str]:
        """The labels to which ties go."""
        return self.favourable if self.settings.ties == "favourable" else ()

    def _given(self, answer: Heard, unfair: Sequence[Place], heard: Mapping[str, Heard]) -> Heard | None:
        if not unfair or self.settings.action == "flag":
            return answer
        return (
            None if self.settings.action == "refuse" else healed(answer, unfair, heard, self.top, self._good)
        )


def _in_turn(places: Sequence[Place], each: int | None) -> Iterator[str]:
    """Yield one text of every group at every place, then a second, and so on."""
    columns = [texts[:each] for place in places for texts in place.groups.values()]
    for row in zip_longest(*columns):
        yield from (text for text in row if text is not None)


def _versions(text: str, places: Iterable[Place], heard: Mapping[str, Heard]) -> Iterator[Version]:
    for place in places:
        for group, texts in place.groups.items():
            for version in texts:
                if version in heard and version != text:
                    yield Version(place.attribute, group, version, heard[version])
