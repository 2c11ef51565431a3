"""``hinter review``."""

from __future__ import annotations

import json
from pathlib import Path

import click

from harness.cli.output import say


@click.group("review")
def command() -> None:
    """Have people review the texts of a run: export a blinded sheet, import the filled ones."""


@command.command("export")
@click.argument("run", type=click.Path(path_type=Path))
@click.option(
    "--sample",
    type=click.IntRange(1),
    default=100,
    show_default=True,
    help="Export at most N cases of each kind.",
)
@click.option(
    "--seed", type=int, default=0, show_default=True, help="Seed for the choice and order of the cases."
)
@click.option("--mutants", is_flag=True, help="Ask whether mutants are right, their changes marked.")
@click.option("--out", type=click.Path(path_type=Path), help="Write the sheet to this file [RUN/review.csv].")
def export(run: Path, sample: int, seed: int, mutants: bool, out: Path | None) -> None:
    """Write a sheet with texts of the run in folder RUN for annotators, who fill in a copy each.

    In each row they enter a label, the relevance (1 to 5: is the text about what it should be?) and the
    fluency (1 to 5). With --mutants they enter whether a change is right, yes or no.
    """
    from harness import config, files, registry
    from harness.errors import RunError
    from harness.folder import RunFolder
    from harness.studies.review import sample as samples
    from harness.studies.review import sheet

    folder = RunFolder.with_cases(run)
    target = out or run / "review.csv"
    if target.exists():
        raise RunError(f"{target} already exists and may be filled in: use another --out")
    cases = folder.read_cases
    if mutants:
        marked = samples.mutants(cases(), sample, seed)
        count, text = len(marked), sheet.write_mutants(marked, seed)
    else:
        chosen = samples.pairs(cases(), sample, seed) or samples.by_kind(cases(), sample, seed)
        settings = config.load(run / "run.toml")
        subject = registry.suite_plugin(settings.suite).subject(settings.suite_options)
        count, text = len(chosen), sheet.write(chosen, subject, seed)
    if not count:
        raise RunError(f"{run} has no mutant of an original to review")
    with RunFolder(target.parent).extended():
        files.write(target, text.encode(sheet.ENCODING))
    say(f"{count:,} texts in {target}")


@command.command("import")
@click.argument("run", type=click.Path(path_type=Path))
@click.argument("files", nargs=-1, required=True, type=click.Path(path_type=Path))
@click.option("--seed", type=int, default=0, show_default=True, help="Seed for the intervals.")
@click.option("--json", "as_json", is_flag=True, help="Print review.json on standard output.")
def import_(run: Path, files: tuple[Path, ...], seed: int, as_json: bool) -> None:
    """Read the filled sheets FILES, one per annotator, and summarize them in RUN/review.json."""
    from harness import config, registry
    from harness import files as output
    from harness.errors import DocumentError
    from harness.folder import RunFolder
    from harness.report import review as report
    from harness.studies.review import figures, sheet

    folder = RunFolder.with_cases(run)
    settings = config.load(run / "run.toml")
    task = registry.task(settings.task, settings.task_options.values)
    if len({file.stem for file in files}) < len(files):
        raise DocumentError("two sheets have the same file name: name each sheet after its annotator")
    cases = {case.id: case for case in folder.read_cases()}
    labels = dict.fromkeys(
        [*task.labels, *(label for c in cases.values() for label in sorted(c.expected or ()))]
    )
    names = {sheet.opaque(name): name for name in cases}
    ratings = [rating for file in files for rating in sheet.read(file, names, labels, task.multi_label)]
    if not ratings:
        raise DocumentError(f"{files[0]}: nothing is filled in")
    review = figures.summary(ratings, cases, task.multi_label, seed)
    text = json.dumps(review.to_json(), indent=1, ensure_ascii=False)
    with folder.extended():
        output.write(run / "review.json", text + "\n")
    click.echo(text if as_json else "\n".join(report.lines(review)))
