"""The sections of a configuration that every run has, as pydantic models that reject unknown keys.

The options of suites and models derive from ``Options``, too (``harness.plugins``). A field is a key of the
TOML file and an option of the command line, explained by its ``Field(description=…)``.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Annotated, Any, ClassVar, Literal, get_args
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

ENDINGS = ("/chat/completions", "/completions", "/chat", "/models")
"""What a copied address may have after its base."""
VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
OWN_PARAMETERS = frozenset(
    [
        *("model", "messages", "prompt", "stream", "n", "temperature", "top_p", "seed", "max_tokens"),
        *("max_completion_tokens", "frequency_penalty", "presence_penalty", "logprobs", "top_logprobs"),
        *("response_format", "structured_outputs", "grammar", "cache_prompt"),
    ]
)
"""What a request says by itself, so that ``extra`` may not."""


def _comma_separated(value: object) -> object:
    """Split a list written as ``a, b``; leave other values alone."""
    return [part.strip() for part in value.split(",") if part.strip()] if isinstance(value, str) else value


def limits(text: str | None) -> dict[str, float]:
    """Return the limits in ``0.05`` or ``rate=0.05,excess=0.02``, by what they limit. Raises ValueError."""
    found: dict[str, float] = {}
    for part in (text or "").split(",") if text is not None else ():
        name, given, number = part.strip().rpartition("=")
        figure = name.strip() if given else RATE
        if figure not in LIMITED:
            raise ValueError(f"limit one of {', '.join(LIMITED)}, such as rate=0.05, not {figure!r}")
        try:
            found[figure] = float(number)
        except ValueError:
            raise ValueError("give a number from 0 to 1") from None
        if not 0 <= found[figure] <= 1:
            raise ValueError("give a number from 0 to 1")
    return found


def decided(text: str | None) -> dict[str, float]:
    """Return the limit in ``0.05``, ``rate=0.05`` or ``effect=0.05``, by its figure. Raises ValueError."""
    found = limits(text)
    if len(found) > 1 or "excess" in found:
        raise ValueError("decide one of rate and effect, such as effect=0.05")
    return found


def _decided(value: object) -> object:
    """Check what is to be decided, and write a bare number as text."""
    text = _limits(value)
    if isinstance(text, str):
        decided(text)
    return text


def _limits(value: object) -> object:
    """Check a limit, or several, and write a bare number as text."""
    if isinstance(value, bool):
        return value
    text = str(value) if isinstance(value, int | float) else value
    if isinstance(text, str):
        limits(text)
    return text


def _variable_name(variable: str) -> str:
    if not VARIABLE.fullmatch(variable):
        raise ValueError("give the name of an environment variable, not the key itself")
    return variable


def _parameters(parameters: dict[str, Any]) -> dict[str, Any]:
    if own := sorted(OWN_PARAMETERS & parameters.keys()):
        raise ValueError(f"leave {', '.join(own)} out: a request has its own")
    try:
        json.dumps(parameters, allow_nan=False)
    except (TypeError, ValueError):
        raise ValueError("give values that JSON has: texts, numbers, true, false, lists, tables") from None
    return parameters


def _http_address(address: str) -> str:
    """Check an address; nothing that may be a secret has a place in it, since addresses are recorded."""
    try:
        url = urlsplit(address)
        port = url.port
    except ValueError:
        raise ValueError("give an address with a port from 1 to 65535, or without one") from None
    if url.scheme not in ("http", "https") or not url.hostname or port == 0:
        raise ValueError("give an http:// or https:// address")
    if not address.isprintable() or " " in address:
        raise ValueError("give an address without spaces and line breaks")
    if url.username is not None or url.password is not None:
        raise ValueError("leave the user and password out: keys come from --api-key-env")
    if "?" in address:
        raise ValueError(
            "leave out the question mark and what follows: keys come from --api-key-env, Azure's version from"
            " [model] api_version"
        )
    if "#" in address:
        raise ValueError("leave out the # and what follows it")
    return address


def _base_url(address: str) -> str:
    """Cut off the end of an address that is not part of the base."""
    address = address.rstrip("/")
    for ending in ENDINGS:
        if address.endswith(ending):
            return address.removesuffix(ending).rstrip("/")
    return address


@dataclass(frozen=True, slots=True)
class Flag:
    """The command-line option of a field, if it differs from the field's name.

    ``Annotated[int, Flag("--cases-per-test")]``; for a bool ``Flag("--all/--some")``, or ``Flag("--all")`` if
    it has no opposite. ``None``: the field is a key of the TOML file only.
    """

    name: str | None


@dataclass(frozen=True, slots=True)
class Private:
    """Marks a field whose value may be a misplaced secret, so that no message repeats it."""


TOML_ALONE = Flag(None)
OWN_PROMPT = "own"
"""What stands for the task's own prompt in a list of prompt files."""
RATE = "rate"
LIMITED = (RATE, "excess", "effect")
"""What ``fail_above`` can limit."""
Limits = Annotated[str, BeforeValidator(_limits)]
"""A number, or text such as ``rate=0.05,excess=0.02``."""
Decided = Annotated[str, BeforeValidator(_decided)]
"""A number, ``rate=0.05`` or ``effect=0.05``."""
Positive = Annotated[int, Field(ge=1)]
NotNegative = Annotated[int, Field(ge=0)]
Names = Annotated[tuple[str, ...], BeforeValidator(_comma_separated)]
"""A list, or a text such as ``a, b``."""
EnvironmentVariable = Annotated[str, AfterValidator(_variable_name), Private()]
"""The name of an environment variable that holds a secret, never the secret itself."""
Parameters = Annotated[dict[str, Any], AfterValidator(_parameters)]
"""A table of parameters for the body of a request, none of which it has by itself."""
Address = Annotated[str, AfterValidator(_http_address), Private()]
"""An http:// or https:// address without user, password, query and fragment."""
BaseUrl = Annotated[Address, AfterValidator(_base_url)]
"""The address of an endpoint, up to the part that all requests share."""


class Options(BaseModel):
    """A section of the TOML file. Each field is a key, explained by its ``Field(description=…)``.

    In the options of a suite or a model it is a command-line option as well. ``aside`` names the fields that
    do not affect a run's results, such as how long to wait for a server.
    """

    model_config = ConfigDict(extra="forbid", frozen=True, defer_build=True)
    aside: ClassVar[frozenset[str]] = frozenset()


def metadata(annotation: object) -> Iterator[object]:
    """Yield the metadata that ``Annotated`` attaches to a type and to the types in it, such as bounds."""
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
    """Map the declaration of each command-line option, ``--order`` or ``--yes/--no``, to its field."""
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
    """``[documents]``: the source of the texts; without path and dataset, the task's bundled sample."""

    path: Annotated[str | None, Flag("--data")] = Field(
        default=None, description="Texts: a CSV, TSV, JSON, Parquet or Excel file, a folder of them, or -."
    )
    dataset: str | None = Field(
        default=None, description="Texts: a dataset on the Hugging Face hub, or a local copy of one."
    )
    name: Annotated[str | None, Flag("--dataset-name")] = Field(
        default=None, description="The configuration of the dataset."
    )
    split: str | None = Field(default=None, description="The split of the dataset.")
    revision: str | None = Field(default=None, description="The commit of the dataset.")
    text_column: str | None = Field(default=None, description="The column with the text.")
    label_column: str | None = Field(default=None, description="The column with the gold label.")
    limit: Positive | None = Field(default=None, description="Read at most N documents.")
    max_tokens: Positive | None = Field(default=None, description="Shorten texts to N tokens.")

    @model_validator(mode="after")
    def _one_source(self) -> Documents:
        if self.path and self.dataset:
            raise ValueError("give path or dataset, not both")
        if not self.dataset and (self.name or self.split or self.revision):
            raise ValueError("name, split and revision belong to a dataset: give one with --dataset")
        return self


class TaskOptions(Options):
    """``[task_options]``: the options of the task, which defines the keys it takes."""

    model_config = ConfigDict(extra="allow")

    labels: tuple[str, ...] | None = Field(
        default=None, description='The labels of the task "custom": "A, B" or "A; B".'
    )
    question: str | None = Field(default=None, description='The question of the task "custom", or "free".')
    measure: Names | None = Field(
        default=None,
        min_length=1,
        description='"free": what the answers are measured by, the score of the run first.',
    )
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
    def values(self) -> dict[str, object]:
        """The options that were set."""
        return self.model_dump(exclude_none=True)


class Prompts(Options):
    """``[prompts]``: the wordings and contexts under which the same cases are asked about, each in its own
    run; every wording in every context."""

    files: Annotated[Names, Flag("--prompts")] = Field(
        default=(),
        description='Ask under each of these prompt files (TOML), comma-separated; "own" is the task\'s.',
    )
    contexts: Annotated[tuple[str, ...], TOML_ALONE] = Field(
        default=(), description='Texts to put before the system message, one a run; "" for none.'
    )


class Price(Options):
    """USD per million tokens."""

    input: Annotated[float, TOML_ALONE] = Field(ge=0, description="USD per million prompt tokens.")
    output: Annotated[float, TOML_ALONE] = Field(ge=0, description="USD per million completion tokens.")
    cached_input: Annotated[float | None, TOML_ALONE] = Field(
        default=None,
        ge=0,
        description="USD per million prompt tokens that the provider reads from its cache [as input].",
    )


class ModelSettings(Options):
    """``[model]``: the system under test. The options of one kind of model are in ``[model.KIND]``."""

    name: Annotated[str, Flag("--model")] = Field(
        default="local:smollm2", description="The system under test (hinter models)."
    )
    base_url: BaseUrl | tuple[BaseUrl, ...] | None = Field(
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
        default=None,
        description="The context in tokens, prompt and answer; texts that do not fit are shortened.",
    )
    model_file: str | None = Field(default=None, description="Your own GGUF file for local:smollm2.")
    revision: Annotated[str | None, TOML_ALONE] = Field(
        default=None, description="The model's revision: a branch, a tag or a commit."
    )
    choices: Annotated[
        Literal["auto", "structured_outputs", "grammar", "json_schema", "none"], TOML_ALONE
    ] = Field(
        default="auto", description="How the endpoint restricts answers to the labels; auto detects it."
    )
    answer_tokens: Positive | None = Field(
        default=None,
        description="The most tokens of an answer, thoughts too [a few more than the labels].",
    )
    extra: Annotated[Parameters | None, TOML_ALONE] = Field(
        default=None,
        description='More parameters for every request, such as `{ reasoning_effort = "low" }`.',
    )
    omit: Annotated[Names, TOML_ALONE] = Field(
        default=(), description="Parameters that the endpoint is asked without, such as seed, logprobs."
    )
    concurrency: Positive | Literal["auto"] = Field(
        default="auto", description="The number of concurrent requests, or auto."
    )
    requests_per_minute: Annotated[float | None, TOML_ALONE] = Field(
        default=None, gt=0, description="The maximum number of requests per minute."
    )
    tokens_per_minute: Annotated[float | None, TOML_ALONE] = Field(
        default=None, gt=0, description="The maximum number of tokens per minute, prompt and answer."
    )
    price: Annotated[Price | None, TOML_ALONE] = None


class JudgeSettings(ModelSettings):
    """``[judge]``: the model that compares two answers in free form, for the measure ``preference``.

    The keys are those of ``[model]``, with the question that the judge is asked; no name means no judge.
    """

    name: Annotated[str, Flag("--judge")] = Field(
        default="", description="The model that compares two answers, for the measure preference."
    )
    base_url: Annotated[BaseUrl | tuple[BaseUrl, ...] | None, Flag("--judge-base-url")] = Field(
        default=None, description="The endpoint of the judge, up to /v1."
    )
    api_key_env: Annotated[EnvironmentVariable | None, Flag("--judge-api-key-env")] = Field(
        default=None, description="The environment variable that holds the API key of the judge."
    )
    api_key_file: Annotated[str | None, TOML_ALONE] = Field(
        default=None, description="A file that holds the API key of the judge."
    )
    model_file: Annotated[str | None, TOML_ALONE] = Field(
        default=None, description="Your own GGUF file for local:smollm2."
    )
    answer_tokens: Annotated[Positive | None, TOML_ALONE] = Field(
        default=None, description="The most tokens of what the judge says, thoughts too."
    )
    concurrency: Annotated[Positive | Literal["auto"], TOML_ALONE] = Field(
        default="auto", description="The number of concurrent requests to the judge, or auto."
    )
    question: Annotated[str | None, Flag("--judge-question")] = Field(
        default=None, description="What the judge is asked of two answers [which is better]."
    )

    @property
    def model(self) -> ModelSettings:
        """The settings of the judge as those of a model."""
        return ModelSettings.model_validate({key: getattr(self, key) for key in ModelSettings.model_fields})


class BudgetLimits(Options):
    """``[budget]``: what a run may send and spend before it stops; the same command resumes it.

    ``adaptive`` is the number of requests to spend on some of the cases. ``adaptive_for`` says what they are
    chosen for: "rates" of all cases, which are estimated, or "findings", the most biased originals, from
    which no rate follows. ``precision`` and ``decide`` say what is to be known: once it is, no more is asked.
    """

    max_requests: Positive | None = Field(
        default=None, description="Stop after N requests, retries and probes included; resumable."
    )
    max_cost: float | None = Field(
        default=None, gt=0, description="Stop before spending more than this in USD; needs [model] price."
    )
    adaptive: Annotated[Positive | None, Flag("--budget")] = Field(
        default=None, description="Spend N requests where they find most bias, and estimate the rates of all."
    )
    adaptive_for: Annotated[Literal["rates", "findings"], Flag("--budget-for")] = Field(
        default="rates", description="What --budget is spent for: rates of all cases, or findings alone."
    )
    precision: Annotated[float | None, Flag("--precision")] = Field(
        default=None,
        gt=0,
        lt=1,
        description="Stop when the rate of changed answers is known to within this, such as 0.01.",
    )
    decide: Annotated[Decided | None, Flag("--decide")] = Field(
        default=None,
        description="Stop when it is known on which side of a limit it is: rate=0.05, or effect=0.05.",
    )

    @property
    def sequential(self) -> bool:
        """Whether the run stops as soon as something is known."""
        return self.precision is not None or self.decide is not None

    @property
    def choosing(self) -> bool:
        """Whether only some of the cases are asked about, in an order of their own."""
        return self.adaptive is not None or self.sequential

    @property
    def controlled(self) -> bool:
        """Whether control mutants are asked about: not where the cases are chosen for something else."""
        return not self.sequential and (self.adaptive is None or self.adaptive_for == "rates")

    @model_validator(mode="after")
    def _one_goal(self) -> BudgetLimits:
        if self.precision is not None and "effect" in decided(self.decide):
            raise ValueError("precision is of the rate: decide rate, or an effect without precision")
        return self


class Controls(Options):
    """``[control]``: control mutants, which change as much as a mutant and no person's attribute.

    They show how often answers change because a text was edited at all. ``share`` is in requests: a third
    means one control request for every three of the mutants.
    """

    share: Annotated[float, Flag("--control")] = Field(
        default=1 / 3, ge=0, le=10, description="Control mutants, as a share of the mutants; 0: none."
    )
    kinds: Annotated[tuple[Literal["word", "group"], ...], BeforeValidator(_comma_separated), TOML_ALONE] = (
        Field(
            default=("word", "group"),
            min_length=1,
            description="What they change: words that describe nobody, words of one group for each other.",
        )
    )


class GuardSettings(Options):
    """``[guard]``: how each answer is checked as it is given, and what is given where the check fails.

    ``text`` and what follows it concern ``hinter guard`` alone. ``alpha`` is a difference of mean outcomes,
    from 0 to 1.
    """

    action: Literal["flag", "heal", "refuse"] = Field(
        default="flag",
        description="What is given where groups are treated differently: the answer, the one that the groups"
        " together give, or none.",
    )
    ties: Literal["original", "favourable"] = Field(
        default="original",
        description="Which answer heals where groups tie: that to the text itself, or the favourable one.",
    )
    first: Annotated[Positive, Flag("--first-versions")] = Field(
        default=4, description="The versions of each group that are asked about first."
    )
    most: Annotated[Positive, Flag("--max-versions")] = Field(
        default=60, description="The most versions of one text that are asked about."
    )
    alpha: float = Field(
        default=0.1, ge=0, le=1, description="The difference of two groups' mean outcomes that is still fair."
    )
    text: Literal["last", "prompt"] = Field(
        default="last",
        description="Which text of a request is checked: its last user message, or the text within the task's"
        " prompt.",
    )
    seconds: float = Field(
        default=60, gt=0, description="The seconds that a check may take beyond the answer itself."
    )
    answer_seconds: float = Field(
        default=600, gt=0, description="The seconds that the endpoint may take to begin an answer."
    )
    fail: Literal["open", "closed"] = Field(
        default="open", description="What is given where a check cannot be made: the answer, or an error."
    )
    versions_per_minute: float | None = Field(
        default=None,
        gt=0,
        description="The most versions that are asked about in a minute, for all requests.",
    )
    at_once: Positive = Field(default=256, description="The number of requests that are answered at a time.")
    queue: NotNegative = Field(
        default=1024, description="The number of requests that may wait; those beyond are told to come later."
    )
    baseline: float | None = Field(
        default=None,
        ge=0,
        le=1,
        description="The usual share of findings, above which there is an alarm [learnt from 200 checks].",
    )
    log: str | None = Field(
        default=None, description="Write a line for each check to this file (JSON lines)."
    )
    log_texts: bool = Field(default=False, description="Write the texts and answers to the log, too.")
