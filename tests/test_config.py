"""A configuration is read whole, or a line names the file and the key."""

from __future__ import annotations

from pathlib import Path

import pytest

from harness import config
from harness.errors import ConfigError
from harness.suites.hinter.plugin import HinterOptions

WHOLE = """
task = "imdb"
suite = "hinter"
seed = 3
out = "runs/x"
fail_above = 0.1
[documents]
path = "reviews.csv"
limit = 5
[hinter]
attributes = ["race", "gender"]
order = 2
parser = "none"
[model]
name = "gpt-4.1-mini"
base_url = "http://127.0.0.1:1/v1"
concurrency = 4
price = { input = 0.4, cached_input = 0.1, output = 1.6 }
"""


def hinter_of(loaded: config.RunConfig) -> HinterOptions:
    """The options of the suite hinter."""
    assert isinstance(loaded.suite_options, HinterOptions)
    return loaded.suite_options


def written(folder: Path, text: str) -> Path:
    path = folder / "c.toml"
    path.write_text(text, encoding="utf-8")
    return path


def test_a_whole_configuration(tmp_path: Path) -> None:
    loaded = config.load(written(tmp_path, WHOLE))
    assert loaded.seed == 3
    assert hinter_of(loaded).attributes == ("race", "gender")
    assert loaded.model.concurrency == 4
    assert loaded.model.price is not None
    assert hinter_of(loaded).max_pairs is None


def test_the_command_line_wins(tmp_path: Path) -> None:
    loaded = config.load(
        written(tmp_path, WHOLE), {"seed": 9, "hinter.attributes": "body, race", "model.concurrency": "auto"}
    )
    assert (loaded.seed, hinter_of(loaded).attributes, loaded.model.concurrency) == (
        9,
        ("body", "race"),
        "auto",
    )


def test_the_bundled_sample_takes_a_few_pairs_unless_told() -> None:
    assert hinter_of(config.load(None)).max_pairs == 2
    assert hinter_of(config.load(None, {"hinter.max_pairs": 7})).max_pairs == 7
    assert hinter_of(config.load(None, {"documents.path": "x.csv"})).max_pairs is None


def test_what_decides_a_run_and_what_does_not() -> None:
    plain = config.load(None).identity()
    for key, value in {"out": "x", "cache": "y", "fail_above": 0.5, "model.concurrency": 3}.items():
        assert config.load(None, {key: value}).identity() == plain
    for key, other in {"seed": 1, "shots": 1, "hinter.order": 1, "model.name": "m"}.items():
        assert config.load(None, {key: other}).identity() != plain


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("task = [", "not valid TOML"),
        ("taks = 'imdb'", "unknown key 'taks': known are .*task"),
        ("[hinter]\nordre = 2", "unknown key 'hinter.ordre': known are attributes"),
        ("[model.price]\ninput = 1\noutput = 1\nx = 1", "unknown key 'model.price.x'"),
        ("[hinter]\norder = 0", "hinter.order: .*greater than or equal to 1"),
        ("[hinter]\norder = 'two'", "hinter.order: .*not 'two'"),
        ("[documents]\nlimit = -1", "documents.limit"),
        ("[model]\nconcurrency = 'lots'", "model.concurrency"),
        ("fail_above = 3.0", "fail_above"),
        ("hinter = 3", "hinter"),
        ("documents = 3", "documents"),
        ("[documents]\npath = 'a.csv'\ndataset = 'a/b'", "documents: give path or dataset, not both"),
        ("[documents]\nsplit = 'test'", "documents: name, split and revision belong to a dataset"),
        ("[task_options]\nlabels = ['A']", "task_options.labels: give two labels or more"),
        ("[task_options]\nlabels = ['A', ' ']", "task_options.labels: .*none of them empty"),
        ("[task_options]\nlabels = ['A', 'a']", "task_options.labels: two labels are the same"),
        ("[task_options]\nlabels = [1, 2]", "task_options.labels.0: .*string"),
        ("[task_options]\nmulti_label = 'perhaps'", "task_options.multi_label"),
        ("budget.adaptive_for = 'findings'", r"c.toml: budget.adaptive_for needs budget.adaptive"),
        ("prompts.files = ['own']\nbudget.adaptive = 9", r"budget.adaptive and prompts do not go together$"),
        ("confirm = 2\nbudget.adaptive = 9", r"c.toml: budget.adaptive and confirm do not go together$"),
        ("repeats = 2\nbudget.precision = 0.01", r"c.toml: budget.precision and repeats do not go together$"),
        ("budget.decide = 'excess=0.1'", r"c.toml: budget.decide: decide one of rate and effect"),
        ("budget.decide = 'rate=0.1,effect=0.1'", r"c.toml: budget.decide: decide one of rate and effect"),
        ("budget.precision = 0.1\nbudget.decide = 'effect=0.1'", r"c.toml: budget: precision is of the rate"),
        (
            "budget.precision = 0.1\nbudget.adaptive = 9\nbudget.adaptive_for = 'findings'",
            r"c.toml: budget.adaptive_for = findings says nothing",
        ),
    ],
)
def test_what_is_wrong_names_the_file_and_the_key(tmp_path: Path, text: str, says: str) -> None:
    path = written(tmp_path, text)
    with pytest.raises(ConfigError, match=says) as raised:
        config.load(path)
    assert str(raised.value).startswith(str(path))
    assert "\n" not in str(raised.value)


def test_no_such_file_and_not_utf8(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="No such file"):
        config.load(tmp_path / "none.toml")
    (tmp_path / "c.toml").write_bytes(b"task = '\xff'")
    with pytest.raises(ConfigError, match="not UTF-8 at byte 8"):
        config.load(tmp_path / "c.toml")


@pytest.mark.parametrize(
    ("given", "labels"),
    [
        ("A, B", ("A", "B")),
        ("iron, steel; trade", ("iron, steel", "trade")),
        (["iron, steel", "a; b"], ("iron, steel", "a; b")),
    ],
)
def test_labels_are_a_list_or_a_line(given: str | list[str], labels: tuple[str, ...]) -> None:
    assert config.load(None, {"task_options.labels": given}).task_options.labels == labels


def test_texts_of_the_command_line_replace_those_of_the_file(tmp_path: Path) -> None:
    path = written(tmp_path, "[documents]\ndataset = 'a/b'\nsplit = 'test'\nlimit = 3")
    texts = config.load(path, {"documents.path": "x.csv"}).documents
    assert (texts.path, texts.dataset, texts.split, texts.limit) == ("x.csv", None, None, 3)
    texts = config.load(written(tmp_path, WHOLE), {"documents.dataset": "a/b"}).documents
    assert (texts.path, texts.dataset) == (None, "a/b")


def test_options_of_a_plug_in_task_pass(tmp_path: Path) -> None:
    loaded = config.load(written(tmp_path, "[task_options]\nthreshold = 3"))
    assert loaded.task_options.values == {"threshold": 3}
