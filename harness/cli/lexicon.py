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
    from harness.suites.hinter import lexicon

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
    from harness.suites.hinter import lexicon

    found = lexicon.load(path).select([attribute]).attributes[attribute]
    for word, targets in found.targets.items():
        click.echo(f"{word}: {', '.join(targets)}")


@command.command("validate")
@click.argument("path", required=False)
def validate(path: str | None) -> int:
    """Look for what does not belong in the lexicon at PATH [bundled]; exit 2 if anything does."""
    from harness.suites.hinter import lexicon, validation

    found = lexicon.load(path)
    faults = list(validation.faults(found))
    for fault in faults:
        click.echo(fault)
    for note in validation.notes(found):
        click.echo(f"note: {note}")
    words = sum(len(a.words) for a in found.attributes.values())
    click.echo(
        f"{found.source}: {len(found.attributes)} attributes, {words} words, {len(faults)} faults", err=True
    )
    return 2 if faults else 0


@command.command("import")
@click.argument("files", nargs=-1, required=True, type=click.Path(path_type=Path))
@click.option("--attribute", help="What the pairs stand for [the name of the first file's folder].")
@click.option("--out", type=click.Path(path_type=Path), help="Write the TOML here [standard output].")
def import_(files: tuple[Path, ...], attribute: str | None, out: Path | None) -> None:
    """Make a lexicon from pair FILES, or folders of them: one `source;target` a line, UTF-8.

    What is dropped is said on standard error, with the file, the line and why.
    """
    from harness.suites.hinter import pairs

    imported = pairs.read(pairs.files(files))
    if attribute is None:
        attribute = (files[0] if files[0].is_dir() else files[0].parent).resolve().name
    for dropped in imported.dropped:
        click.echo(dropped, err=True)
    text = pairs.to_toml(attribute, imported)
    if out is None:
        click.echo(text, nl=False)
    else:
        out.write_text(text, encoding="utf-8")
    click.echo(
        f"{len(imported.pairs)} pairs of {imported.rows} rows kept, {len(imported.dropped)} dropped", err=True
    )
