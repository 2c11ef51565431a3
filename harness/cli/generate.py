"""``hinter generate``."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import click

from harness.cli.options import Configured, configuration
from harness.cli.output import say

if TYPE_CHECKING:
    from harness.audit.generation import Engine
    from harness.config import RunConfig

SHOWN_TEMPLATES, SHOWN_CHARACTERS = 3, 200


@click.command("generate", cls=Configured)
@click.option(
    "--engine",
    type=click.Choice(["processes", "ray"]),
    default="processes",
    help="Where to generate: on this machine in --workers processes [processes], or on a Ray cluster.",
)
@click.option("--ray-address", help="HOST:PORT of the cluster, or auto [$RAY_ADDRESS, else a local one].")
@click.option("--overwrite", is_flag=True, help="Replace a run with different settings in --out.")
@click.option("--json", "as_json", is_flag=True, help="Print the counts as JSON.")
def command(
    config_file: str | None,
    engine: str,
    ray_address: str | None,
    overwrite: bool,
    as_json: bool,
    **options: object,
) -> None:
    """Generate the cases of a run (cases/*.parquet) and stop; `hinter run` continues from there."""
    from harness.audit import pipeline
    from harness.cli.execution import stoppable
    from harness.cli.progress import counted
    from harness.report import wording

    if ray_address is not None and engine != "ray":
        raise click.UsageError("--ray-address needs --engine ray")
    config = configuration(config_file, options)
    with _started(engine, ray_address, config) as start, counted("texts") as watch:
        generated = stoppable(pipeline.generate(config, overwrite, watch, start), "generated")
    if as_json:
        click.echo(json.dumps(generated.to_json()))
        return
    cases = generated.cases
    reasons = ", ".join(f"{reason} {number:,}" for reason, number in cases.discarded_by_reason.items())
    line = wording.made(
        generated.nouns, generated.documents, generated.eligible, cases.generated, cases.valid
    )
    say(
        f"{line}, {cases.discarded:,} discarded{f' ({reasons})' if reasons else ''}\n{generated.folder}/cases"
    )
    if (templates := generated.folder / "templates.parquet").exists():
        say(_templates(templates))


def _templates(path: Path) -> str:
    """Return the number of templates that a suite kept, their file, and the beginnings of the first."""
    import polars as pl

    templates = pl.read_parquet(path, glob=False, columns=["template"])["template"]
    first = [f"  {template[:SHOWN_CHARACTERS]}" for template in templates.head(SHOWN_TEMPLATES)]
    return "\n".join([f"{len(templates):,} templates in {path}", *first])


@contextmanager
def _started(engine: str, address: str | None, config: RunConfig) -> Iterator[Engine]:
    """Yield the engine called ``engine``, connected to its cluster before any text is read."""
    from harness.audit import generation

    if engine == "processes":
        yield generation.make
        return
    from harness.audit import generation_ray

    actors = config.workers if "workers" in config.model_fields_set else None
    with generation_ray.connected(address):
        yield lambda audit, folder, _, watch: generation_ray.make(audit, folder, actors, watch)
