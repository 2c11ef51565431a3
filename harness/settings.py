"""The sections of a configuration that every run has, as pydantic models: unknown keys are errors.

``Options`` is also what the options of a suite or a model derive from (``harness.plugins``). A field is a key
of the TOML and an option of the command line, explained by its ``Field(description=…)``.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Annotated, ClassVar, Literal, get_args
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
from pydantic.fields import FieldInfo

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


@dataclass(frozen=True, slots=True)
class Flag:
    """The command-line option of a field, where it is not the field's own name.

    ``Annotated[int, Flag("--cases-per-test")]``; of a bool ``Flag("--all/--some")``, or ``Flag("--all")``
    where there is no way to say no. ``None``: the field is a key of the TOML alone.
    """

    name: str | None


@dataclass(frozen=True, slots=True)
class Private:
    """Marks a field whose value may be a secret that was put in the wrong place: no message repeats it."""


TOML_ALONE = Flag(None)
Positive = Annotated[int, Field(ge=1)]
NotNegative = Annotated[int, Field(ge=0)]
Names = Annotated[tuple[str, ...], BeforeValidator(_comma_separated)]
"""A list, or a text such as ``a, b``."""
EnvironmentVariable = Annotated[str, AfterValidator(_variable_name), Private()]
"""The name of an environment variable that holds a secret, never the secret itself."""
Address = Annotated[str, AfterValidator(_http_address), Private()]
"""An http:// or https:// address without user and password."""


class Options(BaseModel):
    """A section of the TOML. Each field is a key, and of a suite or a model also a command-line option,
    explained by its ``Field(description=…)``.

    ``aside`` names the fields that change nothing in a run's results, as how long to wait for a server.
    """

    model_config = ConfigDict(extra="forbid", frozen=True, defer_build=True)
    aside: ClassVar[frozenset[str]] = frozenset()


def metadata(annotation: object) -> Iterator[object]:
    """Yield everything that ``Annotated`` says of a type and of the types in it, such as bounds."""
    for part in get_args(annotation):
        if isinstance(part, FieldInfo):
            yield from part.metadata
        else:
            yield part
            yield from metadata(part)


def private(field: FieldInfo) -> bool:
    """Return whether no message may repeat the value of ``field``."""
    return any(isinstance(mark, Private) for mark in (*field.metadata, *metadata(field.annotation)))


def flags(options: type[Options]) -> dict[str, str]:
    """Return the field of each command-line option by its declaration, ``--order`` or ``--yes/--no``."""
    declared: dict[str, str] = {}
    for name, field in options.model_fields.items():
        option = "--" + name.replace("_", "-")
        if field.annotation is bool:
            option += f"/--no-{option[2:]}"
        flag = next((mark for mark in field.metadata if isinstance(mark, Flag)), Flag(option))
        if flag.name is not None:
            declared[flag.name] = name
    return declared


class Documents(Options):
    """``[documents]``: where the texts are; neither path nor dataset means the task's bundled sample."""

    path: Annotated[str | None, Flag("--data")] = Field(
        default=None, description="Texts: CSV, TSV, JSONL, Parquet, or a folder of them."
    )
    dataset: str | None = Field(
        default=None, description="Texts: a dataset on the Hugging Face hub, or a local folder of one."
    )
    name: Annotated[str | None, Flag("--dataset-name")] = Field(
        default=None, description="The configuration of the dataset."
    )
    split: str | None = Field(default=None, description="The split of the dataset.")
    revision: str | None = Field(default=None, description="The commit of the dataset.")
    text_column: str | None = Field(default=None, description="The column with the text.")
    label_column: str | None = Field(default=None, description="The column with the gold label.")
    limit: Positive | None = Field(default=None, description="At most N documents.")
    max_tokens: Positive | None = Field(default=None, description="Shorten texts to N tokens.")

    @model_validator(mode="after")
    def _one_source(self) -> Documents:
        if self.path and self.dataset:
            raise ValueError("give path or dataset, not both")
        if not self.dataset and (self.name or self.split or self.revision):
            raise ValueError("name, split and revision belong to a dataset: give one with --dataset")
        return self


class TaskOptions(Options):
    """``[task_options]``: what a task is to be told; which keys it takes is the task's to say."""

    model_config = ConfigDict(extra="allow")

    labels: tuple[str, ...] | None = Field(
        default=None, description='Labels of the task "custom": "A, B", or "A; B".'
    )
    question: str | None = Field(default=None, description='The question of the task "custom".')
    multi_label: Annotated[bool | None, Flag("--multi-label/--one-label")] = Field(
        default=None, description='"custom": whether a text may have several labels.'
    )
    variant: str | None = Field(
        default=None, description='"ecthr": a for articles violated, b for articles allegedly violated.'
    )
    scale: Annotated[int, Field(ge=2, le=9)] | None = Field(
        default=None, description="Rating tasks: rate in whole numbers from 0 to N."
    )

    @field_validator("labels", mode="before")
    @classmethod
    def _listed(cls, value: object) -> object:
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
    def given(self) -> dict[str, object]:
        return self.model_dump(exclude_none=True)


class Price(Options):
    """USD per million tokens."""

    input: Annotated[float, TOML_ALONE] = Field(ge=0, description="A million prompt tokens, in USD.")
    output: Annotated[float, TOML_ALONE] = Field(ge=0, description="A million completion tokens, in USD.")
    cached_input: Annotated[float | None, TOML_ALONE] = Field(
        default=None,
        ge=0,
        description="A million prompt tokens that the provider read from its cache, in USD [as input].",
    )


class ModelSettings(Options):
    """``[model]``: the system under test. What one kind of model alone takes, the options of its plug-in, is
    in the table ``[model.KIND]``."""

    name: Annotated[str, Flag("--model")] = Field(
        default="local:smollm2", description="The system under test (hinter models)."
    )
    base_url: Address | tuple[Address, ...] | None = Field(
        default=None, description="An OpenAI-compatible endpoint, up to /v1."
    )
    api_key_env: EnvironmentVariable | None = Field(
        default=None, description="The environment variable that holds the API key."
    )
    api_key_file: str | None = Field(default=None, description="A file that holds the API key.")
    api_version: Annotated[str | None, TOML_ALONE] = Field(
        default=None, description="The API version of a deployment on Azure OpenAI."
    )
    context: Annotated[Positive | None, TOML_ALONE] = Field(
        default=None, description="Tokens of prompt and answer together; texts that do not fit are shortened."
    )
    model_file: str | None = Field(default=None, description="Your own GGUF file for local:smollm2.")
    revision: Annotated[str | None, TOML_ALONE] = Field(
        default=None, description="The model's revision: a branch, a tag or a commit."
    )
    choices: Annotated[
        Literal["auto", "structured_outputs", "grammar", "json_schema", "none"], TOML_ALONE
    ] = Field(default="auto", description="How an endpoint is held to the labels; auto finds out.")
    concurrency: Positive | Literal["auto"] = Field(
        default="auto", description="The number of concurrent requests, or auto."
    )
    requests_per_minute: Annotated[float | None, TOML_ALONE] = Field(
        default=None, gt=0, description="Send at most so many requests a minute."
    )
    tokens_per_minute: Annotated[float | None, TOML_ALONE] = Field(
        default=None, gt=0, description="Send at most so many tokens a minute, prompt and answer."
    )
    price: Annotated[Price | None, TOML_ALONE] = None


class BudgetLimits(Options):
    """``[budget]``: what a run may send and spend before it stops, to be taken up later; ``adaptive``: how
    many requests to spend on the cases that promise most."""

    max_requests: Positive | None = Field(
        default=None, description="Stop after sending N requests; resumable."
    )
    max_cost: float | None = Field(
        default=None, gt=0, description="Stop before spending more than this in USD; needs [model] price."
    )
    adaptive: Annotated[Positive | None, Flag("--budget")] = Field(
        default=None, description="Spend N requests on the mutants most likely to show a bias."
    )
