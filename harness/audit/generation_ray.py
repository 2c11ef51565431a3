"""Make cases on a Ray cluster: Ray Data hands chunks of documents to actors, the driver writes the results.

A row is a chunk: its documents on the way out, its finished Parquet parts on the way back. So a chunk arrives
whole or not at all, whichever node is lost; a chunk that arrives twice is written once; and the files are the
same as any other engine writes.
"""

from __future__ import annotations

import json
import logging
import os
import platform
import socket
import sys
from collections import deque
from collections.abc import Generator, Iterable, Iterator
from contextlib import closing, contextmanager, redirect_stdout
from functools import cached_property
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from harness import __version__
from harness.audit import generation
from harness.audit.assembly import Audit, make_suite
from harness.config import RunConfig
from harness.core import Document, JsonObject
from harness.errors import ConfigError, HarnessError, RunError
from harness.folder import RunFolder
from harness.plugins import Suite
from harness.progress import Progress, unwatched

if TYPE_CHECKING:
    import pyarrow as pa

log = logging.getLogger(__name__)

ANSWER_SECONDS = 5.0
"""How long a server at the address of a cluster may take to identify itself as Ray."""

QUIET = {"RAY_USAGE_STATS_ENABLED": "0", "RAY_BACKEND_LOG_LEVEL": "fatal"}
FEW_TRIES = {"RAY_NUM_REDIS_GET_RETRIES": "5"}

HTTP2_GREETING = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + bytes(3) + b"\x04" + bytes(5)
"""The preface and an empty SETTINGS frame (RFC 9113, sections 3.4 and 4.1): Ray speaks gRPC."""
SETTINGS = 4

Waiting = dict[int, tuple[int, Any]]
"""The documents of each chunk by its number: how many there are, and their place in the object store."""


@contextmanager
def connected(address: str | None = None) -> Iterator[None]:
    """Connect to the cluster at ``address``, ``HOST:PORT`` or ``auto``, and disconnect at the end.

    None stands for RAY_ADDRESS in the environment, or else for a temporary cluster on this machine. Raises
    ``ConfigError`` within seconds if no cluster answers, or if Ray is not installed.
    """
    address = address or os.environ.get("RAY_ADDRESS") or "local"
    for name, value in (QUIET if address == "local" else QUIET | FEW_TRIES).items():
        os.environ.setdefault(name, value)
    try:
        import ray
        import ray.data
        from ray.exceptions import RayError
    except ImportError as error:
        raise ConfigError("--engine ray needs Ray: pip install 'hinter-harness[ray]'") from error
    if address not in ("local", "auto"):
        _greet(address)
    local: dict[str, bool] = {"include_dashboard": False} if address == "local" else {}
    with redirect_stdout(sys.stderr):  # where Ray reports on its nodes
        try:
            with _silent():
                ray.init(address, log_to_driver=False, logging_level=logging.ERROR, **local)
        except (ConnectionError, RuntimeError, ValueError, RayError) as error:
            hint = "" if address in ("local", "auto") else " (does it want a token? RAY_AUTH_MODE=token)"
            raise ConfigError(f"Ray at {address!r}: {_lines(error)[0]}{hint}") from error
        try:
            yield
        finally:
            ray.shutdown()


@contextmanager
def _silent() -> Iterator[None]:
    """Discard what is written to standard error, also by compiled code: Ray logs there that it logs nothing.

    What fails is raised, and so not lost.
    """
    sys.stderr.flush()
    kept = os.dup(2)
    try:
        with open(os.devnull, "wb") as nowhere:
            os.dup2(nowhere.fileno(), 2)
            yield
    finally:
        sys.stderr.flush()
        os.dup2(kept, 2)
        os.close(kept)


def make(audit: Audit, folder: RunFolder, workers: int | None = None, progress: Progress = unwatched) -> None:
    """Write all cases of the audit with ``workers`` actors (None: one per CPU of the cluster).

    Raises ``RunError`` if the cluster loses the work or a node would make different cases than this machine.
    """
    if folder.complete:
        return
    if not audit.suite.by_document:
        generation.make(audit, folder, 1, progress)
        return
    from ray.exceptions import RayError

    waiting = _waiting(audit, folder)
    while waiting:
        before = len(waiting)
        try:
            with closing(_made(audit, waiting, workers)) as chunks:
                for number, parts in chunks:
                    if number in waiting:
                        folder.write_chunk(number, parts)
                        del waiting[number]
                        progress(audit.total - sum(size for size, _ in waiting.values()), audit.total)
        except RayError as error:
            fault = _lines(error)[-1]
            if len(waiting) == before:
                raise RunError(f"Ray lost the work ({fault}): the same command continues it") from error
            log.warning("Ray: %s: requesting %d chunks again", fault, len(waiting))
    generation.finish(audit, folder)


def _waiting(audit: Audit, folder: RunFolder) -> Waiting:
    """Put the chunks that are not on disk into Ray's object store, which spills to disk."""
    import pyarrow as pa
    import ray

    waiting: Waiting = {}
    for number, documents in generation.chunks(audit):
        if not folder.has_chunk(number):
            rows = [(d.id, d.text, None if d.labels is None else sorted(d.labels)) for d in documents]
            row = pa.table({"number": [number], "documents": [json.dumps(rows)]})
            waiting[number] = len(rows), ray.put(row)
    return waiting


def _made(
    audit: Audit, waiting: Waiting, workers: int | None
) -> Generator[tuple[int, list[bytes]], None, None]:
    """Yield the number and the Parquet parts of each chunk as it is finished. Raises ``RunError``."""
    import ray
    from ray.data import ActorPoolStrategy, DataContext

    context = DataContext.get_current()
    context.enable_progress_bars = context.print_on_execution_start = False
    logging.getLogger("ray.data").setLevel(logging.CRITICAL)
    cpus = max(1, int(ray.cluster_resources().get("CPU", 1)))
    most = min(workers or cpus, len(waiting))
    chunks = ray.data.from_arrow_refs([row for _, row in waiting.values()]).map_batches(
        Maker,
        fn_constructor_args=(audit.config, _identity(audit.suite), os.getcwd()),
        batch_size=1,
        batch_format="pyarrow",
        compute=ActorPoolStrategy(min_size=1, max_size=most, initial_size=min(most, cpus)),
        num_cpus=1,
    )
    for row in chunks.iter_rows():
        if row["error"] is not None:
            raise RunError(row["error"])
        yield int(row["number"]), list(row["parts"])


class Maker:
    """An actor that makes cases. It loads its suite once, because a parser takes seconds to load.

    Files are relative to ``folder``, the driver's working directory, if the node has it. A fault on the node,
    such as a suite whose ``identity`` differs from the driver's, is returned as the row's ``error``.
    """

    def __init__(self, config: RunConfig, identity: JsonObject, folder: str) -> None:
        self._config = config
        self._identity = identity
        if Path(folder).is_dir():
            os.chdir(folder)

    def __call__(self, chunk: pa.Table) -> pa.Table:
        """Turn a chunk's row with its documents into its row with the bytes of its Parquet files."""
        import pyarrow as pa

        (row,) = chunk.to_pylist()
        documents = [
            Document(id, text, None if labels is None else frozenset(labels))
            for id, text, labels in json.loads(row["documents"])
        ]
        parts, fault = [], None
        try:
            parts = self._parts(row["number"], documents)
        except HarnessError as error:
            fault = f"Ray node {platform.node()}: {error}"
        columns = {"number": pa.int64(), "parts": pa.list_(pa.large_binary()), "error": pa.string()}
        result = {"number": row["number"], "parts": parts, "error": fault}
        return pa.Table.from_pylist([result], pa.schema(columns))

    def _parts(self, number: int, documents: Iterable[Document]) -> list[bytes]:
        with TemporaryDirectory(prefix="hinter-") as place:
            folder = RunFolder(Path(place))
            deque(folder.keep_chunk(number, self._suite.cases(iter(documents))), maxlen=0)
            return [part.read_bytes() for part in folder.chunk_files(number)]

    @cached_property
    def _suite(self) -> Suite:
        suite = make_suite(self._config)
        if _identity(suite) != self._identity:
            raise RunError("it would make different cases: install the same versions as here")
        return suite


def _identity(suite: Suite) -> JsonObject:
    return {**suite.identity, "version": __version__}


def _greet(address: str) -> None:
    """Raise ``ConfigError`` unless the server at ``address`` greets as Ray does.

    ``ray.init`` would try for minutes. Behind TLS, a connection is taken as enough.
    """
    url = urlsplit(f"//{address}")
    try:
        place = (url.hostname or "", url.port or 0)
    except ValueError:
        place = ("", 0)
    if not all(place):
        raise ConfigError(f"Ray at {address!r}: give HOST:PORT or auto")
    try:
        with socket.create_connection(place, ANSWER_SECONDS) as connection:
            if os.environ.get("RAY_USE_TLS", "0") == "0":
                connection.sendall(HTTP2_GREETING)
                with connection.makefile("rb") as stream:
                    if stream.read(4)[3:] != bytes([SETTINGS]):
                        raise OSError("what answers is not Ray")
    except OSError as error:
        raise ConfigError(f"no Ray cluster answers at {address}: {error}") from error


def _lines(error: BaseException) -> list[str]:
    """Return the lines of an error's message: Ray's own traceback, if any; the last line says what failed."""
    return [line.strip() for line in str(error).splitlines() if line.strip()] or [type(error).__name__]
