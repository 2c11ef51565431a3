"""Select the cases to ask about and make their requests: one rule for run, check, plan and batches."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby

from harness.answering.plan import Planner
from harness.core import DUPLICATE, Case, Request
from harness.interruption import in_thread

Group = list[Case]


def groups(cases: Iterable[Case], include_discarded: bool = False) -> Iterator[Group]:
    """Yield the cases of each group that are asked about; a group may have none.

    These are the valid cases and, with ``include_discarded``, the discarded ones except duplicates, whose
    text is asked about already. The ``cases`` of a group must be adjacent.
    """
    for _, group in groupby(cases, key=lambda case: case.group):
        yield [case for case in group if case.valid or (include_discarded and case.reason != DUPLICATE)]


async def next_group(groups: Iterator[Group]) -> Group | None:
    """Return the next group, None at the end; made in a thread that ends if this is cancelled."""
    return await in_thread(lambda: next(groups, None))


def probes(group: Sequence[Case]) -> Sequence[Case]:
    """Return the cases that measure noise: the group's originals, or its first case where it has none."""
    return [case for case in group if case.role == "original"] or group[:1]


def requests(group: Sequence[Case], planner: Planner, repeats: int = 0) -> Iterator[Request]:
    """Yield the requests that ``group`` certainly needs: one per case, and ``repeats`` more per probe.

    Requests that confirm a flip depend on the answers, so they are not included.
    """
    yield from map(planner.request, group)
    for case in probes(group):
        yield from repeated(case, planner, repeats)


def compared(group: Sequence[Case], repeats: int = 0) -> int:
    """Return how many pairs of answers a judge compares, at most: each with the original's, and repeats."""
    return max(0, len(group) - 1) + repeats * len(probes(group))


def repeated(case: Case, planner: Planner, times: int) -> Iterator[Request]:
    """Yield the requests that ask about ``case`` another ``times`` times."""
    return (planner.request(case, repeat) for repeat in range(1, times + 1))
