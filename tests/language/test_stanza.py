"""Stanza behind the same records as spaCy, with real if small models; skipped where it is not installed."""

from __future__ import annotations

import os
import subprocess
import sys
import tarfile
from pathlib import Path

import pytest

from harness.core import Document
from harness.errors import ParserError
from harness.language import parsers
from harness.language.parsers import StanzaParser
from harness.suites import lexicon
from harness.suites.hinter.suite import Hinter

SENTENCES = [
    "I saw her dog.",
    "The British actor smiled, and the old men left.",
    "Why?",
    "I don't  know.\nA well-known man. Two",  # two ends inside: it is one sentence all the same
]


@pytest.fixture(scope="session")
def models(shared_data: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder of small English models of Stanza."""
    pytest.importorskip("stanza", reason="needs the extra stanza")
    bundle = shared_data.parent / "fixtures" / "stanza_fix.tar.xz"
    if not bundle.is_file():
        pytest.skip(f"no Stanza models at {bundle}")
    folder = tmp_path_factory.mktemp("stanza")
    with tarfile.open(bundle) as archive:
        archive.extractall(folder, filter="data")
    return folder / "stanza_fix"


@pytest.fixture(scope="session")
def stanza(models: Path) -> StanzaParser:
    return StanzaParser(str(models))


def test_each_sentence_has_one_parse_with_tags_by_offset(stanza: StanzaParser) -> None:
    parses = stanza.parse(SENTENCES)
    assert len(parses) == len(SENTENCES)
    for sentence, parse in zip(SENTENCES, parses, strict=True):
        assert len(parse.pos) == len(parse.dep) == len(parse.offsets)
        assert all(not sentence[at].isspace() for at in parse.offsets)
        assert parse.dep.count("root") == 1
    assert (parses[0].tag_at(6), parses[0].tag_at(7)) == ("PRP$", None)


def test_batching_changes_no_parse(stanza: StanzaParser) -> None:
    assert stanza.parse(SENTENCES) == [stanza.parse([sentence])[0] for sentence in SENTENCES]


def test_nothing_to_parse_is_parsed(stanza: StanzaParser) -> None:
    assert stanza.parse([]) == []
    assert [parse.pos for parse in stanza.parse(["", " \n"])] == [(), ()]
    assert [len(parse.pos) for parse in stanza.parse([" ", "Why?", ""])] == [0, 2, 0]


def test_sentences_end_where_they_do_with_spacy(
    stanza: StanzaParser, plain_parser: parsers.SpacyParser
) -> None:
    for text in ('He said "One." (Two.) Three', "A title\n\nA man.He left.", "Mr. Smith left.", ""):
        assert stanza.split(text) == plain_parser.split(text)


def test_the_name_tells_package_version_and_weights(models: Path, stanza: StanzaParser) -> None:
    package, release, weights = stanza.name.split()
    assert (package, len(weights)) == ("stanza:fix", 8)
    assert release[0].isdigit()
    loaded = parsers.load(f"stanza:{models}")
    assert loaded is not None
    assert loaded.name == stanza.name


def test_mutants_are_made_and_decided_with_it(stanza: StanzaParser) -> None:
    words = lexicon.load().select(["race", "gender"])
    text = "The British actor was a delight. The old man thanked his wife, and he laughed."
    made = list(Hinter(words, stanza).cases(iter([Document("1", text, None)])))
    roles = {case.role for case in made if case.valid}
    assert roles == {"original", "atomic", "intersectional"}
    assert {case.reason for case in made} >= {None, "pos"}


def test_models_that_are_not_there_are_one_line(models: Path, stanza: StanzaParser, tmp_path: Path) -> None:
    for folder, what in (
        (tmp_path, f"no English Stanza models in {tmp_path}: a folder of models has"),
        (tmp_path / "none", f"no folder {tmp_path / 'none'}: "),
    ):
        with pytest.raises(ParserError) as caught:
            StanzaParser(str(folder))
        assert str(caught.value).startswith(what)
        assert "download" not in str(caught.value)
    (tmp_path / "resources.json").write_bytes((models / "resources.json").read_bytes())
    with pytest.raises(ParserError, match=r"models of Stanza's fix are not in .*: its resources") as caught:
        StanzaParser(str(tmp_path))
    assert "download" not in str(caught.value)
    assert "\n" not in str(caught.value)
    for name in ("pos", "depparse", "pretrain"):
        (tmp_path / "en" / name).mkdir(parents=True)
        (tmp_path / "en" / name / "fix.pt").write_bytes(b"no weights")
    with pytest.raises(ParserError, match=r"Stanza's fix in .* does not load: ") as caught:
        StanzaParser(str(tmp_path))
    assert "\n" not in str(caught.value)


def in_the_default_folder(models: Path, name: str) -> subprocess.CompletedProcess[str]:
    """Loads a parser where ``STANZA_RESOURCES_DIR`` is ``models``: Stanza reads it when it is imported."""
    code = "import sys; from harness.language import parsers; print(parsers.load(sys.argv[1]).name)"
    environment = os.environ | {"STANZA_RESOURCES_DIR": str(models)}
    return subprocess.run(
        [sys.executable, "-c", code, name], capture_output=True, text=True, timeout=300, env=environment
    )


def test_the_default_folder_is_that_of_stanza(models: Path, stanza: StanzaParser) -> None:
    for name in ("stanza", "stanza:fix"):
        assert in_the_default_folder(models, name).stdout.strip() == stanza.name
    done = in_the_default_folder(models, "stanza:gum")
    assert "no Stanza package 'gum' in" in done.stderr
    assert "it has fix" in done.stderr


def test_without_models_in_the_default_folder_their_download_is_advised(tmp_path: Path) -> None:
    pytest.importorskip("stanza", reason="needs the extra stanza")
    done = in_the_default_folder(tmp_path, "stanza")
    assert "import stanza; stanza.download('en')" in done.stderr
