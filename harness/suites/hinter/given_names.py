"""The first name that takes the place of another when a person's gender changes."""

from __future__ import annotations

from functools import cache

from harness.language.persons import Gender, vocabulary

USUAL: dict[Gender, list[str]] = {
    "male": """
        James John Robert Michael David William Richard Thomas Charles Daniel Matthew Mark Steven
        Paul Andrew Kevin Brian George Edward Jason Jeffrey Frank Eric Stephen Larry Scott Peter
        Henry Adam Nathan Walter Kyle Louis Oscar Victor Isaac Quentin Umberto Xavier Zachary Yusuf
    """.split(),  # noqa: SIM905
    "female": """
        Mary Patricia Jennifer Linda Elizabeth Barbara Susan Jessica Sarah Karen Lisa Nancy Sandra
        Margaret Emily Donna Michelle Carol Amanda Rebecca Laura Helen Anna Kathleen Diane Olivia
        Frances Grace Hannah Julia Teresa Victoria Wendy Valerie Irene Quinn Ursula Xenia Zoe Yvonne
    """.split(),  # noqa: SIM905
}


@cache
def _by_initial(gender: Gender) -> dict[str, list[str]]:
    names: dict[str, list[str]] = {}
    for name in USUAL[gender]:
        names.setdefault(name[0], []).append(name)
    return names


def counterpart(name: str, gender: Gender, text: str) -> str | None:
    """Return a usual name of the other gender, with the initial of ``name`` if there is one, not in ``text``.

    None if ``name`` is not known to be a first name of ``gender``.
    """
    if vocabulary().given_names.get(name.lower()) != gender:
        return None
    other: Gender = "female" if gender == "male" else "male"
    initial = _by_initial(other).get(name[0].upper(), [])
    return next((n for n in [*initial, *USUAL[other]] if n not in text), None)
