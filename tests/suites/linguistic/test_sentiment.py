"""Words by SentiWordNet and the paper's rule; sentences by their score."""

from __future__ import annotations

from pathlib import Path

import pytest

from harness.errors import LexiconError
from harness.suites.linguistic import sentiment
from harness.suites.linguistic.sentiment import SentimentLexicon

BUNDLED = sentiment.load("bundled")


@pytest.mark.parametrize(
    ("word", "tag", "label"),
    [
        ("good", "JJ", "positive"),
        ("Bad", "JJ", "negative"),
        ("yellow", "JJ", "neutral"),
        ("failure", "NN", "negative"),
        ("failures", "NNS", "negative"),
        ("loved", "VBD", "positive"),
        ("happiest", "JJS", "positive"),
        ("happily", "RB", "positive"),
        ("ways", "NNS", "neutral"),  # Figure 3
        ("things", "NNS", "neutral"),  # Figure 3
        ("both", "DT", "neutral"),
        ("Love", "NNP", "neutral"),
        ("like", "IN", "neutral"),
        ("qwertzuiop", "NN", "neutral"),
    ],
)
def test_the_bundled_lexicon(word: str, tag: str, label: str) -> None:
    assert BUNDLED.sentiment(word, tag) == label


@pytest.mark.parametrize(
    ("word", "tag", "label"),
    [
        ("dumb", "JJ", "negative"),
        ("lack", "NN", "negative"),
        ("fun", "NN", "positive"),
        ("predictable", "JJ", "negative"),
        ("riveting", "JJ", "positive"),
        ("still", "RB", "neutral"),
        ("entire", "JJ", "neutral"),
    ],
)
def test_ratings_by_people_go_before_sentiwordnet(word: str, tag: str, label: str) -> None:
    assert BUNDLED.sentiment(word, tag) == label


def test_the_same_word_differs_by_its_part_of_speech() -> None:
    lexicon = SentimentLexicon({("mean", "a"): -0.5}, "test")
    assert lexicon.sentiment("mean", "JJ") == "negative"
    assert lexicon.sentiment("mean", "VB") == "neutral"


def test_a_form_of_its_own_is_not_led_back() -> None:
    lexicon = SentimentLexicon({("blow", "n"): -0.5, ("blows", "n"): 0.0}, "test")
    assert lexicon.sentiment("blows", "NNS") == "neutral"
    assert lexicon.sentiment("blow", "NN") == "negative"


def test_the_licence_stands_beside_the_bundled_words() -> None:
    head = sentiment.BUNDLED.read_text(encoding="utf-8")[:700]
    assert "SentiWordNet 3.0" in head
    assert "CC BY-SA 4.0" in head
    assert "CC BY-SA 4.0" in sentiment.BUNDLED.with_name("LICENSE.md").read_text(encoding="utf-8")


def test_sentiwordnets_own_file_is_read(shared_data: Path) -> None:
    found = sentiment.load(str(shared_data / "sentiwordnet" / "SentiWordNet-head200.txt"))
    assert found.sentiment("unable", "JJ") == "negative"
    assert found.sentiment("dorsal", "JJ") == "neutral"
    assert ("dorsal", "a") in found.scores
    assert len(found.scores) > 173


def test_senses_weigh_one_over_their_rank(tmp_path: Path) -> None:
    file = tmp_path / "swn.txt"
    file.write_text("# x\na\t1\t0.5\t0\tkeen#1\tg\na\t2\t0\t1\tkeen#2 acute#1\tg\n", encoding="utf-8")
    found = sentiment.load(str(file))
    assert found.scores["keen", "a"] == 0  # (0.5 - 1 / 2) / 1.5
    assert found.sentiment("keen", "JJ") == "neutral"
    assert found.scores["acute", "a"] == -1


@pytest.mark.parametrize(
    ("content", "message"),
    [("good\ta\tmuch\n", "line 1: write LEMMA"), ("a\t1\t0.5\tx\tgood#1\tgloss\n", "line 1: not a row")],
)
def test_a_wrong_table_is_named_with_the_line(tmp_path: Path, content: str, message: str) -> None:
    file = tmp_path / "words.tsv"
    file.write_text(content, encoding="utf-8")
    with pytest.raises(LexiconError, match=message):
        sentiment.load(str(file))


def test_a_missing_table_is_named(tmp_path: Path) -> None:
    with pytest.raises(LexiconError, match=r"absent\.tsv: No such file"):
        sentiment.load(str(tmp_path / "absent.tsv"))


def test_nltks_copy_is_taken_where_it_is(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    data = pytest.importorskip("nltk.data", reason="NLTK is not installed")
    folder = tmp_path / "corpora" / "sentiwordnet"
    folder.mkdir(parents=True)
    monkeypatch.setattr(data, "path", [str(tmp_path)])
    (folder / "SentiWordNet_3.0.0.txt").write_text("a\t1\t0.5\t0\tkeen#1\tg\n", encoding="utf-8")
    assert sentiment.load().source == "bundled"
    found = sentiment.load("sentiwordnet")
    assert (found.source, dict(found.scores)) == ("sentiwordnet", {("keen", "a"): 0.5})


def test_without_nltks_copy_the_default_is_the_bundled_one_and_the_name_alone_an_error() -> None:
    assert sentiment.load().source == "bundled"
    if sentiment._nltk() is not None:
        pytest.skip("NLTK has SentiWordNet here")
    with pytest.raises(LexiconError, match="nltk"):
        sentiment.load("sentiwordnet")
