"""The plugin of the HINTER suite: its options, its suite, and what ``hinter doctor`` checks."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Annotated, Literal

from pydantic import Field

from harness.errors import ConfigError, LexiconError
from harness.plugins import Check, Flag, Kit, Names, Options, Positive, Suite, SuitePlugin

if TYPE_CHECKING:
    from harness.language.entities import Resolver
    from harness.language.parse import Parser
    from harness.suites.lexicon import Lexicon

SAMPLE_PAIRS = 2
USUAL_ORDER = 2
LITERAL = ("word", "off")


class HinterOptions(Options):
    """``[hinter]``: what the suite changes and which mutants it keeps.

    ``attributes`` None means all of the lexicon; ``order`` None means 2, or 1 for a single attribute.
    """

    attributes: Names | None = Field(
        default=None, description="Sensitive attributes, comma-separated [all of the lexicon]."
    )
    order: Positive | None = Field(default=None, description="At most N attributes changed at once [2].")
    lexicon: Names = Field(
        default=(),
        description="Your own bias dictionary, a TOML file or a folder; +FILE adds to the bundled one.",
    )
    max_pairs: Positive | None = Field(
        default=None, description="At most N word pairs per attribute and document."
    )
    max_mutants_per_document: Positive | None = Field(
        default=None, description="Sample N mutants per document, with weights."
    )
    parser: str = Field(
        default="spacy", description="spacy, spacy:NAME, stanza, stanza:PACKAGE_OR_FOLDER, or none."
    )
    invariant: Literal["strict", "agreed", "pos", "none"] = Field(
        default="strict",
        description="What a mutant must have in common with its original; agreed: by two parsers.",
    )
    second_parser: str | None = Field(
        default=None,
        description="The second parser of --invariant agreed [the most accurate other spaCy one].",
    )
    consistency: Literal["person", "word"] = Field(
        default="person",
        description="What changes together: all words for one person, or one word pair wherever it occurs.",
    )
    meaning: Literal["person", "likely", "off"] = Field(
        default="person",
        description="Change a word only where it describes a person; likely: also where the text may say"
        " otherwise, for hinter judge to decide; off: anywhere.",
    )
    like_the_paper: bool = Field(default=False, description="As published: --consistency word --meaning off.")
    include_discarded: Annotated[bool, Flag("--include-discarded/--valid-only")] = Field(
        default=False, description="Also ask about discarded mutants, to measure the effect of the invariant."
    )


def make(options: HinterOptions, kit: Kit) -> Suite:
    """Return the suite of ``options``. Raises ``LexiconError``, ``ConfigError`` and ``ParserError``."""
    from harness.language.verdict_cache import DEFAULT, VerdictCache
    from harness.suites.hinter.suite import Hinter

    dictionaries = _lexicon(options)
    order = options.order or USUAL_ORDER
    _fits(options, order, tuple(dictionaries.attributes))
    parser = kit.parser(options.parser)
    return Hinter(
        dictionaries,
        parser,
        order,
        max_pairs=options.max_pairs,
        max_mutants=options.max_mutants_per_document,
        seed=kit.seed,
        invariant=options.invariant,
        include_discarded=options.include_discarded,
        verdicts=VerdictCache(kit.cache / DEFAULT.name),
        second=_second(options, kit, parser),
        resolver=_resolver(options),
        consistency=options.consistency,
        meaning=options.meaning,
        control=kit.control,
        labels=kit.task.labels,
    )


def _second(options: HinterOptions, kit: Kit, first: Parser | None) -> Parser | None:
    """Return the parser that must agree with ``first``, None if it need not agree with any.

    Raises ``ParserError`` and ``ConfigError``.
    """
    if options.invariant != "agreed":
        if options.second_parser is not None:
            raise ConfigError("hinter.second_parser: only invariant 'agreed' has a second parser")
        return None
    if first is None or options.second_parser == "none":
        raise ConfigError("hinter.invariant: 'agreed' needs two parsers, not none")
    from harness.language.parsers import another_pipeline

    second = kit.parser(options.second_parser or f"spacy:{another_pipeline(first.name)}")
    if second is not None and second.name == first.name:
        raise ConfigError(f"hinter.second_parser: {second.name} is the first parser, too: name another one")
    return second


def _resolver(options: HinterOptions) -> Resolver | None:
    """Return the coreference resolver that tells persons apart; None where nothing depends on persons."""
    if (options.consistency, options.meaning) == LITERAL:
        return None
    from harness.suites.hinter.persons import resolver

    kind, _, pipeline = options.parser.partition(":")
    return resolver(pipeline if kind == "spacy" and pipeline else None)


def _lexicon(options: HinterOptions) -> Lexicon:
    from harness.suites import lexicon

    if options.attributes is not None and not options.attributes:
        raise LexiconError("no attributes given: use --attributes race,gender")
    return lexicon.choose(options.lexicon, options.attributes)


def _fits(options: HinterOptions, order: int, attributes: tuple[str, ...]) -> None:
    """Raise ``ConfigError`` if ``order`` is too high for the attributes, or the limit of mutants too low."""
    from harness.suites.hinter import sampling

    if order > len(attributes):
        raise ConfigError(
            f"order {order} is above the number of attributes, {len(attributes)} ({', '.join(attributes)})"
        )
    least, limit = sampling.least(len(attributes), order), options.max_mutants_per_document
    if limit is not None and limit < least:
        raise ConfigError(
            f"hinter.max_mutants_per_document: {len(attributes)} attributes at order {order} need {least}"
            f" at least, not {limit}"
        )


def resolve(options: HinterOptions) -> HinterOptions:
    """Fill in the attributes, from the lexicon, the order, from their number, and what the paper implies."""
    options = _as_published(options)
    if options.attributes is not None and options.order is not None:
        return options
    attributes = tuple(_lexicon(options).attributes)
    order = options.order or min(USUAL_ORDER, len(attributes))
    return options.model_copy(update={"attributes": attributes, "order": order})


def _as_published(options: HinterOptions) -> HinterOptions:
    """Fill in how words change: as published if so asked, or if there is no parser to tell persons by."""
    published = dict(zip(("consistency", "meaning"), LITERAL, strict=True))
    written = options.model_fields_set & published.keys()
    if options.like_the_paper:
        if written and (options.consistency, options.meaning) != LITERAL:
            raise ConfigError("hinter.like_the_paper: leave out consistency and meaning, which it sets")
        return options.model_copy(update=published)
    if options.parser == "none":
        return options.model_copy(update={n: value for n, value in published.items() if n not in written})
    return options


def for_sample(options: HinterOptions) -> HinterOptions:
    """Limit the pairs of each attribute on the bundled sample, so that a first run takes a minute."""
    if {"max_pairs", "max_mutants_per_document"} & options.model_fields_set:
        return options
    return options.model_copy(update={"max_pairs": SAMPLE_PAIRS})


def for_versions(options: HinterOptions) -> HinterOptions:
    """Change one attribute at a time, unless ``order`` says otherwise."""
    return options if "order" in options.model_fields_set else options.model_copy(update={"order": 1})


def checks(options: HinterOptions, kit: Kit) -> Iterator[Check]:
    """Yield checks that the parsers parse a sentence, and one that shows the sizes of the lexicon."""
    yield Check("parser", lambda: _tagged(kit.parser(options.parser)))
    if options.invariant == "agreed":
        yield Check("second parser", lambda: _tagged(_second(options, kit, kit.parser(options.parser))))
    yield Check("lexicon", lambda: _sizes(options))


def _tagged(parser: Parser | None) -> str:
    if parser is None:
        return "none (the invariant is off)"
    return f"{parser.name} ({' '.join(parser.parse(['She thanked him.'])[0].pos)})"


def _sizes(options: HinterOptions) -> str:
    from harness.suites import lexicon

    dictionaries = lexicon.choose(options.lexicon, options.attributes)
    sizes = [f"{name} {len(attribute.words)} words" for name, attribute in dictionaries.attributes.items()]
    return f"{dictionaries.source}: {', '.join(sizes)}"


plugin = SuitePlugin(
    name="hinter",
    about="words for persons exchanged in real texts, one attribute at a time and several at once",
    options=HinterOptions,
    make=make,
    for_sample=for_sample,
    for_versions=for_versions,
    resolve=resolve,
    checks=checks,
)
