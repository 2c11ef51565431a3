"""``hinter grammar``."""

from __future__ import annotations

from pathlib import Path

import click


@click.group("grammar")
def command() -> None:
    """Learn reference grammars: the productions that sentences of a language use."""


@command.command("learn")
@click.argument("trees", nargs=-1, required=True, type=click.Path(path_type=Path))
@click.option(
    "--out", type=click.Path(path_type=Path), help="Write the table to this file [standard output]."
)
def learn(trees: tuple[Path, ...], out: Path | None) -> None:
    """Learn a grammar from bracketed TREES, in files or folders: (S (NP (PRP I)) (VP (VBP see))).

    The table has one production per line (symbol, symbols, count) and no words.
    """
    from harness import files
    from harness.suites.linguistic import grammar

    names = ", ".join(path.name for path in trees)
    learnt = grammar.learn(grammar.treebank(trees), names)
    lines = grammar.to_tsv(learnt, [f"Productions learnt from {names}, the most frequent first."])
    if out is None:
        for line in lines:
            click.echo(line, nl=False)
    else:
        files.write(out, "".join(lines))
    total = sum(learnt.counts.values())
    click.echo(f"{len(learnt.counts):,} distinct productions out of {total:,}", err=True)
