"""Cases made on a Ray cluster: Ray Data hands chunks of documents to actors, the driver writes what comes back.

A row is a chunk: its documents on the way there, its finished Parquet parts on the way back. So a chunk comes
whole or not at all, whatever node is lost; one that comes a second time is not written again; and the files are
those that any other engine writes.
"""

from __future__ import annotations

import json
import logging
import os
import platform
import socket
from collections import deque
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from harness import generation, registry
from harness.assembly import Audit
from harness.config import RunConfig
from harness.core import Document
from harness.errors import ConfigError, HarnessError, RunError
from harness.folder import RunFolder

if TYPE_CHECKING:
    import pyarrow as pa

log = logging.getLogger(__name__)

ANSWER_SECONDS = 5.0
TASK_RETRIES = 3
"""How often one chunk may lose its actor: a node that is lost costs one, a chunk too large for memory all."""

HTTP2_GREETING = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + bytes(3) + b"\x04" + bytes(5)
"""The preface and an empty SETTINGS frame (RFC 9113, sections 3.4 and 4.1): Ray speaks gRPC."""
SETTINGS = 4

Waiting = dict[int, tuple[int, Any]]
"""By the number of a chunk: how many documents it has, and where in the object store they are."""


@contextmanager
def connected(address: str | None = None) -> Iterator[None]:
    """Use the cluster at ``address`` (``HOST:PORT``, ``ray://HOST:PORT`` or ``auto``; None: the environment's
    RAY_ADDRESS, or else a cluster of this machine alone that ends with this).

    Raises ``ConfigError`` within seconds where none answers, and where Ray is not installed.
    """
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
    try:
        import ray
    except ImportError as error:
        raise ConfigError("--engine ray needs Ray: pip install 'hinter-harness[ray]'") from error
    address = address or os.environ.get("RAY_ADDRESS") or "local"
    if address not in ("local", "auto"):
        _greet(address)
    local: dict[str, Any] = {"include_dashboard": False} if address == "local" else {}
    try:
        ray.init(address, log_to_driver=False, logging_level=logging.ERROR, **local)
    except (ConnectionError, RuntimeError, ValueError) as error:
        raise ConfigError(f"Ray at {address!r}: {_line(error)}") from error
    try:
        yield
    finally:
        ray.shutdown()


def make(
    audit: Audit, folder: RunFolder, workers: int | None = None, watch: generation.Watcher = lambda _: None
) -> None:
    """Write all cases of the audit, with ``workers`` actors (None: one a CPU of the cluster).

    Raises ``RunError`` where the cluster loses the work or a node makes other cases than this machine.
    """
    if folder.complete:
        return
    if not generation.by_document(audit.suite):
        generation.make(audit, folder, 1, watch)
        return
    from ray.exceptions import RayError

    waiting = _waiting(audit, folder)
    left = len(waiting) + 1
    lost: RayError | None = None
    while waiting:
        if len(waiting) == left:
            raise RunError(f"Ray lost the work ({_line(lost)}): the same command goes on") from lost
        left = len(waiting)
        try:
            for number, parts in _made(audit, waiting, workers):
                if number in waiting:
                    folder.write_chunk(number, parts)
                    del waiting[number]
                    watch(audit.total - sum(size for size, _ in waiting.values()))
        except RayError as error:
            if (ours := _ours(error)) is not None:
                raise RunError(str(ours)) from error
            log.warning("Ray: %s: %d chunks are asked for again", _line(error), len(waiting))
            lost = error
    folder.finish()


def _waiting(audit: Audit, folder: RunFolder) -> Waiting:
    """The chunks that are not on disk, put into Ray's object store, which spills to disk."""
    import pyarrow as pa
    import ray

    waiting: Waiting = {}
    for number, documents in generation.chunks(audit):
        if not folder.has_chunk(number):
            rows = [(d.id, d.text, None if d.labels is None else sorted(d.labels)) for d in documents]
            row = pa.table({"number": [number], "documents": [json.dumps(rows)]})
            waiting[number] = len(rows), ray.put(row)
    return waiting


def _made(audit: Audit, waiting: Waiting, workers: int | None) -> Iterator[tuple[int, list[bytes]]]:
    """Chunks with their parts, as they are finished."""
    import ray
    from ray.data import ActorPoolStrategy, DataContext

    context = DataContext.get_current()
    context.enable_progress_bars = context.print_on_execution_start = False
    logging.getLogger("ray.data").setLevel(logging.ERROR)
    cpus = max(1, int(ray.cluster_resources().get("CPU", 1)))
    most = min(workers or cpus, len(waiting))
    made = ray.data.from_arrow_refs([row for _, row in waiting.values()]).map_batches(
        Maker,
        fn_constructor_args=(audit.config, dict(audit.suite.identity), os.getcwd()),
        batch_size=1,
        batch_format="pyarrow",
        compute=ActorPoolStrategy(min_size=1, max_size=most, initial_size=min(most, cpus)),
        num_cpus=1,
        max_restarts=-1,
        max_task_retries=TASK_RETRIES,
    )
    for row in made.iter_rows():
        yield int(row["number"]), list(row["parts"])


class Maker:
    """What an actor makes cases with: a suite, loaded once, for a parser takes seconds to load.

    Raises ``RunError`` where the suite differs from the driver's, by ``identity``. Files are taken relative to
    ``folder``, the driver's, where the node has it.
    """

    def __init__(self, config: RunConfig, identity: Mapping[str, Any], folder: str) -> None:
        if Path(folder).is_dir():
            os.chdir(folder)
        self._suite = registry.suite(config)
        if dict(self._suite.identity) != dict(identity):
            raise RunError(
                f"Ray node {platform.node()} would make other cases: install the same versions as here"
            )

    def __call__(self, chunk: pa.Table) -> pa.Table:
        """A chunk's row with its documents -> its row with the bytes of its Parquet files."""
        import pyarrow as pa

        (row,) = chunk.to_pylist()
        documents = (
            Document(id, text, None if labels is None else frozenset(labels))
            for id, text, labels in json.loads(row["documents"])
        )
        with TemporaryDirectory(prefix="hinter-") as place:
            folder = RunFolder(Path(place))
            deque(folder.keep_chunk(row["number"], self._suite.cases(documents)), maxlen=0)
            parts = [part.read_bytes() for part in folder.chunk_files(row["number"])]
        return pa.table(
            {"number": [row["number"]], "parts": pa.array([parts], type=pa.list_(pa.large_binary()))}
        )


def _greet(address: str) -> None:
    """Raise ``ConfigError`` unless something at ``address`` greets as Ray does: ``ray.init`` would try for
    minutes. Behind TLS a connection has to do."""
    url = urlsplit(address if "://" in address else f"//{address}")
    try:
        place = (url.hostname or "", url.port or 0)
    except ValueError:
        place = ("", 0)
    if url.scheme not in ("", "ray") or not all(place):
        raise ConfigError(f"--ray-address {address!r}: give HOST:PORT, ray://HOST:PORT or auto")
    try:
        with socket.create_connection(place, ANSWER_SECONDS) as connection:
            if os.environ.get("RAY_USE_TLS", "0") == "0":
                connection.sendall(HTTP2_GREETING)
                with connection.makefile("rb") as stream:
                    if stream.read(4)[3:] != bytes([SETTINGS]):
                        raise OSError("what answers is not Ray")
    except OSError as error:
        raise ConfigError(f"no Ray cluster answers at {address}: {_line(error)}") from error


def _ours(error: BaseException | None) -> HarnessError | None:
    """The error of our own that an actor raised, if that is what it was."""
    while error is not None:
        if isinstance(error, HarnessError):
            return error
        error = getattr(error, "cause", None) or error.__cause__
    return None


def _line(error: BaseException | None) -> str:
    lines = str(error).strip().splitlines()
    return lines[0] if lines else type(error).__name__
