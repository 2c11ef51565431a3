"""Score files: what is read, and the one line about what cannot be."""

from __future__ import annotations

from pathlib import Path

import pytest

from harness.errors import DocumentError
from harness.suites.eec.corpus import Sentence
from harness.suites.eec.scores import read_scores


def write(folder: Path, text: str, name: str = "scores.csv") -> Path:
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return path


def test_a_submission_to_the_shared_task(corpus: list[Sentence], tmp_path: Path) -> None:
    rows = [f"{s.id}\t{s.text}\tJoy\t{i / len(corpus)}" for i, s in enumerate(corpus)]
    other = '2018-En-mystery-99999\tA "quoted tweet\tjoy\t0.5'
    header = "ID\tTweet\tAffect Dimension\tIntensity Score"
    found = read_scores(write(tmp_path, "\n".join([header, other, *rows[::-1]]), "EI-reg.txt"), corpus)
    assert found.scores == {s.id: i / len(corpus) for i, s in enumerate(corpus)}
    assert (found.missing, found.others, found.dimension) == ((), 1, "joy")


def test_missing_ids_are_listed(corpus: list[Sentence], tmp_path: Path) -> None:
    rows = [f'{s.id},"{s.text}",0.25' for s in corpus[2:]]
    found = read_scores(write(tmp_path, "\r\n".join(["\ufeffid,text,Score", *rows, ""])), corpus)
    assert found.missing == (corpus[0].id, corpus[1].id)
    assert len(found.scores) == 8638
    assert found.dimension is None


def test_columns_of_any_name_can_be_given(corpus: list[Sentence], tmp_path: Path) -> None:
    path = write(tmp_path, f"key,id,a,b\n{corpus[0].id},x,1,2e-1\n")
    assert read_scores(path, corpus, "key", "b").scores == {corpus[0].id: 0.2}


ID = "2018-En-mystery-05498"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "the file is empty"),
        (f"ID,score\n{ID},high\n", "row 1: the score 'high' is not a number"),
        (f"ID,score\n2018-En-mystery-11722,0.1\n{ID},\n", "row 2: the score '' is not a number"),
        (f"ID,score\n{ID},nan\n", "row 1: the score 'nan' is not a number"),
        (f"ID,score\n{ID},inf\n", "row 1: the score 'inf' is not a number"),
        (f"ID,score\n{ID}\n", "row 1: 1 fields, but the header has 2"),
        (f"ID,score\n{ID},0.1,0.2\n", "row 1: 3 fields, but the header has 2"),
        (f"ID,score\n{ID},0.1\n\n{ID},0.1\n", f"row 3: the id '{ID}' is given twice"),
        (f"ID,value\n{ID},0.1\n", "cannot tell which column has the scores: there are 'ID', 'value'"),
        (f"name,score\n{ID},0.1\n", "cannot tell which column has the ids: there are 'name', 'score'"),
        (f"ID,score,Intensity\n{ID},0.1,0.2\n", "cannot tell which column has the scores"),
        ("ID,score\nx1,0.1\n", "none of its 1 ids is in the corpus"),
        ('ID,score\n"x1,0.1\n', "not a table"),
        (
            f"ID\tAffect Dimension\tscore\n{ID}\tjoy\t1\n2018-En-mystery-11722\tfear\t1\n",
            "scores of fear and joy: give one file for each",
        ),
    ],
)
def test_a_bad_file_is_one_line(corpus: list[Sentence], tmp_path: Path, text: str, said: str) -> None:
    path = write(tmp_path, text)
    with pytest.raises(DocumentError) as error:
        read_scores(path, corpus)
    assert str(error.value).startswith(f"{path}: ")
    assert said in str(error.value)
    assert "\n" not in str(error.value)


def test_a_file_or_column_that_is_not_there(corpus: list[Sentence], tmp_path: Path) -> None:
    with pytest.raises(DocumentError, match=r"none\.csv: cannot be read"):
        read_scores(tmp_path / "none.csv", corpus)
    path = write(tmp_path, f"ID,score\n{ID},0.1\n")
    with pytest.raises(DocumentError, match="no column 'value': there are 'ID', 'score'"):
        read_scores(path, corpus, score_column="value")
    path.write_bytes(b"ID,score\n\xff,0.1\n")
    with pytest.raises(DocumentError, match="not UTF-8"):
        read_scores(path, corpus)
