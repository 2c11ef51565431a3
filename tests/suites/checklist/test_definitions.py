"""Tests as templates in TOML: the bundled ones, what a file may say, and what is refused."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path

import pytest

from harness.errors import ConfigError
from harness.suites.checklist import definitions, tests
from harness.suites.checklist.items import Item

HEAD = '[[test]]\nname = "t"\ncapability = "c"\n'
MFT = f'{HEAD}type = "MFT"\ntemplates = ["{{city}} is fine."]\n'
INV = f'{HEAD}type = "INV"\ntemplates = ["{{city}} is fine."]\n'


def load(folder: Path, content: str, seed: int = 0) -> list[Item]:
    file = folder / "mine.toml"
    file.write_text(content, encoding="utf-8")
    return list(tests.load(file, seed=seed).items)


@pytest.fixture(scope="module")
def bundled() -> tests.Tests:
    return tests.load()


def test_the_bundled_tests_cover_what_checklist_does(bundled: tests.Tests) -> None:
    assert len({item.test for item in bundled.items}) >= 30
    assert len(bundled.items) >= 3_000
    assert {item.kind for item in bundled.items} == {"MFT", "INV", "DIR"}
    assert {item.capability for item in bundled.items} == {
        "Vocabulary", "Taxonomy", "Robustness", "Named entities", "Temporal", "Negation", "Fairness",
        "Semantic roles", "Coreference",
    }  # fmt: skip
    assert min(Counter(item.test for item in bundled.items).values()) >= 20


def test_the_bundled_texts_are_whole(bundled: tests.Tests) -> None:
    for item in bundled.items:
        assert len(set(item.texts)) == len(item.texts), item
        assert (item.kind == "MFT") == (len(item.texts) == 1) == (item.expected is not None), item
        for text in item.texts[:1]:
            assert not re.search(r"[{}]|\s\s|\b(\w+) \1\b|^\s|\s$|\ba [aeio]|\ban [^aeiouhx]", text, re.I), (
                text
            )
            assert text[0].isupper(), text


def test_the_bundled_cases_are_of_the_seed(bundled: tests.Tests) -> None:
    assert bundled == tests.load(seed=0)
    assert bundled.items != tests.load(seed=1).items


def test_every_bundled_lexicon_is_used() -> None:
    written = tests.BUNDLED.read_text(encoding="utf-8")
    assert not [name for name in definitions.bundled() if not re.search(rf"\b{name}\b", written)]


def test_a_test_of_ones_own(tmp_path: Path) -> None:
    own = '[lexicon]\ndish = ["soup", "stew"]\n'
    body = 'type = "MFT"\ntemplates = ["{city} has {dish}."]\nexpected = ["positive", "neutral"]\ncases = 7\n'
    items = load(tmp_path, own + HEAD + body)
    assert len(items) == 7
    assert {text.split()[-1] for item in items for text in item.texts} == {"soup.", "stew."}
    assert items[0].expected == frozenset(["positive", "neutral"])
    assert [item.case for item in items] == list("0123456")


def test_a_lexicon_of_ones_own_takes_the_place_of_a_bundled_one(tmp_path: Path) -> None:
    items = load(tmp_path, f'[lexicon]\ncity = ["Ulm"]\n{MFT}label = "neutral"\n')
    assert [item.texts for item in items] == [("Ulm is fine.",)]


def test_changes_by_name_and_with_settings(tmp_path: Path) -> None:
    items = load(tmp_path, f'{INV}change = ["upper_case", {{ by = "append", texts = ["So be it."] }}]\n')
    assert all(item.texts[1:] == (item.texts[0].upper(), f"{item.texts[0]} So be it.") for item in items)


def test_what_a_change_leaves_alone_is_no_case(tmp_path: Path) -> None:
    text = f'{HEAD}type = "INV"\ntemplates = ["{{city}} is fine.", "It is fine."]\nchange = ["places"]\n'
    assert len(load(tmp_path, text)) == len(definitions.bundled()["city"])
    with pytest.raises(ConfigError, match="test 't': its templates give no case"):
        load(tmp_path, text.replace('"{city} is fine.", ', ""))


def test_a_slot_varies(tmp_path: Path) -> None:
    items = load(tmp_path, f'{INV}vary = "city"\nvariants = 3\n')
    assert [len(item.texts) for item in items] == [3]


def test_a_direction(tmp_path: Path) -> None:
    body = (
        'type = "DIR"\nexpect = "no less positive"\ntolerance = 0.2\ntemplates = [["{city}.", "{city}!"]]\n'
    )
    items = load(tmp_path, HEAD + body)
    assert {(item.direction, item.tolerance) for item in items} == {("no less positive", 0.2)}


@pytest.mark.parametrize(
    ("content", "says"),
    [
        (f'{MFT}lable = "neutral"', "test 't': unknown key 'lable': known are name, type, capability"),
        ('[[test]]\ntype = "MFT"', "test 1: 'name' is missing"),
        ("[lexicons]", "unknown key 'lexicons': known are lexicon, test"),
        ("[test]", "test: write each test as"),
        (f'{MFT}label = "glad"', "test 't': label: unknown label 'glad'"),
        (MFT, "test 't': an MFT has either 'label' or 'expected'"),
        (f'{MFT}label = 1\nchange = ["typos"]', "test 't': an MFT has templates of one text each"),
        (f'{MFT}label = 1\nexpect = "no less positive"', "test 't': 'expect' is for a DIR"),
        (INV, "test 't': a template of one text needs 'change' or 'vary'"),
        (f'{INV}change = ["typo"]', "test 't': change: unknown change 'typo': known are typos, contract"),
        (f'{INV}change = [{{ by = "typos", cuont = 2 }}]', "test 't': change: unknown key 'cuont'"),
        (f'{INV}change = [{{ by = "typos", count = 0 }}]', "test 't': change.0.typos.count: Input should be"),
        (f'{INV}change = [{{ by = "append" }}]', "test 't': 'texts' is missing"),
        (f'{INV}change = [{{ by = "swap", lexicons = ["towns"] }}]', "test 't': change: there is no lexicon"),
        (f'{INV}vary = "town"', "test 't': 'vary': each template needs the slot 'town'"),
        (f'{INV}vary = "city"\nchange = ["typos"]', "test 't': with 'vary', a template is one text"),
        (f'{INV}change = ["typos"]\nlabel = 1', "test 't': 'label' and 'expected' are for an MFT"),
        (INV.replace("INV", "DIR"), "test 't': a DIR has 'expect'"),
        (
            INV.replace("city", "town") + 'change = ["typos"]',
            "test 't': templates: '{town} is fine.': there is",
        ),
        (f"{MFT}label = 1\n{MFT}label = 1", "test 't' is given twice"),
        (f'[lexicon]\nmy2 = ["a"]\n{MFT}label = 1', "lexicon 'my2': a name has letters"),
        (f"[lexicon]\nmy = []\n{MFT}label = 1", "lexicon 'my': give a list of words"),
        (f"[lexicon]\nmy = [3]\n{MFT}label = 1", "lexicon 'my': 3 is no word"),
        ("[[test]", "not valid TOML"),
        ("", "no tests found"),
    ],
)
def test_what_is_wrong_is_one_line_with_the_file_and_the_key(tmp_path: Path, content: str, says: str) -> None:
    with pytest.raises(ConfigError) as raised:
        load(tmp_path, content)
    message = str(raised.value)
    assert message.startswith(f"{tmp_path / 'mine.toml'}: {says}"), message
    assert "\n" not in message
