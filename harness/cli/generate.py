"""``hinter generate``."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from harness.cli.options import Configured, configuration

if TYPE_CHECKING:
    from harness.audit.generation import Engine
    from harness.config import RunConfig

COUNTS = ("documents", "eligible", "generated", "valid")
SHOWN_TEMPLATES, SHOWN_CHARACTERS = 3, 200


@click.command("generate", cls=Configured)
@click.option(
    "--engine",
    type=click.Choice(["processes", "ray"]),
    default="processes",
    help="Where the cases are made: here, by --workers processes [processes], or on a Ray cluster.",
)
@click.option("--ray-address", help="HOST:PORT of the cluster, or auto [$RAY_ADDRESS; one of this machine].")
@click.option("--overwrite", is_flag=True, help="Replace a run of other settings in --out.")
@click.option("--json", "as_json", is_flag=True, help="Print the counts as JSON.")
def command(
    config_file: str | None,
    engine: str,
    ray_address: str | None,
    overwrite: bool,
    as_json: bool,
    **options: Any,
) -> None:
    """Write the cases of a run (cases/*.parquet) and stop; `hinter run` goes on from there."""
    from harness.audit import pipeline
    from harness.cli.execution import stoppable
    from harness.cli.progress import counted
    from harness.report import wording

    if ray_address is not None and engine != "ray":
        raise click.UsageError("--ray-address needs --engine ray")
    config = configuration(config_file, options)
    with _started(engine, ray_address, config) as start, counted("texts") as watch:
        made = stoppable(pipeline.generate(config, overwrite, watch, start), "made")
    if as_json:
        click.echo(json.dumps(made))
        return
    reasons = ", ".join(f"{reason} {count:,}" for reason, count in made["discarded_by_reason"].items())
    click.echo(
        f"{wording.made(wording.nouns(made), *(made[key] for key in COUNTS))}, "
        f"{made['discarded']:,} discarded{f' ({reasons})' if reasons else ''}\n{made['folder']}/cases"
    )
    if (templates := Path(made["folder"]) / "templates.parquet").exists():
        click.echo(_templates(templates))


def _templates(path: Path) -> str:
    """How many templates a suite kept, where, and the beginnings of the first."""
    import polars as pl

    written = pl.read_parquet(path, columns=["template"])["template"]
    shown = [f"  {one[:SHOWN_CHARACTERS]}" for one in written.head(SHOWN_TEMPLATES)]
    return "\n".join([f"{len(written):,} templates in {path}", *shown])


@contextmanager
def _started(engine: str, address: str | None, config: RunConfig) -> Iterator[Engine]:
    """The engine called ``engine``; a cluster is looked for before any text is read."""
    from harness.audit import generation

    if engine == "processes":
        yield generation.make
        return
    from harness.audit import generation_ray

    actors = config.workers if "workers" in config.model_fields_set else None
    with generation_ray.connected(address):
        yield lambda audit, folder, _, watch: generation_ray.make(audit, folder, actors, watch)
