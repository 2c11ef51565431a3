"""The plugin of S²LCT: its options and its suite."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Annotated, Literal

from pydantic import Field

from harness.errors import ConfigError, ModelError
from harness.plugins import (
    Address,
    Case,
    EnvironmentVariable,
    Flag,
    Kit,
    Names,
    NotNegative,
    Options,
    Parser,
    Positive,
    Suite,
    SuitePlugin,
)

if TYPE_CHECKING:
    from harness.language.embedded import Embedded
    from harness.suites.linguistic.expansion import Expander
    from harness.suites.linguistic.sentiment import SentimentLexicon


class LinguisticOptions(Options):
    """``[linguistic]``: which capabilities to test, and how to find and expand their seeds."""

    capabilities: Annotated[Names, Flag("--capability")] = Field(
        default=(), description="The capabilities to test, such as LC1,LC4 [all]."
    )
    definitions: str | None = Field(
        default=None, description="Your own capabilities (TOML), or paper: Table 1 as printed."
    )
    seeds: Positive = Field(default=50, description="At most N seeds per capability.")
    expansions: NotNegative = Field(default=5, description="At most N valid expansions per seed.")
    masks: Positive = Field(default=10, description="The number of masked sentences per seed.")
    words: Positive = Field(default=40, description="The number of suggestions per mask.")
    suggester: Literal["auto", "local", "mlm", "endpoint", "ngram"] = Field(
        default="auto", description="The model that fills the masks; local: the embedded one."
    )
    fit: Literal["auto", "local", "none"] = Field(
        default="auto", description="The model that refuses words that do not fit; local: the embedded one."
    )
    suggester_model: str | None = Field(
        default=None, description="The masked language model, or the model at the endpoint."
    )
    suggester_revision: str | None = Field(
        default=None, description="The commit of the masked language model."
    )
    suggester_base_url: Annotated[Address | None, Flag("--suggester-url")] = Field(
        default=None, description="The suggester's endpoint, up to /v1."
    )
    suggester_api_key_env: EnvironmentVariable | None = Field(
        default=None, description="The environment variable that holds the suggester's API key."
    )
    trees: str | None = Field(default=None, description="stanza, stanza:FOLDER, flat or flat:PIPELINE.")
    sentiment: str | None = Field(
        default=None, description="The source of word polarity: sentiwordnet, bundled, or a file."
    )
    grammar: str | None = Field(
        default=None, description="Your own reference grammar (hinter grammar learn)."
    )
    parser: str = Field(default="spacy", description="spacy, spacy:NAME, stanza or stanza:PACKAGE_OR_FOLDER.")


def make(options: LinguisticOptions, kit: Kit) -> Suite:
    """Return the suite that ``options`` describe. Raises ``ConfigError`` or an error of one of its parts."""
    from harness.suites import sentiment_oracle as oracle
    from harness.suites.linguistic import capabilities, sentiment
    from harness.suites.linguistic.suite import Linguistic

    labels = oracle.labels(kit.task.labels, "linguistic")
    every = capabilities.load(options.definitions)
    chosen = every.select(options.capabilities) if options.capabilities else every
    lexicon = sentiment.load(options.sentiment)
    parser = kit.parser(options.parser)
    if parser is None:
        raise ConfigError("linguistic.parser: suite linguistic needs a parser, not 'none'")
    return Linguistic(
        chosen,
        labels,
        parser,
        lexicon,
        _expander(options, kit, parser, lexicon) if options.expansions else None,
        seeds=options.seeds,
        expansions=options.expansions,
        seed=kit.seed,
    )


def _expander(options: LinguisticOptions, kit: Kit, parser: Parser, lexicon: SentimentLexicon) -> Expander:
    from harness.language import constituency, suggester
    from harness.suites.linguistic import grammar, modifiers
    from harness.suites.linguistic.expansion import Expander

    endpoint = _endpoint(options, kit)
    kind = None if options.suggester == "auto" else options.suggester
    words = modifiers.load()
    model = _embedded(options)
    return Expander(
        grammar.load(options.grammar),
        constituency.load(options.trees),
        suggester.load(
            kind or ("endpoint" if endpoint else None),
            model=options.suggester_model,
            revision=options.suggester_revision,
            endpoint=endpoint,
            local=model.suggester(words.neutral) if model else None,
        ),
        parser,
        lexicon,
        words,
        masks=options.masks,
        words=options.words,
        judge=model.judge() if model and options.fit != "none" else None,
        most=options.expansions,
    )


def _embedded(options: LinguisticOptions) -> Embedded | None:
    """Return the embedded model if it is to suggest or judge; None if not, or if it is not here."""
    from harness.language.embedded import Embedded

    asked = "local" in (options.suggester, options.fit)
    if not asked and options.suggester != "auto" and options.fit == "none":
        return None
    try:
        return Embedded()
    except ModelError:
        if asked:
            raise
        return None


def _endpoint(options: LinguisticOptions, kit: Kit) -> tuple[str, str, str] | None:
    """Return model, address and key of the endpoint that suggests words; None if there is none to ask."""
    address = options.suggester_base_url
    if address is None or options.suggester in ("local", "mlm", "ngram"):
        return None
    if options.suggester_model is None:
        raise ConfigError("linguistic.suggester_model: name the model of the endpoint, --suggester-model")
    return options.suggester_model, address, kit.key(options.suggester_api_key_env, address)


def subject(options: LinguisticOptions) -> Callable[[Case], str]:
    """Return a function from a case to the title of the capability that its text should show."""
    from harness.suites.linguistic import capabilities

    by_name = capabilities.load(options.definitions).by_name
    titles = {name: capability.title for name, capability in by_name.items()}

    def title(case: Case) -> str:
        name = case.traits.get("capability", "")
        return titles.get(name, name)

    return title


plugin = SuitePlugin(
    name="linguistic",
    about="S²LCT: linguistic capabilities of sentiment analysis, by searched sentences and their expansions",
    options=LinguisticOptions,
    make=make,
    subject=subject,
)
