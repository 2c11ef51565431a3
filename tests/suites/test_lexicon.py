"""A lexicon is read whole or refused with the file and the key; its terms are found as words."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.errors import LexiconError
from harness.suites import lexicon
from harness.suites.hinter import pairs, validation
from harness.suites.lexicon import Attribute, Exchange, Lexicon


def attribute(*rows: tuple[str, str], case_sensitive: tuple[str, ...] = ()) -> Attribute:
    listed = ", ".join(f'["{source}", "{target}"]' for source, target in rows)
    sensitive = ", ".join(f'"{word}"' for word in case_sensitive)
    text = f"[attribute.one]\npairs = [{listed}]\ncase_sensitive = [{sensitive}]"
    return lexicon.parse(text).attributes["one"]


def terms(*words: str, case_sensitive: tuple[str, ...] = ()) -> Attribute:
    return attribute(*((word, "other") for word in words), case_sensitive=case_sensitive)


# Reading


def test_aligned_groups_exchange_the_words_of_one_place() -> None:
    text = """
    [attribute.gender]
    description = "who"
    case_sensitive = ["Miss"]
    [attribute.gender.groups]
    male = ["man", "Mr.", "Mr."]
    female = ["woman", "Mrs.", "Miss"]
    """
    gender = lexicon.parse(text).attributes["gender"]
    assert gender.pairs == (
        ("man", "woman"),
        ("Mr.", "Mrs."),
        ("Mr.", "Miss"),
        ("woman", "man"),
        ("Mrs.", "Mr."),
        ("Miss", "Mr."),
    )
    assert gender.words == ("man", "Mr.", "woman", "Mrs.", "Miss")
    assert gender.groups["female"] == ("woman", "Mrs.", "Miss")
    assert (gender.description, gender.case_sensitive) == ("who", frozenset(["Miss"]))


def test_across_exchanges_with_every_word_of_the_other_groups() -> None:
    text = """
    [[attribute.race.sets]]
    pairing = "across"
    groups = { europe = ["British"], asia = ["Indian", "Thai"], both = ["Russian"] }
    """
    assert lexicon.parse(text).attributes["race"].targets == {
        "British": ("Indian", "Thai", "Russian"),
        "Indian": ("British", "Russian"),
        "Thai": ("British", "Russian"),
        "Russian": ("British", "Indian", "Thai"),
    }


def test_pairs_are_directed_and_repeats_and_selves_fall_away() -> None:
    text = 'attribute.x.pairs = [["man", "woman"], ["man", "woman"], ["man", "man"], [" the  man ", "lad"]]'
    assert lexicon.parse(text).attributes["x"].pairs == (("man", "woman"), ("the man", "lad"))


def test_sets_groups_and_pairs_of_one_attribute_add_up() -> None:
    text = """
    [attribute.x]
    pairs = [["e", "f"]]
    groups = { one = ["a"], two = ["b"] }
    [[attribute.x.sets]]
    groups = { one = ["a"], two = ["c"] }
    """
    x = lexicon.parse(text).attributes["x"]
    assert x.targets == {"a": ("b", "c"), "b": ("a",), "c": ("a",), "e": ("f",)}
    assert x.groups == {"one": ("a",), "two": ("b", "c")}


def test_an_exchange_names_its_groups_and_what_its_words_are() -> None:
    text = """
    [[attribute.race.sets]]
    form = "adjective"
    groups = { african = ["African"], asian = ["Thai"] }
    [[attribute.race.sets]]
    form = "noun"
    groups = { african = ["African"], asian = ["Thai"], other = ["Briton"] }
    [[attribute.race.sets]]
    form = "noun"
    groups = { african = ["African"], asian = ["Thai"] }
    """
    race = lexicon.parse(text).attributes["race"]
    assert race.exchanges["African"] == (
        Exchange("African", "Thai", "african", "asian", "adjective"),
        Exchange("African", "Thai", "african", "asian", "noun"),
        Exchange("African", "Briton", "african", "other", "noun"),
    )
    assert race.targets["African"] == ("Thai", "Briton")


def test_form_and_limits_of_an_attribute_hold_for_its_own_groups_and_pairs() -> None:
    text = """
    [attribute.job]
    form = "noun"
    word_only = true
    groups = { male = ["guard"], female = ["nurse"] }
    pairs = [["cook", "chef"]]
    [[attribute.job.sets]]
    groups = { male = ["he"], female = ["she"] }
    """
    job = lexicon.parse(text).attributes["job"]
    assert job.exchanges["guard"] == (Exchange("guard", "nurse", "male", "female", "noun", word_only=True),)
    assert job.exchanges["cook"] == (Exchange("cook", "chef", "cook", "chef", "noun", word_only=True),)
    assert job.exchanges["he"] == (Exchange("he", "she", "male", "female", None, word_only=False),)


@pytest.mark.parametrize(
    ("source", "target", "operation"),
    [
        ("women", "disabled women", "insertion"),
        ("women", "women with mental illness", "insertion"),
        ("Women", "trans women", "insertion"),
        ("disabled women", "women", "removal"),
        ("disabled women", "women with mental illness", "exchange"),
        ("old women", "women old", "exchange"),
        ("man", "woman", "exchange"),
        ("father", "father-in-law", "exchange"),
    ],
)
def test_the_operation_of_an_exchange_follows_from_its_words(
    source: str, target: str, operation: str
) -> None:
    assert Exchange(source, target, "one", "two").operation == operation


FAULTS = {
    "not TOML": ("attribute = [", "not valid TOML"),
    "nothing": ("", "no [attribute.NAME] table"),
    "no attribute": ("[attribute]", "no [attribute.NAME] table"),
    "attribute is no table": ("attribute = 3", "no [attribute.NAME] table"),
    "unknown key at the top": ("[atribute.x]", "'atribute'"),
    "one attribute is no table": ("attribute.x = 3", "attribute.x must be a table"),
    "unknown key": ("attribute.x.pair = []", "attribute.x: unknown key 'pair'"),
    "unknown form": (
        "[[attribute.x.sets]]\nform = 'verb'\ngroups = { a = ['a'], b = ['b'] }",
        "attribute.x.sets[1]: form 'verb' is not one of adjective, noun, nouns, pronoun, title, state, name",
    ),
    "form of groups": (
        "attribute.x = { form = 1, groups = { a = ['a'], b = ['b'] } }",
        "attribute.x.groups: form 1 is not one of adjective",
    ),
    "form of pairs": ("attribute.x = { form = [], pairs = [['a', 'b']] }", "attribute.x: form [] is not"),
    "word_only is no truth value": (
        "[[attribute.x.sets]]\nword_only = 'yes'\ngroups = { a = ['a'], b = ['b'] }",
        "attribute.x.sets[1]: word_only must be true or false, not 'yes'",
    ),
    "empty": ("[attribute.x]", "attribute.x is empty"),
    "empty groups": ("attribute.x.groups = { a = [], b = [] }", "attribute.x is empty"),
    "one group": ("attribute.x.groups = { a = ['man'] }", "attribute.x is empty"),
    "a word for itself": ("attribute.x.pairs = [['man', 'man']]", "attribute.x is empty"),
    "groups are no table": ("attribute.x.groups = ['man']", "attribute.x.groups needs a table of groups"),
    "unequal": (
        "attribute.x.groups = { a = ['man', 'boy'], b = ['woman'] }",
        "attribute.x.groups: aligned groups must have the same length, but a has 2, b has 1",
    ),
    "unequal in a set": (
        "[attribute.x]\ngroups = { a = ['man'], b = ['woman'] }\n"
        "[[attribute.x.sets]]\ngroups = { a = ['man'], b = [] }",
        "attribute.x.sets[1]: aligned groups",
    ),
    "unknown pairing": ("attribute.x = { groups = { a = ['a'], b = ['b'] }, pairing = 'all' }", "'all'"),
    "unknown key of a set": ("[[attribute.x.sets]]\ngroups = { a = ['a'] }\nwhy = 1", "sets[1]: unknown key"),
    "a set without groups": ("[[attribute.x.sets]]\nname = 'a'", "sets[1] needs a table of groups"),
    "sets are no list": ("attribute.x.sets = 5", "attribute.x.sets must be a list"),
    "words are no list": ("attribute.x.groups = { a = 'man', b = ['b'] }", "attribute.x.groups.a must be"),
    "a word is no text": ("attribute.x.groups = { a = [1], b = ['b'] }", "attribute.x.groups.a must be"),
    "a word is blank": ("attribute.x.pairs = [['man', ' ']]", "attribute.x.pairs[1] must be"),
    "pairs are no list": ("attribute.x.pairs = 'man'", "attribute.x.pairs must be a list"),
    "a pair of three": ("attribute.x.pairs = [['a', 'b'], ['a', 'b', 'c']]", "attribute.x.pairs[2] must be"),
    "a pair is no list": ("attribute.x.pairs = ['ab']", "attribute.x.pairs[1] must be"),
    "case_sensitive is no list": (
        "attribute.x = { pairs = [['a', 'b']], case_sensitive = 'a' }",
        "attribute.x.case_sensitive must be",
    ),
}


@pytest.mark.parametrize(("text", "says"), FAULTS.values(), ids=FAULTS.keys())
def test_every_fault_names_file_and_key_in_one_line(tmp_path: Path, text: str, says: str) -> None:
    file = tmp_path / "words.toml"
    file.write_text(text, encoding="utf-8")
    with pytest.raises(LexiconError) as caught:
        lexicon.load(file)
    message = str(caught.value)
    assert message.startswith(f"{file}: ")
    assert says in message
    assert "\n" not in message


def test_faults_of_files(tmp_path: Path) -> None:
    with pytest.raises(LexiconError, match=r"none\.toml: No such file"):
        lexicon.load(tmp_path / "none.toml")
    with pytest.raises(LexiconError, match=r"this folder has no \*\.toml file"):
        lexicon.load(tmp_path)
    (tmp_path / "a.toml").write_bytes("attribute.x.pairs = [['fiancé', 'b']]".encode("latin-1"))
    with pytest.raises(LexiconError, match=r"a\.toml: not UTF-8 at byte 28"):
        lexicon.load(tmp_path / "a.toml")
    for name in ("a", "b"):
        (tmp_path / f"{name}.toml").write_text("attribute.x.pairs = [['a', 'b']]", encoding="utf-8")
    with pytest.raises(LexiconError, match=r"b\.toml: attribute 'x' is defined twice"):
        lexicon.load(tmp_path)


def test_selection_is_in_the_order_asked_and_names_what_is_unknown() -> None:
    words = lexicon.parse("attribute.x.pairs = [['a', 'b']]\nattribute.y.pairs = [['c', 'd']]", "mine.toml")
    assert list(words.select(["y", "x"]).attributes) == ["y", "x"]
    with pytest.raises(LexiconError, match=r"unknown attribute 'z': mine\.toml has x, y"):
        words.select(["z"])
    with pytest.raises(LexiconError, match="attribute 'x' is given twice"):
        words.select(["x", "x"])


def test_an_own_attribute_takes_the_place_of_a_bundled_one_that_is_not_usual(tmp_path: Path) -> None:
    for name in ("religion", "race"):
        text = f"attribute.{name}.pairs = [['one', 'other'], ['other', 'one']]"
        (tmp_path / f"{name}.toml").write_text(text, encoding="utf-8")
    added = lexicon.choose([f"+{tmp_path / 'religion.toml'}"], ["religion", "age"])
    assert added.attributes["religion"].words == ("one", "other")
    assert "elderly" in added.attributes["age"].words
    with pytest.raises(LexiconError, match=r"race\.toml: attribute 'race' is in the bundled lexicon, too"):
        lexicon.choose([f"+{tmp_path / 'race.toml'}"], ["race"])


def test_the_digest_covers_what_the_dictionaries_do_and_no_more() -> None:
    def digest(text: str) -> str:
        return lexicon.parse(text).digest

    base = digest("attribute.x.pairs = [['a', 'b'], ['b', 'a']]")
    assert base == digest("attribute.x = { description = 'd', groups = { one = ['a'], two = ['b'] } }")
    assert base != digest("attribute.x.pairs = [['a', 'b']]")
    assert base != digest("attribute.y.pairs = [['a', 'b'], ['b', 'a']]")
    assert base != digest("attribute.x = { pairs = [['a', 'b'], ['b', 'a']], case_sensitive = ['a'] }")
    assert base != digest("attribute.x = { pairs = [['a', 'b'], ['b', 'a']], word_only = true }")
    assert base != digest("attribute.x = { pairs = [['a', 'b'], ['b', 'a']], form = 'noun' }")


# Finding


def found(one: Attribute, text: str) -> list[tuple[str, str]]:
    spans = [(span, term) for term, some in one.find(text).items() for span in some]
    return [(term, text[start:end]) for (start, end), term in sorted(spans)]


@pytest.mark.parametrize(
    "text",
    [
        *("the man", "Man, what a film", "MAN", "(man)", "“man”", "man-", "*man*", "men and man."),
        *("the man's dog", "the man’s dog", "a man...", "man/woman", "man\n", "man–woman"),
    ],
)
def test_a_word_is_found(text: str) -> None:
    assert [term for term, _ in found(terms("man"), text)] == ["man"]


@pytest.mark.parametrize(
    "text",
    ["", "human", "mankind", "man-made", "ex-man", "man_1", "2man", "mán", "m an", "self-made-man", "mans"],
)
def test_no_part_of_a_word_is_found(text: str) -> None:
    assert terms("man").find(text) == {}


def test_a_compound_is_not_its_parts() -> None:
    race = terms("African", "American", "African American")
    assert race.find("the African-American actor") == {}
    assert found(race, "an African American, an African and an American") == [
        ("African American", "African American"),
        ("African", "African"),
        ("American", "American"),
    ]


def test_words_across_a_line_break_are_one_term() -> None:
    text = "a native \n\tamerican man"
    assert found(terms("Native American"), text) == [("Native American", "native \n\tamerican")]


def test_terms_with_a_full_stop() -> None:
    titles = terms("Mr.", "Mr")
    assert found(titles, "Mr. Fox met Mr Fox, Mr.") == [("Mr.", "Mr."), ("Mr", "Mr"), ("Mr.", "Mr.")]


def test_case_sensitive_terms_are_found_as_written_or_in_capitals() -> None:
    polish = terms("Polish", "lady", case_sensitive=("Polish", "lady"))
    text = "Polish polish, POLISH Lady, lady LADY"
    assert [w for _, w in found(polish, text)] == ["Polish", "POLISH", "lady", "LADY"]


def test_a_case_sensitive_term_does_not_hide_a_shorter_one() -> None:
    one = terms("Native American", "American", case_sensitive=("Native American",))
    assert found(one, "a native American") == [("American", "American")]


@pytest.mark.parametrize("text", ["my ſon", "the kİng", "the kıng", "KING and \u212aing"])
def test_letters_that_only_look_alike_to_the_matcher_do_no_harm(text: str) -> None:
    assert {term for term, _ in found(terms("son", "king"), text)} <= {"king"}


WORDS = ["man", "Man", "old man", "woman", "old", "Mr.", "Mr", "Mrs.", "non-white", "white", "red", "fiancé"]
GLUE = [" ", "  ", "\n", "-", ".", "'s ", "’s ", ", ", "", "x", "“", "_", "ſ", "İ"]


@given(
    st.lists(st.sampled_from(WORDS), min_size=1, unique=True),
    st.lists(st.sampled_from(WORDS), max_size=3),
    st.lists(st.sampled_from([*WORDS, *(w.upper() for w in WORDS), *GLUE]), max_size=20).map("".join),
)
def test_what_is_found_is_disjoint_and_is_the_term(words: list[str], sensitive: list[str], text: str) -> None:
    one = terms(*words, case_sensitive=tuple(sensitive))
    spans = [(span, term) for term, some in one.find(text).items() for span in some]
    for (start, end), term in spans:
        assert term in one.targets
        assert " ".join(text[start:end].split()).lower() == term.lower()
        if term in sensitive:
            assert " ".join(text[start:end].split()) in (term, term.upper())
        assert not text[start - 1 : start].isalnum()
        assert not text[end : end + 1].isalnum()
    assert all(a[0][1] <= b[0][0] for a, b in pairwise(sorted(spans)))


# Validation


def faults(text: str) -> list[str]:
    return list(validation.faults(lexicon.parse(text)))


def test_validation_names_each_fault() -> None:
    text = """
    [attribute.x]
    pairs = [["man", "woman"], ["boy", "boys"], ["boys", "boy"]]
    case_sensitive = ["Miss"]
    """
    assert faults(text) == [
        "x: man -> woman has no mirror woman -> man",
        "x: boy -> boys changes number",
        "x: boys -> boy changes number",
        "x: case_sensitive word 'Miss' is not a term",
    ]


def test_a_sound_lexicon_has_no_fault() -> None:
    assert faults("attribute.x.groups = { a = ['man', 'Mr'], b = ['woman', 'Mrs'] }") == []


def test_a_term_of_two_attributes_is_noted() -> None:
    text = "attribute.x.pairs = [['man', 'lad']]\nattribute.y.pairs = [['Man', 'old man'], ['a', 'b']]"
    assert list(validation.notes(lexicon.parse(text))) == ["'man' is a term of x and y"]


# Import of published pairs


def published(folder: Path) -> list[Path]:
    """The published pair files; two word lists of one column have an underscore in their names too."""
    files = sorted((folder / "hinter" / "data").glob("**/*_*.csv"))
    return [file for file in files if file.name not in ("male_job.csv", "female_job.csv")]


def test_the_published_pairs_import_and_load_again(shared_data: Path) -> None:
    files = published(shared_data)
    assert len(files) == 38
    for file in files:
        imported = pairs.read([file])
        assert imported.rows == len(imported.pairs) + len(imported.dropped)
        assert all(f"{file}: line " in line and "dropped: " in line for line in imported.dropped)
        assert all(word == word.strip() for pair in imported.pairs for word in pair)
        again = lexicon.parse(pairs.to_toml("x", imported)).attributes["x"]
        assert set(again.pairs) == set(imported.pairs)


@pytest.mark.parametrize(("name", "unordered"), [("race", 2046), ("gender", 552), ("body", 392)])
def test_the_published_attributes_import_whole(shared_data: Path, name: str, unordered: int) -> None:
    imported = pairs.read([file for file in published(shared_data) if file.parent.name == name])
    distinct = {frozenset(pair) for pair in imported.pairs}
    # The README's counts; a row that exchanges a word for itself is the one thing more that is dropped.
    assert unordered - 2 <= len(distinct) <= unordered
    assert lexicon.parse(pairs.to_toml(name, imported)).attributes[name].find("the man of a disabled Asian")


def test_a_published_word_list_is_no_list_of_pairs(shared_data: Path) -> None:
    with pytest.raises(LexiconError, match=r"male_job\.csv: line 1: 1 fields, not source;target"):
        pairs.read([shared_data / "hinter" / "data" / "gender" / "male_job.csv"])


def test_what_an_import_drops_is_said_with_its_reason(tmp_path: Path) -> None:
    file = tmp_path / "a_b.csv"
    file.write_text("\ufeffactor ;actress\n\nman;woman\nactor;actress\nman;Man\n;x\n", encoding="utf-8")
    imported = pairs.read([file])
    assert imported.pairs == (("actor", "actress"), ("man", "woman"))
    assert imported.rows == 5
    assert imported.dropped == (
        f"{file}: line 4: 'actor;actress' dropped: already at {file}: line 1",
        f"{file}: line 5: 'man;Man' dropped: both words are the same",
        f"{file}: line 6: ';x' dropped: a word is missing",
    )


@pytest.mark.parametrize(
    ("content", "says"),
    [
        (b"man\n", "line 1: 1 fields"),
        (b"a;b\na;b;c\n", "line 2: 3 fields"),
        (b"", "no usable pairs"),
        (b"man;man\n", "no usable pairs"),
        (b"a;\xe9\n", "not UTF-8 at byte 2"),
    ],
)
def test_faults_of_an_import(tmp_path: Path, content: bytes, says: str) -> None:
    file = tmp_path / "a_b.csv"
    file.write_bytes(content)
    with pytest.raises(LexiconError) as caught:
        pairs.read([file])
    assert str(file) in str(caught.value)
    assert says in str(caught.value)


def test_an_import_quotes_whatever_the_words_hold(tmp_path: Path) -> None:
    file = tmp_path / "a_b.csv"
    file.write_text('a "b" \\ c;d\'e\n', encoding="utf-8")
    words: Lexicon = lexicon.parse(pairs.to_toml("x.y", pairs.read([file])))
    assert words.attributes["x.y"].pairs == (('a "b" \\ c', "d'e"),)
