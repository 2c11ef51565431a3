"""The JSON Schema of ``summary.json``: ``python -m harness.report.schema > docs/summary.schema.json``."""

from __future__ import annotations

import json

from harness.core import Json
from harness.report.summary import Summary

DIALECT = "https://json-schema.org/draft/2020-12/schema"


def schema() -> dict[str, Json]:
    """Return the schema generated from the types, with a description of every field."""
    return {"$schema": DIALECT, **Summary.model_json_schema(by_alias=True, mode="validation")}


def text() -> str:
    """Return the content of the published schema file."""
    return json.dumps(schema(), indent=1, ensure_ascii=False) + "\n"


if __name__ == "__main__":
    print(text(), end="")
