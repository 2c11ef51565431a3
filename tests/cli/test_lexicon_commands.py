"""``hinter lexicon`` and the parts of a run that name words or parsers, from outside."""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from harness.suites import lexicon
from tests.commands import called

Hinter = Callable[..., "subprocess.CompletedProcess[str]"]


@pytest.fixture
def hinter(tmp_path: Path) -> Hinter:
    """Calls ``hinter`` in a folder of its own."""

    def run(*arguments: str) -> subprocess.CompletedProcess[str]:
        return called(tmp_path, *arguments)

    return run


def test_every_fault_of_a_lexicon_is_a_line_and_the_exit_code_2(hinter: Hinter, tmp_path: Path) -> None:
    (tmp_path / "w.toml").write_text(
        "attribute.x.pairs = [['man ', 'men'], ['soviets', 'mexican'], ['mexican', 'soviets']]",
        encoding="utf-8",
    )
    done = hinter("lexicon", "validate", "w.toml")
    assert done.returncode == 2
    assert done.stdout.splitlines() == [
        "x.pairs: 'man ' has a leading or trailing space",
        "x: man -> men has no mirror men -> man",
        "x: man -> men changes number",
        "note: x: soviets -> mexican seems to change number (plural, singular)",
        "note: x: mexican -> soviets seems to change number (singular, plural)",
    ]
    assert done.stderr == "w.toml: 1 attributes, 4 words, 3 faults\n"
    assert "seems" not in hinter("lexicon", "validate", "w.toml", "--parser", "none").stdout


def test_an_import_cleans_and_says_so(hinter: Hinter, tmp_path: Path) -> None:
    (tmp_path / "a_b.csv").write_text("man ;woman\nMan;Woman\nactor;Actor\n", encoding="utf-8")
    done = hinter("lexicon", "import", "a_b.csv", "--attribute", "x")
    assert done.returncode == 0
    assert done.stderr.splitlines() == [
        "a_b.csv: line 2: 'Man;Woman' dropped: already at a_b.csv: line 1, except for case",
        "a_b.csv: line 3: 'actor;Actor' dropped: both words are the same",
        "1 pairs of 3 rows kept, 1 words had stray spaces, 2 dropped",
    ]
    assert lexicon.parse(done.stdout).attributes["x"].pairs == (("man", "woman"),)


def test_pairs_of_several_folders_are_not_taken_for_one_attribute(hinter: Hinter, tmp_path: Path) -> None:
    for folder, pair in (("sex", "man;woman"), ("race", "Irish;Welsh")):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "x.csv").write_text(f"{pair}\n", encoding="utf-8")
    done = hinter("lexicon", "import", "sex", "race/x.csv")
    assert (done.returncode, done.stdout) == (2, "")
    assert "files from several folders (sex, race): import each by itself" in done.stderr
    both = hinter("lexicon", "import", "sex", "race/x.csv", "--attribute", "all")
    assert lexicon.parse(both.stdout).attributes["all"].pairs == (("man", "woman"), ("Irish", "Welsh"))


def test_a_table_of_groups_is_known_by_its_columns(hinter: Hinter, tmp_path: Path) -> None:
    (tmp_path / "agg.csv").write_text(
        "targetMinority,targetCategory\n"
        '"[""Asian folks"", ""Irish folks"", ""swedes""]","[""race""]"\nblind men,body\n',
        encoding="utf-8",
    )
    done = hinter("lexicon", "import", "agg.csv", "--attribute", "race", "--out", "race.toml")
    assert done.returncode == 0, done.stderr
    assert done.stderr.splitlines()[-1] == "2 groups of 3 names kept, 1 dropped"
    assert hinter("lexicon", "show", "race", "--lexicon", "race.toml").stdout.splitlines() == [
        "Asian folks: Irish folks",
        "Irish folks: Asian folks",
    ]


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (
            ["run", "--lexicon", "nothing.toml"],
            "nothing.toml: no [attribute.NAME] table, so the lexicon is empty",
        ),
        (["run", "--lexicon", "empty.toml"], "empty.toml: attribute.x is empty"),
        (["lexicon", "validate", "empty.toml"], "empty.toml: attribute.x is empty"),
        (["lexicon", "validate", "none.toml"], "none.toml: No such file"),
        (["lexicon", "validate", "--parser", "tree"], "unknown parser 'tree': use spacy, "),
        (["lexicon", "import", "none.csv"], "none.csv: No such file"),
        (["run", "--attributes", "race,gender,race"], "attribute 'race' is given twice"),
        (
            ["generate", "--attributes", "race", "--order", "2"],
            "order 2 is above the number of attributes, 1",
        ),
        (["generate", "--parser", "spacy:xx_none"], "python -m spacy download xx_none"),
        (["generate", "--parser", "stanza:./none"], "stanza"),
        (["check", "A man.", "--parser", "tree"], "(installed: spacy:en_core_web_sm"),
    ],
)
def test_bad_words_and_parsers_are_one_line_and_exit_2(
    hinter: Hinter, tmp_path: Path, arguments: list[str], says: str
) -> None:
    (tmp_path / "nothing.toml").write_bytes(b"")
    (tmp_path / "empty.toml").write_text("[attribute.x]\n", encoding="utf-8")
    (tmp_path / "texts.csv").write_text("text,label\nThe old man left.,Positive\n", encoding="utf-8")
    texts = ["--data", "texts.csv", "--model", "local:vader"] if arguments[0] in ("run", "generate") else []
    done = hinter(*arguments, *texts)
    assert (done.returncode, done.stdout) == (2, ""), done.stderr
    last = done.stderr.splitlines()[-1]
    assert last.startswith("hinter: ")
    assert says in last
    assert sum(line.startswith("hinter: ") for line in done.stderr.splitlines()) == 1


def test_doctor_says_which_parsers_load(hinter: Hinter) -> None:
    done = hinter("doctor", "--model", "local:vader")
    assert done.returncode == 0
    assert "can   --parser spacy:en_core_web_sm" in done.stdout
    (stanza,) = [line for line in done.stdout.splitlines() if "--parser stanza" in line]
    assert stanza == "can   --parser stanza" or "pip install" in stanza or "stanza.download('en')" in stanza


def test_a_lexicon_beside_the_bundled_one_is_shown_with_it(hinter: Hinter, tmp_path: Path) -> None:
    (tmp_path / "w.toml").write_text('[attribute.age]\npairs = [["young", "old"]]\n', encoding="utf-8")
    listed = hinter("lexicon", "list", "--lexicon", "+w.toml").stdout
    assert [line.split()[0] for line in listed.splitlines()][-1] == "age"
    assert "gender" in listed
    assert hinter("lexicon", "show", "age", "--lexicon", "+w.toml").stdout == "young: old\n"
