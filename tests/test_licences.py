"""The wheel's metadata name every licence of what is in it, and it holds their notices."""

from __future__ import annotations

import re
import subprocess
import sys
import zipfile
from email import message_from_string
from email.message import Message
from pathlib import Path

import pytest

from harness.files import DATA
from tests.conftest import ROOT

NAMES = {
    r"CC BY-SA 4\.0": "CC-BY-SA-4.0",
    r"CC BY 4\.0": "CC-BY-4.0",
    r"CC0": "CC0-1.0",
    r"\bMIT\b": "MIT",
    r"Apache[- ]2\.0": "Apache-2.0",
}
OTHER = re.compile(r"CC BY-N[CD]|CC BY-NC|\bL?GPL|\bBSD|\bODbL|CC BY(?:-SA)? [123]\.")


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> zipfile.ZipFile:
    pytest.importorskip("hatchling", reason="hatchling builds the wheel")
    folder = tmp_path_factory.mktemp("wheel")
    line = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(folder)]
    subprocess.run(line, cwd=ROOT, check=True, capture_output=True, timeout=300)
    return zipfile.ZipFile(next(folder.glob("*.whl")))


@pytest.fixture
def metadata(wheel: zipfile.ZipFile) -> Message:
    name = next(name for name in wheel.namelist() if name.endswith(".dist-info/METADATA"))
    return message_from_string(wheel.read(name).decode())


def licences(file: Path) -> set[str]:
    """The licences that the head of a data file names, of sources that were used."""
    lines = [line for line in file.read_text(encoding="utf-8").splitlines() if line.startswith("#")]
    head = re.sub(r"\(\w+, [^()]*was not used\.\)", "", " ".join(line.lstrip("# ") for line in lines))
    assert not OTHER.search(head), file
    return {spdx for written, spdx in NAMES.items() if re.search(written, head)}


def data() -> dict[str, set[str]]:
    """The licences by data file."""
    files = (file for file in DATA.rglob("*") if file.suffix in (".toml", ".tsv", ".txt"))
    return {file.relative_to(DATA).as_posix(): licences(file) for file in files}


def test_the_expression_names_the_licences_of_all_data(metadata: Message) -> None:
    found = {"Apache-2.0"}.union(*data().values())
    assert metadata["License-Expression"] == " AND ".join(sorted(found))


def test_the_notice_lists_each_data_file_under_its_licences() -> None:
    notice = (DATA / "LICENCES.md").read_text(encoding="utf-8")
    rows = re.findall(r"\| \[([\w.-]+)\]\(.*?\) \|.*?\| (.*) \|", notice)
    listed = {spdx: set(re.findall(r"`([\w/.]+\.(?:toml|tsv))`", files)) for spdx, files in rows}
    assert listed == {
        spdx: {file for file, named in data().items() if spdx in named} for spdx in NAMES.values()
    }


def test_the_notices_are_in_the_wheel(wheel: zipfile.ZipFile, metadata: Message) -> None:
    named = metadata.get_all("License-File") or []
    assert named == ["LICENSE", "harness/data/LICENCES.md", "harness/data/sentiwordnet/LICENSE.md"]
    assert all(any(name.endswith(f"licenses/{file}") for name in wheel.namelist()) for file in named)


def test_the_versions_of_python_that_are_tested_are_named(metadata: Message) -> None:
    listed = [text for text in metadata.get_all("Classifier") or [] if re.search(r":: 3\.\d+$", text)]
    assert listed == [f"Programming Language :: Python :: 3.{minor}" for minor in (11, 12, 13)]
    assert metadata["Requires-Python"] == ">=3.11"


def test_the_readme_names_them_too(metadata: Message) -> None:
    section = (ROOT / "README.md").read_text(encoding="utf-8").partition("## Licence")[2]
    assert all(spdx in section for spdx in metadata["License-Expression"].split(" AND "))
