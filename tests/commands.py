"""``hinter`` as a user calls it: in a process of its own, or, where only its answer matters, in this one."""

from __future__ import annotations

import contextlib
import io
import os
import subprocess
import sys
from pathlib import Path

import pytest

from harness.cli import main

Done = subprocess.CompletedProcess[str]


def called(work: Path, *arguments: str, give: str = "") -> Done:
    """What ``hinter`` prints and how it ends, called in ``work`` within this process, ``give`` on its input.

    A process of its own costs a second of imports. Signals, faults of the machine and plug-ins of a package
    need one.
    """
    out, err = (io.TextIOWrapper(io.BytesIO(), encoding="utf-8", write_through=True) for _ in range(2))
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(work)
        patch.setattr(sys, "argv", ["hinter", *arguments])
        patch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(give.encode())))
        for name, value in environment().items():
            patch.setenv(name, value)
        patch.delenv("OPENAI_API_KEY", raising=False)
        with (
            contextlib.redirect_stdout(out),
            contextlib.redirect_stderr(err),
            pytest.raises(SystemExit) as end,
        ):
            main()
    code = end.value.code
    assert isinstance(code, int)
    return subprocess.CompletedProcess(arguments, code, printed(out), printed(err))


def printed(stream: io.TextIOWrapper) -> str:
    stream.seek(0)
    return stream.read()


def command(*arguments: str) -> list[str]:
    return [sys.executable, "-W", "error", "-m", "harness", *arguments]


def environment() -> dict[str, str]:
    return {k: v for k, v in os.environ.items() if k != "OPENAI_API_KEY"} | {"COLUMNS": "100"}
