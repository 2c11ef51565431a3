"""Texts are read as they are, or a line says which file and row is at fault."""

from __future__ import annotations

import csv
import sys
from pathlib import Path

import polars as pl
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from harness import documents
from harness.core import Document, DocumentOptions
from harness.errors import DocumentError
from harness.tasks.imdb import ALIASES, LABELS, read

POSITIVE, NEGATIVE = frozenset(["Positive"]), frozenset(["Negative"])


def load(path: Path, **options: str | int) -> list[Document]:
    return list(documents.read(DocumentOptions(str(path), **options), LABELS, ALIASES))  # type: ignore[arg-type]


def written(folder: Path, name: str, content: str | bytes) -> Path:
    path = folder / name
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return path


def test_the_same_texts_from_every_kind_of_file(tmp_path: Path) -> None:
    expected = [Document("a", "Fine, they said.", POSITIVE), Document("b", 'A "bad" one', NEGATIVE)]
    rows = [
        {"id": "a", "text": "Fine, they said.", "label": "pos"},
        {"id": "b", "text": 'A "bad" one', "label": "0"},
    ]
    with (tmp_path / "d.csv").open("w", newline="", encoding="utf-8") as stream:
        writer = csv.DictWriter(stream, ["id", "text", "label"])
        writer.writeheader()
        writer.writerows(rows)
    pl.DataFrame(rows).write_parquet(tmp_path / "d.parquet")
    pl.DataFrame(rows).write_ndjson(tmp_path / "d.jsonl")
    written(tmp_path, "d.tsv", 'id\ttext\tlabel\na\tFine, they said.\tpos\nb\tA "bad" one\t0\n')
    for suffix in ("csv", "parquet", "jsonl", "tsv"):
        assert load(tmp_path / f"d.{suffix}") == expected


def test_tab_separated_without_a_header(tmp_path: Path) -> None:
    path = written(tmp_path, "d.csv", '1\tGood, "really, good"\n0\tBad, bad\n')
    assert load(path) == [
        Document("1", 'Good, "really, good"', POSITIVE),
        Document("2", "Bad, bad", NEGATIVE),
    ]


def test_a_folder_is_all_its_files(tmp_path: Path) -> None:
    written(tmp_path, "b.csv", "text\nsecond\n")
    written(tmp_path, "a.csv", "text\nfirst\n")
    assert load(tmp_path) == [Document("a:1", "first"), Document("b:1", "second")]
    assert len(load(tmp_path, limit=1)) == 1


def test_files_of_one_stem_give_different_ids(tmp_path: Path) -> None:
    written(tmp_path, "a.csv", "text\nfirst\n")
    written(tmp_path, "a.jsonl", '{"text": "second"}\n')
    assert [document.id for document in load(tmp_path)] == ["a.csv:1", "a.jsonl:1"]


def test_columns_of_other_names(tmp_path: Path) -> None:
    path = written(tmp_path, "d.csv", "body,verdict\nx,positive\n")
    assert load(path, text_column="body", label_column="verdict") == [Document("1", "x", POSITIVE)]


def test_html_breaks_become_spaces_and_nothing_else_changes(tmp_path: Path) -> None:
    path = written(tmp_path, "d.csv", 'text\n"One; two.<br /><br />Three\nfour"\n')
    assert next(read(DocumentOptions(str(path)))).text == "One; two. Three\nfour"


def test_the_bundled_sample_reads() -> None:
    texts = list(read(DocumentOptions(documents.sample("sample.csv"))))
    assert len(texts) == 80
    assert [d.labels for d in texts].count(POSITIVE) == 40


@pytest.mark.parametrize(
    ("name", "content", "says"),
    [
        ("d.csv", "", "the file is empty"),
        ("d.csv", "text,label\n", "no rows"),
        ("d.csv", "body,x\na,b\n", "no column named text or review .*: the columns are body, x"),
        ("d.csv", "text,label\na,Positive\nb\n", "row 2: 1 fields, but the header has 2"),
        ("d.csv", "text,label\na,Positive\n,Negative\n", "row 2: 'text' is empty"),
        ("d.csv", "text,label\na,Meh\n", "row 1: unknown label 'Meh': the labels are Negative, Positive"),
        ("d.csv", "text,text\na,b\n", "duplicate column name"),
        ("d.csv", 'text\n"unclosed\n', "row 1: unexpected end of data"),
        ("d.csv", b"text\nfine\ncaf\xe9\n", "not UTF-8 at line 3"),
        ("d.csv", "id,text\n7,a\n7,b\n", "row 2: duplicate id '7'"),
        ("d.csv", "id,text\n2,a\n,b\n", "row 2: duplicate id '2'"),
        ("d.jsonl", '{"text": "a"}\n{"text": "b", "id": 1}\n', "row 2: duplicate id '1'"),
        ("d.jsonl", '{"text": "a", "id": "\\ud800"}\n', "row 1: 'id' has a lone surrogate at character 0"),
        ("d.jsonl", '{"text": "a", "x": ' + "[" * 100_000 + "}\n", "row 1: not valid JSON"),
        ("d.jsonl", '{"text": "a", "x": ' + "9" * 5_000 + "}\n", "row 1: not valid JSON"),
        ("d.jsonl", '{"text": "a"}\n{"text": \n', "row 2: not valid JSON"),
        ("d.jsonl", '["a"]\n', "row 1: not a JSON object"),
        ("d.jsonl", '{"text": "a\\ud800b"}\n', "row 1: 'text' has a lone surrogate at character 1"),
        ("d.jsonl", '{"text": ["a"]}\n', "row 1: 'text' is list, not text"),
        ("d.parquet", "no parquet at all", "not a Parquet file"),
        ("d.xls", "x", "unknown kind of file"),
    ],
)
def test_bad_input_names_the_file_and_the_row(
    tmp_path: Path, name: str, content: str | bytes, says: str
) -> None:
    path = written(tmp_path, name, content)
    with pytest.raises(DocumentError, match=says) as raised:
        load(path)
    assert str(path) in str(raised.value)
    assert "\n" not in str(raised.value)


def test_a_missing_file_and_an_empty_folder(tmp_path: Path) -> None:
    with pytest.raises(DocumentError, match="no such file"):
        load(tmp_path / "none.csv")
    with pytest.raises(DocumentError, match="file in this folder"):
        load(tmp_path)


def test_a_missing_column_says_what_there_is(tmp_path: Path) -> None:
    path = written(tmp_path, "d.csv", "text,label\na,Positive\n")
    with pytest.raises(DocumentError, match="no column 'gold': the columns are text, label"):
        load(path, label_column="gold")


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(
    st.lists(
        st.text(st.characters(codec="utf-8", exclude_characters="\x00\r"), min_size=1).filter(str.strip),
        min_size=1,
    )
)
def test_csv_gives_back_what_was_written(tmp_path: Path, texts: list[str]) -> None:
    path = tmp_path / "d.csv"
    with path.open("w", newline="", encoding="utf-8") as stream:
        writer = csv.writer(stream)
        writer.writerow(["text"])
        writer.writerows([text] for text in texts)
    assert [document.text for document in load(path)] == texts


def test_the_shared_reviews_read(shared_data: Path) -> None:
    assert len(load(shared_data / "biasfinder" / "imdb_small")) == 2000
    assert len(load(shared_data / "imdb" / "imdb_raw_1000.csv")) == 1000


def test_a_column_of_integers_with_gaps(tmp_path: Path) -> None:
    pl.DataFrame({"text": ["a", "b", "c"], "label": [1.0, float("nan"), None]}).write_parquet(
        tmp_path / "d.parquet"
    )
    assert [document.labels for document in load(tmp_path / "d.parquet")] == [POSITIVE, None, None]


def test_a_blank_label_is_none_and_a_list_of_several_is_wrong(tmp_path: Path) -> None:
    path = written(
        tmp_path, "d.jsonl", '{"text": "a", "label": " "}\n{"text": "b", "label": ["pos", "neg"]}\n'
    )
    found = documents.read(DocumentOptions(str(path)), LABELS, ALIASES)
    assert next(found).labels is None
    with pytest.raises(DocumentError, match="row 2: 2 labels, but the task takes one"):
        next(found)


def test_no_texts_are_given() -> None:
    with pytest.raises(DocumentError, match="no texts to read: use --data"):
        list(read(DocumentOptions()))


def test_the_digest_follows_the_texts(tmp_path: Path) -> None:
    written(tmp_path, "a.csv", "text\none\n")
    file, folder = DocumentOptions(str(tmp_path)), DocumentOptions(dataset=str(tmp_path), split="train")
    before = documents.digest(file), documents.digest(folder)
    assert documents.digest(DocumentOptions(dataset=str(tmp_path), split="test")) != before[1]
    written(tmp_path, "a.csv", "text\ntwo\n")
    assert documents.digest(file) != before[0]
    assert documents.digest(folder) != before[1]


CARD = """---
dataset_info:
  features:
  - name: text
    dtype: string
  - name: label
    dtype:
      class_label:
        names:
          '0': positive
          '1': negative
---
"""


def data_set(folder: Path) -> str:
    """A folder in the layout of the hub, one split, its classes in another order than the task's labels."""
    pytest.importorskip("datasets", reason="the extra [datasets] is not installed")
    written(folder, "README.md", CARD)
    texts = pl.DataFrame({"text": ["Good<br />one", "Bad one"], "label": [0, 1]})
    texts.write_parquet(folder / "test-00000-of-00001.parquet")
    return str(folder)


def test_a_data_set_in_a_folder_reads_by_the_names_of_its_classes(tmp_path: Path) -> None:
    options = DocumentOptions(dataset=data_set(tmp_path), split="test")
    assert list(read(options)) == [Document("1", "Good one", POSITIVE), Document("2", "Bad one", NEGATIVE)]


def test_what_is_wrong_with_a_data_set(tmp_path: Path) -> None:
    folder = data_set(tmp_path)
    for options, says in (
        (DocumentOptions(dataset=folder, split="train"), "train"),
        (DocumentOptions(dataset=folder), "name its split"),
        (DocumentOptions(dataset="someone/reviews", split="test"), "pin a commit with --revision"),
        (
            DocumentOptions(dataset=folder, split="test", text_column="body"),
            "no column 'body': the columns are text",
        ),
    ):
        with pytest.raises(DocumentError, match=says) as raised:
            list(read(options))
        assert "\n" not in str(raised.value)


def test_without_the_extra_a_data_set_says_which_one_it_needs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "datasets", None)
    with pytest.raises(DocumentError, match=r"pip install 'hinter-harness\[datasets\]'"):
        list(read(DocumentOptions(dataset="stanfordnlp/imdb", split="test", revision="main")))
