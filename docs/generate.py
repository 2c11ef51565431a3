"""Write what the code dictates, reference.md and config.schema.json: ``python docs/generate.py``.

``tests/test_docs.py`` fails where a file is not what this gives.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from types import NoneType, UnionType
from typing import Annotated, Literal, Union, get_args, get_origin

from pydantic import BaseModel
from pydantic.fields import FieldInfo

from harness import registry
from harness.columns import COLUMNS
from harness.config import OF_MODEL, OF_SUITE, RunConfig
from harness.core import Json
from harness.report.schema import DIALECT
from harness.settings import (
    BudgetLimits,
    Documents,
    GuardSettings,
    JudgeSettings,
    ModelSettings,
    Options,
    Price,
    Prompts,
    TaskOptions,
    flags,
    metadata,
)

HERE = Path(__file__).parent
FILES = {
    "cases": "`cases/*.parquet`",
    "answers": "`answers.parquet`",
    "verdicts": "`verdicts.parquet`, and `discarded.parquet` with the same columns",
    "noise": "`noise.parquet`",
    "repeats": "`repeats.parquet`",
    "preferences": "`preferences.parquet`",
    "flips": "`flips.parquet`, beside a page that does not list all flips",
}
HEAD = """# Reference

Every key of a configuration with its command-line option, and every column of a run's tables. Made from the
code by `python docs/generate.py`. [summary.schema.json](summary.schema.json) is the schema of `summary.json`.

An option on the command line wins over the key. `hinter run --help` lists the options by heading.
"""
SECTIONS: Mapping[str, tuple[str, type[Options]]] = {
    "": ("What the whole run needs, at the top of the file.", RunConfig),
    "prompts": (
        "Several wordings and contexts for the same cases: [several wordings](wordings.md).",
        Prompts,
    ),
    "documents": ("Where the texts are.", Documents),
    "task_options": ("What a task is to be told; each task says which of them it takes.", TaskOptions),
    "model": ("The system under test.", ModelSettings),
    "model.price": ("USD per million tokens.", Price),
    "judge": (
        "The model that compares two answers, for the measure `preference`; keys beside `question` as in"
        " `[model]`: [answers in free form](free.md#a-judge).",
        JudgeSettings,
    ),
    "budget": ("What a run may send and spend.", BudgetLimits),
    "guard": ("How each answer is checked as it is given ([at run time](guard.md)).", GuardSettings),
}


def reference() -> str:
    """Return the page."""
    parts = [HEAD, "## Configuration\n"]
    for name, (about, options) in SECTIONS.items():
        parts += list(section(name, about, options))
    parts.append("## Suites\n")
    for suite in map(registry.suite_plugin, registry.suites()):
        parts += list(section(suite.name, f"{suite.about[:1].upper()}{suite.about[1:]}.", suite.options))
    parts.append("## Models\n")
    for model in map(registry.model_plugin, registry.model_kinds()):
        if model.options.model_fields:
            about = f"Options of `--model {model.name}:…`, beside those of `[model]`."
            parts += list(section(f"model.{model.name}", about, model.options))
    parts.append("## Tables\n")
    for name, file in FILES.items():
        parts += list(columns(name, file))
    return "\n".join(parts)


def config_schema() -> str:
    """Return the JSON Schema of a configuration, as editors of TOML take it, with all suites and models."""
    named: dict[str, type[BaseModel]] = {"": RunConfig, "model": ModelSettings}
    named |= {name: registry.suite_plugin(name).options for name in registry.suites()}
    named |= {f"model.{kind}": registry.model_plugin(kind).options for kind in registry.model_kinds()}
    definitions: dict[str, Json] = {}
    tables: dict[str, dict[str, Json]] = {}
    for name, options in named.items():
        table = options.model_json_schema(ref_template="#/$defs/{model}")
        definitions |= table.pop("$defs", {})
        tables[name] = {key: value for key, value in table.items() if key != "title"}
    properties, of_model = tables[""]["properties"], tables["model"]["properties"]
    assert isinstance(properties, dict)
    assert isinstance(of_model, dict)
    for key in (OF_SUITE, OF_MODEL):
        del properties[key]
    del tables[""]["required"]
    properties |= {name: tables[name] for name in registry.suites()} | {"model": tables["model"]}
    of_model |= {kind: tables[f"model.{kind}"] for kind in registry.model_kinds()}
    for own in ("ModelSettings", "Options"):
        del definitions[own]
    about: dict[str, Json] = {"$schema": DIALECT, "title": "A configuration of hinter run"}
    return json.dumps({**about, **tables[""], "$defs": definitions}, indent=1, ensure_ascii=False) + "\n"


def section(name: str, about: str, options: type[BaseModel]) -> Iterator[str]:
    """Yield the lines of one section of the configuration."""
    yield f"### `[{name}]`\n" if name else "### The top of the file\n"
    yield f"{about}\n"
    fields = {key: field for key, field in options.model_fields.items() if not is_section(field)}
    if not fields:
        yield "No options.\n"
        return
    declared = {key: flag for flag, key in flags(options).items()} if issubclass(options, Options) else {}
    yield "| key | option | type | default | meaning |"
    yield "|---|---|---|---|---|"
    for key, field in fields.items():
        option = f"`{declared[key]}`" if key in declared else ""
        cells = (f"`{key}`", option, kind(field), default(field), field.description or "")
        yield f"| {' | '.join(cell.replace('|', '&#124;') for cell in cells)} |"
    yield ""


def columns(name: str, file: str) -> Iterator[str]:
    """Yield the lines of one table of a run."""
    yield f"### {file}\n"
    yield "| column | type | content |"
    yield "|---|---|---|"
    for column, content in COLUMNS[name].items():
        yield f"| `{column}` | {content.kind} | {content.about} |"
    yield ""


def is_section(field: FieldInfo) -> bool:
    """Return whether a field is a table of the TOML with a heading of its own."""
    return any(isinstance(part, type) and issubclass(part, BaseModel) for part in parts_of(field.annotation))


def parts_of(annotation: object) -> Iterator[object]:
    """Yield the types that a union or an ``Annotated`` is made of."""
    if get_origin(annotation) in (Union, UnionType):
        for part in get_args(annotation):
            yield from parts_of(part)
    elif get_origin(annotation) is Annotated:
        yield from parts_of(get_args(annotation)[0])
    else:
        yield annotation


def kind(field: FieldInfo) -> str:
    """Return the type of a field in words, with its bounds."""
    words = [word for part in parts_of(field.annotation) if (word := kind_of(part))]
    bounds = [bound for mark in (*field.metadata, *metadata(field.annotation)) if (bound := bound_of(mark))]
    return " or ".join(dict.fromkeys(words)) + (f", {' and '.join(dict.fromkeys(bounds))}" if bounds else "")


def kind_of(part: object) -> str:
    if get_origin(part) is Literal:
        return " or ".join(f"`{choice}`" for choice in get_args(part))
    if get_origin(part) is tuple:
        return "list of texts"
    if get_origin(part) is dict:
        return "table"
    names: Mapping[object, str] = {str: "text", int: "whole number", float: "number", bool: "true or false"}
    return "" if part is NoneType else names[part]


def bound_of(mark: object) -> str:
    for name, word in (("ge", "at least"), ("gt", "above"), ("le", "at most"), ("lt", "below")):
        if (value := getattr(mark, name, None)) is not None:
            return f"{word} {value}"
    return ""


def default(field: FieldInfo) -> str:
    """Return the default of a field as TOML writes it; "" where there is none."""
    value = field.get_default()
    return "" if field.is_required() or value is None else f"`{written(value)}`"


def written(value: object) -> str:
    if isinstance(value, tuple):
        return f"[{', '.join(map(written, value))}]"
    if isinstance(value, bool):
        return str(value).lower()
    return (
        f'"{value}"' if isinstance(value, str) else f"{value:g}" if isinstance(value, float) else str(value)
    )


if __name__ == "__main__":
    (HERE / "reference.md").write_text(reference(), encoding="utf-8")
    (HERE / "config.schema.json").write_text(config_schema(), encoding="utf-8")
