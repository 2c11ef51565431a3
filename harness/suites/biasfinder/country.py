"""Country-of-origin templates (BiasFinder, section 5.2, Algorithm 3)."""

from __future__ import annotations

from harness.core import Document
from harness.language.entities import Resolution
from harness.suites.biasfinder.gender import names, the_person
from harness.suites.biasfinder.gender_nouns import GenderNouns
from harness.suites.biasfinder.templates import Refusal, Slot, Template, cut


def template(document: Document, resolution: Resolution, nouns: GenderNouns) -> Template | Refusal:
    """Return the template of the names of the text's one person, for the gender its pronouns agree on."""
    person = the_person(resolution, nouns)
    if isinstance(person, Refusal):
        return person
    genders = {m.gender for m in person.mentions if m.kind == "pronoun" and m.gender}
    spans = list(names(resolution.reading, person))
    if not spans:
        return Refusal("no-name")
    if len(genders) != 1:
        return Refusal("no-pronoun", resolution.reading.text[slice(*spans[0])])
    gender = genders.pop()
    return cut(document, "country", [Slot(*span, gender) for span in spans])
