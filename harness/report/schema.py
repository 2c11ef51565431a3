"""The JSON Schema of ``summary.json``: ``python -m harness.report.schema > docs/summary.schema.json``."""

from __future__ import annotations

import json

from harness.core import Json
from harness.report.summary import Summary

DIALECT = "https://json-schema.org/draft/2020-12/schema"


def schema() -> dict[str, Json]:
    """Return the schema, made from the types; every field says what it counts, and in what unit."""
    return {"$schema": DIALECT, **Summary.model_json_schema(by_alias=True, mode="validation")}


def text() -> str:
    """Return the schema as the file that is published."""
    return json.dumps(schema(), indent=1, ensure_ascii=False) + "\n"


if __name__ == "__main__":
    print(text(), end="")
