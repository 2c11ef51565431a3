"""Renders a prompt and a text as the messages that are sent."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from hashlib import sha256
from pathlib import Path

from harness.answering.numbers import read_number
from harness.core import Message, canonical
from harness.errors import TaskError
from harness.files import PROMPTS, read_toml

KEYS = {"system", "question", "template", "examples"}
TEMPLATE = "{text}\n\n{question}"


@dataclass(frozen=True)
class Prompt:
    """A task's prompt: the system message, the question, and solved examples (text, answer)."""

    system: str
    question: str
    template: str = TEMPLATE
    examples: tuple[tuple[str, str], ...] = ()

    @property
    def digest(self) -> str:
        """SHA-256 of everything that is sent with a text."""
        return sha256(
            canonical([self.system, self.question, self.template, self.examples]).encode()
        ).hexdigest()

    def messages(self, text: str, shots: int) -> tuple[Message, ...]:
        """Return the chat: the system message, ``shots`` examples as turns, the text with its question."""
        turns = [Message("system", self.system)] if self.system else []
        for example, answer in self.examples[:shots]:
            turns += [Message("user", self._ask(example)), Message("assistant", answer)]
        return (*turns, Message("user", self._ask(text)))

    def within(self, context: str) -> Prompt:
        """Return the prompt with ``context`` before its system message."""
        return replace(self, system=f"{context}\n\n{self.system}" if self.system else context)

    def on_scale(self, steps: Sequence[str]) -> Prompt:
        """Return the prompt with the answers of its examples, rated from 0 to 1, on the scale of ``steps``.

        Raises ``TaskError`` for an answer that is not a number from 0 to 1.
        """
        examples = []
        for text, answer in self.examples:
            score = read_number(answer)
            if score is None:
                raise TaskError(f"the prompt's example {text!r}: {answer!r} is not a number from 0 to 1")
            place = score * float(steps[-1])
            examples.append((text, min(steps, key=lambda step: abs(float(step) - place))))
        return replace(self, examples=tuple(examples))

    @property
    def around(self) -> tuple[str, str]:
        """What stands before a text and after it, in the turn that asks about it."""
        before, _, after = self.template.replace("{question}", self.question).partition("{text}")
        return before, after

    def _ask(self, text: str) -> str:
        before, after = self.around
        return before + text + after


def load(name: str, labels: Sequence[str], path: str | None = None) -> Prompt:
    """Load the prompt called ``name``, or the one in the file at ``path``. Raises ``TaskError``."""
    file = Path(path) if path else PROMPTS / f"{name}.toml"
    return _prompt(read_toml(file, TaskError), labels, file)


def _prompt(data: Mapping[str, object], labels: Sequence[str], file: Path) -> Prompt:
    unknown = sorted(set(data) - KEYS)
    if unknown:
        raise TaskError(f"{file}: unknown key {unknown[0]!r}: known are {', '.join(sorted(KEYS))}")
    texts: dict[str, str] = {}
    for key in ("system", "question"):
        value = data.get(key)
        if not isinstance(value, str):
            raise TaskError(f"{file}: {key!r} is missing or not text")
        texts[key] = _filled(value, labels)
    template = data.get("template", TEMPLATE)
    if not isinstance(template, str) or "{text}" not in template:
        raise TaskError(f"{file}: 'template' has no {{text}}")
    examples = data.get("examples", [])
    if not isinstance(examples, list):
        raise TaskError(f"{file}: 'examples' is not a list of tables")
    return Prompt(
        **texts,
        template=template.strip("\n"),
        examples=tuple(_example(example, f"{file}: examples[{n}]") for n, example in enumerate(examples, 1)),
    )


def _example(example: object, place: str) -> tuple[str, str]:
    fields = example if isinstance(example, dict) else {}
    for key in ("text", "answer"):
        if not isinstance(fields.get(key), str):
            raise TaskError(f"{place} needs {key!r}")
    return fields["text"], fields["answer"]


def _filled(text: str, labels: Sequence[str]) -> str:
    """Fill in the labels."""
    names = " or ".join(labels) if len(labels) == 2 else ", ".join(labels)
    marks = {"{labels}": names, **({"{lowest}": labels[0], "{highest}": labels[-1]} if labels else {})}
    for mark, value in marks.items():
        text = text.replace(mark, value)
    return text
