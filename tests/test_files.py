"""Reading text and TOML with errors that name the file, and writing files whole or not at all."""

from __future__ import annotations

import os
import threading
from pathlib import Path

import pytest

from harness import files
from harness.errors import ConfigError, LexiconError


def test_toml_is_read(tmp_path: Path) -> None:
    (tmp_path / "a.toml").write_text('a = "ä"', encoding="utf-8")
    assert files.read_toml(tmp_path / "a.toml", ConfigError) == {"a": "ä"}


@pytest.mark.parametrize(
    ("content", "wrong"),
    [
        (b"a = ", "not valid TOML: "),
        (b"a = '\xff'", "not UTF-8 at byte 5"),
        (b"a = " + 5000 * b"[" + 5000 * b"]", "not valid TOML: nested too deeply"),
    ],
)
def test_what_is_wrong_names_the_file(tmp_path: Path, content: bytes, wrong: str) -> None:
    path = tmp_path / "a.toml"
    path.write_bytes(content)
    with pytest.raises(LexiconError) as caught:
        files.read_toml(path, LexiconError)
    assert str(caught.value).startswith(f"{path}: {wrong}")


@pytest.mark.parametrize(("name", "wrong"), [("none.toml", "No such file"), (".", "Is a directory")])
def test_what_cannot_be_read_names_the_file(tmp_path: Path, name: str, wrong: str) -> None:
    with pytest.raises(ConfigError, match=wrong) as caught:
        files.read_text(tmp_path / name, ConfigError)
    assert str(caught.value).startswith(f"{tmp_path / name}: ")


def test_a_file_is_replaced_whole(tmp_path: Path) -> None:
    path = tmp_path / "a.json"
    files.write(path, "earlier")
    with pytest.raises(UnicodeEncodeError):
        files.write(path, "half \ud800")
    with pytest.raises(UnicodeEncodeError), files.replacing(path) as unfinished:
        unfinished.write_text("half \ud800", encoding="utf-8")
    assert path.read_text(encoding="utf-8") == "earlier"
    files.write(path, "ü\r\n")
    assert path.read_bytes() == "ü\r\n".encode()
    assert os.listdir(tmp_path) == ["a.json"]


def test_an_error_without_a_name_gets_that_of_the_file(tmp_path: Path) -> None:
    path = tmp_path / "a.json"
    with pytest.raises(OSError, match="No space") as caught, files.replacing(path):
        raise OSError(28, "No space left on device")
    assert caught.value.filename == str(path)
    assert not path.exists()


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs named pipes")
def test_a_pipe_is_written_to_as_it_is(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    contents: list[bytes] = []
    reader = threading.Thread(target=lambda: contents.append(pipe.read_bytes()))
    reader.start()
    files.write(pipe, "text")
    reader.join(10)
    assert contents == [b"text"]
    assert pipe.is_fifo()
