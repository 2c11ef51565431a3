"""What commands print for people; JSON, Markdown and TOML are printed as they are."""

from __future__ import annotations

import click


def say(*lines: str, err: bool = False) -> None:
    """Print lines without secrets and control characters; a line break in one of them remains."""
    from harness.disclosure import redacted, visible_lines

    click.echo(visible_lines(redacted("\n".join(lines))), err=err)
