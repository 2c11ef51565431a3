"""How many faults the tests notice: mutants of a module, each against the tests of that module.

    pip install mutmut==3.8.1
    nice python benchmarks/mutation.py [--only NAME ...] [--sample 40] [--seed 1] [--known FILE]

Makes mutmut's mutants of each module, module-level constants included, draws a sample of them, writes one at
a time into a copy of the project, and runs the module's tests in a forked process: first with few examples of
hypothesis, then, if it survives, with as many as always, at last mypy. A mutant is noticed if a test or mypy
fails, or if the tests take four times their time. The tests of each module, and the mutants that are no
faults, with the reason, are in mutation.toml.
"""

from __future__ import annotations

import argparse
import ast
import contextlib
import hashlib
import importlib
import importlib.util
import itertools
import json
import os
import random
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import tomllib
import traceback
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[1]
TABLE = ROOT / "benchmarks" / "mutation.toml"
LEFT_OUT = shutil.ignore_patterns(".git", ".venv", "runs", ".hypothesis", ".ruff_cache", "shared")
FEW_EXAMPLES = 25
TIMES_AS_LONG, SECONDS_TO_SPARE = 4, 20.0
OPTIONS = ("-x", "-q", "--tb=no", "-p", "no:cacheprovider", "-p", "no:xdist")
IMPORTED_BEFORE = ("-W", "ignore::pytest.PytestAssertRewriteWarning")  # by the process that forks
DESCRIPTION = re.compile(r'description=(?:"[^"]*"|None)')
SQL = re.compile(r'"(?:SELECT|INSERT|DELETE|ALTER|CREATE|DROP|PRAGMA|BEGIN|COMMIT)\b|\bPRIMARY KEY\b')
STRICT = re.compile(r"strict=True")
COUNTS = ("mutants", "drawn", "equivalent", "killed", "typed")
OURS = ("harness", "tests", "tasks", "prompts")


@dataclass(frozen=True)
class Mutant:
    """A module with one change: the whole source, and what changed in it."""

    source: str
    line: int
    before: str
    after: str


@dataclass(frozen=True)
class Row:
    """What was found of one module."""

    module: str
    mutants: int
    drawn: int
    equivalent: int
    killed: int
    typed: int


class Order:
    """A plug-in of pytest: the fastest tests first, and how long each took."""

    def __init__(self, seconds: dict[str, float]) -> None:
        self.seconds = seconds

    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        items.sort(key=lambda item: self.seconds.get(item.nodeid, 0.0))

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        self.seconds[report.nodeid] = self.seconds.get(report.nodeid, 0.0) + report.duration


def main() -> None:
    options = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    options.add_argument("--only", nargs="*", help="modules, as harness/statistics.py")
    options.add_argument("--sample", type=int, default=40)
    options.add_argument("--seed", type=int, default=1)
    options.add_argument(
        "--known", type=Path, help="a file of what became of mutants; killed ones stay killed"
    )
    given = options.parse_args()
    given.known = given.known and given.known.resolve()
    table = tomllib.loads(TABLE.read_text())
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder) / "project"
        shutil.copytree(ROOT, copy, symlinks=True, ignore=LEFT_OUT)
        os.environ.setdefault("HINTER_SHARED", str(ROOT.parent / "shared"))
        os.environ["PYTHONPATH"] = str(copy)
        os.chdir(copy)
        sys.path.insert(0, str(copy))
        rows = [
            examine(name, tests, table.get("equivalent", {}).get(name, []), given)
            for name, tests in table["tests"].items()
            if name in (given.only or table["tests"])
        ]
        show(rows)


def examine(name: str, tests: Sequence[str], equivalent: list[dict[str, str]], given: Any) -> Row:
    """Return how many mutants of one module its tests notice; print those that they do not."""
    trial = Trial.of(name, tests)
    made, drawn = mutants(Path(name), given.sample, random.Random(f"{given.seed} {name}"))
    listed = {(each["before"], each["after"]) for each in equivalent}
    faults = [each for each in drawn if (each.before, each.after) not in listed and not harmless(each)]
    killed = typed = 0
    dead = known(given.known)
    for mutant in sorted(faults, key=lambda mutant: mutant.line):
        digest = hashlib.sha256(f"{name}\n{mutant.source}".encode()).hexdigest()
        codes = dead.get(digest)
        if codes is None:
            codes = trial.codes(mutant)
            if given.known:
                with given.known.open("a") as file:
                    told = [digest, codes, name, mutant.line, mutant.before, mutant.after]
                    print(json.dumps(told), file=file)
        killed += any(codes.values())
        typed += codes.get("types", 0) != 0
        if not any(codes.values()):
            print(f"{name}:{mutant.line}\n    - {mutant.before}\n    + {mutant.after}", flush=True)
    row = Row(name, made, len(drawn), len(drawn) - len(faults), killed, typed)
    print(row, flush=True)
    return row


def known(file: Path | None) -> dict[str, dict[str, int]]:
    """Return the exit codes of mutants which an earlier run has killed, by their SHA-256."""
    lines = file.read_text().splitlines() if file is not None and file.exists() else []
    return {digest: codes for digest, codes, *_ in map(json.loads, lines) if any(codes.values())}


def show(rows: Sequence[Row]) -> None:
    """Print the table of docs/testing.md."""
    from harness.statistics import wilson  # only now: what the forked processes import is the mutant

    print(
        "| module | mutants | drawn | no faults | noticed | of these by mypy alone | share | 95 % interval |"
    )
    print("|---|---|---|---|---|---|---|---|")
    total = Row("all", *(sum(getattr(row, count) for row in rows) for count in COUNTS))
    for row in (*rows, total):
        faults = row.drawn - row.equivalent
        low, high = wilson(row.killed, faults) or (0.0, 1.0)
        figures = [row.mutants, row.drawn, row.equivalent, f"{row.killed} of {faults}", row.typed]
        cells = [f"`{row.module}`", *figures, f"{row.killed / faults:.1%}", f"{low:.1%} to {high:.1%}"]
        print(f"| {' | '.join(map(str, cells))} |")


def mutants(path: Path, sample: int, chance: random.Random) -> tuple[int, list[Mutant]]:
    """Return how many mutants mutmut's operators make of a module, and a sample of those that compile."""
    from mutmut.mutation.file_mutation import create_mutations, deep_replace

    source = path.read_text()
    module, mutations, *_ = create_mutations(str(path), source)
    drawn: list[Mutant] = []
    for mutation in chance.sample(mutations, len(mutations)):
        if len(drawn) == sample:
            break
        tree: Any = deep_replace(module, mutation.original_node, mutation.mutated_node)
        with contextlib.suppress(SyntaxError):
            compile(tree.code, str(path), "exec")
            drawn.append(_mutant(source, tree.code))
    return len(mutations), drawn


def _mutant(source: str, changed: str) -> Mutant:
    """Return a mutant with the lines in which it differs."""
    before, after = source.splitlines(), changed.splitlines()
    pairs = zip(before, after, strict=False)
    start = next(number for number, (old, new) in enumerate(pairs) if old != new)
    pairs = zip(reversed(before[start + 1 :]), reversed(after[start + 1 :]), strict=False)
    alike = len(list(itertools.takewhile(lambda pair: pair[0] == pair[1], pairs)))
    old, new = (lines[start : len(lines) - alike] for lines in (before, after))
    return Mutant(changed, start + 1, _plain(old), _plain(new))


def harmless(mutant: Mutant) -> bool:
    """Whether a mutant is no fault of itself.

    It is of a description, of letters in SQL or in an expression that ignores case, or it drops an assertion
    of equal lengths.
    """
    if mutant.before.lower() == mutant.after.lower() and (SQL.search(mutant.before) or caseless(mutant)):
        return True
    loose = {STRICT.sub(other, mutant.before) for other in ("strict=False", "strict=None", "")}
    described = (DESCRIPTION.sub("", lines) for lines in (mutant.before, mutant.after))
    return mutant.after in loose or len(set(described)) == 1


def caseless(mutant: Mutant) -> bool:
    """Whether a mutant changes a regular expression that ignores case."""
    calls = (node for node in ast.walk(ast.parse(mutant.source)) if isinstance(node, ast.Call))
    return any(
        ast.unparse(call.func).startswith("re.")
        and "IGNORECASE" in ast.unparse(call)
        and call.lineno <= mutant.line <= (call.end_lineno or 0)
        for call in calls
    )


def _plain(lines: list[str]) -> str:
    return " ".join(" ".join(lines).split())


@dataclass(frozen=True)
class Trial:
    """A module of the copy, the tests that it is held to, the seconds of each, and the most of all."""

    name: str
    tests: Sequence[str]
    seconds: dict[str, float]
    limit: float

    @classmethod
    def of(cls, name: str, tests: Sequence[str]) -> Trial:
        """Run the tests on the module as it is, twice: to prepare for the mutants, and as a mutant."""
        seconds, took = prepare(tests)
        trial = cls(name, tests, seconds, TIMES_AS_LONG * took + SECONDS_TO_SPARE)
        if code := trial.run(few=True):
            sys.exit(f"{' '.join(tests)} fail in a forked process without any change ({code})")
        return trial

    def codes(self, mutant: Mutant) -> dict[str, int]:
        """Return the exit code of each check, up to the one that fails; the module is as before then."""
        path = Path(self.name)
        original = path.read_text()
        write(path, mutant.source)
        codes = {"few": self.run(few=True)}
        if not codes["few"]:
            codes["many"] = self.run(few=False)
        if not any(codes.values()):
            codes["types"] = mistyped(self.name)
        write(path, original)
        return codes

    def run(self, few: bool) -> int:
        """Run the tests in a forked process and return its exit code; 124 if they take too long."""
        return forked(lambda: checked(self.tests, self.seconds, few), self.limit)


def prepare(tests: Sequence[str]) -> tuple[dict[str, float], float]:
    """Run the tests, import what they import from others, return the seconds of each and of all."""
    with tempfile.TemporaryDirectory() as folder:
        told = Path(folder) / "told.json"
        seconds: dict[str, float] = {}

        def tell() -> int:
            code = pytest.main([*OPTIONS, *IMPORTED_BEFORE, *tests], plugins=[Order(seconds)])
            told.write_text(json.dumps({"seconds": seconds, "modules": list(sys.modules)}))
            return int(code)

        start = time.monotonic()
        if forked(tell, 600, quiet=False):
            sys.exit(f"{' '.join(tests)} fail without any change")
        took = time.monotonic() - start
        seen = json.loads(told.read_text())
    for module in seen["modules"]:
        if module.partition(".")[0] not in OURS and module not in sys.modules:
            try:
                importlib.import_module(module)
            except Exception as error:
                print(f"  {module} is imported by each process anew: {error}", file=sys.stderr)
    return seen["seconds"], took


def checked(tests: Sequence[str], seconds: dict[str, float], few: bool) -> int:
    """Run the tests with ``few`` examples of hypothesis, or those of hypothesis with as many as always."""
    from hypothesis import HealthCheck, Phase, settings

    sys.dont_write_bytecode = True  # of a mutant
    os.environ["PYTHONDONTWRITEBYTECODE"] = "1"
    many = settings(
        database=None,
        deadline=None,
        phases=(Phase.explicit, Phase.generate),  # a failure need not be small
        suppress_health_check=tuple(HealthCheck),  # nor is a slow machine one
    )
    settings.register_profile("many", many)
    settings.register_profile("few", many, max_examples=FEW_EXAMPLES, derandomize=True)
    examples = ["--hypothesis-profile=few"] if few else ["--hypothesis-profile=many", "-m", "hypothesis"]
    options = [*OPTIONS, *IMPORTED_BEFORE, *examples, *tests]
    return int(pytest.main(options, plugins=[Order(dict(seconds))])) % pytest.ExitCode.NO_TESTS_COLLECTED


def mistyped(name: str) -> int:
    """Return whether mypy, which the tests are run with, rejects the module."""
    return subprocess.run([sys.executable, "-m", "mypy", name], capture_output=True).returncode


def forked(task: Callable[[], int], limit: float, quiet: bool = True) -> int:
    child = os.fork()
    if child == 0:
        os.setsid()
        if quiet:
            nowhere = os.open(os.devnull, os.O_WRONLY)
            os.dup2(nowhere, 1)
            os.dup2(nowhere, 2)
        code = 70
        try:
            code = task()
        except BaseException:
            traceback.print_exc()
        sys.stdout.flush()
        os._exit(code)
    end = time.monotonic() + limit
    while time.monotonic() < end:
        done, status = os.waitpid(child, os.WNOHANG)
        if done:
            return os.waitstatus_to_exitcode(status)
        time.sleep(0.01)
    os.killpg(child, signal.SIGKILL)
    os.waitpid(child, 0)
    return 124


def write(path: Path, source: str) -> None:
    """Write a module; what was compiled of it is of no use, even where its size and second are the same."""
    path.write_text(source)
    Path(importlib.util.cache_from_source(str(path))).unlink(missing_ok=True)


if __name__ == "__main__":
    main()
