"""Exchange batch files with other tools: ``export`` writes missing requests, ``take_in`` reads answers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path

from harness.answering import batch_files
from harness.answering.batch_files import BatchFiles, Taken
from harness.answering.cache import ResponseCache
from harness.audit.assembly import Audit, assemble
from harness.audit.batching.missing import Lines, Missing, examine
from harness.config import RunConfig
from harness.core import Failure, Json, JsonObject, Reply, canonical
from harness.dialect import Choices, Dialect
from harness.disclosure import one_line
from harness.errors import ConfigError, EndpointError, Transient
from harness.interruption import in_thread
from harness.models import refusals, wire

NOT_EXECUTED = 0
"""Stands for the HTTP status of a request that no server saw."""

OWN_SERVER: Mapping[str, Choices] = {"vllm": "structured_outputs"}


@dataclass(frozen=True, slots=True)
class WrittenFile:
    """A batch file and the number of requests in it."""

    path: str
    requests: int


@dataclass(frozen=True, slots=True)
class Exported:
    """The result of ``export``: the files and the number of requests in them.

    ``cached`` requests have an answer already, ``expected`` ones are awaited from an earlier file.
    ``commands`` answer the files one by one, where the tool is known; the replies go to ``replies_of`` each.
    ``choices`` is how the requests limit the answers to the labels, None if none was written; ``stopped``
    says which limit of the budget ended the export.
    """

    files: tuple[WrittenFile, ...]
    requests: int
    cached: int
    expected: int
    choices: str | None
    stopped: str | None
    commands: tuple[str, ...] = ()

    def to_json(self) -> dict[str, Json]:
        """Return the JSON values."""
        return asdict(self)


async def export(config: RunConfig, file: Path, again: bool = False) -> Exported:
    """Write the missing requests of a run to ``file``, without sending anything.

    Requests past the limits of a batch file go to further files, ``…-2``, …. Requests awaited from an earlier
    file are left out, unless ``again``. The dialect is the one that a run has learnt, or else the configured
    one, which later runs then use. Raises ``HarnessError``.
    """
    _check_free(file)
    audit = await in_thread(lambda: assemble(config))
    budget = audit.budget
    cases = audit.suite.cases(audit.documents())
    async with ResponseCache(audit.cache) as cache:
        with BatchFiles(file) as files:
            lines = Lines(audit, cache, files, configured_dialect, budget)
            missing = Missing(cache, lines.write, again=again)
            await examine(audit, missing, cases)
    counts = zip(files.paths, files.counts, strict=True)
    command = audit.model.batch.command if audit.model.batch else None
    return Exported(
        files=tuple(WrittenFile(str(path), number) for path, number in counts),
        requests=sum(files.counts),
        cached=missing.cached,
        expected=missing.held,
        choices=lines.dialect.choices if lines.dialect else None,
        stopped=lines.stopped,
        commands=tuple(command(str(path), str(replies_of(path))) for path in files.paths) if command else (),
    )


def replies_of(file: Path) -> Path:
    """Return the file of the replies to a batch file: ``asked.replies.jsonl`` for ``asked.jsonl``."""
    return file.with_name(f"{file.stem}.replies{file.suffix}")


async def take_in(cache: Path, files: Sequence[Path]) -> Taken:
    """Import the answers in ``files`` into the cache at ``cache``; requests answered or failed are settled.

    Requests of the same batch files that have no line in ``files`` are counted and stay expected.
    Raises ``ConfigError`` if a file cannot be read.
    """
    _check_there(files)
    taken = Taken()
    await keep(cache, [(file, str(file)) for file in files], taken)
    keys = [*taken.answered, *taken.failures]
    async with ResponseCache(cache) as opened:
        jobs = await opened.jobs(keys)
        if keys:
            await opened.settle(keys)
        taken.absent = await opened.awaited(sorted(jobs))
    return taken


async def keep(cache: Path, sources: Sequence[tuple[Path, str]], taken: Taken) -> None:
    """Store the replies of each source, a file and its name, in the cache; on return they are on disk."""
    async with ResponseCache(cache) as opened:
        for path, name in sources:
            await batch_files.take_in(opened, batch_files.lines(path), name, meaning, taken)


async def settle(cache: Path, keys: Sequence[str]) -> None:
    """Stop expecting the answers to ``keys``."""
    if keys:
        async with ResponseCache(cache) as opened:
            await opened.settle(keys)


def meaning(
    status: int | None, answer: object, learnt: JsonObject | None
) -> tuple[Reply | Failure, JsonObject | None]:
    """Return what a line's status and body mean, classified as in a live run; see ``batch_files.Meaning``."""
    dialect = Dialect.from_json(learnt) if learnt else None
    try:
        if status is not None and status < 300:
            return wire.read(answer), None
        fault = {"message": "neither a response nor an error"} if answer is None else answer
        return refusals.classify(status or NOT_EXECUTED, fault, dialect), None
    except refusals.Rejected as error:
        return Failure("failed", f"must be asked in another way: {error}"), error.dialect.to_json()
    except (Transient, EndpointError) as error:
        return Failure("failed", str(error).removeprefix(f"HTTP {NOT_EXECUTED}: ")), None
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        return Failure("failed", f"not a chat completion: {one_line(error)}"), None


async def configured_dialect(audit: Audit, cache: ResponseCache) -> Dialect:
    """Return the dialect that an earlier run learnt, or else the configured one.

    The latter is stored, so that no run mixes two ways of asking. Raises ``ConfigError``.
    """
    endpoint, model = canonical(dict(audit.model.identity)), audit.model
    if model.batch is None:
        raise ConfigError(f"export-batch is for an endpoint or vllm:NAME, not {model.name}")
    learnt = await cache.dialect(endpoint)
    dialect = model.batch.dialect if learnt is None else Dialect.from_json(learnt)
    if dialect.choices == "unknown":
        configured = audit.config.model.choices
        choices = OWN_SERVER.get(dialect.server, "none") if configured == "auto" else configured
        dialect = replace(dialect, choices=choices)
    if not dialect.chat and dialect.server == "vllm":
        raise ConfigError(f"{model.name} has no chat template: vllm run-batch takes chats only")
    if learnt is None:
        await cache.learn(endpoint, dialect.to_json())
    return dialect


def _check_free(file: Path) -> None:
    """Raise ``ConfigError`` now rather than after an hour of parsing."""
    if file.exists():
        raise ConfigError(f"{file} exists: give another name, or move it away")
    if not file.parent.is_dir():
        raise ConfigError(f"{file}: no such folder")


def _check_there(files: Sequence[Path]) -> None:
    for file in files:
        try:
            file.open("rb").close()
        except OSError as error:
            raise ConfigError(f"{file}: {error.strerror or error}") from error
