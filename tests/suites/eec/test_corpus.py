"""The corpus: the paper's counts, the published file sentence by sentence, and corpora of a user's own."""

from __future__ import annotations

import csv
import tomllib
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.errors import ConfigError
from harness.suites.eec.assessments import Pairings
from harness.suites.eec.corpus import Comparison, Sentence, Spec, load, parse, sentences
from harness.suites.eec.pairing import SUBSETS, pairs, select
from harness.suites.eec.templates import fill

GENDER = Comparison("gender", "female", "male")
RACE = Comparison("race", "African-American", "European")
OWN = """
name = "own"
compare = { age = ["young", "old", "middle-aged"] }
emotions = { feeling = { joy = ["glad"], anger = ["angry", "irate"] } }

[[persons]]
traits = { age = "young" }
compared = "aligned"
pronoun = "she"
words = ["my niece", "she"]

[[persons]]
traits = { age = "old" }
compared = "aligned"
pronoun = "they"
words = ["my elder", "they"]

[[persons]]
traits = { age = "middle-aged" }
compared = "averages"
pronoun = "he"
words = ["Karl"]

[[templates]]
id = "told"
text = "An old friend told {person:object} {a emotion} story."
emotions = "feeling"

[[templates]]
id = "alone"
text = "{person} sat by {person:reflexive}."
"""


def test_the_papers_counts(corpus: list[Sentence]) -> None:
    assert len(corpus) == 8640
    assert len({s.text for s in corpus}) == len({s.id for s in corpus}) == 8640
    by_template = Counter(s.traits["template"] for s in corpus)
    assert sorted(by_template.values()) == [60] * 4 + [1200] * 7
    neutral = [s for s in corpus if "emotion" not in s.traits]
    assert len(neutral) == 240
    assert not any("emotion_word" in s.traits for s in neutral)
    assert Counter((s.traits["gender"], s.traits.get("race")) for s in corpus) == {
        (gender, race): 1440
        for gender in ("female", "male")
        for race in ("African-American", "European", None)
    }


def test_the_published_file_sentence_by_sentence(corpus: list[Sentence], shared_data: Path) -> None:
    with (shared_data / "eec" / "Equity-Evaluation-Corpus.csv").open(
        encoding="utf-8-sig", newline=""
    ) as file:
        rows = {row["ID"]: row for row in csv.DictReader(file)}
    assert {s.text for s in corpus} == {row["Sentence"] for row in rows.values()}
    subject = {"him": "he", "her": "she"}  # the published file names a person by the form in the sentence
    templates: dict[str, set[str]] = {}
    for sentence in corpus:
        row, traits = rows[sentence.id], sentence.traits
        person = subject.get(row["Person"], row["Person"])
        assert (sentence.text, traits["person"], traits["gender"]) == (row["Sentence"], person, row["Gender"])
        assert (traits.get("race", ""), traits.get("emotion", "")) == (row["Race"], row["Emotion"])
        assert traits.get("emotion_word", "") == row["Emotion word"]
        templates.setdefault(traits["template"], set()).add(row["Template"])
    assert sorted(map(len, templates.values())) == [1] * 11


FIND = "{person} found {person:reflexive} in {a emotion} spot."
DAY = "{a emotion} day for {person:object}."


@pytest.mark.parametrize(
    ("text", "person", "pronoun", "emotion", "sentence"),
    [
        ("{person} feels {emotion}.", "he", "he", "sad", "He feels sad."),
        ("I made {person:object} feel {emotion}.", "she", "she", "sad", "I made her feel sad."),
        ("I saw {person:object}.", "my son", "he", "", "I saw my son."),
        (FIND, "Ann", "she", "odd", "Ann found herself in an odd spot."),
        (FIND, "they", "they", "hot", "They found themselves in a hot spot."),
        (DAY, "he", "he", "honest", "An honest day for him."),
        (DAY, "they", "they", "useful", "A useful day for them."),
        ("Call {a person}.", "engineer", "she", "", "Call an engineer."),
    ],
)
def test_forms_and_articles(text: str, person: str, pronoun: str, emotion: str, sentence: str) -> None:
    assert fill(text, person, pronoun, emotion) == sentence


def test_the_papers_pairs(eec: Spec, eec_pairs: Pairings, corpus: list[Sentence]) -> None:
    assert eec.comparisons == (GENDER, RACE)
    gender, race = eec_pairs[GENDER], eec_pairs[RACE]
    assert (len(gender), len(race)) == (1584, 144)
    per_instance = Counter((p.template, p.word) for p in gender)
    assert len(per_instance) == 144
    assert set(per_instance.values()) == {11}
    assert Counter((len(p.first), len(p.second)) for p in gender) == {(1, 1): 1440, (20, 20): 144}
    assert {(len(p.first), len(p.second)) for p in race} == {(20, 20)}
    traits = {s.id: s.traits for s in corpus}
    for comparison, made in eec_pairs.items():
        for pair in made:
            for members, side in ((pair.first, comparison.first), (pair.second, comparison.second)):
                for member in members:
                    of = traits[member.id]
                    assert of[comparison.attribute] == side
                    assert (of["template"], of.get("emotion_word")) == (pair.template, pair.word)
    counterparts = {p.persons for p in gender if p.persons}
    assert {"my mom/my dad", "she/he", "this girl/this boy", "my wife/my husband"} < counterparts
    assert len(counterparts) == 10


def test_the_subsets_of_the_pairs(eec_pairs: Pairings) -> None:
    gender, race = eec_pairs[GENDER], eec_pairs[RACE]
    sizes = {
        subset: (len(select(gender, subset, "joy")), len(select(race, subset, "joy"))) for subset in SUBSETS
    }
    assert sizes == {"all": (1584, 144), "emotional": (1540, 140), "neutral": (44, 4), "asked": (385, 35)}
    assert {p.emotion for p in select(gender, "asked", "joy")} == {"joy"}
    assert not select(gender, "asked", "valence")
    with pytest.raises(ValueError, match="'some' is not one of"):
        select(gender, "some")


def test_a_users_own_corpus() -> None:
    spec = parse(tomllib.loads(OWN), "own.toml")
    made = list(sentences(spec))
    assert [s.text for s in made if s.traits["person"] in ("they", "Karl")] == [
        "An old friend told them a glad story.",
        "An old friend told them an angry story.",
        "An old friend told them an irate story.",
        "An old friend told Karl a glad story.",
        "An old friend told Karl an angry story.",
        "An old friend told Karl an irate story.",
        "They sat by themselves.",
        "Karl sat by himself.",
    ]
    assert made[0].id == "told/my niece/glad"
    assert made[0].traits == {
        "template": "told",
        "person": "my niece",
        "age": "young",
        "emotion": "joy",
        "emotion_word": "glad",
    }
    young_old = Comparison("age", "young", "old")
    assert spec.comparisons == (
        young_old,
        Comparison("age", "young", "middle-aged"),
        Comparison("age", "old", "middle-aged"),
    )
    assert [p.persons for p in pairs(spec, young_old)][:2] == ["my niece/my elder", "she/they"]
    assert not pairs(spec, spec.comparisons[1]), "names have no counterparts among noun phrases"


def test_words_added_leave_ids_as_they_were(corpus: list[Sentence]) -> None:
    data = tomllib.loads(OWN)
    before = {s.id: s.text for s in sentences(parse(data, "own.toml"))}
    data["emotions"]["feeling"]["joy"].insert(0, "merry")
    data["persons"].append(
        {"traits": {"age": "middle-aged"}, "compared": "averages", "pronoun": "she", "words": ["Uma"]}
    )
    after = {s.id: s.text for s in sentences(parse(data, "own.toml"))}
    assert before.items() < after.items()


def test_an_extended_eec_keeps_the_published_ids(eec: Spec, corpus: list[Sentence]) -> None:
    data = eec.model_dump()
    data["persons"] = [*data["persons"][::-1], {**data["persons"][0], "words": ["Tyrone"]}]
    extended = {s.text: s.id for s in sentences(parse(data, "more.toml"))}
    assert extended["Tyrone feels angry."] == "feels/Tyrone/angry"
    assert {s.text: s.id for s in corpus}.items() < extended.items()


BAD: list[tuple[str, Any, str]] = [
    ("compare.age", ["young"], "compare.age: give two or more classes"),
    ("compare.age", ["young", "newborn"], "compare.age: no persons have age = 'newborn'"),
    ("compare.age", ["young", "young"], "compare.age: the class 'young' is given twice"),
    (
        "persons.0.words",
        ["my niece"],
        "aligned lists must have the same length, but young has 1 and old has 2",
    ),
    ("persons.0.words", ["my elder", "she"], "persons: the word 'my elder' is given twice"),
    ("persons.0.words", [], "persons.0.words"),
    ("persons.0.words", [" she"], "persons.0.words.0"),
    ("persons.0.pronoun", "xe", "persons.0.pronoun"),
    ("persons.0.traits", {"person": "x"}, "the trait 'person' is set by the corpus itself"),
    ("persons.0.colour", "red", "persons.0.colour: unknown key"),
    ("templates.0.emotions", "moods", "templates: told: there is no table [emotions.moods]"),
    ("templates.0.emotions", None, "templates.0: {emotion} in the text and the key emotions need each other"),
    ("templates.1.text", "{persn} sat.", "templates.1.text: '{persn}' is not a variable of a template"),
    ("templates.1.text", "{person sat.", "'{person sat.' is not a variable of a template"),
    ("templates.1.text", "{person} sat}.", "'}' is not a variable of a template"),
    ("templates.1.text", "Nobody sat.", "templates.1.text: it has no {person}"),
    ("templates.1.text", "{person} is {emotion:object}", "an emotion word has only one form"),
    ("templates.1.id", "told", "templates: the id 'told' is given twice"),
    ("emotions.feeling.joy", ["angry"], "emotions.feeling: the word 'angry' is given twice"),
    ("name", "", "name"),
]


@pytest.mark.parametrize(("key", "value", "said"), BAD)
def test_a_bad_corpus_is_one_line_that_names_file_and_key(key: str, value: Any, said: str) -> None:
    data: Any = tomllib.loads(OWN)
    *path, last = [int(part) if part.isdigit() else part for part in key.split(".")]
    place = data
    for part in path:
        place = place[part]
    place[last] = value
    with pytest.raises(ConfigError) as error:
        parse(data, "own.toml")
    assert str(error.value).startswith("own.toml: ")
    assert said in str(error.value)
    assert "\n" not in str(error.value)


def test_a_corpus_that_cannot_be_read_is_one_line(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"none\.toml: No such file"):
        load(tmp_path / "none.toml")
    (tmp_path / "bad.toml").write_text("name = ", encoding="utf-8")
    with pytest.raises(ConfigError, match=r"bad\.toml: not valid TOML"):
        load(tmp_path / "bad.toml")
    (tmp_path / "bad.toml").write_bytes(b"\xff")
    with pytest.raises(ConfigError, match=r"bad\.toml: not UTF-8"):
        load(tmp_path / "bad.toml")
    (tmp_path / "own.toml").write_text(OWN, encoding="utf-8")
    assert load(tmp_path / "own.toml").name == "own"


words = st.lists(st.text("abcdeh", min_size=1, max_size=5), min_size=1, max_size=4, unique=True)


@given(words, words)
def test_a_sentence_for_every_person_and_word(persons: list[str], emotions: list[str]) -> None:
    half = {"compared": "averages", "pronoun": "they"}
    spec = parse(
        {
            "name": "any",
            "compare": {"side": ["one", "other"]},
            "emotions": {"all": {"joy": emotions}},
            "persons": [
                {**half, "traits": {"side": "one"}, "words": [f"{p}1" for p in persons]},
                {**half, "traits": {"side": "other"}, "words": [f"{p}2" for p in persons]},
            ],
            "templates": [{"id": "t", "text": "So {person} is {a emotion} person.", "emotions": "all"}],
        },
        "any.toml",
    )
    made = list(sentences(spec))
    assert len({s.id for s in made}) == len({s.text for s in made}) == 2 * len(persons) * len(emotions)
    assert len(pairs(spec, spec.comparisons[0])) == len(emotions)
    assert all(f"is {'an' if s.traits['emotion_word'][0] in 'ae' else 'a'} " in s.text for s in made)
