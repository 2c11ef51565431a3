"""Batch files for other tools: ``export`` writes what a run is missing, ``take_in`` reads what came back."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from harness.answering import batch_files
from harness.answering.batch_files import BatchFiles, Taken
from harness.answering.budget import Budget
from harness.answering.cache import ResponseCache
from harness.audit.assembly import Audit, assemble
from harness.audit.batching.missing import Lines, Missing, examine
from harness.config import RunConfig
from harness.core import Failure, JsonObject, Reply, canonical
from harness.dialect import Choices, Dialect
from harness.errors import ConfigError, EndpointError, Transient
from harness.models import wire

NOT_EXECUTED = 0  # stands for the status of a request that no server saw
OWN_SERVER: Mapping[str, Choices] = {"vllm": "structured_outputs"}


async def export(config: RunConfig, file: Path, again: bool = False) -> dict[str, Any]:
    """Write what is missing to ``file`` (and ``…-2``, … past the limits of a batch file). Sends nothing.

    Left out is what an earlier file is still to bring, unless ``again``. The dialect is the one that a run
    has learnt, else the configured one, which a later run then keeps to.
    """
    _check_free(file)
    audit = await asyncio.to_thread(assemble, config)
    limits = config.budget
    budget = Budget(limits.max_requests, limits.max_cost, audit.prices)
    cases = audit.suite.cases(audit.documents())
    async with ResponseCache(audit.cache) as cache:
        with BatchFiles(file) as files:
            lines = Lines(audit, cache, files, configured_dialect, budget)
            missing = Missing(cache, lines.write, again=again)
            await examine(audit, missing, cases)
    return {
        "files": [{"path": str(p), "requests": n} for p, n in zip(files.paths, files.counts, strict=True)],
        "requests": sum(files.counts),
        "cached": missing.cached,
        "expected": missing.held,
        "choices": lines.dialect.choices if lines.dialect else None,
        "stopped": lines.stopped,
    }


async def take_in(cache: Path, files: Sequence[Path]) -> Taken:
    """Take the answers in ``files`` into the cache at ``cache``; what was answered or failed is settled."""
    _check_there(files)
    taken = Taken()
    await keep(cache, [(file, str(file)) for file in files], taken)
    await settle(cache, [*taken.answered, *taken.failures])
    return taken


async def keep(cache: Path, sources: Sequence[tuple[Path, str]], taken: Taken) -> None:
    """Keep the replies of each file with its name; on return every one of them is on disk."""
    async with ResponseCache(cache) as opened:
        for path, name in sources:
            await batch_files.take_in(opened, batch_files.lines(path), name, meaning, taken)


async def settle(cache: Path, keys: Sequence[str]) -> None:
    """Expect ``keys`` no more."""
    if keys:
        async with ResponseCache(cache) as opened:
            await opened.settle(keys)


def meaning(
    status: int | None, answer: object, known: JsonObject | None
) -> tuple[Reply | Failure, JsonObject | None]:
    """Return what a line's status and body mean, classified as in a live run; see ``batch_files.Meaning``."""
    dialect = Dialect.from_json(known) if known else None
    try:
        if status is not None and status < 300:
            return wire.read(answer), None
        fault = {"message": "neither a response nor an error"} if answer is None else answer
        return wire.classify(status or NOT_EXECUTED, fault, dialect), None
    except wire.Rejected as error:
        return Failure("failed", f"to be asked in another way: {error}"), error.dialect.to_json()
    except (Transient, EndpointError) as error:
        return Failure("failed", str(error).removeprefix(f"HTTP {NOT_EXECUTED}: ")), None
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        return Failure("failed", f"not a chat completion: {wire.one_line(error)}"), None


async def configured_dialect(audit: Audit, cache: ResponseCache) -> Dialect:
    """Return the dialect that an earlier run learnt, else the configured one.

    It is kept, so that no run mixes two ways of asking.
    """
    endpoint, model = canonical(dict(audit.model.identity)), audit.model
    if model.batch is None:
        raise ConfigError(f"export-batch is for an endpoint or vllm:NAME, not {model.name}")
    known = await cache.dialect(endpoint)
    dialect = model.batch.dialect if known is None else Dialect.from_json(known)
    if dialect.choices == "unknown":
        wanted = audit.config.model.choices
        dialect = replace(
            dialect, choices=OWN_SERVER.get(dialect.server, "none") if wanted == "auto" else wanted
        )
    if not dialect.chat and dialect.server == "vllm":
        raise ConfigError(f"{model.name} has no chat template: vllm run-batch takes chats only")
    if known is None:
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
