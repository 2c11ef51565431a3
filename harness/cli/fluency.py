"""``hinter fluency``."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from harness.cli.options import Configured, given

if TYPE_CHECKING:
    from harness.folder import RunFolder
    from harness.plugins import Scorer

MODEL = ("model.name", "model.model_file", "model.base_url", "model.api_key_env", "model.api_key_file")
UNITS = {"log_likelihood": "mean log-likelihood of a token, in nats; higher is more fluent"} | {
    "matches_per_100_words": "LanguageTool's matches per 100 words; lower is more fluent"
}


@click.command("fluency", cls=Configured, config=False, keys=MODEL)
@click.argument("run", type=click.Path(path_type=Path))
@click.option("--languagetool", metavar="URL", help="Count LanguageTool's matches instead.")
@click.option("--limit", type=click.IntRange(1), default=200, show_default=True, help="Texts of each kind.")
@click.option("--seed", type=int, default=0, show_default=True, help="Which texts are drawn.")
@click.option("--json", "as_json", is_flag=True, help="Print fluency.json on standard output.")
def command(run: Path, languagetool: str | None, limit: int, seed: int, as_json: bool, **options: Any) -> int:
    """Say how fluent the texts of the run in folder RUN are: originals, valid and discarded mutants.

    By their likelihood under the model audited or another one (--model, --base-url), or by LanguageTool.
    """
    from harness.cli.progress import counted
    from harness.folder import RunFolder
    from harness.studies import fluency

    folder = RunFolder.with_cases(run)
    judge = _judge(folder, languagetool, given(options))
    with counted("texts scored") as progress:
        made = asyncio.run(fluency.measure(folder, judge, limit, seed, progress))
    click.echo(json.dumps(made, ensure_ascii=False) if as_json else _table(made))
    failed = any(row["unscored"].get("failed") for row in made["kinds"])
    return 3 if failed else 0


def _judge(folder: RunFolder, url: str | None, model: dict[str, str]) -> Scorer:
    """LanguageTool, or the run's own model with what was given on top."""
    from harness import config
    from harness.errors import ConfigError
    from harness.studies.fluency import sources

    if url is not None:
        if model:
            raise ConfigError("give --languagetool or a model, not both")
        return sources.languagetool(url)
    return sources.scorer(config.load(folder.path / "run.toml", model))


def _table(made: dict[str, Any]) -> str:
    lines = [f"{made['scorer']['name']}: {UNITS[made['measure']]}"]
    lines.append(f"{'':<28}{'n':>6}  {'mean, 95 % interval':<30}{'less its original'}".rstrip())
    for row in made["kinds"]:
        name = row["kind"] if row["part"] is None else f"  {row['part']}"
        difference = row["difference"]
        beside = _figure(difference, "+.4f") if difference else ""
        lines.append(f"{name:<28}{row['n']:>6}  {_figure(row, '.4f'):<30}{beside}".rstrip())
    if made["valid_less_discarded"]:
        lines.append(f"valid less discarded: {_figure(made['valid_less_discarded'], '+.4f')}")
    return "\n".join(lines)


def _figure(found: dict[str, Any], form: str) -> str:
    if found["mean"] is None:
        return "-"
    between = " to ".join(format(limit, form) for limit in found["ci95"]) if found["ci95"] else ""
    return f"{found['mean']:{form}}" + (f" ({between})" if between else "")
