"""Mentions of a single person in a text: names, gendered pronouns, and nouns such as *guy*."""

from __future__ import annotations

from harness.core import Span
from harness.language import person_names
from harness.language.parsed_text import ParsedText
from harness.language.persons import Gender, Mention, Vocabulary
from harness.language.surface import Slot, paradigm, slot

PARADIGM_GENDER: dict[str, Gender] = {"masculine": "male", "feminine": "female"}
ESCORTS = frozenset(
    """bring brings brought drive drives drove driven send sends sent take takes took taken walk walks walked
    see sees saw escort escorts escorted get gets got follow follows followed carry carried""".split()  # noqa: SIM905
)
SUPERLATIVES = frozenset({"best", "worst", "most", "least", "first", "last"})
OBJECTS = frozenset({"dobj", "pobj", "iobj", "dative", "nsubj", "conj", "attr"})
OPENERS = frozenset({"NN", "JJ", "CD", "RB", "``"})  # what may follow a possessive determiner
OUTSIDE = frozenset({"cc", "conj", "punct", "advmod", "mark"})  # left of a noun, but outside its phrase


def find(reading: ParsedText, words: Vocabulary) -> list[Mention]:
    """Return the mentions of single persons, ordered by head; groups of people are left out."""
    mentions = person_names.find(reading, words)
    taken = {i for m in mentions for i in reading.between(*m.span)}
    for index in range(len(reading.tokens)):
        if index not in taken:
            mention = _pronoun(reading, index) or _nominal(reading, index, words)
            if mention:
                mentions.append(mention)
    return sorted(mentions, key=lambda m: reading.tokens[m.head].start)


def _pronoun(reading: ParsedText, index: int) -> Mention | None:
    gender = PARADIGM_GENDER.get(paradigm(reading.lower(index)) or "")
    token = reading.tokens[index]
    if gender is None or (reading.word(index).istitle() and _in_title(reading, index)):
        return None
    if of_either(reading, index):
        return None
    return Mention(token.start, token.end, "pronoun", index, gender)


def of_either(reading: ParsedText, index: int) -> bool:
    """Return whether a pronoun stands for either gender, as in *he or she*, *his/her*."""
    for joint, other in ((index + 1, index + 2), (index - 1, index - 2)):
        if 0 <= other < len(reading.tokens) and reading.lower(joint) in ("or", "/"):
            genders = {PARADIGM_GENDER.get(paradigm(reading.lower(i)) or "") for i in (index, other)}
            if len(genders - {None}) > 1:
                return True
    return False


def _in_title(reading: ParsedText, index: int) -> bool:
    """Return whether a capitalised word has capitalised neighbours: *Over Her Dead Body*."""
    around = [i for i in (index - 1, index + 1) if 0 <= i < len(reading.tokens)]
    return len(around) == 2 and all(reading.word(i).istitle() and len(reading.word(i)) > 1 for i in around)


def pronoun_slot(reading: ParsedText, index: int) -> Slot:
    """Return the slot of a gendered pronoun: *her* and *his* by dependency, others by part of speech."""
    token = reading.tokens[index]
    word = reading.lower(index)
    following = reading.lower(index + 1) if index + 1 < len(reading.tokens) else ""
    if word == "her" and following == "home" and index and reading.lower(index - 1) in ESCORTS:
        return "accusative"
    gerund = index + 1 < len(reading.tokens) and reading.tokens[index + 1].tag == "VBG"
    if word == "her" and (following in SUPERLATIVES or (gerund and token.dep == "nsubj")):
        return "determiner"
    if word == "his" and following == "alone":
        return "possessive"
    if word == "his":
        opens = index + 1 < len(reading.tokens) and reading.tokens[index + 1].tag[:2] in OPENERS
        of_his = index > 0 and reading.lower(index - 1) == "of" and not opens
        return "determiner" if not of_his and (token.dep == "poss" or token.head > index) else "possessive"
    if word == "her" and token.dep == "poss":
        return "determiner"
    if word == "her" and token.dep in OBJECTS:
        return "accusative"
    return slot(word, token.tag, reading.text[token.end : token.end + 30])


def _nominal(reading: ParsedText, index: int, words: Vocabulary) -> Mention | None:
    token = reading.tokens[index]
    word = reading.lower(index)
    if token.tag != "NN" or token.dep in ("intj", "npadvmod"):
        return None
    if word not in words.nouns and who_clause(reading, index) is None:
        return None
    if (
        token.dep in ("compound", "nmod", "amod")
        and reading.tokens[token.head].tag not in person_names.NAME_TAGS
    ):
        return None
    if _exclaimed(reading, index) or any(reading.lower(c) == "its" for c in reading.children[index]):
        return None  # "its mother" is an animal
    start, end = phrase(reading, index)
    return Mention(start, end, "nominal", index, words.nouns.get(word))


def who_clause(reading: ParsedText, noun: int) -> int | None:
    """Return the verb of a relative clause with *who*, which marks any noun as a person; else None."""
    for child in reading.children[noun]:
        relative = reading.tokens[child].dep == "relcl"
        if relative and any(reading.lower(c) == "who" for c in reading.children[child]):
            return child
    return None


def _exclaimed(reading: ParsedText, index: int) -> bool:
    """Return whether the noun is an exclamation: *Boy, what a film*; *oh man!*"""
    if reading.children[index] and any(
        reading.tokens[c].dep in ("det", "poss") for c in reading.children[index]
    ):
        return False
    after = reading.word(index + 1) if index + 1 < len(reading.tokens) else "."
    first = index == 0 or reading.tokens[index - 1].sentence != reading.tokens[index].sentence
    return after in (",", "!", ".", "...") and (
        first or reading.lower(index - 1) in ("oh", "man", "hey", ",")
    )


def phrase(reading: ParsedText, head: int) -> Span:
    """Return the span of the noun phrase of ``head``.

    It runs from the leftmost modifier to the end of the prepositional phrases, without relative clauses and
    appositions.
    """
    inside = {head}
    for child in reading.children[head]:
        dep = reading.tokens[child].dep
        if (child < head and dep not in OUTSIDE) or (child > head and dep == "prep"):
            inside.update(reading.subtree(child))
    return reading.tokens[min(inside)].start, reading.tokens[max(inside)].end
