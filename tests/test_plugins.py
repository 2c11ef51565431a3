"""What comes through the door is checked: a package's fault is one line that names it."""

from __future__ import annotations

from pathlib import Path

import pytest

from harness import config, registry
from harness.audit import assembly
from harness.errors import ConfigError
from harness.plugins import Options, Suite
from tests.packages import TYPOS, install

HEAD = """
from harness.plugins import *
class Nothing(Options):
    pass
class Base(Suite):
    name = "broken"
    def cases(self, documents):
        return iter(())
    def judge(self, group, outcomes):
        return iter(())
"""
MADE = """
def make(options, kit):
    return Made()
plugin = SuitePlugin(name="broken", about="", options=Nothing, make=make)
"""


@pytest.mark.parametrize("name", registry.BUILT_IN[registry.SUITE_GROUP])
def test_a_built_in_suite_is_a_plug_in(name: str) -> None:
    plugin = registry.suite_plugin(name)
    assert plugin.name == name
    assert plugin.about
    assert issubclass(plugin.options, Options)
    assert all(field.description for field in plugin.options.model_fields.values())


@pytest.mark.parametrize(
    ("source", "says"),
    [
        (
            "import nothing_of_the_kind",
            "does not load: ModuleNotFoundError: No module named 'nothing_of_the_",
        ),
        ("1 +", "does not load: SyntaxError"),
        ("plug = 1", "does not load: AttributeError"),
        ("plugin = 1", "is a int, not a SuitePlugin"),
        (
            f"{HEAD}\nplugin = SuitePlugin(name='other', about='', options=Nothing, make=Base)",
            "calls itself 'other': give both one name",
        ),
        (
            f"{HEAD}\nplugin = SuitePlugin(name='broken', about='', options=dict, make=Base)",
            "its options are no class derived from Options",
        ),
        (f"{HEAD}\nclass Made: pass\n{MADE}", "makes a Made, not a Suite"),
        (f"{HEAD}\ndef Made(): return None\n{MADE}", "makes a NoneType, not a Suite"),
        (f"{HEAD}\ndef Made(): raise ValueError('no\\nluck')\n{MADE}", "fails: ValueError: no luck"),
        (
            f"{HEAD}\nclass Made(Suite):\n    name = 'broken'\n    def cases(self, documents): ...\n{MADE}",
            "fails: TypeError: Can't instantiate abstract class Made with abstract method judge",
        ),
        (
            f"{HEAD}\nclass Made(Base):\n    by_documents = True\n{MADE}",
            "Made.by_documents is no member of Suite: did you mean by_document?",
        ),
        (
            f"{HEAD}\nclass Made(Base):\n    def figure(self, tables): ...\n{MADE}",
            "Made.figure is no member of Suite: did you mean figures?",
        ),
    ],
)
def test_what_is_wrong_with_a_package_is_one_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest, source: str, says: str
) -> None:
    package = f"broken_{abs(hash(request.node.name))}"
    monkeypatch.syspath_prepend(install(tmp_path, package, source, {"harness.suites:broken": "plugin"}))
    with pytest.raises(ConfigError) as raised:
        assembly.make_suite(config.load(None, {"suite": "broken"}))
    assert str(raised.value).startswith("harness.suites: 'broken' of package ")
    assert package in str(raised.value)
    assert says in str(raised.value)
    assert "\n" not in str(raised.value)


def test_a_member_of_ones_own_is_no_misspelling(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """``case`` is close to ``cases``, which the class has."""
    source = f"{HEAD}\nclass Made(Base):\n    def case(self): ...\n    letters = 3\n{MADE}"
    monkeypatch.syspath_prepend(install(tmp_path, "fine", source, {"harness.suites:broken": "plugin"}))
    suite = assembly.make_suite(config.load(None, {"suite": "broken"}))
    assert isinstance(suite, Suite)
    assert not suite.by_document


def test_a_name_is_given_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    install(tmp_path, "typos_one", TYPOS, {"harness.suites:typos": "plugin"})
    monkeypatch.syspath_prepend(install(tmp_path, "typos_two", TYPOS, {"harness.suites:typos": "plugin"}))
    with pytest.raises(ConfigError, match="'typos' is in two packages, typos_"):
        config.load(None, {"suite": "typos"})
    plugins, faults = registry.suite_plugins()
    assert [plugin.name for plugin in plugins] == list(registry.BUILT_IN[registry.SUITE_GROUP])
    assert len(faults) == 1


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("suite = 'typos'\n[typos]\nleters = 2", "unknown key 'typos.leters': known are letters, upper"),
        ("suite = 'typos'\n[typos]\nletters = 0", "typos.letters: .*, not 0"),
        ("suite = 'eec'\n[typos]\nletters = 'x'", "typos.letters: .*, not 'x'"),
        ("suite = 'typos'\n[hinter]\nordre = 2", "unknown key 'hinter.ordre': known are attributes"),
        ("[typo]\nletters = 2", "unknown key 'typo': known are .*, typos, workers"),
        ("[suite_options]\nletters = 2", "unknown key 'suite_options'"),
    ],
)
def test_the_section_of_a_package_is_checked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, text: str, says: str
) -> None:
    monkeypatch.syspath_prepend(
        install(tmp_path, "typos_sections", TYPOS, {"harness.suites:typos": "plugin"})
    )
    path = tmp_path / "c.toml"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(ConfigError, match=says) as raised:
        config.load(path)
    assert str(raised.value).startswith(str(path))


def test_a_run_has_the_section_of_its_suite_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(install(tmp_path, "typos_alone", TYPOS, {"harness.suites:typos": "plugin"}))
    path = tmp_path / "c.toml"
    path.write_text("suite = 'typos'\n[typos]\nletters = 2\n[hinter]\norder = 1\n", encoding="utf-8")
    loaded = config.load(path)
    for tables in (loaded.resolved(), loaded.identity()):
        assert tables["typos"] == {"letters": 2, "upper": False}
        assert not {"hinter", "suite_options"} & tables.keys()
    assert config.load(path, {"typos.letters": 5}).identity()["typos"] == {"letters": 5, "upper": False}
    with pytest.raises(ConfigError, match=r"hinter\.order is not an option of suite 'typos'"):
        config.load(path, {"hinter.order": 3})
