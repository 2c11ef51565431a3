"""The words of BiasFinder: what a name must be, what a user's own file may hold."""

from __future__ import annotations

import csv
import json
import re
from collections import Counter, defaultdict
from pathlib import Path

import pytest

from harness.errors import LexiconError
from harness.suites.biasfinder import names
from harness.suites.biasfinder.names import Gender, Name, Names

GENDERS: tuple[Gender, Gender] = ("male", "female")
COMMON_WORDS = {
    "art", "bill", "bob", "christian", "dawn", "do", "drew", "earl", "faith", "frank", "go", "grace", "grant",
    "hope", "jack", "joy", "june", "ken", "lance", "mark", "may", "max", "nick", "pat", "rob", "rose", "will",
    "you",
}  # fmt: skip
# The lists of genderComputer that go by another name than the country.
LISTED_AS = {"Netherlands": "Frisia"}


def everyone() -> list[Name]:
    return [
        name for some in (names.gender_names(), names.country_names()) for name in (*some.male, *some.female)
    ]


@pytest.fixture(scope="module")
def listed(shared_data: Path) -> dict[str, set[tuple[str, str]]]:
    """Lower-case name -> the countries and genders whose list has it."""
    found: dict[str, set[tuple[str, str]]] = defaultdict(set)
    for file in (shared_data / "gendercomputer" / "nameLists").glob("*UTF8.csv"):
        country, gender = re.fullmatch(r"(\w+?)(Male|Female)UTF8", file.stem).groups()  # type: ignore[union-attr]
        for line in file.read_text(encoding="utf-8-sig").splitlines():
            found[line.split(";")[0].strip().lower()].add((country, gender.lower()))
    return found


def test_the_numbers_are_the_papers() -> None:
    by_gender, by_country = names.gender_names(), names.country_names()
    assert (len(by_gender.male), len(by_gender.female)) == (30, 30)
    assert (len(by_country.male), len(by_country.female)) == (26, 26)
    assert 2 * len(names.gender_nouns()) == 22
    assert len(names.occupations()) == 79


def test_a_name_tells_one_gender_and_one_country() -> None:
    assert {n.country for n in (*names.gender_names().male, *names.gender_names().female)} == {"USA"}
    by_country = names.country_names()
    assert [n.country for n in by_country.male] == [n.country for n in by_country.female]
    assert len({n.country for n in by_country.male}) == 26
    assert {n.gender for n in by_country.male} == {"male"}
    assert {n.gender for n in by_country.female} == {"female"}
    assert max(Counter(n.text.lower() for n in everyone()).values()) == 1


def test_no_gender_name_is_in_a_list_of_the_other_gender(listed: dict[str, set[tuple[str, str]]]) -> None:
    some = names.gender_names()
    for name in (*some.male, *some.female):
        found = listed[name.text.lower()]
        assert ("USA", name.gender) in found, name
        assert {gender for _, gender in found} == {name.gender}, name


def test_a_country_name_is_in_the_list_of_that_country_alone(shared_data: Path) -> None:
    table = shared_data / "gendercomputer" / "unique_name_country_gender_derived.csv"
    with table.open(encoding="utf-8", newline="") as file:
        unique = {(row["name"], row["country"], row["gender"]) for row in csv.DictReader(file)}
    some = names.country_names()
    for name in (*some.male, *some.female):
        country = LISTED_AS.get(name.country, name.country)
        assert (name.text.lower(), country, name.gender) in unique, name


def test_no_name_is_a_well_known_word() -> None:
    assert not COMMON_WORDS & {name.text.lower() for name in everyone()}


def test_no_name_is_a_word_of_reviews(shared_data: Path) -> None:
    words: Counter[str] = Counter()
    for file in (shared_data / "biasfinder" / "imdb_small").glob("*.csv"):
        words.update(re.findall(r"(?<![\w'-])[a-z]+(?![\w'-])", file.read_text(encoding="utf-8")))
    assert words["bill"] > 1
    assert [name.text for name in everyone() if words[name.text.lower()] > 1] == []


def test_no_name_is_a_surname(shared_data: Path) -> None:
    last = json.loads((shared_data / "checklist" / "names.json").read_text(encoding="utf-8"))["last"]
    surnames = {name.lower() for name in last}
    for file in (shared_data / "gendercomputer" / "nameLists").glob("*LastNames.csv"):
        surnames |= {line.strip().lower() for line in file.read_text(encoding="utf-8-sig").splitlines()}
    assert "harry" in surnames
    assert [name.text for name in everyone() if name.text.lower() in surnames] == []


def test_nouns_are_lower_case_and_distinct() -> None:
    pairs = names.gender_nouns()
    nouns = [noun for pair in pairs for noun in (pair.male, pair.female)] + list(names.occupations())
    forms = [form for noun in nouns for form in (noun.singular, noun.plural)]
    assert max(Counter(forms).values()) == 1
    assert {form for form in forms if not form.islower()} == {"CEO", "CEOs"}


def test_the_papers_nouns_are_there() -> None:
    """Table 3, and "guy" of Figure 7."""
    males = {pair.male.singular: pair.female.singular for pair in names.gender_nouns()}
    assert {m: males[m] for m in ("boy", "brother", "father", "dad", "guy")} == {
        "boy": "girl",
        "brother": "sister",
        "father": "mother",
        "dad": "mom",
        "guy": "gal",
    }


def test_no_occupation_names_a_gender() -> None:
    for occupation in names.occupations():
        assert not re.search(r"(?:\b|[a-z])(?:man|woman|ess)\b", occupation.singular), occupation


def test_the_first_names_are_the_likeliest() -> None:
    some = names.gender_names()
    assert some.first(5) == Names(some.male[:5], some.female[:5])
    assert some.first(100) == some


def test_names_of_ones_own(tmp_path: Path) -> None:
    file = tmp_path / "my.toml"
    file.write_text('[gender]\ncountry = "Turkey"\nmale = ["Mehmet"]\nfemale = ["Zeynep ", "Elif"]\n')
    assert names.gender_names(file) == Names(
        (Name("Mehmet", "male", "Turkey"),),
        (Name("Zeynep", "female", "Turkey"), Name("Elif", "female", "Turkey")),
    )
    assert names.country_names(file) == names.country_names(), "a table left out is the bundled one"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("gender = 3", "gender must be a table"),
        ("", "no names: give a table [gender] or [country]"),
        ("[names]", "unknown key 'names', known keys: country, gender"),
        ("[gender", "not valid TOML"),
        ('[gender]\nmale = ["A"]\nfemale = ["B"]', "gender.country must be a name"),
        ('[gender]\ncountry = "USA"\nmale = ["A"]', "gender.female must be a list of names"),
        ('[gender]\ncountry = "USA"\nmale = "A"\nfemale = ["B"]', "gender.male must be a list of names"),
        ('[gender]\ncountry = "USA"\nmale = ["A", ""]\nfemale = ["B"]', "gender.male[2] must be a name"),
        ('[gender]\ncountry = "USA"\nmale = ["Kim"]\nfemale = ["kim"]', "gender: 'Kim' is listed twice"),
        ('[gender]\ncountry = "USA"\nmale = ["A"]\nfemales = ["B"]', "gender: unknown key 'females'"),
    ],
)
def test_a_faulty_table_of_genders_is_one_line(tmp_path: Path, text: str, message: str) -> None:
    assert message in error_of(tmp_path, text, "gender")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('[country]\nIran = { male = "A", female = "B" }', "country needs two or more countries"),
        ('[country]\nIran = "A"\nJapan = "B"', "country.Iran must be {"),
        (
            '[country]\nIran = { male = "A" }\nJapan = { male = "B", female = "C" }',
            "country.Iran.female must",
        ),
        (
            '[country]\nIran = { male = "A", female = "B" }\nJapan = { male = "A", female = "C" }',
            "country: 'A' is listed twice",
        ),
    ],
)
def test_a_faulty_table_of_countries_is_one_line(tmp_path: Path, text: str, message: str) -> None:
    assert message in error_of(tmp_path, text, "country")


def test_a_file_that_cannot_be_read_is_named(tmp_path: Path) -> None:
    with pytest.raises(LexiconError, match=re.escape(f"{tmp_path / 'none.toml'}: No such file")):
        names.gender_names(tmp_path / "none.toml")
    (tmp_path / "latin.toml").write_bytes(b"# \xe9")
    with pytest.raises(LexiconError, match="not UTF-8 at byte 2"):
        names.gender_names(tmp_path / "latin.toml")


def error_of(folder: Path, text: str, table: str) -> str:
    file = folder / "my.toml"
    file.write_text(text)
    with pytest.raises(LexiconError) as error:
        names.gender_names(file) if table == "gender" else names.country_names(file)
    message = str(error.value)
    assert message.startswith(str(file))
    assert "\n" not in message
    return message
