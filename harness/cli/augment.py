"""``hinter augment``."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

import click

from harness.cli.options import Configured, configuration
from harness.cli.output import say

if TYPE_CHECKING:
    from harness.augment.augmentation import Augmented


@click.command("augment", cls=Configured, config=False, without=("documents.path", "out"))
@click.argument("texts", metavar="[DATA]", required=False)
@click.option("--config", "config_file", help="A configuration file (TOML).")
@click.option(
    "--out",
    type=click.Path(path_type=Path, dir_okay=False),
    required=True,
    help="The file of the rows: .csv, .jsonl or .parquet.",
)
@click.option(
    "--versions",
    type=click.IntRange(1),
    default=1,
    show_default=True,
    help="The versions of each group at a place, where there are so many.",
)
@click.option("--only-versions", is_flag=True, help="Leave out the rows of the original texts.")
@click.option("--json", "as_json", is_flag=True, help="Print the counts as JSON.")
def command(
    texts: str | None,
    config_file: str | None,
    out: Path,
    versions: int,
    only_versions: bool,
    as_json: bool,
    **options: object,
) -> None:
    """Write the texts of DATA and their counterfactual versions with gold labels, and a datasheet.

    DATA is a file or folder of texts [those of the configuration]. Asks no model. Where a label may follow
    from the person spoken of, it is not carried over.
    """
    from harness.augment.augmentation import augment
    from harness.cli.progress import counted

    source = {"documents.path": texts} if texts is not None else {}
    config = configuration(config_file, options, True, **source)
    with counted("texts") as watch:
        augmented = augment(config, out, versions, not only_versions, watch)
    if as_json:
        click.echo(json.dumps(_counts(augmented)))
        return
    counts = augmented.counts
    doubted = counts.doubted.total()
    say(
        f"{counts.texts:,} texts, {counts.counterfactuals:,} versions: {out}",
        f"labels not carried over: {doubted:,}; datasheet: {augmented.datasheet}",
    )


def _counts(augmented: Augmented) -> dict[str, object]:
    counts = augmented.counts
    groups: dict[str, dict[str, int]] = {}
    for (attribute, group), number in counts.by_group.items():
        groups.setdefault(attribute, {})[group] = number
    numbers = {name: value for name, value in vars(counts).items() if isinstance(value, int)}
    files = {"file": str(augmented.path), "datasheet": str(augmented.datasheet)}
    return {**files, **numbers, "labels_not_carried_over": dict(+counts.doubted), "groups": groups}
