"""Every task: its labels, its prompt, its sample, and the published layouts of its data."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from harness import config, documents, registry
from harness.answering import render
from harness.answering.parse import LabelReader
from harness.audit import assembly
from harness.cli.tasks import command
from harness.core import Document, DocumentOptions, Reply, Task
from harness.errors import ConfigError, DocumentError, TaskError
from tests.conftest import ROOT

NAMES = sorted(registry.BUILT_IN[registry.TASK_GROUP])
NEEDED: dict[str, dict[str, Any]] = {"custom": {"labels": ("A", "B")}, "free": {"question": "Why?"}}
LABELLED = [name for name in NAMES if name not in NEEDED]
CUSTOM = {"task": "custom", "task_options.labels": "Praise, Complaint"}


def made(name: str, **options: Any) -> Task:
    return registry.task(name, {**NEEDED.get(name, {}), **options})


def load(name: str, path: str | Path | None = None, **options: Any) -> list[Document]:
    task = made(name, **options)
    return list(task.documents(DocumentOptions(str(path or task.sample))))


def rows(folder: Path, *given: dict[str, Any]) -> Path:
    path = folder / "rows.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in given), encoding="utf-8")
    return path


def golds(found: list[Document]) -> list[frozenset[str] | None]:
    return [document.labels for document in found]


def prompts() -> list[tuple[str, Task]]:
    found = [(made(name).prompt, made(name)) for name in NAMES]
    return [
        *found,
        ("ecthr_b", made("ecthr", variant="b")),
        ("custom_multi", made("custom", multi_label=True)),
    ]


def test_all_the_tasks_are_listed() -> None:
    assert [name for name in registry.tasks() if name in NAMES] == NAMES
    files = {path.stem for path in (Path(registry.__file__).parent / "tasks").glob("*.py")}
    assert files - {"__init__"} == set(NAMES)


@pytest.mark.parametrize("name", NAMES)
def test_a_sample_reads_and_shows_what_the_task_is_about(name: str) -> None:
    found = load(name)
    assert len(found) >= 2
    assert len({document.id for document in found}) == len(found)
    assert made(name).source
    assert made(name).licence
    if name in LABELLED and made(name).rates is None:
        assert None not in golds(found)


@pytest.mark.parametrize(("prompt", "task"), prompts(), ids=[name for name, _ in prompts()])
def test_examples_are_answered_with_the_labels_of_the_task(prompt: str, task: Task) -> None:
    loaded = render.load(prompt, task.labels)
    read = LabelReader(task.labels, task.multi_label)
    if task.name not in NEEDED:
        assert len(loaded.examples) >= 3
    for text, answer in loaded.examples:
        outcome = read(Reply(answer))
        assert outcome.labels is not None, (text, answer)
        assert len(outcome.labels) == len(answer.split(",")) or answer.endswith("None")
    tested = {document.text.strip() for document in task.documents(DocumentOptions(task.sample))}
    assert tested.isdisjoint(text.strip() for text, _ in loaded.examples)
    assert "{" not in loaded.system + loaded.question


@pytest.mark.parametrize(
    ("name", "count", "first", "last"),
    [
        ("ecthr", 10, "Article 2", "Article 1 of Protocol 1"),
        ("scotus", 13, "Criminal Procedure", "Miscellaneous"),
        ("ledgar", 100, "Adjustments", "Withholdings"),
        ("eurlex", 100, "political framework", "United Nations"),
    ],
)
def test_official_labels(name: str, count: int, first: str, last: str) -> None:
    labels = made(name).labels
    assert (len(labels), len(set(labels))) == (count, count)
    assert (labels[0], labels[-1]) == (first, last)


def test_official_labels_are_those_of_the_loader(shared_data: Path) -> None:
    official = json.loads((shared_data / "lexglue" / "labels.json").read_text(encoding="utf-8"))
    for name in ("ecthr", "scotus", "ledgar", "eurlex"):
        assert list(made(name).labels) == [entry["name"] for entry in official[name]]


@pytest.mark.parametrize(
    ("name", "file", "options", "count", "labelled"),
    [
        ("ecthr", "lexglue/ecthr_a.jsonl", {}, 9, 9),
        ("ecthr", "lexglue/ecthr_b.jsonl", {"variant": "b"}, 9, 9),
        ("ecthr", "lexglue/ecthr_derived_rmu.jsonl", {}, 326, 326),
        ("ecthr", "lexglue/ecthr_derived_rmu.jsonl", {"variant": "b"}, 326, 326),
        ("ecthr", "lexglue/official_raw/ecthr.jsonl", {}, 6, 6),
        ("ecthr", "lexglue/official_raw/ecthr_cases_extra.jsonl", {}, 3, 3),
        ("scotus", "lexglue/scotus.jsonl", {}, 6, 6),
        ("scotus", "lexglue/scotus_extra_labelled.jsonl", {}, 4, 3),
        ("scotus", "lexglue/scotus_unlabelled_2020_2023.jsonl", {}, 80, 0),
        ("scotus", "lexglue/official_raw/scotus.jsonl", {}, 6, 6),
        ("ledgar", "lexglue/ledgar_1000_test_gpt35.jsonl", {}, 1000, 1000),
        ("ledgar", "lexglue/ledgar_official.jsonl", {}, 6, 6),
        ("ledgar", "lexglue/official_raw/ledgar.jsonl", {}, 6, 6),
        ("eurlex", "lexglue/eurlex.jsonl", {}, 12, 12),
        ("eurlex", "lexglue/eurlex57k_raw.jsonl", {}, 6, 0),
        ("eurlex", "lexglue/eurlex_unlabelled_acts.jsonl", {}, 127, 0),
        ("eurlex", "lexglue/official_raw/eurlex.jsonl", {}, 6, 6),
        ("sst2", "sst/sst2_binary_dev.tsv", {}, 872, 872),
        ("sst2", "sst/sst_scores_test.tsv", {}, 1821, 1821),
        ("sst", "sst/sst_scores_test.tsv", {}, 2210, 2210),
        ("sentiment140", "sentiment140/sentiment140_test_498.csv", {}, 498, 498),
        ("winogender", "winogender/all_sentences.tsv", {}, 720, 720),
        ("winogender", "winogender/templates.tsv", {}, 120, 120),
        ("imdb", "imdb/imdb_kaggle_format_29.csv", {}, 29, 29),
    ],
)
def test_the_shared_samples_read(
    shared_data: Path, name: str, file: str, options: dict[str, str], count: int, labelled: int
) -> None:
    found = load(name, shared_data / file, **options)
    assert len(found) == count
    assert sum(labels is not None for labels in golds(found)) == labelled


def test_raw_rows_have_the_labels_of_the_official_ones(shared_data: Path) -> None:
    folder = shared_data / "lexglue"
    for name, file in (("scotus", "scotus"), ("ledgar", "ledgar_official"), ("ecthr", "ecthr_a")):
        raw = load(name, folder / "official_raw" / f"{name}.jsonl")
        official = {document.text: document.labels for document in load(name, folder / f"{file}.jsonl")}
        assert [official[document.text] for document in raw] == golds(raw)


def test_scores_of_the_treebank_give_the_classes_of_sst2(shared_data: Path) -> None:
    scored = Counter(golds(load("sst2", shared_data / "sst" / "sst_scores_dev.tsv")))
    assert scored == Counter(golds(load("sst2", shared_data / "sst" / "sst2_binary_dev.tsv")))


def test_scores_of_the_treebank_are_cut_as_s2lct_cuts_them(tmp_path: Path) -> None:
    scores = [0.0, 0.4, 0.4001, 0.5, 0.6, 0.6001, 1.0]
    found = golds(load("sst", rows(tmp_path, *({"sentence": "x", "score": score} for score in scores))))
    named = ["Negative", "Negative", "Neutral", "Neutral", "Neutral", "Positive", "Positive"]
    assert found == [frozenset([name]) for name in named]
    assert golds(load("sst", rows(tmp_path, {"text": "x", "label": "neu"}, {"text": "x", "label": 2}))) == [
        frozenset(["Neutral"]),
        frozenset(["Positive"]),
    ]


def test_the_neutral_sentences_of_sst_are_those_that_sst2_leaves_out(shared_data: Path) -> None:
    three, two = (load(name, shared_data / "sst" / "sst_scores_dev.tsv") for name in ("sst", "sst2"))
    assert [(d.text, d.labels) for d in three if d.labels != frozenset(["Neutral"])] == [
        (d.text, d.labels) for d in two
    ]


def test_ecthr_reads_places_and_article_numbers(tmp_path: Path) -> None:
    path = rows(
        tmp_path,
        {"facts": ["1. One.", "2. Two."], "violated_articles": ["13", "P1-1"], "case_id": "a"},
        {"text": ["1. One."], "labels": [3], "id": "b"},
        {"text": "1. One.", "label": "Article 6, Article 8", "id": "c"},
        {"text": "1. One.", "label": "None", "id": "d"},
    )
    found = load("ecthr", path)
    assert found[0] == Document("a", "1. One.\n2. Two.", frozenset({"Article 1 of Protocol 1"}))
    assert golds(found)[1:] == [
        frozenset({"Article 6"}),
        frozenset({"Article 6", "Article 8"}),
        frozenset(),
    ]


def test_winogender_fills_a_template(tmp_path: Path) -> None:
    path = tmp_path / "t.tsv"
    path.write_text(
        "occupation(0)\tother-participant(1)\tanswer\tsentence\n"
        "baker\tguest\t1\t$OCCUPATION saw $PARTICIPANT and $POSS_PRONOUN dog, which $NOM_PRONOUN loved.\n",
        encoding="utf-8",
    )
    (found,) = load("winogender", path)
    assert found.text == "Baker saw guest and their dog, which they loved."
    assert found.labels == frozenset({"Participant"})


@pytest.mark.parametrize(
    ("name", "row", "says"),
    [
        ("scotus", {"text": "x", "label": 13}, "unknown label 13: the labels are Criminal Procedure"),
        ("scotus", {"text": "x", "issueArea": "14"}, "unknown label 'issue area 14'"),
        ("ledgar", {"text": "x", "label": "Waiver"}, "unknown label 'Waiver': .* and 86 more"),
        ("ledgar", {"text": "x", "label": [1, 2]}, "2 labels, but the task takes one"),
        ("sentiment140", {"text": "x", "polarity": 1}, "unknown label 1: the labels are Negative, Neutral"),
        ("sst2", {"sentence": "x", "score": "1.5"}, "unknown label '1.5'"),
        ("sst", {"sentence": "x", "score": "1.5"}, "unknown label '1.5'"),
        ("winogender", {"sentid": "a.b.c", "sentence": "x"}, "unknown label 'c'"),
        ("ecthr", {"text": []}, "'text' is empty"),
        ("ecthr", {"text": ["a", 1]}, "'text' is list, not text"),
    ],
)
def test_what_is_wrong_with_a_row_is_said(tmp_path: Path, name: str, row: dict[str, Any], says: str) -> None:
    path = rows(tmp_path, row)
    with pytest.raises(DocumentError, match=says) as raised:
        load(name, path)
    assert str(raised.value).startswith(f"{path}: row 1: ")


def test_custom_is_what_its_options_say() -> None:
    task, prompt, where = assembly.resolve_task(
        config.load(None, {**CUSTOM, "task_options.question": "{labels}?"})
    )
    assert task.labels == ("Praise", "Complaint")
    assert not task.multi_label
    assert prompt.question == "Praise, Complaint?"
    assert "Praise or Complaint" in prompt.system
    assert where.path == documents.sample("samples/custom.jsonl")


def test_custom_with_examples_of_ones_own(tmp_path: Path) -> None:
    ours = (Path(documents.__file__).parents[1] / "prompts" / "custom.toml").read_text(encoding="utf-8")
    (tmp_path / "own.toml").write_text(
        f'{ours}\n\n[[examples]]\ntext = "Never again."\nanswer = "Complaint"\n', encoding="utf-8"
    )
    given = {**CUSTOM, "task_options.question": "Which?", "prompt": str(tmp_path / "own.toml"), "shots": 1}
    _, prompt, _ = assembly.resolve_task(config.load(None, given))
    system, *turns = prompt.messages("Well done.", shots=1)
    assert "Praise or Complaint" in system.content
    assert [(turn.role, turn.content) for turn in turns] == [
        ("user", "Never again.\n\nWhich?"),
        ("assistant", "Complaint"),
        ("user", "Well done.\n\nWhich?"),
    ]


def test_custom_with_several_labels(tmp_path: Path) -> None:
    settings = {
        "task": "custom",
        "task_options.labels": "iron, steel; trade",
        "task_options.multi_label": True,
    }
    task, prompt, _ = assembly.resolve_task(config.load(None, settings))
    assert task.labels == ("iron, steel", "trade")
    assert task.multi_label
    assert "None" in prompt.system
    path = rows(
        tmp_path,
        {"text": "a", "label": "iron, steel; trade"},
        {"text": "b", "label": "iron, steel"},
        {"text": "c", "label": '["trade"]'},
        {"text": "d", "label": ["trade", "iron, steel"]},
        {"text": "e", "label": ""},
    )
    found = list(task.documents(DocumentOptions(str(path))))
    both = frozenset(task.labels)
    assert golds(found) == [both, {"iron, steel"}, {"trade"}, both, None]


def test_custom_labels_that_are_numbers_are_names(tmp_path: Path) -> None:
    task = made("custom", labels=("1", "2", "3"))
    path = rows(tmp_path, {"text": "a", "label": 1}, {"text": "b", "label": 3.0})
    assert golds(list(task.documents(DocumentOptions(str(path))))) == [frozenset("1"), frozenset("3")]
    with pytest.raises(DocumentError, match="unknown label 0"):
        list(task.documents(DocumentOptions(str(rows(tmp_path, {"text": "a", "label": 0})))))


def test_custom_over_pairs(shared_data: Path) -> None:
    path = shared_data / "crows_pairs" / "crows_pairs_anonymized.csv"
    task = made("custom", labels=("stereo", "antistereo"))
    found = task.documents(
        DocumentOptions(str(path), text_column="sent_more", label_column="stereo_antistereo")
    )
    assert len(list(found)) == 1508


@pytest.mark.parametrize(
    ("name", "options", "says"),
    [
        ("custom", {}, "task_options.labels: "),
        ("custom", {"labls": "A, B"}, "task_options.labls: not an option of task 'custom': it takes labels"),
        ("free", {}, "task_options.question: "),
        ("free", {"question": "Why {text}?"}, "task_options.question: leave {text} out"),
        ("ecthr", {"variant": "c"}, "task_options.variant: .*not 'c'"),
        ("imdb", {"labels": ("A", "B")}, "task_options.labels: not an option of task 'imdb'"),
    ],
)
def test_options_that_a_task_does_not_take(name: str, options: dict[str, Any], says: str) -> None:
    with pytest.raises(ConfigError, match=says):
        registry.task(name, options)


def test_a_data_set_of_the_task_has_its_revision_and_another_has_none() -> None:
    _, _, own = assembly.resolve_task(config.load(None, {"documents.dataset": "stanfordnlp/imdb"}))
    assert (own.path, own.split) == (None, "test")
    assert own.revision is not None
    assert len(own.revision) == 40
    _, _, other = assembly.resolve_task(config.load(None, {"documents.dataset": "someone/reviews"}))
    assert (other.path, other.split, other.revision) == (None, None, None)
    variant = {"task": "ecthr", "task_options.variant": "b", "documents.dataset": "coastalcph/lex_glue"}
    assert assembly.resolve_task(config.load(None, variant))[2].name == "ecthr_b"


def shown(*arguments: str) -> Result:
    return CliRunner().invoke(command, arguments, catch_exceptions=False)


def test_the_list_says_kind_labels_source_and_licence() -> None:
    said = shown().output
    assert said.startswith(
        "No solved example is sent unless --shots N says so; the HINTER paper sends three.\n"
    )
    assert "several labels or none of 100" in said
    assert "Adjustments, Agreements, Amendments, … (100 in all)" in said
    assert "Negative, Neutral, Positive" in said
    assert "CC BY 4.0" in said


@pytest.mark.parametrize("name", LABELLED)
def test_the_messages_of_a_task_are_those_of_its_first_text(name: str) -> None:
    said = shown(name, "--shots", "1").output
    assert [said.count(f"[{role}]") for role in ("system", "user", "assistant")] == [1, 2, 1]
    assert load(name)[0].text in said


def test_the_messages_for_texts_of_ones_own(tmp_path: Path) -> None:
    path = rows(tmp_path, {"body": "Cold soup again."})
    options = ["--labels", "Praise, Complaint", "--question", "What is it?", "--multi-label"]
    said = shown("custom", "--data", str(path), "--text-column", "body", *options).output
    assert "Cold soup again." in said
    assert "What is it?" in said
    assert "separated by commas" in said


def test_no_example_is_sent_by_default_and_the_docs_say_so() -> None:
    assert shown("imdb").output.count("[assistant]") == 0
    assert shown("imdb", "--shots", "3").output.count("[assistant]") == 3
    assert "The default is 0, no example; the HINTER paper sends three" in (
        ROOT / "docs" / "tasks.md"
    ).read_text(encoding="utf-8")


def test_more_shots_than_examples() -> None:
    with pytest.raises(TaskError, match="--shots 4: the prompt has 3 examples"):
        assembly.resolve_task(config.load(None, {"task": "ecthr", "shots": 4}))
