"""The errors of the harness or its user. What a *model* does wrong is recorded as data, not raised::

    HarnessError                exit code 2, one line on standard error
    ├── ConfigError             a configuration or an option
    ├── DocumentError           the texts: a missing file or column, a faulty row, an encoding
    ├── TaskError               an unknown or broken task, or its prompt
    ├── LexiconError            a bias dictionary
    ├── TemplateError           a handwritten template
    ├── ParserError             a parser model that does not load
    ├── ModelError              a system under test that does not load
    ├── RunError                a run folder that cannot be used
    ├── CacheError              the response cache
    └── EndpointError           an endpoint that refuses every request
        └── BudgetSpent         the budget is spent

Every other exception is an internal error: exit code 70, one line, its traceback in ``run.log``.
``Transient`` is not a ``HarnessError``: it marks an attempt worth repeating and never leaves the runner.
"""

from __future__ import annotations

from typing import ClassVar


class HarnessError(Exception):
    """The base of all errors, with a one-line message that names the file, row or key and says what to do."""

    exit_code: ClassVar[int] = 2


class ConfigError(HarnessError):
    """A fault in a configuration or an option."""


class DocumentError(HarnessError):
    """A fault in the texts: a missing file or column, a faulty row, an encoding."""


class TaskError(HarnessError):
    """An unknown or broken task, or a fault in its prompt."""


class LexiconError(HarnessError):
    """A fault in a bias dictionary."""


class TemplateError(HarnessError):
    """A fault in a handwritten template."""


class ParserError(HarnessError):
    """A parser model that does not load."""


class ModelError(HarnessError):
    """A system under test that does not load."""


class RunError(HarnessError):
    """A run folder that cannot be used."""


class CacheError(HarnessError):
    """A fault of the response cache."""


class EndpointError(HarnessError):
    """An endpoint that refuses every request."""


class BudgetSpent(EndpointError):
    """The budget is spent: nothing more may be sent."""


class Transient(Exception):
    """An attempt that failed but may succeed later.

    ``retry_after`` is the server's requested delay in seconds, if any; ``throttled`` is true if it asked for
    a lower rate.
    """

    def __init__(self, message: str, retry_after: float | None = None, throttled: bool = False) -> None:
        super().__init__(message)
        self.retry_after = retry_after
        self.throttled = throttled
