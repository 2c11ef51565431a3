"""``hinter cache``."""

from __future__ import annotations

import json
import re
import sys
import time
from collections.abc import Callable, Iterable
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

import click

if TYPE_CHECKING:
    from harness.answering.cache_admin import Stats

Command = TypeVar("Command", bound=Callable[..., object])

SECONDS = {"m": 60, "h": 3600, "d": 86400, "w": 7 * 86400}
SHORT = 12


def at(command: Command) -> Command:
    """Add the option that says which cache."""
    return click.option(
        "--cache",
        "path",
        type=click.Path(path_type=Path),
        default=Path("cache") / "responses.sqlite",
        help="The response cache [cache/responses.sqlite].",
    )(command)


@click.group("cache")
def command() -> None:
    """The response cache: what was answered is not asked, or paid for, again."""


@command.command("stats")
@at
@click.option("--json", "as_json", is_flag=True, help="Print JSON alone on standard output.")
def stats(path: Path, as_json: bool) -> None:
    """Count what is kept: replies, tokens and times, by model and endpoint."""
    from harness.answering import cache_admin

    found = cache_admin.stats(path)
    if as_json:
        click.echo(json.dumps(found.as_dict(), indent=2))
    else:
        _tell(found)


def _tell(found: Stats) -> None:
    tokens = found.tokens
    click.echo(f"{found.file}: {found.bytes / 1e6:,.1f} MB, {found.replies:,} replies")
    if found.oldest is not None and found.newest is not None:
        click.echo(f"  kept       {_time(found.oldest)} to {_time(found.newest)}")
    click.echo(
        f"  tokens     {tokens.prompt:,} prompt ({tokens.cached:,} cached), {tokens.completion:,} completion"
    )
    if found.expected:
        click.echo(f"  expected   {found.expected:,} requests handed to batch jobs")
    for one in found.models:
        click.echo(
            f"  {one.replies:>9,}  {one.name}{' at ' + one.endpoint if one.endpoint else ''}: "
            f"{one.tokens.prompt:,} prompt, {one.tokens.completion:,} completion tokens"
        )


def _time(seconds: float) -> str:
    return datetime.fromtimestamp(seconds).astimezone().isoformat(" ", "seconds")


@command.command("explain")
@click.argument("request_", metavar="KEY|FILE|-")
@click.argument("other", metavar="[KEY]", required=False)
@at
def explain(request_: str, other: str | None, path: Path) -> None:
    """Say which fields differ between two requests: why one was not found in the cache.

    A KEY may be its first characters. With one KEY, or the JSON of a request (a FILE, or - for standard
    input), the other request is the nearest that is kept.
    """
    from harness.answering import cache_admin, payloads

    with cache_admin.opened(path) as db:
        if request_ == "-" or (not cache_admin.KEY.fullmatch(request_) and Path(request_).is_file()):
            source = "standard input" if request_ == "-" else request_
            one = cache_admin.parse_request(_read(request_), source)
        else:
            one = cache_admin.find(db, path, request_)
        kept = cache_admin.find(db, path, other) if other else cache_admin.nearest(db, one)
        if (
            not other
            and one.state == "asked"
            and db.execute("SELECT 1 FROM replies WHERE key = ?", [one.key]).fetchone()
        ):
            click.echo(f"{one.key} is kept: this request is answered from the cache")
            return
    if one.state == "expected":
        click.echo(f"{one.key} was handed to a batch job and is not answered yet")
    if kept is None:
        click.echo(f"{one.key}: nothing else is kept in {path}")
    elif other:
        names = (f"in {one.key[:SHORT]}", f"in {kept.key[:SHORT]}")
        lines = payloads.differences(one.payload, kept.payload, names)
        click.echo("\n".join(lines) or f"{one.key}: the same request")
    else:
        click.echo(f"{one.key} against the nearest kept request, {kept.key}:")
        click.echo("\n".join(payloads.differences(kept.payload, one.payload, ("kept", "asked"))))


def _read(name: str) -> bytes:
    from harness.errors import CacheError

    try:
        return sys.stdin.buffer.read() if name == "-" else Path(name).read_bytes()
    except OSError as error:
        raise CacheError(f"{name}: {error.strerror}") from error


@command.command("prune")
@at
@click.option("--older-than", required=True, help="An age, 30d or 12h (m, h, d, w), or a date, 2026-01-31.")
@click.option("--model", help="Only replies of the model of this name.")
@click.option("--dry-run", is_flag=True, help="Say how many, delete nothing.")
def prune(path: Path, older_than: str, model: str | None, dry_run: bool) -> None:
    """Delete old replies and give their space back; what is deleted is asked, and paid for, again."""
    from harness.answering import cache_admin

    count = cache_admin.prune(path, _moment(older_than), model, dry_run)
    click.echo(f"{count:,} replies {'would be' if dry_run else 'were'} deleted from {path}")


def _moment(text: str) -> float:
    """The time that an age or a date stands for, in seconds since 1970."""
    now = time.time()
    if age := re.fullmatch(r"(\d{1,6})([mhdw])", text):
        return now - int(age[1]) * SECONDS[age[2]]
    try:
        moment = datetime.strptime(text, "%Y-%m-%d").timestamp()
    except (ValueError, OverflowError, OSError):
        raise click.BadParameter(f"{text!r} is neither an age as 30d nor a date as 2026-01-31") from None
    if moment > now:
        raise click.BadParameter(f"{text} is in the future: everything would be deleted (0m says so)")
    return moment


@command.command("export")
@click.argument("file")
@at
def export(file: str, path: Path) -> None:
    """Write every reply with its request to FILE (- for standard output), one JSON a line."""
    from harness.answering import cache_admin
    from harness.errors import CacheError

    lines = cache_admin.export(path)
    if file == "-":
        count = _pour(lines, sys.stdout.buffer.write)
        sys.stdout.buffer.flush()
    else:
        target = Path(file)
        if target.exists() and path.exists() and target.samefile(path):
            raise CacheError(f"{file} is the cache itself: export to another file")
        try:
            count = _replace(target, lines)
        except OSError as error:
            raise CacheError(f"{file}: {error.strerror}") from error
    click.echo(f"{count:,} replies exported", err=True)


def _replace(target: Path, lines: Iterable[bytes]) -> int:
    """Write ``lines`` to ``target``, whole or not at all, and return how many there were."""
    from harness import files

    with files.replacing(target) as unfinished, unfinished.open("wb") as file:
        return _pour(lines, file.write)


def _pour(lines: Iterable[bytes], write: Callable[[bytes], object]) -> int:
    count = 0
    for line in lines:
        write(line)
        count += 1
    return count


@command.command("import")
@click.argument("file")
@at
def import_(file: str, path: Path) -> None:
    """Add the replies of an export (FILE, or - for standard input); what is kept already stays."""
    from harness.answering import cache_admin
    from harness.errors import CacheError

    if file == "-":
        added, given = cache_admin.import_(path, sys.stdin.buffer, "standard input")
    else:
        try:
            with Path(file).open("rb") as lines:
                added, given = cache_admin.import_(path, lines, file)
        except OSError as error:
            raise CacheError(f"{file}: {error.strerror}") from error
    click.echo(f"{added:,} replies imported into {path}, {given - added:,} were kept already", err=True)
