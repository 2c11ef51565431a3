"""``hinter lexicon``."""

from __future__ import annotations

from pathlib import Path

import click


@click.group("lexicon")
def command() -> None:
    """Bias dictionaries: which words stand for an attribute, and which may replace which."""


@command.command("list")
@click.option("--lexicon", "path", help="A lexicon of your own, TOML or a folder [bundled].")
def list_(path: str | None) -> None:
    """List attributes with their numbers of words and pairs."""
    from harness.suites import lexicon

    for attribute in lexicon.load(path).attributes.values():
        click.echo(
            f"{attribute.name:<10}{len(attribute.words):>5} words{len(attribute.pairs):>7} pairs  "
            f"{attribute.description}"
        )


@command.command("show")
@click.argument("attribute")
@click.option("--lexicon", "path", help="A lexicon of your own, TOML or a folder [bundled].")
def show(attribute: str, path: str | None) -> None:
    """Show every word of ATTRIBUTE with what may replace it."""
    from harness.suites import lexicon

    found = lexicon.load(path).select([attribute]).attributes[attribute]
    for word, targets in found.targets.items():
        click.echo(f"{word}: {', '.join(targets)}")


@command.command("validate")
@click.argument("path", required=False)
@click.option("--parser", default="spacy", help="Whose tags say what a word is [spacy]; none: by form only.")
def validate(path: str | None, parser: str) -> int:
    """Look for what does not belong in the lexicon at PATH [bundled]; exit 2 if anything does.

    Faults: stray spaces, repetitions, words that differ by case alone, pairs without a mirror or that
    change number by their form. Notes, which may be meant so: terms of two attributes, and pairs that by
    the tagger change number or part of speech.
    """
    from harness.language import parsers
    from harness.suites import lexicon
    from harness.suites.hinter import lexicon_lint, pair_checks, validation

    found = lexicon.load(path)
    faults = [*lexicon_lint.faults(path), *validation.faults(found)]
    for fault in faults:
        click.echo(fault)
    tagger = parsers.load(parser)
    for note in (*validation.notes(found), *(pair_checks.notes(found, tagger) if tagger else ())):
        click.echo(f"note: {note}")
    words = sum(len(a.words) for a in found.attributes.values())
    click.echo(
        f"{found.source}: {len(found.attributes)} attributes, {words} words, {len(faults)} faults", err=True
    )
    return 2 if faults else 0


@command.command("import")
@click.argument("files", nargs=-1, required=True, type=click.Path(path_type=Path))
@click.option("--attribute", help="What the pairs stand for [the files' folder]; of groups, which.")
@click.option("--out", type=click.Path(path_type=Path), help="Write the TOML here [standard output].")
def import_(files: tuple[Path, ...], attribute: str | None, out: Path | None) -> None:
    """Make a lexicon from pair FILES, or folders of them: one `source;target` a line, UTF-8.

    Or from tables of the groups that posts are about: a CSV with the columns targetMinority and
    targetCategory (aggregates of SBIC), or group and category; each category is an attribute. Only phrases
    like "Asian folks" are kept, for others with the same noun; slurs are not.

    What is dropped is said on standard error, with the file, the line and why.
    """
    from harness import files as output
    from harness.suites.hinter import groups

    if all(groups.is_table(file) for file in files):
        text, dropped, said = _groups(files, attribute)
    else:
        text, dropped, said = _pairs(files, attribute)
    for line in dropped:
        click.echo(line, err=True)
    if out is None:
        click.echo(text, nl=False)
    else:
        output.write(out, text)
    click.echo(f"{said}, {len(dropped)} dropped", err=True)


def _pairs(files: tuple[Path, ...], attribute: str | None) -> tuple[str, tuple[str, ...], str]:
    from harness.suites.hinter import pairs

    imported = pairs.read(pairs.files(files))
    if attribute is None:
        folders = {(file if file.is_dir() else file.parent).resolve().name: None for file in files}
        if len(folders) > 1:
            raise click.UsageError(
                f"files of several folders ({', '.join(folders)}): import each by itself, or say with"
                " --attribute what they all stand for"
            )
        attribute = next(iter(folders))
    said = (
        f"{len(imported.pairs)} pairs of {imported.rows} rows kept, {imported.cleaned} words had stray spaces"
    )
    return pairs.to_toml(attribute, imported), imported.dropped, said


def _groups(files: tuple[Path, ...], attribute: str | None) -> tuple[str, tuple[str, ...], str]:
    from harness.suites.hinter import groups

    imported = groups.read(files, attribute)
    said = f"{imported.phrases} groups of {imported.rows} names kept"
    return groups.to_toml(imported), imported.dropped, said
