"""``hinter guard``."""

from __future__ import annotations

from pathlib import Path

import click

from harness.cli.options import Configured, configuration

KEYS = (
    *("task", "model.base_url"),
    *(
        f"guard.{name}"
        for name in (
            *("action", "ties", "text", "fail", "first", "most", "alpha", "seconds", "answer_seconds"),
            *("versions_per_minute", "at_once", "queue", "baseline", "log", "log_texts"),
        )
    ),
)


@click.command("guard", cls=Configured, keys=KEYS, config=False)
@click.argument("config_file", metavar="CONFIG", type=click.Path(path_type=Path))
@click.option(
    "--port", type=click.IntRange(0, 65535), default=8787, show_default=True, help="The port; 0: any."
)
def command(config_file: Path, port: int, **options: object) -> int:
    """Serve an OpenAI-compatible endpoint on 127.0.0.1 that checks the answers of the one in CONFIG.

    Point a client's base URL to the address that is printed; its key goes to the endpoint and is kept
    nowhere. Each answer comes with the header x-hinter-verdict and its evidence in the field hinter. SIGTERM
    or Ctrl-C ends it once all requests are answered; a second one at once.
    """
    from harness.guard import server

    config = configuration(str(config_file), options, one_text=True)

    def tell(address: str) -> None:
        click.echo(address)
        click.echo("hinter: the endpoint is served until Ctrl-C", err=True)

    server.serve(config, port, tell)
    return 0
