"""The plugin of CheckList: its options and its suite."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from harness.plugins import Flag, Kit, Options, Positive, Suite, SuitePlugin


class CheckListOptions(Options):
    """``[checklist]``: the file of tests, if not the bundled ones, how many cases to take of each, and
    whether to measure how diverse their syntax is, which needs a parser."""

    tests: str | None = Field(
        default=None,
        description="The file of tests: templates (TOML), JSON lines or a table [the bundled tests].",
    )
    limit: Annotated[Positive | None, Flag("--cases-per-test")] = Field(
        default=None, description="At most N cases of each test."
    )
    parser: str = Field(
        default="none", description="A parser to measure the syntactic diversity of the texts."
    )


def make(options: CheckListOptions, kit: Kit) -> Suite:
    """Return the suite that ``options`` describe. Raises ``ConfigError`` and ``ParserError``."""
    from harness.suites import sentiment_oracle as oracle
    from harness.suites.checklist import tests
    from harness.suites.checklist.suite import CheckList

    return CheckList(
        tests.load(options.tests, options.limit, kit.seed),
        oracle.labels(kit.task.labels, "checklist"),
        kit.parser(options.parser),
        options.limit,
    )


plugin = SuitePlugin(
    name="checklist",
    about="CheckList: tests of what an answer must be, stay or move towards; bundled, or of a file",
    options=CheckListOptions,
    make=make,
)
