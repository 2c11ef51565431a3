"""What can be wrong on our side or the user's. What a *model* does wrong is a record, not an error.

    HarnessError                exit code 2, one line on standard error
    ├── ConfigError             a configuration or an option
    ├── DocumentError           the texts: no such file, column, row, encoding
    ├── TaskError               an unknown or broken task, or its prompt
    ├── LexiconError            a bias dictionary
    ├── TemplateError           a template written by hand
    ├── ParserError             a language model for parsing that does not load
    ├── ModelError              a system under test that does not load
    ├── RunError                a run folder that cannot be used
    ├── CacheError              the response cache
    └── EndpointError           an endpoint that will not answer any request
        └── BudgetSpent         nothing more may be sent

Any other exception is a fault of ours: exit code 70, one line, its traceback in ``run.log``.
``Transient`` is no ``HarnessError``: it says that trying again may help, and never leaves the runner.
"""

from __future__ import annotations

from typing import ClassVar


class HarnessError(Exception):
    """Base of all; its text is one line that names the file, row or key and what to do."""

    exit_code: ClassVar[int] = 2


class ConfigError(HarnessError):
    pass


class DocumentError(HarnessError):
    pass


class TaskError(HarnessError):
    pass


class LexiconError(HarnessError):
    pass


class TemplateError(HarnessError):
    pass


class ParserError(HarnessError):
    pass


class ModelError(HarnessError):
    pass


class RunError(HarnessError):
    pass


class CacheError(HarnessError):
    pass


class EndpointError(HarnessError):
    pass


class BudgetSpent(EndpointError):
    pass


class Transient(Exception):
    """An attempt that failed but may succeed later.

    ``retry_after`` in seconds where the server said so; ``throttled`` where it asked for less at a time.
    """

    def __init__(self, message: str, retry_after: float | None = None, throttled: bool = False) -> None:
        super().__init__(message)
        self.retry_after = retry_after
        self.throttled = throttled
