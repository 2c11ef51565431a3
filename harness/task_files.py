"""A task in the user's own file: ``--task ./spam.py``.

The file defines ``task``. Its prompt and its sample are looked for beside the file first.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass, replace
from functools import cached_property
from hashlib import sha256
from importlib.util import module_from_spec, spec_from_loader
from pathlib import Path
from types import ModuleType

from harness.core import Task
from harness.errors import TaskError

SUFFIX = ".py"


def is_file(name: str) -> bool:
    """Return whether ``name``, given for a task, is the path of a file."""
    return name.endswith(SUFFIX)


@dataclass(frozen=True)
class TaskFile:
    """The task file at ``path``."""

    path: str

    def load(self) -> Task:
        """Execute the file and return its task. Raises ``TaskError``, which names the file."""
        module = self._module()
        try:
            exec(compile(self._source, self.path, "exec"), vars(module))  # noqa: S102 - the user's own code
        except Exception as error:
            line = f", line {error.lineno}" if isinstance(error, SyntaxError) and error.lineno else ""
            why = error.msg if isinstance(error, SyntaxError) else " ".join(str(error).split())
            raise TaskError(f"{self.path}{line}: {type(error).__name__}: {why}") from error
        task = vars(module).get("task")
        if not isinstance(task, Task):
            what = "has no 'task'" if task is None else f"'task' is a {type(task).__name__}, not a Task"
            raise TaskError(f"{self.path}: {what}: write task = Task(…)")
        return task

    def beside(self, task: Task) -> Task:
        """Return ``task`` with the prompt and the sample beside the file, where these exist."""
        folder = Path(self.path).resolve().parent
        if (folder / f"{task.prompt}.toml").is_file():
            task = replace(task, prompt=str(folder / task.prompt))
        if task.sample is not None and (folder / task.sample).exists():
            task = replace(task, sample=str(folder / task.sample))
        return task

    @property
    def digest(self) -> str:
        """The SHA-256 of the source. Raises ``TaskError`` if the file cannot be read."""
        return sha256(self._source).hexdigest()

    @cached_property
    def _source(self) -> bytes:
        try:
            return Path(self.path).read_bytes()
        except OSError as error:
            raise TaskError(f"{self.path}: {error.strerror or error}") from error

    def _module(self) -> ModuleType:
        """Return an empty module, registered under a unique name, for the file's classes to belong to."""
        name = f"hinter_task_{self.digest[:16]}"
        spec = spec_from_loader(name, None, origin=self.path)
        assert spec is not None
        module = module_from_spec(spec)
        module.__file__ = str(Path(self.path).resolve())
        sys.modules[name] = module
        return module
