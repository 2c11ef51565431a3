"""``hinter view`` from outside: who may see it, what it shows, what it sends and when, how it ends."""

from __future__ import annotations

import signal
import socket
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests import servers
from tests.commands import called
from tests.guard.test_watch import line
from tests.view.served import Served, made, serving

VADER = "local:vader, task imdb, suite hinter"
TEXT = "The old black woman next door was a great delight, and I drank black coffee."


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("view") / "runs"
    made(folder, "first")
    made(folder, "deeper/second", "--attributes", "gender")
    (folder / "live").mkdir()
    (folder / "live" / "guard.jsonl").write_text(
        "\n".join(line(number, number % 9 == 0) for number in range(300)) + "\n"
    )
    (folder / "broken").mkdir()
    (folder / "broken" / "summary.json").write_text("{")
    return folder


@pytest.fixture(scope="module")
def served(folder: Path) -> Iterator[Served]:
    with serving(folder, "--cache", str(folder.parent / "tried.sqlite")) as running:
        yield running


def wish(**changes: object) -> dict[str, object]:
    return {"text": TEXT, "setup": VADER, "attributes": ["race", "gender"], **changes}


def asked_of(endpoint: servers.Endpoint) -> int:
    """The requests for answers; a look for a tokenizer is none."""
    return sum(path.endswith("/completions") for path in endpoint.paths)


def test_nobody_without_the_token_sees_anything(served: Served) -> None:
    for path in ("/", "/try", "/static/try.js", "/runs/first/report.html", "/nowhere", "/?token=wrong"):
        answer = served.ask(path)
        assert (answer.status, "token" in answer.body) == (401, True), path
        assert "first" not in answer.body


def test_the_address_sets_a_cookie_and_leaves_the_bar(served: Served) -> None:
    answer = served.ask(f"/compare?run=a&token={served.token}&run=b")
    assert (answer.status, answer.headers["location"]) == (303, "/compare?run=a&run=b")
    assert answer.headers["set-cookie"].startswith(served.cookie)
    assert "httponly" in answer.headers["set-cookie"].lower()
    assert served.ask(f"//evil.example/?token={served.token}").headers["location"].startswith("/evil.example")


@pytest.mark.parametrize("host", ["evil.example", "evil.example:{port}", "127.0.0.1", "127.0.0.1:1", ""])
def test_another_name_for_this_machine_is_refused(served: Served, host: str) -> None:
    headers = {"Cookie": served.cookie, "Host": host.format(port=served.port)}
    assert served.ask("/", headers).status == 421


@pytest.mark.parametrize("origin", ["http://evil.example", "null", "http://127.0.0.1:1", None])
def test_another_page_cannot_ask(served: Served, origin: str | None) -> None:
    headers = {"Cookie": served.cookie} | ({"Origin": origin} if origin else {})
    for path in ("/try/versions", "/try/answers"):
        assert served.ask(path, headers, wish()).status == 403


def test_the_runs_are_listed_with_their_findings(served: Served) -> None:
    page = served.get("/")
    assert page.status == 200
    for shown in ("first", "deeper/second", "local:vader", "complete", "broken"):
        assert shown in page.body
    assert "/runs/deeper/second/report.html" in page.body
    assert "default-src 'none'" in page.headers["content-security-policy"]


def test_a_report_is_shown_and_may_not_act_in_the_users_name(served: Served) -> None:
    page = served.get("/runs/deeper/second/report.html")
    assert page.status == 200
    assert "<html" in page.body
    assert "sandbox" in page.headers["content-security-policy"]
    assert "allow-same-origin" not in page.headers["content-security-policy"]


@pytest.mark.parametrize(
    "path",
    [
        "/runs/first/run.toml",
        "/runs/first/answers.parquet",
        "/runs/first/../../texts.csv",
        "/runs/first/..%2f..%2ftexts.csv",
        "/runs/../texts.csv",
        "/runs/nowhere/report.html",
        "/static/app.py",
    ],
)
def test_no_other_file_is_served(served: Served, path: str) -> None:
    answer = served.get(path)
    assert "The actor" not in answer.body
    assert "import" not in answer.body
    assert answer.status == 404


def test_runs_are_compared_by_picking(served: Served) -> None:
    page = served.get("/compare?run=first&run=deeper/second")
    assert page.status == 200
    assert all(name in page.body for name in ("first", "second"))
    assert "default-src 'none'" in page.body
    assert served.get("/compare?run=first").status == 422
    assert "broken" in served.get("/compare?run=first&run=broken").body


def test_what_would_change_is_shown_before_anything_is_asked(served: Served, folder: Path) -> None:
    plan = served.post("/try/versions", wish()).json
    roles = [version["role"] for version in plan["versions"]]
    assert roles.count("original") == 1
    assert "intersectional" in roles
    fates = {(word["word"], word["start"]): word["fate"] for word in plan["words"]}
    assert fates["black", 8].startswith("changed")
    assert not fates["black", TEXT.index("black coffee")].startswith("changed")
    assert plan["to_send"] == plan["requests"] - plan["cached"] > 1
    assert all(version["answer"] == "" for version in plan["versions"] if version["valid"])


def test_answers_come_one_by_one_and_are_judged(served: Served) -> None:
    text = wish(text="My sister was a great delight to meet.", attributes=["gender"])
    plan = served.post("/try/versions", text).json
    *heard, last = served.post("/try/answers", text).lines
    valid = [version["case"] for version in plan["versions"] if version["valid"]]
    assert sorted(item["case"] for item in heard) == sorted(valid)
    assert {item["answer"] for item in heard} == {"Positive"}
    statuses = {version["status"] for version in last["versions"] if version["role"] == "atomic"}
    assert statuses <= {"benign", None}
    assert "benign" in statuses
    again = served.post("/try/versions", text).json
    assert again["to_send"] == 0


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        ({"text": "  "}, "empty"),
        ({"text": "x" * 30_000}, "20,000"),
        ({"attributes": []}, "attribute"),
        ({"attributes": "race"}, "attribute"),
        ({"setup": "python:os:system"}, "setup"),
    ],
)
def test_a_wish_that_cannot_be_is_a_line(served: Served, changes: dict[str, object], says: str) -> None:
    for path in ("/try/versions", "/try/answers"):
        answer = served.post(path, wish(**changes))
        assert answer.status == 422
        assert says in answer.json["error"]
    assert served.post("/try/versions", ["no", "object"]).status == 422


def test_an_endpoint_is_asked_after_the_click_alone_and_its_fault_is_a_line(tmp_path: Path) -> None:
    refusing = False

    def script(body: dict[str, Any], number: int) -> servers.Answer:
        return servers.error(401, message="bad key") if refusing else servers.completion("Positive")

    with servers.serve(script) as endpoint:
        made(tmp_path / "runs", "endpoint", "--model", "m", "--base-url", endpoint.base_url)
        with serving(tmp_path / "runs") as running:
            asked = wish(setup=f"m at {endpoint.base_url}, task imdb, suite hinter")
            before = asked_of(endpoint)
            plan = running.post("/try/versions", asked).json
            assert plan["to_send"] > 1
            assert asked_of(endpoint) == before
            refusing = True
            *_, last = running.post("/try/answers", asked).lines
            assert "bad key" in last["error"]
            refusing = False
            *heard, _ = running.post("/try/answers", asked).lines
            assert len({item["case"] for item in heard}) >= plan["requests"]


def test_it_ends_with_ctrl_c_and_says_so(folder: Path) -> None:
    with serving(folder) as running:
        running.get("/")
        began = time.monotonic()
        running.process.send_signal(signal.SIGINT)
        _, errors = running.process.communicate(timeout=30)
        assert time.monotonic() - began < 20
        assert running.process.returncode == 0
        assert errors.splitlines()[-1] == "hinter: the page is closed"


def test_what_it_cannot_serve_is_one_line(tmp_path: Path) -> None:
    absent = called(tmp_path, "view", "nowhere")
    assert (absent.returncode, absent.stderr.count("\n")) == (2, 1)
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        busy = called(tmp_path, "view", "--port", str(port))
    assert (busy.returncode, busy.stderr.count("\n")) == (2, 1)
    assert str(port) in busy.stderr


def test_a_folder_without_runs_says_what_makes_one(tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    with serving(tmp_path / "empty") as running:
        assert "hinter run" in running.get("/").body
        assert "local:smollm2" in running.get("/try").body


def test_the_log_of_a_guard_is_shown_and_no_other_file(served: Served) -> None:
    entered = {"Cookie": served.cookie}
    answer = served.ask("/guard", entered)
    assert answer.status == 200
    assert "live/guard.jsonl" in answer.body
    assert "gender: female" in answer.body
    assert "<svg" in answer.body
    assert served.ask("/guard?log=../texts.csv", entered).body.count("<table") == 0
    assert served.ask("/guard").status == 401
