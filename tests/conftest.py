"""What many tests need: the shared data, the embedded model's weights, and one spaCy parser for a session."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from hypothesis import settings

from harness.errors import ModelError
from harness.language.parsers import CachedParser, SpacyParser, default_pipeline
from harness.models import weights
from tests.browsers import browser as browser

ROOT = Path(__file__).parents[1]
WORKERS_PER_CORE = 2  # many tests wait, for a process to start or a server to end
MOST_WORKERS = 8  # each loads a spaCy pipeline and the embedded model, 0.4 GB

settings.register_profile("unhurried", deadline=None)  # a loaded machine fails no test
settings.load_profile("unhurried")


@pytest.hookimpl(tryfirst=True)
def pytest_cmdline_main(config: pytest.Config) -> None:
    """Run the whole suite in several processes where pytest-xdist is there, unless ``-n`` says otherwise."""
    whole = config.args_source is pytest.Config.ArgsSource.TESTPATHS
    worker = hasattr(config, "workerinput")
    if not whole or worker or config.option.usepdb or not config.pluginmanager.hasplugin("xdist"):
        return
    if config.option.numprocesses is None:
        config.option.numprocesses = min(WORKERS_PER_CORE * (os.cpu_count() or 1), MOST_WORKERS)
        config.option.dist = "worksteal"


@pytest.fixture(scope="session")
def shared_data() -> Path:
    """The shared data of HINTER, BiasFinder and others; tests that read it skip where it is absent."""
    folder = (ROOT / os.environ.get("HINTER_SHARED", "../shared") / "data").resolve()
    if not folder.is_dir():
        pytest.skip(f"no shared data at {folder}: set HINTER_SHARED")
    return folder


@pytest.fixture(scope="session")
def plain_parser() -> SpacyParser:
    """spaCy without a cache: every sentence is parsed when asked for."""
    return SpacyParser(default_pipeline())


@pytest.fixture(scope="session")
def parser(plain_parser: SpacyParser) -> CachedParser:
    return CachedParser(plain_parser)


@pytest.fixture(scope="module")
def smollm2_file(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """The embedded model's weights; of several processes one fetches them, and the others wait.

    Beside other processes the model has one core: threads that wait for one another by spinning are slow
    where they share cores.
    """
    with _alone(tmp_path_factory.getbasetemp().parent / "weights.lock"):
        try:
            file = weights.fetch()
        except ModelError as error:
            pytest.skip(f"the weights of the embedded model cannot be fetched here: {error}")
    if "PYTEST_XDIST_WORKER" in os.environ and hasattr(os, "sched_setaffinity"):
        cores = sorted(os.sched_getaffinity(0))
        os.sched_setaffinity(0, cores[os.getpid() % len(cores) :][:1])
        yield file
        os.sched_setaffinity(0, cores)
    else:
        yield file


@contextmanager
def _alone(lock: Path) -> Iterator[None]:
    """Wait until no other process holds ``lock``, and hold it."""
    with lock.open("w") as file:
        if sys.platform != "win32":  # there, each process fetches them, and the last one's are kept
            import fcntl

            fcntl.flock(file, fcntl.LOCK_EX)
        yield
