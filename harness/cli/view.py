"""``hinter view``."""

from __future__ import annotations

from pathlib import Path

import click


@click.command("view")
@click.argument("folder", type=click.Path(path_type=Path), required=False, metavar="[RUN or FOLDER]")
@click.option(
    "--port", type=click.IntRange(0, 65535), default=0, help="The port of the page [any that is free]."
)
@click.option("--open", "browse", is_flag=True, help="Open the page in the browser.")
@click.option(
    "--cache",
    type=click.Path(path_type=Path),
    help="The cache of the replies about texts that are tried [the one of the run].",
)
def command(folder: Path | None, port: int, browse: bool, cache: Path | None) -> int:
    """Show runs on a web page of this machine until Ctrl-C: their reports, comparisons, one text tried live.

    FOLDER is a run, or a folder of runs [runs]. Prints the page's address, which holds a token: nobody
    without it sees the page. Nothing is sent to a model before a click on Ask.
    """
    import webbrowser

    from harness.errors import RunError
    from harness.view import server

    if folder is not None and not folder.is_dir():
        raise RunError(f"{folder}: no such folder: give a run or a folder of runs")

    def tell(address: str) -> None:
        click.echo(address)
        click.echo("hinter: the page is served until Ctrl-C", err=True)
        if browse:
            webbrowser.open(address)

    try:
        server.serve(folder or Path("runs"), port, cache, tell)
    except KeyboardInterrupt:
        click.echo("hinter: the page is closed", err=True)
    return 0
