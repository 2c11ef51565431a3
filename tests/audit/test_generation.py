"""Cases made by one process, by several, or on a Ray cluster: the same files, whatever stops the work."""

from __future__ import annotations

import json
import multiprocessing
import shutil
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest

from harness import config
from harness.audit import generation, generation_ray
from harness.audit.assembly import Audit, assemble
from harness.core import Case, Document
from harness.errors import ConfigError, RunError
from harness.folder import RunFolder
from harness.plugins import Suite
from harness.progress import Progress, unwatched

pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning:ray")

DOCUMENTS = 100
MANY_DOCUMENTS = 600
LONG_DOCUMENTS = 4000
CHUNKS = 4

Make = Callable[[Audit, Progress], None]


def audit(place: Path, out: str, documents: int = DOCUMENTS) -> Audit:
    """An audit of short texts, each of them with terms of three attributes."""
    texts = place / f"{documents}.jsonl"
    if not texts.exists():
        texts.write_text("".join(text(number) + "\n" for number in range(documents)), encoding="utf-8")
    settings = {
        "documents.path": str(texts),
        "hinter.parser": "none",
        "hinter.max_pairs": 4,
        "model.name": "local:vader",
        "cache": str(place / "cache.sqlite"),
        "out": str(place / out),
    }
    made = assemble(config.load(None, settings))
    made.folder.open(made.resolved, made.identity)
    return made


def text(number: int) -> str:
    words = f"Number {number}: a woman met a black man and her friend, who was fat. " + "It was nice. " * 20
    return json.dumps({"text": words, "label": "Positive"})


def files(folder: RunFolder) -> dict[str, bytes]:
    return {file.name: file.read_bytes() for file in folder.cases.iterdir()}


def one_process(audit: Audit, progress: Progress = unwatched) -> None:
    generation.make(audit, audit.folder, 1, progress)


def two_processes(audit: Audit, progress: Progress = unwatched) -> None:
    generation.make(audit, audit.folder, 2, progress)


def on_ray(audit: Audit, progress: Progress = unwatched) -> None:
    generation_ray.make(audit, audit.folder, None, progress)


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("generation")


@pytest.fixture(scope="module")
def expected(place: Path) -> dict[str, bytes]:
    """The files of one process that nothing stopped."""
    made = audit(place, "expected")
    one_process(made)
    return files(made.folder)


@dataclass
class TwoNodes:
    """A Ray cluster on this machine, its driver's node and another one."""

    address: str
    kill: Callable[[], None]


@pytest.fixture(scope="module")
def two_nodes() -> Iterator[TwoNodes]:
    pytest.importorskip("ray.data", reason="needs the extra ray")
    from ray.cluster_utils import Cluster

    cluster = Cluster(initialize_head=True, head_node_args={"num_cpus": 1, "include_dashboard": False})
    other = cluster.add_node(num_cpus=1)
    try:
        with generation_ray.connected(cluster.address):
            yield TwoNodes(cluster.address, lambda: cluster.remove_node(other, allow_graceful=False))
    finally:
        cluster.shutdown()


COMMAND = (sys.executable, "-c", "from harness.cli import main; main()", "generate")


def hinter(*options: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([*COMMAND, *options], capture_output=True, text=True, timeout=120, check=False)


def test_the_command_says_in_one_line_that_no_cluster_runs_here() -> None:
    """First in this file: ``auto`` would find the cluster that later tests start."""
    pytest.importorskip("ray.data", reason="needs the extra ray")
    said = hinter("--engine", "ray", "--ray-address", "auto")
    assert (said.returncode, said.stdout) == (2, "")
    assert "'auto'" in said.stderr
    assert said.stderr.count("\n") == 1, said.stderr


@pytest.fixture(params=[one_process, two_processes, on_ray])
def make(request: pytest.FixtureRequest) -> Make:
    """Every engine in turn."""
    if request.param is on_ray:
        request.getfixturevalue("two_nodes")
    engine: Make = request.param
    return engine


def test_every_engine_writes_the_same_files(
    place: Path, expected: dict[str, bytes], make: Make, request: pytest.FixtureRequest
) -> None:
    made = audit(place, f"whole-{request.node.name}")
    told: list[int] = []
    make(made, lambda done, total: told.append(done))
    assert files(made.folder) == expected
    assert sum(name.endswith(".whole") for name in expected) == CHUNKS
    assert told == sorted(told)
    assert told[-1] == DOCUMENTS


def test_cases_are_the_same_and_in_order_whatever_wrote_them(place: Path, expected: dict[str, bytes]) -> None:
    some, others = audit(place, "order-1"), audit(place, "order-2")
    cases = list(generation.cases(some, some.folder))
    again = list(generation.cases(others, others.folder, workers=2))
    assert [(case.id, case.text) for case in again] == [(case.id, case.text) for case in cases]
    assert files(some.folder) == files(others.folder) == expected
    assert len({case.id for case in cases}) == len(cases)
    originals = [case.document for case in cases if case.role == "original"]
    assert originals == [document.id for document in some.documents()]


class Stopped(Exception):
    pass


def test_after_a_stop_only_what_is_missing_is_made(
    place: Path, expected: dict[str, bytes], make: Make, request: pytest.FixtureRequest
) -> None:
    made = audit(place, f"stopped-{request.node.name}")

    def stop(done: int, total: int) -> None:
        if done:
            raise Stopped

    with pytest.raises(Stopped):
        make(made, stop)
    assert not made.folder.complete
    kept = {file: file.stat().st_mtime_ns for file in made.folder.cases.glob("*.whole")}
    assert kept
    make(made, unwatched)
    assert files(made.folder) == expected
    assert {file: file.stat().st_mtime_ns for file in kept} == kept


def test_a_chunk_that_was_not_finished_is_made_anew(
    place: Path, expected: dict[str, bytes], make: Make, request: pytest.FixtureRequest
) -> None:
    made = audit(place, f"half-{request.node.name}")
    (made.folder.cases / "part-00001-00000.parquet").write_bytes(b"PAR1 half")
    (made.folder.cases / "part-00001-00007.parquet").write_bytes(expected["part-00001-00000.parquet"])
    make(made, unwatched)
    assert files(made.folder) == expected


class Together(Suite):
    """A suite that must see all documents: it numbers the cases through."""

    name = "together"

    def cases(self, documents: Iterator[Document]) -> Iterator[Case]:
        for number, document in enumerate(documents):
            yield Case(f"{number}", document.id, document.id, "original", document.text)

    def judge(self, group: Any, outcomes: Any) -> Iterator[Any]:
        raise NotImplementedError


def test_a_suite_that_sees_all_documents_is_not_shared_out(
    place: Path, make: Make, request: pytest.FixtureRequest
) -> None:
    made = replace(audit(place, f"together-{request.node.name}"), suite=Together())
    make(made, unwatched)
    assert [case.id for case in made.folder.read_cases()] == [str(number) for number in range(DOCUMENTS)]


def test_a_killed_worker_is_one_line_and_the_next_call_goes_on(place: Path) -> None:
    made = audit(place, "killed", MANY_DOCUMENTS)

    def kill(done: int, total: int) -> None:
        for worker in multiprocessing.active_children():
            worker.kill()

    with pytest.raises(RunError, match=r"^a worker process was killed .*: run the same command again"):
        two_processes(made, kill)
    assert not made.folder.complete
    two_processes(made)
    undisturbed = audit(place, "undisturbed", MANY_DOCUMENTS)
    one_process(undisturbed)
    assert files(made.folder) == files(undisturbed.folder)


def test_a_node_that_would_make_other_cases_is_an_error(place: Path, two_nodes: TwoNodes) -> None:
    made = audit(place, "other")
    suite = replace(made.suite, lexicon=made.suite.lexicon.select(["gender"]))  # type: ignore[type-var,attr-defined]
    with pytest.raises(
        RunError, match=r"^Ray node .*: it would make different cases: install the same versions"
    ):
        on_ray(replace(made, suite=suite))
    assert not made.folder.complete


def test_a_node_lost_in_the_middle_loses_and_doubles_nothing(place: Path, two_nodes: TwoNodes) -> None:
    import ray

    undisturbed = audit(place, "steady", MANY_DOCUMENTS)
    one_process(undisturbed)
    made = audit(place, "lost", MANY_DOCUMENTS)
    killed: list[int] = []

    def kill(done: int, total: int) -> None:
        busy = ray.available_resources().get("CPU", 0) == 0  # both nodes have an actor
        if done and busy and not killed:
            killed.append(done)
            two_nodes.kill()

    on_ray(made, kill)
    assert killed
    assert killed[0] < MANY_DOCUMENTS
    assert files(made.folder) == files(undisturbed.folder)
    ids = [case.id for case in made.folder.read_cases()]
    assert len(set(ids)) == len(ids)


@contextmanager
def server(says: bytes) -> Iterator[str]:
    """The address of a server that says one thing, which is not what Ray says, and is silent after it."""
    with closing(socket.create_server(("127.0.0.1", 0))) as listening:

        def answer() -> None:
            connection, _ = listening.accept()
            with connection:
                connection.sendall(says)
                while connection.recv(1024):
                    pass

        thread = threading.Thread(target=answer)
        thread.start()
        yield f"127.0.0.1:{listening.getsockname()[1]}"
        thread.join()


def refused(address: str) -> str:
    """What connecting to ``address`` says, within seconds."""
    started = time.monotonic()
    with pytest.raises(ConfigError) as raised, generation_ray.connected(address):
        pass
    assert time.monotonic() - started < 3 * generation_ray.ANSWER_SECONDS
    assert "\n" not in str(raised.value)
    return str(raised.value)


@pytest.mark.parametrize("says", [b"", b"HTTP/1.1 200 OK\r\n\r\n"])
def test_an_address_where_something_else_answers_is_an_error(says: bytes) -> None:
    pytest.importorskip("ray.data", reason="needs the extra ray")
    with server(says) as address:
        assert f"no Ray cluster answers at {address}" in refused(address)


@pytest.mark.parametrize("address", ["here", "127.0.0.1", "127.0.0.1:many", "ray://127.0.0.1:1"])
def test_an_address_that_is_none_is_an_error(address: str) -> None:
    pytest.importorskip("ray.data", reason="needs the extra ray")
    assert "give HOST:PORT or auto" in refused(address)


def options(place: Path, out: str, documents: int = DOCUMENTS) -> list[str]:
    """What ``audit`` configures, as the command's options."""
    pairs = {
        "--data": str(place / f"{documents}.jsonl"),
        "--parser": "none",
        "--max-pairs": "4",
        "--model": "local:vader",
        "--cache": str(place / "cache.sqlite"),
        "--out": str(place / out),
    }
    return [word for pair in pairs.items() for word in pair]


def test_the_command_says_in_one_line_that_no_cluster_answers() -> None:
    pytest.importorskip("ray.data", reason="needs the extra ray")
    with closing(socket.create_server(("127.0.0.1", 0))) as taken:
        address = f"127.0.0.1:{taken.getsockname()[1]}"
    said = hinter("--engine", "ray", "--ray-address", address)
    assert said.returncode == 2
    assert said.stderr.startswith(f"hinter: no Ray cluster answers at {address}: ")
    assert said.stderr.count("\n") == 1


def test_the_command_says_in_one_line_that_a_host_is_none() -> None:
    pytest.importorskip("ray.data", reason="needs the extra ray")
    address = "no-such-host.invalid:6379"
    said = hinter("--engine", "ray", "--ray-address", address)
    assert (said.returncode, said.stdout) == (2, "")
    assert address in said.stderr
    assert said.stderr.count("\n") == 1, said.stderr


def test_the_command_names_the_extra_that_is_missing() -> None:
    try:
        import ray.data  # noqa: F401
    except ImportError:
        said = hinter("--engine", "ray")
        assert (said.returncode, said.stderr.count("\n")) == (2, 1)
        assert "hinter-harness[ray]" in said.stderr
    else:
        pytest.skip("the extra ray is installed")


def test_a_ray_address_without_ray_is_an_error() -> None:
    said = hinter("--ray-address", "auto")
    assert said.returncode == 2
    assert "--ray-address needs --engine ray" in said.stderr


def test_the_command_runs_a_cluster_of_its_own(place: Path, expected: dict[str, bytes]) -> None:
    pytest.importorskip("ray.data", reason="needs the extra ray")
    said = hinter("--engine", "ray", "--json", *options(place, "command"))
    assert said.returncode == 0, said.stderr
    assert json.loads(said.stdout)["eligible"] == DOCUMENTS
    assert not [line for line in said.stderr.splitlines() if not line.startswith("texts ")]
    assert files(RunFolder(place / "command")) == expected


@pytest.mark.parametrize("workers", ["1", "2"])
def test_an_interrupted_command_ends_with_the_chunks_in_hand(place: Path, workers: str) -> None:
    folder = audit(place, f"interrupted-{workers}", LONG_DOCUMENTS).folder
    words = [*COMMAND, "--workers", workers, *options(place, folder.path.name, LONG_DOCUMENTS)]
    with subprocess.Popen(words, stderr=subprocess.PIPE, text=True) as command:
        while command.poll() is None and not folder.has_chunk(0):
            time.sleep(0.01)
        command.send_signal(signal.SIGINT)
        _, said = command.communicate(timeout=60)
    assert command.returncode == 130
    assert [line for line in said.splitlines() if not line.startswith("texts ")] == [
        "hinter: stopping; everything generated so far is saved (Ctrl-C again to quit at once)",
        "hinter: interrupted",
    ]
    assert not folder.complete


def descendants(ancestor: int) -> set[int]:
    listed = subprocess.run(["ps", "-A", "-o", "pid=,ppid="], capture_output=True, text=True, check=True)
    parents = {int(pid): int(of) for pid, of in map(str.split, listed.stdout.splitlines())}
    found, more = set[int](), {ancestor}
    while more:
        more = {pid for pid, of in parents.items() if of in more}
        found |= more
    return found


def alive(process: int) -> bool:
    """Whether it runs; one that has ended and that nobody waits for (Z) does not."""
    said = subprocess.run(
        ["ps", "-o", "stat=", "-p", str(process)], capture_output=True, text=True, check=False
    )
    return said.stdout.strip() not in ("", "Z")


@pytest.mark.skipif(shutil.which("ps") is None, reason="needs ps")
def test_workers_do_not_outlive_a_command_that_is_killed(place: Path) -> None:
    folder = audit(place, "orphans", LONG_DOCUMENTS).folder
    words = [*COMMAND, "--workers", "2", *options(place, folder.path.name, LONG_DOCUMENTS)]
    with subprocess.Popen(words, stderr=subprocess.PIPE, text=True) as command:
        while command.poll() is None and not folder.has_chunk(0):
            time.sleep(0.01)
        workers = descendants(command.pid)
        command.kill()
    assert len(workers) >= 2
    ends = time.monotonic() + 10
    while any(map(alive, workers)) and time.monotonic() < ends:
        time.sleep(0.1)
    assert not any(map(alive, workers))
    assert not folder.complete
