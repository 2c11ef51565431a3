"""A configuration to the suites that test capabilities of sentiment analysis: S²LCT and CheckList."""

from __future__ import annotations

from typing import TYPE_CHECKING

from harness import registry
from harness.config import Linguistic as Section
from harness.config import RunConfig
from harness.core import Suite
from harness.errors import ConfigError

if TYPE_CHECKING:
    from harness.language.parsers import Parser
    from harness.suites.linguistic.expansion import Expander
    from harness.suites.linguistic.sentiment import SentimentLexicon


def linguistic(config: RunConfig) -> Suite:
    """S²LCT. Raises ``ConfigError``, or what one of its parts finds wrong."""
    from harness.language import parsers
    from harness.suites.linguistic import capabilities, sentiment
    from harness.suites.linguistic.suite import Linguistic

    section = config.linguistic
    labels = _labels(config)
    known = capabilities.load(section.definitions)
    chosen = known.select(section.capabilities) if section.capabilities else known
    lexicon = sentiment.load(section.sentiment)
    parser = parsers.load(section.parser)
    if parser is None:
        raise ConfigError("linguistic.parser: suite linguistic needs a parser, not 'none'")
    expander = _expander(section, parser, lexicon) if section.expansions else None
    return Linguistic(
        chosen,
        labels,
        parser,
        lexicon,
        expander,
        seeds=section.seeds,
        expansions=section.expansions,
        seed=config.seed,
    )


def checklist(config: RunConfig) -> Suite:
    """CheckList. Raises ``ConfigError``."""
    from harness.language import parsers
    from harness.suites.checklist import tests
    from harness.suites.checklist.suite import CheckList

    section = config.checklist
    if section.tests is None:
        raise ConfigError("suite checklist needs a file of tests, JSON lines: --tests FILE")
    return CheckList(
        tests.load(section.tests, section.limit, config.seed),
        _labels(config),
        parsers.load(section.parser),
        section.limit,
    )


def _labels(config: RunConfig) -> dict[str, str]:
    from harness.suites.linguistic import oracle

    task = registry.task(config.task, config.task_options.given)
    return oracle.labels(task.labels, config.suite)


def _expander(section: Section, parser: Parser, lexicon: SentimentLexicon) -> Expander:
    from harness.language import constituency, suggester
    from harness.suites.linguistic import grammar
    from harness.suites.linguistic.expansion import Expander

    endpoint = _endpoint(section)
    kind = None if section.suggester == "auto" else section.suggester
    return Expander(
        grammar.load(section.grammar),
        constituency.load(section.trees),
        suggester.load(
            kind or ("endpoint" if endpoint else None),
            model=section.suggester_model,
            revision=section.suggester_revision,
            endpoint=endpoint,
        ),
        parser,
        lexicon,
        masks=section.masks,
        words=section.words,
    )


def _endpoint(section: Section) -> tuple[str, str, str] | None:
    """Model, address and key of the endpoint that suggests words; None where it is not to be asked."""
    from urllib.parse import urlsplit

    from harness.models.endpoint import LOOPBACK, Key

    if section.suggester_base_url is None or section.suggester in ("mlm", "ngram"):
        return None
    if section.suggester_model is None:
        raise ConfigError("linguistic.suggester_model: name the model of the endpoint, --suggester-model")
    away = urlsplit(section.suggester_base_url).hostname not in LOOPBACK
    key = Key(section.suggester_api_key_env, needed=away).read()
    return section.suggester_model, section.suggester_base_url, key
