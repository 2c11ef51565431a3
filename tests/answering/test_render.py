"""A prompt file with an error is refused in one line that names the file and the key."""

from __future__ import annotations

from pathlib import Path

import pytest

from harness.answering.render import load
from harness.errors import TaskError

TEXTS = 'system = "s"\nquestion = "q {labels}"\n'


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ('question = "q"', "'system' is missing or not text"),
        (f"{TEXTS}shots = 2", "unknown key 'shots'"),
        (f'{TEXTS}template = "no place"', r"'template' has no \{text\}"),
        (f"{TEXTS}template = 5", r"'template' has no \{text\}"),
        (f"{TEXTS}examples = 5", "'examples' is not a list of tables"),
        (f'{TEXTS}examples = ["a text"]', r"examples\[1\] needs 'text'"),
        (f'{TEXTS}[[examples]]\ntext = "t"\nanswer = 1', r"examples\[1\] needs 'answer'"),
    ],
)
def test_a_faulty_prompt_names_file_and_key(tmp_path: Path, content: str, message: str) -> None:
    file = tmp_path / "prompt.toml"
    file.write_text(content, encoding="utf-8")
    with pytest.raises(TaskError, match=f"^{file}: {message}"):
        load("", ["Good", "Bad"], str(file))


def test_labels_are_filled_in(tmp_path: Path) -> None:
    file = tmp_path / "prompt.toml"
    file.write_text(f'{TEXTS}[[examples]]\ntext = "t"\nanswer = "Good"\n', encoding="utf-8")
    prompt = load("", ["Good", "Bad"], str(file))
    assert (prompt.question, prompt.examples) == ("q Good or Bad", (("t", "Good"),))
