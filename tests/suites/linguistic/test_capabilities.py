"""Table 1 as data: eleven capabilities, and what a user's file may add or get wrong."""

from __future__ import annotations

from pathlib import Path

import pytest

from harness.errors import ConfigError
from harness.suites.linguistic import capabilities
from harness.suites.linguistic.capabilities import Capability, Rule

BUNDLED = capabilities.load()
EXPECTED = {
    "LC1": [{"neutral"}],
    "LC2": [{"positive"}, {"negative"}],
    "LC3": [{"negative"}, {"positive"}],
    "LC4": [{"positive", "neutral"}],
    "LC5": [{"neutral"}],
    "LC6": [{"positive", "neutral"}],
    "LC7": [{"negative"}],
    "LC8": [{"negative"}, {"positive"}],
    "LC9": [{"positive"}, {"negative"}],
    "LC10": [{"negative"}],
    "LC11": [{"positive", "neutral"}],
}
MINIMAL = """
[own]
[[own.variant]]
expected = ["neutral"]
search.sentence = { label = ["neutral"] }
"""


def test_the_bundled_ones_are_the_eleven_of_table_1() -> None:
    assert {name: [set(v.expected) for v in c.variants] for name, c in BUNDLED.by_name.items()} == EXPECTED


def test_the_paper_s_rules_and_wordings_are_kept_under_a_name() -> None:
    paper = capabilities.load("paper")
    assert {name: [set(v.expected) for v in c.variants] for name, c in paper.by_name.items()} == EXPECTED
    assert paper.digest != BUNDLED.digest


def test_only_the_capabilities_without_a_template_are_validated_by_their_rules_again() -> None:
    validated = {name for name, c in BUNDLED.by_name.items() if all(v.validate for v in c.variants)}
    assert validated == {"LC1", "LC2"}
    kinds = {v.transformation for name in validated for v in BUNDLED.by_name[name].variants}
    assert kinds == {"none"}


def test_how_a_seed_is_made_is_said() -> None:
    kinds = {name: {v.transformation for v in c.variants} for name, c in BUNDLED.by_name.items()}
    assert kinds["LC4"] == kinds["LC5"] == {"negation"}
    assert all(kinds[f"LC{n}"] == {"template"} for n in (3, 6, 7, 8, 9, 10, 11))


def test_a_selection_keeps_its_order_and_refuses_what_is_unknown() -> None:
    assert list(BUNDLED.select(["LC4", "LC1"]).by_name) == ["LC4", "LC1"]
    with pytest.raises(ConfigError, match="unknown capability 'LC12', known capabilities: LC1, LC2"):
        BUNDLED.select(["LC12"])


def test_a_users_file_adds_and_replaces(tmp_path: Path) -> None:
    file = tmp_path / "own.toml"
    file.write_text(MINIMAL + MINIMAL.replace("own", "LC1"), encoding="utf-8")
    found = capabilities.load(file)
    assert list(found.by_name) == [*EXPECTED, "own"]
    assert found.by_name["own"] == Capability("own", "own", found.by_name["own"].variants)
    assert found.by_name["LC1"].variants[0].search["sentence"] == Rule(frozenset(["neutral"]))
    assert found.digest != BUNDLED.digest


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (("[own]", "[own]\nname = 1"), r"own\.name: unknown key"),
        (
            ('expected = ["neutral"]', ""),
            r"own\.variant 1\.expected: must be a list of one or more of positive",
        ),
        (('expected = ["neutral"]', 'expected = ["glad"]'), r"own\.variant 1\.expected"),
        (("{ label", "{ lable"), r"own\.variant 1\.search\.sentence\.lable: unknown key"),
        (('["neutral"] }', '["neutral"], include = ["glad nouns"] }'), r"include: 'glad nouns' is not"),
        (('["neutral"] }', '["neutral"], shorter_than = 0 }'), r"shorter_than: must be a number of words"),
        (('["neutral"] }', '["neutral"], start = ["This"] }'), r"start: must be a list of texts"),
        (('["neutral"] }', '["neutral"], start = 1 }'), r"start: must be a list"),
        (
            ('["neutral"] }', '["neutral"], form = "verse" }'),
            r"form: must be one of plain, statement, nameless, singular, claim, copula",
        ),
        (
            ('["neutral"] }', '["neutral"], include = [["neutral nouns"]] }'),
            r"include: \['neutral nouns'\] is not",
        ),
        (('expected = ["neutral"]', 'expected = [["neutral"]]'), r"expected: must be a list of one or more"),
        (("expected", "template = 1\nexpected"), r"own\.variant 1\.template: must be a list"),
        (("search.sentence", "search = 1 #"), r"search: say what to search for"),
        (("expected", 'template = ["{other}"]\nexpected'), r"'\{other\}' is neither a list of wordings nor"),
        (("expected", 'template = [["I think"]]\nexpected'), r"template: must have each searched sentence"),
        (("expected", "negate = true\nexpected"), r'negate: needs form = "copula" or a start of two words'),
        (("[[own.variant]]", "[own.variant]"), r"own\.variant: give one or more"),
        (("[own]", "[own"), r"not valid TOML"),
    ],
)
def test_a_wrong_file_is_named_with_the_key(tmp_path: Path, change: tuple[str, str], message: str) -> None:
    file = tmp_path / "own.toml"
    file.write_text(MINIMAL.replace(*change), encoding="utf-8")
    with pytest.raises(ConfigError, match=message) as raised:
        capabilities.load(file)
    assert str(raised.value).startswith(str(file))


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"absent\.toml: No such file"):
        capabilities.load(tmp_path / "absent.toml")
