"""The dialect of an endpoint: what was learnt about how to ask it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Literal

from pydantic import TypeAdapter

from harness.core import JsonObject

Wanted = Literal["auto", "structured_outputs", "grammar", "json_schema", "none"]
Choices = Literal["unknown", "structured_outputs", "grammar", "json_schema", "none"]


@dataclass(frozen=True, slots=True)
class Dialect:
    """How to ask an endpoint: its name for the token limit, what it rejects, how it enforces labels.

    ``dropped`` are the optional parameters that it is asked without, ``values`` those that it takes only with
    another value than ours, such as a temperature above zero. ``versions`` are those of the vLLM servers
    behind the endpoint when they were last asked, where they told.
    """

    server: str = ""
    token_limit: str = "max_tokens"  # noqa: S105
    dropped: tuple[str, ...] = ()
    values: Mapping[str, float] = field(default_factory=dict)
    system: bool = True
    chat: bool = True
    choices: Choices = "unknown"
    versions: tuple[str, ...] = ()

    @property
    def greedy(self) -> bool:
        """Whether the endpoint is asked at temperature zero."""
        return "temperature" not in self.dropped and not self.values.get("temperature")

    @property
    def facts(self) -> JsonObject:
        """The fields, and whether the endpoint is asked at temperature zero, for a summary."""
        return {**self.to_json(), "temperature_zero": self.greedy}

    def to_json(self) -> JsonObject:
        """Return the fields as JSON values, for ``from_json``."""
        return asdict(self)

    @classmethod
    def from_json(cls, data: JsonObject) -> Dialect:
        """Return the dialect in ``to_json``'s JSON; an earlier version may have written fewer fields."""
        return _DIALECT.validate_python(data)


_DIALECT = TypeAdapter(Dialect)
