"""What makes it doubtful that a text speaks of one person alone: a template less, rather than a wrong one."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain, pairwise

from harness.core import Span
from harness.language.coreference import Entity
from harness.language.person_names import left_over, strangers
from harness.language.persons import Mention
from harness.language.reading import Reading

# Whom a pronoun in the same sentence may mean, one by one: *everyone should see this once in his life*.
EACH = frozenset("everyone everybody anyone anybody nobody each every whoever".split())  # noqa: SIM905
CHARACTERS = frozenset({"character", "characters"})
# A name after one of these and *of* is a work's title: *the 2000 version of Lorna Doone*.
WORKS = frozenset(
    """version versions adaptation adaptations remake remakes retelling story tale film movie book novel
    series show episode episodes sequel prequel reminiscent""".split()  # noqa: SIM905
)
INVOKED = frozenset({"jesus", "christ", "god", "lord"})


def doubt(reading: Reading, person: Entity) -> Span | None:
    """The words that speak against ``person`` being the only one, or being one; None without any."""
    found = chain(
        strangers(reading, person.mentions),
        left_over(reading, person.mentions),
        _one_by_one(reading, person),
        _characters(reading, person),
        *(_no_person(reading, m) for m in person.mentions if m.kind == "name"),
    )
    return next(found, None)


def _one_by_one(reading: Reading, person: Entity) -> Iterator[Span]:
    """*Everyone* and the like in the sentence of a pronoun, before it."""
    for mention in person.mentions:
        sentence = reading.tokens[mention.head].sentence
        index = mention.head - 1
        while mention.kind == "pronoun" and index >= 0 and reading.tokens[index].sentence == sentence:
            if reading.lower(index) in EACH:
                yield reading.tokens[index].start, reading.tokens[index].end
            index -= 1


def _characters(reading: Reading, person: Entity) -> Iterator[Span]:
    """A character that stands nearer to a pronoun than any mention of the person, and is nobody's."""
    heads = sorted(m.head for m in person.mentions)
    pronouns = {m.head for m in person.mentions if m.kind == "pronoun"}
    for before, after in pairwise(heads):
        for index in range(before + 1, after if after in pronouns else before):
            owned = any(reading.tokens[child].dep == "poss" for child in reading.children[index])
            if reading.lower(index) in CHARACTERS and not owned:
                yield reading.tokens[index].start, reading.tokens[index].end


def _no_person(reading: Reading, name: Mention) -> Iterator[Span]:
    """A name that is the title of a work, or is called upon."""
    span = name.start, name.end
    written = reading.text[slice(*span)]
    token = reading.tokens[name.head]
    above = reading.tokens[token.head]
    of_work = (
        token.dep == "pobj"
        and reading.lower(token.head) == "of"
        and above.head != token.head
        and reading.lower(above.head) in WORKS
    )
    shouted = written.isupper() and len(written.split()) > 1 and not reading.text.isupper()
    if of_work or shouted or written.lower() in INVOKED:
        yield span
