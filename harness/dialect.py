"""The dialect of an endpoint: what was learnt of how it is asked."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Literal

from pydantic import TypeAdapter

from harness.core import JsonObject

Wanted = Literal["auto", "structured_outputs", "grammar", "json_schema", "none"]
Choices = Literal["unknown", "structured_outputs", "grammar", "json_schema", "none"]


@dataclass(frozen=True, slots=True)
class Dialect:
    """How one endpoint is asked: its name for the token limit, what it rejects, how labels are enforced."""

    server: str = ""
    token_limit: str = "max_tokens"  # noqa: S105
    dropped: tuple[str, ...] = ()
    system: bool = True
    chat: bool = True
    choices: Choices = "unknown"

    @property
    def greedy(self) -> bool:
        """Whether the endpoint is asked at temperature zero."""
        return "temperature" not in self.dropped

    def to_json(self) -> JsonObject:
        """Return what ``from_json`` reads."""
        return asdict(self)

    @classmethod
    def from_json(cls, data: JsonObject) -> Dialect:
        """Read what ``to_json`` wrote, perhaps in an earlier version, which knew fewer fields."""
        return _DIALECT.validate_python(data)


_DIALECT = TypeAdapter(Dialect)
