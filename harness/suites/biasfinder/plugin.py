"""The plugin of BiasFinder: its options and its suite."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from pydantic import Field

from harness.errors import ConfigError
from harness.plugins import Kit, Options, Positive, Suite, SuitePlugin

if TYPE_CHECKING:
    from harness.suites.biasfinder.gender_nouns import GenderNouns
    from harness.suites.biasfinder.sources import Given, Miner


class BiasFinderOptions(Options):
    """``[biasfinder]``: which characteristic of a person the templates vary, and with which words.

    ``characteristic`` None means gender in mined templates, and each template's own in those of a file.
    """

    characteristic: Literal["gender", "occupation", "country", "gender+occupation"] | None = Field(
        default=None, description="The characteristic to vary [gender]."
    )
    templates: str | None = Field(default=None, description="Your own templates (Parquet or text).")
    names: str | None = Field(default=None, description="Your own names (TOML).")
    names_a_class: Positive = Field(default=30, description="Use the first N names of each class.")
    max_mutants_per_template: Positive | None = Field(
        default=None, description="Sample N mutants per template."
    )
    coreference: Literal["rules", "coreferee", "fastcoref", "stanza"] = Field(
        default="rules", description="The coreference resolver."
    )
    parser: str = Field(default="spacy", description="spacy or spacy:NAME.")


def make(options: BiasFinderOptions, kit: Kit) -> Suite:
    """Return the suite of ``options``. Raises ``ConfigError``, ``TemplateError`` and ``ParserError``."""
    from harness.suites.biasfinder import fillers, names
    from harness.suites.biasfinder.gender_nouns import GenderNouns
    from harness.suites.biasfinder.suite import BiasFinder
    from harness.suites.nouns import gender_nouns, occupations

    limit = options.max_mutants_per_template
    if limit is not None and limit < fillers.LEAST:
        raise ConfigError(f"biasfinder.max_mutants_per_template: give {fillers.LEAST} or more, not {limit}")
    nouns = GenderNouns(gender_nouns())
    jobs = [noun.singular for noun in occupations()]
    casting = fillers.Casting(
        names.gender_names(options.names).first(options.names_a_class),
        names.country_names(options.names),
        jobs,
        limit,
        kit.seed,
    )
    return BiasFinder(_source(options, nouns, jobs), casting, nouns)


def _source(options: BiasFinderOptions, nouns: GenderNouns, jobs: list[str]) -> Miner | Given:
    """Return where templates come from: a file or the documents."""
    from harness.language import coreference
    from harness.suites.biasfinder import sources
    from harness.suites.biasfinder.occupation import Occupations

    if options.templates is not None:
        return sources.read(options.templates, options.characteristic)
    kind, _, pipeline = options.parser.partition(":")
    if kind != "spacy":
        raise ConfigError(f"biasfinder.parser: give spacy or spacy:NAME, not {options.parser!r}")
    resolver = coreference.load(options.coreference, pipeline or None)
    return sources.Miner(options.characteristic or "gender", resolver, nouns, Occupations(jobs))


plugin = SuitePlugin(
    name="biasfinder",
    about="BiasFinder: templates mined in real texts, filled with persons of every class, compared in pairs",
    options=BiasFinderOptions,
    make=make,
)
