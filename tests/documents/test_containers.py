"""The same texts and labels are read from every kind of file, or one line says why not."""

from __future__ import annotations

import bz2
import csv
import gzip
import io
import json
import lzma
import subprocess
import sys
import zipfile
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from xml.sax.saxutils import escape

import polars as pl
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from harness import documents
from harness.core import Document, DocumentOptions, Intake
from harness.errors import DocumentError
from tests.commands import environment

LABELS = ("Negative", "Positive")
ENCODINGS = ("utf-8", "utf-8-sig", "utf-16", "utf-16-le", "utf-16-be", "utf-32")
PACKED: Mapping[str, Callable[[bytes], bytes]] = {
    "": bytes,
    ".gz": gzip.compress,
    ".bz2": bz2.compress,
    ".xz": lzma.compress,
}
HEADERS = (("id", "text", "label"), ("ID", " Text", "LABEL "), ("text", "id", "sentiment"))

Rows = Sequence[tuple[str, str]]

pytestmark = pytest.mark.filterwarnings("ignore::hypothesis.errors.NonInteractiveExampleWarning")


def load(path: Path | str, intake: Intake | None = None, **options: str) -> list[Document]:
    where = DocumentOptions(str(path), **options, intake=intake or Intake())  # type: ignore[arg-type]
    return list(documents.read(where, LABELS))


def noted(path: Path | str) -> list[str]:
    intake = Intake()
    load(path, intake)
    return intake.notes


def written(folder: Path, name: str, content: str | bytes) -> Path:
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return path


def table(rows: Rows, header: Sequence[str], separator: str, quoting: int) -> str:
    stream = io.StringIO(newline="")
    writer = csv.writer(stream, delimiter=separator, quoting=quoting)  # type: ignore[arg-type]
    writer.writerow(header)
    for number, (text, label) in enumerate(rows, 1):
        fields = {"id": f"r{number}", "text": text}
        writer.writerow(fields.get(name.strip().lower(), label) for name in header)
    return stream.getvalue()


def records(rows: Rows) -> list[dict[str, str]]:
    return [{"id": f"r{n}", "Text": text, "label": label} for n, (text, label) in enumerate(rows, 1)]


def expected(rows: Rows) -> list[Document]:
    return [Document(f"r{n}", text, frozenset([label])) for n, (text, label) in enumerate(rows, 1)]


some_rows = st.lists(
    st.tuples(
        st.text(st.characters(codec="utf-8"), min_size=1).filter(str.strip)
        | st.text('a"\t,;|\n\r x', min_size=1).filter(str.strip),
        st.sampled_from(LABELS),
    ),
    min_size=1,
    max_size=8,
)
anywhere = settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)


@anywhere
@given(
    some_rows,
    st.sampled_from(HEADERS),
    st.sampled_from([(".csv", ","), (".csv", "\t"), (".tsv", "\t"), (".csv", ";"), (".csv", "|")]),
    st.sampled_from([csv.QUOTE_MINIMAL, csv.QUOTE_ALL]),
    st.sampled_from(ENCODINGS),
    st.sampled_from(sorted(PACKED)),
)
def test_a_table_is_read_whatever_its_separator_quoting_encoding_and_compression(
    tmp_path: Path,
    rows: Rows,
    header: Sequence[str],
    form: tuple[str, str],
    quoting: int,
    encoding: str,
    packed: str,
) -> None:
    suffix, separator = form
    content = table(rows, header, separator, quoting).encode(encoding)
    path = written(tmp_path, f"d{suffix}{packed}", PACKED[packed](content))
    assert load(path) == expected(rows)


@anywhere
@given(
    some_rows,
    st.sampled_from([".jsonl", ".ndjson", ".json"]),
    st.booleans(),
    st.sampled_from([None, 2]),
    st.sampled_from(ENCODINGS),
    st.sampled_from(sorted(PACKED)),
)
def test_json_is_read_as_lines_or_as_an_array(
    tmp_path: Path, rows: Rows, suffix: str, lines: bool, indent: int | None, encoding: str, packed: str
) -> None:
    objects = records(rows)
    content = "\n".join(map(json.dumps, objects)) if lines else json.dumps(objects, indent=indent)
    path = written(tmp_path, f"d{suffix}{packed}", PACKED[packed](content.encode(encoding)))
    assert load(path) == expected(rows)


@anywhere
@given(some_rows)
def test_parquet_is_read(tmp_path: Path, rows: Rows) -> None:
    pl.DataFrame(records(rows)).write_parquet(tmp_path / "d[1].parquet")
    assert load(tmp_path / "d[1].parquet") == expected(rows)


def workbook(path: Path, *sheets: Sequence[Sequence[str]]) -> Path:
    """Write an Excel file with the given cells, each of which is text or, if it can be, a number."""

    def cell(value: str) -> str:
        if value.replace(".", "", 1).isdigit():
            return f"<c><v>{value}</v></c>"
        return f'<c t="inlineStr"><is><t xml:space="preserve">{escape(value)}</t></is></c>'

    main, office = "schemas.openxmlformats.org/spreadsheetml/2006/main", "schemas.openxmlformats.org"
    numbers = range(1, len(sheets) + 1)
    kind = "application/vnd.openxmlformats-officedocument.spreadsheetml"
    with zipfile.ZipFile(path, "w") as book:
        book.writestr(
            "[Content_Types].xml",
            f'<Types xmlns="http://{office}/package/2006/content-types"><Default Extension="rels" '
            'ContentType="application/vnd.openxmlformats-package.relationships+xml"/>'
            f'<Override PartName="/xl/workbook.xml" ContentType="{kind}.sheet.main+xml"/></Types>',
        )
        relation = f"http://{office}/officeDocument/2006/relationships"
        book.writestr(
            "_rels/.rels",
            f'<Relationships xmlns="http://{office}/package/2006/relationships"><Relationship Id="r1" '
            f'Type="{relation}/officeDocument" Target="xl/workbook.xml"/></Relationships>',
        )
        listed = "".join(f'<sheet name="S{n}" sheetId="{n}" r:id="r{n}"/>' for n in numbers)
        book.writestr(
            "xl/workbook.xml",
            f'<workbook xmlns="http://{main}" xmlns:r="{relation}"><sheets>{listed}</sheets></workbook>',
        )
        places = "".join(
            f'<Relationship Id="r{n}" Type="{relation}/worksheet" Target="worksheets/sheet{n}.xml"/>'
            for n in numbers
        )
        book.writestr(
            "xl/_rels/workbook.xml.rels",
            f'<Relationships xmlns="http://{office}/package/2006/relationships">{places}</Relationships>',
        )
        for n, sheet in enumerate(sheets, 1):
            cells = "".join(f"<row>{''.join(map(cell, row))}</row>" for row in sheet)
            text = f'<worksheet xmlns="http://{main}"><sheetData>{cells}</sheetData></worksheet>'
            book.writestr(f"xl/worksheets/sheet{n}.xml", text)
    return path


@anywhere
@given(
    st.lists(
        st.tuples(st.text('aé "<&,;|\n漢', min_size=1).filter(str.strip), st.sampled_from(LABELS)), min_size=1
    )
)
def test_excel_is_read(tmp_path: Path, rows: Rows) -> None:
    pytest.importorskip("fastexcel", reason="the extra [files] is not installed")
    cells = [("id", "text", "label"), *((f"r{n}", *row) for n, row in enumerate(rows, 1))]
    assert load(workbook(tmp_path / "d.xlsx", cells)) == expected(rows)


def test_cells_of_numbers_are_labels_and_other_sheets_are_named(tmp_path: Path) -> None:
    pytest.importorskip("fastexcel", reason="the extra [files] is not installed")
    path = workbook(tmp_path / "d.xlsx", [("text", "label"), ("7", "1"), ("x", "0.0")], [("text",)])
    assert [(d.text, d.labels) for d in load(path)] == [
        ("7", frozenset(["Positive"])),
        ("x", frozenset(["Negative"])),
    ]
    assert noted(path) == [f"{path}: only the first sheet, 'S1', is read, not S2"]


def test_zstandard_is_read_and_a_cut_file_is_a_fault(tmp_path: Path) -> None:
    name = "compression.zstd" if sys.version_info >= (3, 14) else "backports.zstd"
    zstd = pytest.importorskip(name, reason="the extra [files] is not installed")
    content = zstd.compress(("text\n" + "".join(f"number {n}\r\n" for n in range(20_000))).encode())
    assert len(load(written(tmp_path, "d.csv.zst", content))) == 20_000
    with pytest.raises(DocumentError, match=r"d\.csv\.zst: .*end"):
        load(written(tmp_path, "d.csv.zst", content[:-9]))


@pytest.mark.parametrize(
    ("module", "name", "content"),
    [("fastexcel", "d.xlsx", b"PK\3\4"), ("backports.zstd", "d.csv.zst", b"\x28\xb5\x2f\xfd")],
)
def test_a_missing_extra_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, module: str, name: str, content: bytes
) -> None:
    if module == "backports.zstd" and sys.version_info >= (3, 14):
        pytest.skip("part of Python")
    monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(DocumentError, match=r"pip install 'hinter-harness\[files\]'"):
        load(written(tmp_path, name, content))


@pytest.mark.parametrize("packed", [".gz", ".bz2", ".xz"])
def test_a_cut_file_is_a_fault(tmp_path: Path, packed: str) -> None:
    content = PACKED[packed](("text\n" + "".join(f"number {n}\n" for n in range(20_000))).encode())
    with pytest.raises(DocumentError, match=r"d\.csv\..*: .*end"):
        load(written(tmp_path, f"d.csv{packed}", content[: len(content) // 2]))


@pytest.mark.parametrize(
    "spellings",
    [
        ("0", "1"),
        ("0.0", "1.0"),
        ("False", "True"),
        ("FALSE", "TRUE"),
        ("negative ", " Positive"),
        (0.0, 1.0),
    ],
)
def test_labels_are_read_as_tables_spell_them(tmp_path: Path, spellings: tuple[object, object]) -> None:
    content = "text,label\n" + "".join(f"{n},{spelling}\n" for n, spelling in enumerate(spellings))
    path = written(tmp_path, "d.csv", content)
    assert [document.labels for document in load(path)] == [frozenset([label]) for label in LABELS]


def test_truths_are_no_labels_of_a_task_with_more_than_two(tmp_path: Path) -> None:
    where = DocumentOptions(str(written(tmp_path, "d.jsonl", '{"text": "a", "label": true}\n')))
    assert next(documents.read(where, LABELS)).labels == frozenset(["Positive"])
    with pytest.raises(DocumentError, match="row 1: unknown label True"):
        next(documents.read(where, ("Low", "Middle", "High")))


def test_a_space_after_each_separator_is_no_part_of_the_fields(tmp_path: Path) -> None:
    path = written(tmp_path, "d.csv", 'text, label\nGood, Positive\n"So, so", Negative\n')
    assert [(d.text, d.labels) for d in load(path)] == [
        ("Good", frozenset(["Positive"])),
        ("So, so", frozenset(["Negative"])),
    ]


def test_the_separator_that_excel_writes_above_the_header_is_no_header(tmp_path: Path) -> None:
    path = written(tmp_path, "d.csv", "sep=;\r\ntext;label\r\nGood, very;1\r\n")
    assert load(path) == [Document("1", "Good, very", frozenset(["Positive"]))]


def test_a_line_break_in_a_quoted_field_of_tab_separated_text(tmp_path: Path) -> None:
    path = written(tmp_path, "d.tsv", 'text\n"line one\nline two"\nother\n')
    assert [document.text for document in load(path)] == ["line one\nline two", "other"]


def test_unpaired_quotation_marks_of_tab_separated_text_stand_for_themselves(tmp_path: Path) -> None:
    path = written(tmp_path, "d.tsv", 'text\tlabel\n"so\t0\n"Heat" is long\t1\nsay "hi"\t1\n"""a"" b"\t0\n')
    assert [document.text for document in load(path)] == ['"so', '"Heat" is long', 'say "hi"', '"a" b']


def test_a_quotation_that_may_be_rows_is_said(tmp_path: Path) -> None:
    path = written(tmp_path, "d.tsv", 'label\ttext\n0\t"one\n1\ttwo"\n')
    assert [document.text for document in load(path)] == ["one\n1\ttwo"]
    assert "1 quoted fields hold tabs and line breaks" in noted(path)[0]


def test_columns_without_gold_labels_are_said(tmp_path: Path) -> None:
    path = written(tmp_path, "d.csv", "text,gold\na,Positive\n")
    assert "no gold labels, since no column is named label or" in noted(path)[0]
    assert "the columns are text, gold; name yours with --label-column" in noted(path)[0]
    assert load(path, label_column="GOLD")[0].labels == frozenset(["Positive"])
    assert noted(written(tmp_path, "e.csv", "id,text\n1,a\n")) == []


def test_a_folder_is_read_with_its_folders_and_what_is_left_out_is_named(tmp_path: Path) -> None:
    written(tmp_path, "a.csv", "text\none\n")
    written(tmp_path, "b.csv.gz", gzip.compress(b"text\ntwo\n", mtime=0))
    written(tmp_path, "c.json", '[{"text": "three"}]')
    written(tmp_path, "sub/d.csv", "text\nfour\n")
    for name in ("._a.csv", "~$a.xlsx", ".git/x.csv", "README.md", "__MACOSX/a.csv", "runs/r/cases/x.csv"):
        written(tmp_path, name, b"\xff\x00\x05")
    written(tmp_path, "runs/r/run.toml", "")
    assert [(d.id, d.text) for d in load(tmp_path)] == [
        ("a:1", "one"),
        ("b:1", "two"),
        ("c:1", "three"),
        ("sub/d:1", "four"),
    ]
    names = "._a.csv, .git/, README.md, __MACOSX/, runs/r/, ~$a.xlsx"
    assert noted(tmp_path) == [f"{tmp_path}: left out, as no data files: {names}"]


def test_files_of_one_name_are_both_read_and_said(tmp_path: Path) -> None:
    written(tmp_path, "train.csv", "text\none\n")
    pl.DataFrame({"text": ["one"]}).write_parquet(tmp_path / "train.parquet")
    assert [document.id for document in load(tmp_path)] == ["train.csv:1", "train.parquet:1"]
    names = "train.csv and train.parquet"
    assert noted(tmp_path) == [f"{tmp_path}: {names} have the same name: all of their texts are read"]


@pytest.mark.parametrize(
    ("name", "content", "says"),
    [
        ("d.csv", b"\xef\xbb\xbf", "the file is empty"),
        ("d.tsv", b"\xef\xbb\xbf\r\n", "the file is empty"),
        ("d.jsonl", b"\xef\xbb\xbf", "the file is empty"),
        ("d.csv", b"\xff\xfe", "the file is empty"),
        ("d.csv", b"\n\n", "the file is empty"),
        ("d.json", "[]", "no rows"),
        ("d.csv.gz", b"", "the file is empty"),
        ("d.csv.gz", gzip.compress(b"", mtime=0), "the file is empty"),
        ("d.csv", b"\xff\xfet\x00e\x00x\x00t\x00\n\x00a", "not UTF-16"),
        ("d.csv", b"PAR1....", r"looks like a \.parquet file"),
        ("d.csv", b"PK\x03\x04..", r"looks like a \.xlsx file"),
        ("d.txt", "one", r"unknown kind of file: use \.csv, .*also with \.gz"),
        ("d.csv", "text,Label,label\na,b,c\n", "row 1: two columns of one name: text, Label, label"),
        (
            "d.csv",
            "text,label\nGood, bad,1\n",
            "row 1: 3 fields.*: fields with commas in them need quotation",
        ),
        ("d.csv", "id;text\n1;a\n2;a;b\n", "row 2: 3 fields.*: fields with semicolons in them"),
        ("d.jsonl", '{"text": "a"}\n{"text": "a", "text": "b"}\n', "row 2: the key 'text' is there twice"),
        ("d.json", '[{"text": "a"}, ["b"]]', "row 2: not a JSON object"),
        ("d.json", '[{"text": "a"}, ', "not valid JSON"),
        ("d.json", '{\n"text": "a"\n}', r"row 1: not valid JSON: .* \(one object a line, or an array"),
        ("d.json", '[{"text": "a"}, {"text": null}]', "row 2: 'text' is empty"),
    ],
)
def test_what_cannot_be_read_is_one_line_that_names_the_cause(
    tmp_path: Path, name: str, content: str | bytes, says: str
) -> None:
    path = written(tmp_path, name, content)
    with pytest.raises(DocumentError, match=says) as raised:
        load(path)
    assert str(raised.value).startswith(f"{path}: ")
    assert "\n" not in str(raised.value)


@pytest.mark.parametrize(
    "content",
    [
        b"text\none\ntwo\n",
        b"\xef\xbb\xbfid;text\n1;one\n2;two\n",
        b'{"text": "one"}\n{"text": "two"}\n',
        gzip.compress(b'[{"text": "one"}, {"text": "two"}]', mtime=0),
    ],
)
def test_standard_input_is_read_as_what_it_holds(content: bytes) -> None:
    script = (
        "from harness import documents\nfrom harness.core import DocumentOptions\n"
        "for _ in range(2):\n"
        "    print([d.text for d in documents.read(DocumentOptions('-'), ('A', 'B'))])\n"
        "print(len(documents.digest(DocumentOptions('-'))))"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], input=content, capture_output=True, check=True, env=environment()
    )
    assert done.stdout.decode().splitlines() == ["['one', 'two']"] * 2 + ["64"]
