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

from harness.cli.output import say

if TYPE_CHECKING:
    from harness.answering.cache_admin import Stats

Command = TypeVar("Command", bound=Callable[..., object])

SECONDS = {"m": 60, "h": 3600, "d": 86400, "w": 7 * 86400}
SHORT = 12


def at(command: Command) -> Command:
    """Add the option ``--cache``."""
    return click.option(
        "--cache",
        "path",
        type=click.Path(path_type=Path),
        default=Path("cache") / "responses.sqlite",
        help="The response cache [cache/responses.sqlite].",
    )(command)


@click.group("cache")
def command() -> None:
    """Manage the response cache: a cached request is never sent, or paid for, again."""


@command.command("stats")
@at
@click.option("--json", "as_json", is_flag=True, help="Print the statistics as JSON.")
def stats(path: Path, as_json: bool) -> None:
    """Count the cached replies and their tokens, by model and endpoint."""
    from harness.answering import cache_admin

    statistics = cache_admin.stats(path)
    if as_json:
        click.echo(json.dumps(statistics.as_dict(), indent=2))
    else:
        _show(statistics)


def _show(statistics: Stats) -> None:
    tokens = statistics.tokens
    say(f"{statistics.file}: {statistics.bytes / 1e6:,.1f} MB, {statistics.replies:,} replies")
    oldest, newest = statistics.oldest, statistics.newest
    if oldest is not None and newest is not None:
        say(f"  stored     {_time(oldest)} to {_time(newest)}")
    say(f"  tokens     {tokens.prompt:,} prompt ({tokens.cached:,} cached), {tokens.completion:,} completion")
    if statistics.damaged:
        say(f"  damaged    {statistics.damaged:,} replies, which are asked for again when they are needed")
    if statistics.expected:
        say(f"  expected   {statistics.expected:,} requests awaiting a batch job")
    for model in statistics.models:
        say(
            f"  {model.replies:>9,}  {model.name}{' at ' + model.endpoint if model.endpoint else ''}: "
            f"{model.tokens.prompt:,} prompt, {model.tokens.completion:,} completion tokens"
        )


def _time(seconds: float) -> str:
    return datetime.fromtimestamp(seconds).astimezone().isoformat(" ", "seconds")


@command.command("explain")
@click.argument("request_", metavar="KEY|FILE|-")
@click.argument("other", metavar="[KEY]", required=False)
@at
def explain(request_: str, other: str | None, path: Path) -> None:
    """Show which fields differ between two requests, to explain why one was not found in the cache.

    A KEY may be shortened to its first characters. Given one KEY, or the JSON of a request (a FILE, or - for
    standard input), compare it with the most similar cached request.
    """
    from harness.answering import cache_admin, payloads

    with cache_admin.opened(path) as db:
        if request_ == "-" or (not cache_admin.KEY.fullmatch(request_) and Path(request_).is_file()):
            source = "standard input" if request_ == "-" else request_
            request = cache_admin.parse_request(_read(request_), source)
        else:
            request = cache_admin.find(db, path, request_)
        stored = cache_admin.find(db, path, other) if other else cache_admin.nearest(db, request)
        if (
            not other
            and request.state == "asked"
            and db.execute("SELECT 1 FROM replies WHERE key = ?", [request.key]).fetchone()
        ):
            say(f"{request.key} is cached: this request is answered from the cache")
            return
    if request.state == "expected":
        say(f"{request.key} was handed to a batch job and has not been answered yet")
    if stored is None:
        say(f"{request.key}: {path} holds no other request")
    elif other:
        names = (f"in {request.key[:SHORT]}", f"in {stored.key[:SHORT]}")
        lines = payloads.differences(request.payload, stored.payload, names)
        say("\n".join(lines) or f"{request.key}: the same request")
    else:
        say(f"{request.key} compared with the most similar cached request, {stored.key}:")
        say("\n".join(payloads.differences(stored.payload, request.payload, ("kept", "asked"))))


def _read(name: str) -> bytes:
    from harness.errors import CacheError

    try:
        return sys.stdin.buffer.read() if name == "-" else Path(name).read_bytes()
    except OSError as error:
        raise CacheError(f"{name}: {error.strerror}") from error


@command.command("prune")
@at
@click.option(
    "--older-than",
    required=True,
    help="An age like 30d or 12h (m, h, d, w), or a date like 2026-01-31.",
)
@click.option("--model", help="Delete only replies of the model with this name.")
@click.option("--dry-run", is_flag=True, help="Count the replies without deleting them.")
def prune(path: Path, older_than: str, model: str | None, dry_run: bool) -> None:
    """Delete old replies and reclaim their space; their requests are sent, and paid for, again if needed."""
    from harness.answering import cache_admin

    count = cache_admin.prune(path, _moment(older_than), model, dry_run)
    say(f"{count:,} replies {'would be' if dry_run else 'were'} deleted from {path}")


def _moment(text: str) -> float:
    """Return the time of an age or a date, in seconds since 1970."""
    now = time.time()
    if age := re.fullmatch(r"(\d{1,6})([mhdw])", text):
        return now - int(age[1]) * SECONDS[age[2]]
    try:
        moment = datetime.strptime(text, "%Y-%m-%d").timestamp()
    except (ValueError, OverflowError, OSError):
        raise click.BadParameter(f"{text!r} is neither an age like 30d nor a date like 2026-01-31") from None
    if moment > now:
        raise click.BadParameter(f"{text} is in the future: use 0m if you want to delete everything")
    return moment


@command.command("export")
@click.argument("file")
@at
def export(file: str, path: Path) -> int:
    """Write every reply with its request to FILE (- for standard output) as JSON lines.

    Exit code 3: the cache is damaged, and what can be read of it was written.
    """
    from harness.answering import cache_admin
    from harness.errors import CacheError

    read = cache_admin.Read()
    lines = cache_admin.export(path, read)
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
    say(f"{count:,} replies exported", err=True)
    if read.damaged or read.salvaged:
        say(f"cache {path} is damaged: {read.damaged:,} replies that were found are cut off", err=True)
        return 3
    return 0


def _replace(target: Path, lines: Iterable[bytes]) -> int:
    """Write ``lines`` to ``target``, all or none of them, and return their number."""
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
    """Add the replies of an export (FILE, or - for standard input); cached replies are never overwritten."""
    from harness.answering import cache_admin
    from harness.errors import CacheError

    if file == "-":
        added, total = cache_admin.import_(path, sys.stdin.buffer, "standard input")
    else:
        try:
            with Path(file).open("rb") as lines:
                added, total = cache_admin.import_(path, lines, file)
        except OSError as error:
            raise CacheError(f"{file}: {error.strerror}") from error
    say(f"{added:,} replies imported into {path}, {total - added:,} were already cached", err=True)
