"""The sections of a configuration that every run has, as pydantic models: unknown keys are errors.

``Options`` is also what the options of a suite or a model derive from (``harness.plugins``).
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Annotated, Any, Literal
from urllib.parse import urlsplit

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    field_validator,
    model_validator,
)

VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")


def _comma_separated(value: object) -> object:
    """A list written as ``a, b``."""
    return [part.strip() for part in value.split(",") if part.strip()] if isinstance(value, str) else value


def _variable_name(variable: str) -> str:
    if not VARIABLE.fullmatch(variable):
        raise ValueError("give the name of an environment variable, not the key itself")
    return variable


def _http_address(address: str) -> str:
    url = urlsplit(address)
    if url.scheme not in ("http", "https") or not url.hostname:
        raise ValueError("give an http:// or https:// address")
    if url.username or url.password:
        raise ValueError("leave the user and password out: keys come from --api-key-env")
    return address


Positive = Annotated[int, Field(ge=1)]
NotNegative = Annotated[int, Field(ge=0)]
Names = Annotated[tuple[str, ...], BeforeValidator(_comma_separated)]
"""A list, or a text such as ``a, b``."""
EnvironmentVariable = Annotated[str, AfterValidator(_variable_name)]
"""The name of an environment variable that holds a secret, never the secret itself."""
Address = Annotated[str, AfterValidator(_http_address)]
"""An http:// or https:// address without user and password."""


@dataclass(frozen=True, slots=True)
class Flag:
    """The command-line option of a field, where it is not the field's own name.

    ``Annotated[int, Flag("--cases-per-test")]``; ``None``: the field is a key of the TOML alone.
    """

    name: str | None


class Options(BaseModel):
    """A section of the TOML. Each field is a key, and of a suite or a model also a command-line option,
    explained by its ``Field(description=…)``."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class Documents(Options):
    """``[documents]``: where the texts are; neither path nor dataset means the task's bundled sample."""

    path: str | None = None
    dataset: str | None = None
    name: str | None = None
    split: str | None = None
    revision: str | None = None
    text_column: str | None = None
    label_column: str | None = None
    limit: Positive | None = None
    max_tokens: Positive | None = None

    @model_validator(mode="after")
    def _one_source(self) -> Documents:
        if self.path and self.dataset:
            raise ValueError("give path or dataset, not both")
        if not self.dataset and (self.name or self.split or self.revision):
            raise ValueError("name, split and revision belong to a dataset: give one with --dataset")
        return self


class TaskOptions(Options):
    """``[task_options]``: what a task is to be told; which keys it takes is the task's to say."""

    model_config = ConfigDict(extra="allow", frozen=True)

    labels: tuple[str, ...] | None = None
    question: str | None = None
    multi_label: bool | None = None
    variant: str | None = None

    @field_validator("labels", mode="before")
    @classmethod
    def _listed(cls, value: Any) -> Any:
        if not isinstance(value, str):
            return value
        parts = value.split(";" if ";" in value else ",")
        return [part.strip() for part in parts if part.strip()]

    @field_validator("labels")
    @classmethod
    def _distinct(cls, value: tuple[str, ...] | None) -> tuple[str, ...] | None:
        if value is not None and (len(value) < 2 or not all(label.strip() for label in value)):
            raise ValueError("give two labels or more, none of them empty")
        if value is not None and len({label.strip().lower() for label in value}) < len(value):
            raise ValueError("two labels are the same")
        return value

    @property
    def given(self) -> dict[str, Any]:
        return self.model_dump(exclude_none=True)


class Price(Options):
    """USD per million tokens."""

    input: float = Field(ge=0)
    output: float = Field(ge=0)
    cached_input: float | None = Field(default=None, ge=0)


class Vllm(Options):
    """``[model.vllm]``: how the server of ``vllm:NAME`` is started; ``flags`` go to vLLM as given."""

    max_model_len: Positive | None = None
    dtype: str | None = None
    quantization: str | None = None
    seed: NotNegative = 0
    flags: tuple[str, ...] = ()
    startup_seconds: float = Field(default=1800.0, gt=0)
    stop_seconds: float = Field(default=15.0, ge=0)


class ModelSettings(Options):
    """``[model]``: the system under test."""

    name: str = "local:smollm2"
    base_url: Address | tuple[Address, ...] | None = None
    api_key_env: EnvironmentVariable | None = None
    api_key_file: str | None = None
    api_version: str | None = None
    context: Positive | None = None
    model_file: str | None = None
    revision: str | None = None
    choices: Literal["auto", "structured_outputs", "grammar", "json_schema", "none"] = "auto"
    concurrency: Positive | Literal["auto"] = "auto"
    requests_per_minute: float | None = Field(default=None, gt=0)
    tokens_per_minute: float | None = Field(default=None, gt=0)
    price: Price | None = None
    vllm: Vllm = Vllm()


class BudgetLimits(Options):
    """``[budget]``: what a run may send and spend before it stops, to be taken up later; ``adaptive``: how
    many requests to spend on the cases that promise most."""

    max_requests: Positive | None = None
    max_cost: float | None = Field(default=None, gt=0)
    adaptive: Positive | None = None
