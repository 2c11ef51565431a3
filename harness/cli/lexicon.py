"""``hinter lexicon``."""

from __future__ import annotations

from pathlib import Path

import click

from harness.cli.output import say


@click.group("lexicon")
def command() -> None:
    """Work with bias dictionaries: the words of each attribute and their replacements."""


@command.command("list")
@click.option("--lexicon", "path", help="Your own lexicon, a TOML file or a folder [bundled]; +PATH: both.")
def list_(path: str | None) -> None:
    """List the attributes with their numbers of words and pairs."""
    from harness.suites import lexicon

    attributes = lexicon.every(path).attributes
    width = max(map(len, attributes)) + 2
    for attribute in attributes.values():
        say(
            f"{attribute.name:<{width}}{len(attribute.words):>5} words{len(attribute.pairs):>7} pairs  "
            f"{attribute.description}"
        )


@command.command("show")
@click.argument("attribute")
@click.option("--lexicon", "path", help="Your own lexicon, a TOML file or a folder [bundled]; +PATH: both.")
def show(attribute: str, path: str | None) -> None:
    """Show every word of ATTRIBUTE with its replacements."""
    from harness.suites import lexicon

    dictionary = lexicon.every(path).select([attribute]).attributes[attribute]
    for word, targets in dictionary.targets.items():
        say(f"{word}: {', '.join(targets)}")


@command.command("validate")
@click.argument("path", required=False)
@click.option(
    "--parser", default="spacy", help="The tagger to check pairs with [spacy]; none: check their form only."
)
def validate(path: str | None, parser: str) -> int:
    """Check the lexicon at PATH [bundled] for faults; exit with code 2 if there are any.

    Faults: stray spaces, repetitions, words that differ only by case, pairs without a mirror, and pairs
    whose form changes number. Notes, which may be intended: terms of several attributes, and pairs that
    change number or part of speech according to the tagger.
    """
    from harness.language import parsers
    from harness.suites import lexicon
    from harness.suites.hinter import lexicon_lint, pair_checks, validation

    checked = lexicon.load(path)
    faults = [*lexicon_lint.faults(path), *validation.faults(checked)]
    for fault in faults:
        say(fault)
    tagger = parsers.load(parser)
    for note in (*validation.notes(checked), *(pair_checks.notes(checked, tagger) if tagger else ())):
        say(f"note: {note}")
    words = sum(len(a.words) for a in checked.attributes.values())
    say(
        f"{checked.source}: {len(checked.attributes)} attributes, {words} words, {len(faults)} faults",
        err=True,
    )
    return 2 if faults else 0


@command.command("import")
@click.argument("files", nargs=-1, required=True, type=click.Path(path_type=Path))
@click.option(
    "--attribute",
    help="The attribute of the pairs [the name of their folder]; of a table, the one to import.",
)
@click.option("--out", type=click.Path(path_type=Path), help="Write the TOML to this file [standard output].")
def import_(files: tuple[Path, ...], attribute: str | None, out: Path | None) -> None:
    """Convert FILES of word pairs, or folders of them, to a lexicon: one `source;target` per line, UTF-8.

    FILES may also be tables of the groups that posts target: CSV with the columns targetMinority and
    targetCategory (SBIC aggregates), or group and category. Each category becomes an attribute. Only phrases
    like "Asian folks" are imported, paired with others that share their noun; slurs are not.

    Each row that is dropped is reported on standard error with its file, line and reason.
    """
    from harness import files as output
    from harness.suites.hinter import groups

    if all(groups.is_table(file) for file in files):
        text, dropped, summary = _groups(files, attribute)
    else:
        text, dropped, summary = _pairs(files, attribute)
    for line in dropped:
        say(line, err=True)
    if out is None:
        click.echo(text, nl=False)
    else:
        output.write(out, text)
    say(f"{summary}, {len(dropped)} dropped", err=True)


def _pairs(files: tuple[Path, ...], attribute: str | None) -> tuple[str, tuple[str, ...], str]:
    from harness.suites.hinter import pairs

    imported = pairs.read(pairs.files(files))
    if attribute is None:
        folders = {(file if file.is_dir() else file.parent).resolve().name: None for file in files}
        if len(folders) > 1:
            raise click.UsageError(
                f"files from several folders ({', '.join(folders)}): import each by itself, or name their"
                " common attribute with --attribute"
            )
        attribute = next(iter(folders))
    summary = (
        f"{len(imported.pairs)} pairs of {imported.rows} rows kept, {imported.cleaned} words had stray spaces"
    )
    return pairs.to_toml(attribute, imported), imported.dropped, summary


def _groups(files: tuple[Path, ...], attribute: str | None) -> tuple[str, tuple[str, ...], str]:
    from harness.suites.hinter import groups

    imported = groups.read(files, attribute)
    summary = f"{imported.phrases} groups of {imported.rows} names kept"
    return groups.to_toml(imported), imported.dropped, summary
