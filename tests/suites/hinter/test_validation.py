"""What does not belong in a lexicon is found, and what belongs there is left alone."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.errors import LexiconError
from harness.language.parsers import Parser
from harness.suites.hinter import groups, lexicon, lexicon_lint, pair_checks, pairs, validation


def spelled(tmp_path: Path, text: str) -> list[str]:
    file = tmp_path / "words.toml"
    file.write_text(text, encoding="utf-8")
    return list(lexicon_lint.faults(file))


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("attribute.x.pairs = [['actor ', 'a']]", "x.pairs: 'actor ' has a leading or trailing space"),
        ("attribute.x.pairs = [['an  actor', 'a']]", "x.pairs: 'an  actor' has two spaces in a row"),
        (
            "attribute.x.pairs = [['an\u00a0actor', 'a']]",
            "x.pairs: 'an\\xa0actor' has white space that is not",
        ),
        ("attribute.x.pairs = [['act\u200bor', 'a']]", "x.pairs: 'act\\u200bor' has an invisible character"),
        ("attribute.x.groups = { a = [' man'], b = ['woman'] }", "x.groups.a: ' man' has a leading"),
        ("attribute.x.sets = [{ groups = { a = ['m'], b = ['w '] } }]", "x.sets[1].b: 'w ' has a leading"),
        ("attribute.x = { pairs = [['a', 'b']], case_sensitive = ['a '] }", "x.case_sensitive: 'a ' has"),
        ("attribute.x.pairs = [['a', 'b'], ['a', 'b']]", "x.pairs: 'a -> b' is listed twice"),
        ("attribute.x.pairs = [['a', 'b'], ['A', 'b']]", "'A -> b' differs from 'a -> b' only in case"),
        (
            "attribute.x.pairs = [['a', 'b'], ['man', 'Man']]",
            "x.pairs: replacing 'man' with 'Man' changes nothing",
        ),
        ("attribute.x.groups = { a = ['m', 'm'], b = ['w', 'w'] }", "x.groups: 'm = w' is listed twice"),
        (
            "attribute.x.groups = { a = ['m', 'o'], b = ['w', 'o'] }",
            "x.groups: replacing 'o' with 'o' changes nothing",
        ),
        (
            "attribute.x = { pairing = 'across', groups = { a = ['m', 'm'], b = ['w'] } }",
            "x.groups.a: 'm' is listed twice",
        ),
    ],
)
def test_what_reading_would_clean_is_named(tmp_path: Path, text: str, says: str) -> None:
    (fault,) = spelled(tmp_path, text)
    assert says in fault


def test_a_word_may_have_two_counterparts(tmp_path: Path) -> None:
    text = "attribute.x.groups = { male = ['Mr.', 'Mr.'], female = ['Mrs.', 'Ms.'] }"
    assert spelled(tmp_path, text) == []


@given(st.text(st.sampled_from("ab \t\u00a0\u200b\u00ad\u2003"), max_size=8))
def test_a_word_is_stray_exactly_where_cleaning_changes_it(word: str) -> None:
    assert (lexicon_lint.stray(word) is None) == (lexicon_lint.cleaned(word) == word)
    assert lexicon_lint.stray(lexicon_lint.cleaned(word)) is None


@pytest.mark.parametrize(
    ("source", "target"),
    [
        *(("man", "men"), ("woman", "men"), ("wife", "wives"), ("child", "children"), ("lady", "ladies")),
        *(("boy", "boys"), ("actress", "actresses"), ("policeman", "policewomen"), ("person", "people")),
        *(("blind man", "deaf men"), ("son-in-law", "sons-in-law"), ("himself", "themselves")),
        *(("woman with a dog", "women with a cat"), ("midwife", "husbands and wives")),
    ],
)
def test_a_change_of_number_is_seen_in_both_directions(source: str, target: str) -> None:
    assert validation.changes_number(source, target)
    assert validation.changes_number(target, source)


@pytest.mark.parametrize(
    ("source", "target"),
    [
        *(("Mr", "Mrs"), ("man", "woman"), ("men", "women"), ("prince", "princess"), ("host", "hostess")),
        *(("his", "her"), ("blind man", "deaf man"), ("wife", "husband"), ("children", "people")),
        *(("Chinese", "African"), ("sons-in-law", "daughters-in-law"), ("Jewish", "Christian")),
    ],
)
def test_one_number_is_no_change(source: str, target: str) -> None:
    assert not validation.changes_number(source, target)


def test_words_that_differ_by_case_alone_are_a_fault_unless_the_case_is_meant() -> None:
    rows = "[['polish', 'french'], ['french', 'polish'], ['Polish', 'french'], ['french', 'Polish']]"
    plain = lexicon.parse(f"attribute.x.pairs = {rows}")
    assert list(validation.faults(plain)) == ["x: 'polish' and 'Polish' differ only in case"]
    meant = lexicon.parse(f"attribute.x = {{ pairs = {rows}, case_sensitive = ['Polish'] }}")
    assert list(validation.faults(meant)) == []


def tagged(text: str, parser: Parser) -> list[str]:
    return list(pair_checks.notes(lexicon.parse(text), parser))


def test_the_tagger_sees_what_no_form_shows(parser: Parser) -> None:
    text = "attribute.x.pairs = [['soviets', 'mexican'], ['dutchwoman', 'arabic'], ['man', 'men']]"
    assert tagged(text, parser) == [
        "x: soviets -> mexican seems to change number (plural, singular)",
        "x: dutchwoman -> arabic seems to change the part of speech (noun, adjective)",
    ]


def test_the_tagger_has_nothing_to_say_of_the_bundled_lexicon(parser: Parser) -> None:
    assert list(pair_checks.notes(lexicon.load(), parser)) == []
    assert list(lexicon_lint.faults()) == []


def test_of_the_published_pairs_few_terms_are_doubted(shared_data: Path, parser: Parser) -> None:
    doubted: dict[str, int] = {}
    for name in ("race", "gender", "body"):
        files = pairs.files([shared_data / "hinter" / "data" / name])
        words = lexicon.parse(pairs.to_toml(name, pairs.read(files)))
        doubted[name] = len(list(pair_checks.notes(words, parser)))
    assert doubted["gender"] == doubted["body"] == 0
    assert 0 < doubted["race"] <= 100  # of 3,996 pairs, most of them of "soviets" and "arabic"


# Import of groups

TABLE = """targetMinority,targetCategory
"[""Asian folks"", ""Irish folks""]","[""race""]"
"[""asian folks""]","[""race""]"
blind  people,disabled
deaf people,disabled
"[""black folks""]","[""race"", ""social""]"
"[]","[]"
all people,disabled
swedes,race
women/men,gender
Asian people,race
"""


def test_groups_become_phrases_that_replace_each_other(tmp_path: Path) -> None:
    file = tmp_path / "agg.csv"
    file.write_text(TABLE, encoding="utf-8")
    assert groups.is_table(file)
    found = groups.read([file])
    assert found.attributes == {
        "race": {"folks": ("Asian folks", "Irish folks")},
        "disabled": {"people": ("blind people", "deaf people")},
    }
    assert (found.phrases, found.rows) == (4, 9)
    reasons = [line.removeprefix(f"{file}: ") for line in found.dropped]
    assert reasons == [
        "line 8: 'all people' dropped: it is not a short description of a group",
        "line 9: 'swedes' dropped: it does not end in one of " + ", ".join(groups.PERSONS),
        "line 10: 'women/men' dropped: it names more than one group, or not in plain words",
        "line 11: 'Asian people' dropped: there is no other group of people to exchange it with",
    ]
    words = lexicon.parse(groups.to_toml(found))
    assert words.attributes["race"].pairs == (("Asian folks", "Irish folks"), ("Irish folks", "Asian folks"))
    assert list(validation.faults(words)) == []


def test_one_category_alone_may_be_asked_for(tmp_path: Path) -> None:
    file = tmp_path / "agg.csv"
    file.write_text(TABLE, encoding="utf-8")
    assert list(groups.read([file], "race").attributes) == ["race"]
    with pytest.raises(LexiconError, match=r"agg\.csv: no two groups of category 'age' can replace"):
        groups.read([file], "age")


def test_published_groups_become_a_lexicon_without_slurs(shared_data: Path, tmp_path: Path) -> None:
    file = shared_data / "sbic_groups" / "biasasker_groups.csv"
    found = groups.read([file])
    assert found.phrases + len(found.dropped) <= found.rows == 1262
    assert {"race", "gender", "body", "religion"} <= set(found.attributes)
    toml = tmp_path / "groups.toml"
    toml.write_text(groups.to_toml(found), encoding="utf-8")
    assert list(lexicon_lint.faults(toml)) == list(validation.faults(lexicon.load(toml))) == []
    words = {
        part.lower() for a in lexicon.load(toml).attributes.values() for w in a.words for part in w.split()
    }
    assert not words & {"retarded", "crippled", "gypsies", "rednecks", "ugly", "colored", "oriental"}


@pytest.mark.parametrize("content", [b"man;woman\n", b"", b"\xff\xfe", b"group,other\n"])
def test_what_is_no_table_of_groups(tmp_path: Path, content: bytes) -> None:
    file = tmp_path / "x.csv"
    file.write_bytes(content)
    assert not groups.is_table(file)
    assert not groups.is_table(tmp_path / "none.csv")


def test_faults_of_a_table_name_the_file(tmp_path: Path) -> None:
    file = tmp_path / "x.csv"
    file.write_bytes(b"group,category\nblind people,body\n")
    with pytest.raises(LexiconError, match=r"x\.csv: no two groups can replace each other"):
        groups.read([file])
    file.write_bytes(b"group,category\ncaf\xe9 people,body\n")
    with pytest.raises(LexiconError, match=r"x\.csv: not UTF-8"):
        groups.read([file])
