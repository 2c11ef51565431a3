"""The base of the typed blocks of ``summary.json``."""

from __future__ import annotations

from typing import ClassVar

from pydantic import BaseModel, ConfigDict

Interval = tuple[float, float]


class Block(BaseModel):
    """A frozen part of the summary; unnamed keys are preserved."""

    model_config: ClassVar[ConfigDict] = ConfigDict(
        frozen=True, extra="allow", populate_by_name=True, arbitrary_types_allowed=False
    )
