"""A corpus of templates, persons and emotion words, from TOML: the EEC itself, or a user's own.

The TOML::

    name = "mine"

    [compare]                          # classes compared, by attribute; Δ is the first minus a later one
    gender = ["female", "male"]

    [emotions.state]                   # word lists that templates choose from, by emotion
    joy = ["happy", "glad"]

    [[persons]]
    traits = { gender = "female" }
    compared = "averages"              # their mean against the mean of other classes; or "aligned": the i-th
    pronoun = "she"                    # against the i-th of other classes. The pronoun is he, she or they
    words = ["Amanda", "Ebony"]

    [[templates]]
    id = "feels"
    text = "{person} feels {emotion}."
    emotions = "state"
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import combinations
from pathlib import Path
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator, model_validator

from harness.errors import ConfigError
from harness.files import DATA, read_toml
from harness.suites.eec.templates import asks_for_emotion, fill, problem

BUNDLED = DATA / "eec.toml"
BUNDLED_IDS = DATA / "eec-ids.txt"
ID_FORMAT = "2018-En-mystery-{:05}"

Word = Annotated[str, Field(min_length=1, pattern=r"^\S.*\S$|^\S$")]
Words = Annotated[tuple[Word, ...], Field(min_length=1)]


class _Section(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


RESERVED = ("template", "person", "emotion", "emotion_word")


class Persons(_Section):
    """Persons of one kind: names that are averaged, or noun phrases with counterparts in the same order."""

    traits: dict[str, Word] = Field(min_length=1)
    compared: Literal["averages", "aligned"]
    pronoun: Literal["he", "she", "they"]
    words: Words

    @field_validator("traits")
    @classmethod
    def _unreserved(cls, value: dict[str, str]) -> dict[str, str]:
        if taken := sorted(set(value) & set(RESERVED)):
            raise ValueError(f"the trait {taken[0]!r} is set by the corpus itself: choose another name")
        return value

    def others(self, attribute: str) -> dict[str, str]:
        """Return the traits other than ``attribute``, which counterparts share."""
        return {name: value for name, value in self.traits.items() if name != attribute}


class Template(_Section):
    """A sentence with variables; ``emotions`` names the word lists that ``{emotion}`` chooses from."""

    id: Word
    text: str
    emotions: str | None = None

    @field_validator("text")
    @classmethod
    def _well_formed(cls, value: str) -> str:
        if (wrong := problem(value)) is not None:
            raise ValueError(wrong)
        return value

    @model_validator(mode="after")
    def _has_emotions(self) -> Template:
        if asks_for_emotion(self.text) != (self.emotions is not None):
            raise ValueError("{emotion} in the text and the key emotions need each other")
        return self


@dataclass(frozen=True, slots=True)
class Comparison:
    """Two classes of an attribute; every difference is the score of ``first`` minus that of ``second``."""

    attribute: str
    first: str
    second: str


@dataclass(frozen=True, slots=True)
class Instance:
    """A template with its emotion word; emotion and word are None if the template is neutral."""

    template: Template
    emotion: str | None = None
    word: str | None = None


@dataclass(frozen=True, slots=True)
class Sentence:
    """A sentence of the corpus.

    ``traits`` holds the template, the person and the person's traits and, unless the template is neutral,
    emotion and emotion_word.
    """

    id: str
    text: str
    traits: Mapping[str, str]


class Spec(_Section):
    """The specification of a corpus."""

    name: Word
    compare: dict[str, tuple[Word, ...]] = Field(min_length=1)
    emotions: dict[str, dict[str, Words]] = {}
    persons: tuple[Persons, ...] = Field(min_length=1)
    templates: tuple[Template, ...] = Field(min_length=1)

    @model_validator(mode="after")
    def _consistent(self) -> Spec:
        _distinct("templates: the id", (template.id for template in self.templates))
        _distinct("templates: the text", (template.text for template in self.templates))
        _distinct("persons: the word", (word for group in self.persons for word in group.words))
        for name, lists in self.emotions.items():
            _distinct(f"emotions.{name}: the word", (word for words in lists.values() for word in words))
        for template in self.templates:
            if template.emotions is not None and template.emotions not in self.emotions:
                raise ValueError(
                    f"templates: {template.id}: there is no table [emotions.{template.emotions}]"
                )
        for attribute, classes in self.compare.items():
            self._check_classes(attribute, classes)
        return self

    def _check_classes(self, attribute: str, classes: Sequence[str]) -> None:
        _distinct(f"compare.{attribute}: the class", classes)
        if len(classes) < 2:
            raise ValueError(f"compare.{attribute}: give two or more classes")
        for name in classes:
            if not any(group.traits.get(attribute) == name for group in self.persons):
                raise ValueError(f"compare.{attribute}: no persons have {attribute} = {name!r}")
        for comparison in self.comparisons:
            if comparison.attribute == attribute:
                for first, second in self.counterparts(comparison):
                    if len(first.words) != len(second.words):
                        raise ValueError(
                            f"persons: aligned lists must have the same length, but {comparison.first} has "
                            f"{len(first.words)} and {comparison.second} has {len(second.words)}"
                        )

    @property
    def comparisons(self) -> tuple[Comparison, ...]:
        """All pairs of classes of each attribute compared, in the order written."""
        return tuple(
            Comparison(attribute, first, second)
            for attribute, classes in self.compare.items()
            for first, second in combinations(classes, 2)
        )

    def counterparts(self, comparison: Comparison) -> Iterator[tuple[Persons, Persons]]:
        """Yield the aligned lists to compare: alike in all traits but the attribute."""
        for first in self.persons:
            for second in self.persons:
                if (
                    first.compared == second.compared == "aligned"
                    and first.traits.get(comparison.attribute) == comparison.first
                    and second.traits.get(comparison.attribute) == comparison.second
                    and first.others(comparison.attribute) == second.others(comparison.attribute)
                ):
                    yield first, second

    def instances(self, template: Template) -> Iterator[Instance]:
        """Yield the template with each of its emotion words."""
        if template.emotions is None:
            yield Instance(template)
            return
        for emotion, words in self.emotions[template.emotions].items():
            for word in words:
                yield Instance(template, emotion, word)


def load(path: Path | None = None) -> Spec:
    """Load the specification at ``path``, by default the EEC. Raises ``ConfigError`` naming file and key."""
    path = path or BUNDLED
    return parse(read_toml(path, ConfigError), str(path))


def parse(data: Mapping[str, object], source: str) -> Spec:
    """Validate ``data`` as a specification. Raises ``ConfigError`` naming ``source`` and the key."""
    try:
        return Spec.model_validate(data)
    except ValidationError as error:
        first = error.errors()[0]
        key = ".".join(str(part) for part in first["loc"])
        problem = "unknown key" if first["type"] == "extra_forbidden" else first["msg"]
        problem = problem.removeprefix("Value error, ")
        raise ConfigError(f"{source}: {key}: {problem}" if key else f"{source}: {problem}") from error


def sentences(spec: Spec) -> Iterator[Sentence]:
    """Yield every sentence of the corpus, by template, then person, then emotion word.

    A sentence of the EEC has its published id in any corpus. Other ids are made of template, person and
    emotion word, so that they stay the same when words are added.
    """
    published = published_ids()
    for text, instance, group, person in _generated(spec):
        identity = published.get(text) or sentence_id(instance, person)
        yield Sentence(identity, text, _traits(group, person, instance))


@cache
def published_ids() -> Mapping[str, str]:
    """Return the id of every sentence of the EEC in the published file, by its text."""
    numbers = map(int, BUNDLED_IDS.read_text(encoding="ascii").split())
    generated = _generated(load())
    return {text: ID_FORMAT.format(n) for (text, *_), n in zip(generated, numbers, strict=True)}


def _generated(spec: Spec) -> Iterator[tuple[str, Instance, Persons, str]]:
    for template in spec.templates:
        instances = list(spec.instances(template))
        for group in spec.persons:
            for person in group.words:
                for instance in instances:
                    text = fill(template.text, person, group.pronoun, instance.word or "")
                    yield text, instance, group, person


def sentence_id(instance: Instance, person: str) -> str:
    """Return an id made of template, person and emotion word, which identify a sentence of any corpus."""
    return "/".join(filter(None, (instance.template.id, person, instance.word)))


def _traits(group: Persons, person: str, instance: Instance) -> dict[str, str]:
    traits = {"template": instance.template.id, "person": person, **group.traits}
    if instance.emotion is not None and instance.word is not None:
        traits |= {"emotion": instance.emotion, "emotion_word": instance.word}
    return traits


def _distinct(what: str, names: Iterable[str]) -> None:
    seen: set[str] = set()
    for name in names:
        if name in seen:
            raise ValueError(f"{what} {name!r} is given twice")
        seen.add(name)
