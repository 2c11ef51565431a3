"""The root cause in vLLM's logs, of which those in ``vllm_logs`` are real (vLLM 0.32.0 on CPUs)."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.models import vllm_log

LOGS = Path(__file__).with_name("vllm_logs")
POINTER = "RuntimeError: Engine core initialization failed. See root cause above. Failed core proc(s): {}"
TRACEBACK = "Traceback (most recent call last):"


@pytest.mark.parametrize(
    ("name", "cause"),
    [
        ("no_room", "ValueError: Available memory on node 0 (12.2/17.46 GiB) on kv cache allocation is less"),
        ("too_long", "User-specified max_model_len (100000) is greater than the derived max_model_len"),
        ("wrong_flag", "vllm: error: unrecognized arguments: --nonsense"),
        ("killed_engine", "MPClient: engine core exited unexpectedly; starting cleanup"),
        ("no_model", "LocalEntryNotFoundError: Cannot find an appropriate cached snapshot folder"),
    ],
)
def test_real_logs_tell_why_a_server_did_not_start(name: str, cause: str) -> None:
    found = vllm_log.cause_in(LOGS / f"{name}.log")
    assert found is not None
    assert cause in found
    assert "\n" not in found
    assert len(found) <= vllm_log.LONGEST


frames = st.lists(st.sampled_from(['  File "a.py", line 3, in f', "    raise", "    ^^^^^"]), max_size=200)
calm = st.lists(
    st.sampled_from(["(APIServer pid=1) INFO 11-29 08:37:18 [api.py:1] POST 200", "loading shards"]),
    max_size=9,
)


@given(
    frames, frames, calm, calm, st.sampled_from(["", "(EngineCore pid=9) ERROR 11-29 08:38:26 [core.py:1] "])
)
def test_the_cause_is_found_however_far_above_it_stands(
    inner: list[str], outer: list[str], before: list[str], between: list[str], prefix: str
) -> None:
    engine = [
        f"{prefix}{line}"
        for line in ["EngineCore failed to start.", TRACEBACK, *inner, "ValueError: no room"]
    ]
    worker = [TRACEBACK, *outer, "RuntimeError: Worker failed with error 'no room', see stack trace above"]
    api = [TRACEBACK, *outer, POINTER]
    assert vllm_log.root_cause([*before, *engine, *between, *worker, *api, *before]) == "ValueError: no room"


def test_an_error_that_only_one_request_met_is_not_the_cause() -> None:
    lines = [
        "(APIServer pid=1) ERROR 11-29 08:38:26 [serving.py:9] Traceback (most recent call last):",
        '(APIServer pid=1) ERROR 11-29 08:38:26 [serving.py:9]   File "x.py", line 1',
        "(APIServer pid=1) ERROR 11-29 08:38:26 [serving.py:9] ValueError: a bad request",
        "(EngineCore pid=2) ERROR 11-29 08:39:26 [core.py:9] torch.OutOfMemoryError: CUDA out of memory.",
        f"(APIServer pid=1) ERROR 11-29 08:39:26 [x.py:9] {POINTER}",
    ]
    assert vllm_log.root_cause(lines) == "torch.OutOfMemoryError: CUDA out of memory."
    lines[3] = (
        "(APIServer pid=1) ERROR 11-29 08:39:26 [c.py:9] Engine core proc EngineCore died unexpectedly."
    )
    assert vllm_log.root_cause(lines) == "Engine core proc EngineCore died unexpectedly."


def test_an_exception_says_what_it_comes_from() -> None:
    lines = [
        *(TRACEBACK, "  File", "KeyError: 'rope'", ""),
        *("The above exception was the direct cause of the following exception:", ""),
        *(TRACEBACK, "  File", "ValueError: no such architecture"),
    ]
    assert vllm_log.root_cause(lines) == "ValueError: no such architecture (from KeyError: 'rope')"


@given(st.lists(st.text()))
def test_any_log_can_be_read(lines: list[str]) -> None:
    found = vllm_log.root_cause(lines)
    assert found is None or len(found) <= vllm_log.LONGEST


def test_the_type_of_the_weights_is_told_by_the_engine(tmp_path: Path) -> None:
    assert vllm_log.dtype_in(LOGS / "wrong_flag.log") is None
    assert vllm_log.dtype_in(tmp_path / "none.log") is None
    log = tmp_path / "server.log"
    log.write_text(
        "INFO [core.py:133] Initializing a V1 LLM engine with config: dtype=torch.bfloat16, seed=0\n"
    )
    assert vllm_log.dtype_in(log) == "bfloat16"
