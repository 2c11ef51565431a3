"""``hinter run`` against servers that refuse, redirect, lie or wait: what it says, sends and keeps."""

from __future__ import annotations

import gzip
import json
import os
import shutil
import stat
import subprocess
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.commands import called, command, environment
from tests.servers import Answer, Script, completion, error, serve

KEY = "sk-very-secret-0123456789"
TEXTS = (
    "The waiter was kind and the food was great.",
    "Our waiter smiled all evening and we loved it.",
    "A waiter brought wine and we were happy.",
    "The waiter knew every dish and it was superb.",
    "My waiter helped us choose and it was lovely.",
    "This waiter was quick and cheerful.",
    "The old waiter told us fine stories.",
    "One waiter made our night wonderful.",
)
USUAL = (
    *("run", "--data", "texts.csv", "--task", "custom", "--labels", "Negative,Positive"),
    *("--question", "Is it negative or positive?", "--lexicon", "words.toml", "--parser", "none"),
    *("--order", "1", "--control", "0", "--out", "out", "--model", "m"),
)
Done = subprocess.CompletedProcess[str]
Hinter = Callable[..., Done]


@pytest.fixture
def work(tmp_path: Path) -> Path:
    (tmp_path / "texts.csv").write_text("text\n" + "\n".join(f'"{text}"' for text in TEXTS), encoding="utf-8")
    (tmp_path / "words.toml").write_text(
        '[attribute.gender]\npairs = [["waiter", "waitress"]]\n', encoding="utf-8"
    )
    (tmp_path / "key").write_text(KEY, encoding="utf-8")
    (tmp_path / "key").chmod(0o600)
    return tmp_path


@pytest.fixture(autouse=True)
def no_proxies(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY"):
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(name.lower(), raising=False)


@pytest.fixture
def hinter(work: Path) -> Hinter:
    """Runs the usual audit against a base URL, with more options."""
    return lambda url, *more: called(work, *USUAL, "--base-url", url, *more)


def summary(work: Path) -> Any:
    return json.loads((work / "out" / "summary.json").read_text(encoding="utf-8"))


def saying(answer: Answer, when: str) -> Script:
    """A server with one answer to the texts that hold ``when``, and a good one to others."""
    return lambda body, _: answer if when in str(body["messages"]) else completion("Positive")


def kept(work: Path) -> Iterator[tuple[Path, bytes]]:
    """Every file below ``work`` but the key's own."""
    for path in work.rglob("*"):
        if path.is_file() and path.name != "key":
            yield path, path.read_bytes()


def test_a_run_goes_on_when_one_text_is_refused(work: Path, hinter: Hinter) -> None:
    refusal = error(400, "invalid_request_error", "Content Exists Risk")
    with serve(saying(refusal, "brought wine")) as endpoint:
        done = hinter(endpoint.base_url, "--concurrency", "1")
    figures = summary(work)
    assert done.returncode == 3
    assert len(endpoint.requests) == 16
    assert figures["answers"]["filtered"] == 2
    assert (figures["results"][0]["tests"], figures["results"][0]["undetermined"]) == (8, 1)
    by_group = {row["group"]: (row["answers"]["count"], row["reasons"]) for row in figures["unread"]}
    assert by_group == {"waiter": (1, {"filtered": 1}), "waitress": (1, {"filtered": 1})}
    page = (work / "out" / "report.html").read_text(encoding="utf-8")
    assert "Answers that were not read, by group" in page
    assert "1 filtered" in page


def test_a_reply_without_an_answer_does_not_end_the_run(work: Path, hinter: Hinter) -> None:
    with serve(saying(Answer({"choices": [], "model": "m"}), "waitress")) as endpoint:
        done = hinter(endpoint.base_url)
    assert done.returncode == 3
    assert len(endpoint.requests) == 16, "none is asked twice"
    assert summary(work)["answers"]["failed"] == 8


@pytest.mark.parametrize("status", [301, 302, 307, 308])
def test_no_redirect_takes_a_key_or_a_text_elsewhere(work: Path, status: int) -> None:
    (work / "azure.toml").write_text('[model]\napi_version = "2026-01-01"\n', encoding="utf-8")
    with serve(lambda *_: completion("Negative")) as other:
        away = Answer({}, status, {"Location": f"{other.base_url}/chat/completions?sig=abc"})
        with serve(lambda *_: away, lambda *_: away, away) as endpoint:
            options = ("--base-url", endpoint.base_url, "--api-key-file", "key")
            done = called(work, "run", "azure.toml", *USUAL[1:], *options)
    assert done.returncode == 2
    assert "redirects to" in done.stderr
    assert other.base_url in done.stderr
    assert "sig=abc" not in done.stderr
    assert not other.headers
    assert not other.looks


def test_a_redirect_within_an_origin_is_followed(work: Path, hinter: Hinter) -> None:
    def script(body: dict[str, Any], number: int) -> Answer:
        path = endpoint.paths[-1]
        return completion("Positive") if path.endswith("/") else Answer({}, 307, {"Location": f"{path}/"})

    with serve(script, script) as endpoint:
        assert hinter(endpoint.base_url, "--concurrency", "1").returncode == 0


@pytest.mark.parametrize(
    ("key", "says"),
    [
        ("sk-ZQXJZQXJ\nsk-BBBBBBBB\n", "more than one line"),
        ("sk-ZQXJZQXJ\rsk-BBBBBBBB", "more than one line"),
        ("", "is empty"),
        (" \n", "is empty"),
        ("\ufeffsk-ZQXJZQXJ", "byte order mark"),
        ("“sk-ZQXJZQXJ”", "curly quotation marks"),
        ('"sk-ZQXJZQXJ"', "quotation marks around"),
        ("sk-ZQXJZQXJ sk-BBBBBBBB", "a space"),
        ("sk-ZQXJZQXJ\u200b", "a character that no key has"),
        ("sk-ZQXJ\x00ZQXJ", "a character that no key has"),
    ],
)
@pytest.mark.parametrize("place", ["file", "variable"])
def test_a_key_that_cannot_be_one_is_refused_before_anything_is_sent(
    work: Path, hinter: Hinter, monkeypatch: pytest.MonkeyPatch, key: str, says: str, place: str
) -> None:
    (work / "key").write_text(key, encoding="utf-8", newline="")
    if place == "variable":
        if "\x00" in key:
            pytest.skip("no variable can hold it")
        monkeypatch.setenv("MY_KEY", key)
    option = ("--api-key-file", "key") if place == "file" else ("--api-key-env", "MY_KEY")
    with serve(lambda *_: completion("Positive")) as endpoint:
        done = hinter(endpoint.base_url, *option)
    assert done.returncode == 2
    assert len(done.stderr.splitlines()) == 1
    assert ("key file key" if place == "file" else "MY_KEY") in done.stderr
    assert says in done.stderr or place == "variable"
    assert "ZQXJ" not in done.stderr + done.stdout
    assert not endpoint.headers
    assert not endpoint.looks
    assert not any(b"ZQXJ" in content for _, content in kept(work))


@pytest.mark.parametrize("status", [200, 400, 401, 429, 500])
def test_a_key_that_a_server_repeats_is_nowhere(work: Path, hinter: Hinter, status: int) -> None:
    said = f"Incorrect API key provided: {KEY}, or {json.dumps(KEY).replace('-', chr(92) + 'u002d')}"
    answer = completion(f"Positive {KEY}", model=KEY, system_fingerprint=KEY)
    bad = answer if status == 200 else error(status, "x", said, **{"x-request-id": KEY})
    with serve(saying(bad, "wine")) as endpoint:
        done = hinter(endpoint.base_url, "--api-key-file", "key", "--max-requests", "12")
    assert f"Bearer {KEY}" in endpoint.authorizations
    assert KEY not in done.stderr + done.stdout
    for path, content in kept(work):
        assert KEY.encode() not in content, path


@pytest.mark.parametrize("tail", ["?key=SECRET", "#SECRET", "?api-version=1&sig=SECRET", "/chat?k=SECRET"])
def test_an_address_with_what_may_be_a_secret_is_refused(work: Path, hinter: Hinter, tail: str) -> None:
    for url in (f"http://127.0.0.1:9/v1{tail}", "http://SECRET:SECRET@127.0.0.1:9/v1"):
        done = hinter(url)
        assert done.returncode == 2
        assert "SECRET" not in done.stderr + done.stdout
        assert "base_url" in done.stderr
        assert not (work / "out").exists()


def test_what_is_made_is_for_its_owner_alone(work: Path, hinter: Hinter) -> None:
    before = os.umask(0o022)
    try:
        with serve(lambda *_: completion("Positive")) as endpoint:
            assert hinter(endpoint.base_url, "--out", "runs/deep/one").returncode == 0
    finally:
        os.umask(before)
    made = [path for top in ("cache", "runs") for path in ((work / top), *(work / top).rglob("*"))]
    assert len(made) > 12
    wrong = [f"{path} {path.stat().st_mode:o}" for path in made if path.stat().st_mode & 0o077]
    assert not wrong
    assert all(stat.S_IMODE(path.stat().st_mode) == (0o700 if path.is_dir() else 0o600) for path in made)


def test_a_key_file_that_others_can_read_is_cautioned_about(work: Path, hinter: Hinter) -> None:
    with serve(lambda *_: completion("Positive")) as endpoint:
        (work / "open").write_text(KEY, encoding="utf-8")
        (work / "open").chmod(0o644)
        done = subprocess.run(
            command(
                *USUAL, "--base-url", endpoint.base_url, "--api-key-file", "open"
            ),  # in a process of its own, which logs
            cwd=work,
            env=environment(),
            capture_output=True,
            text=True,
            timeout=100,
        )
    assert done.returncode == 0
    assert "key file open can be read by others: chmod 600 it" in done.stderr.splitlines()[0]


def test_a_wait_that_is_too_long_ends_the_run_with_what_it_has(work: Path, hinter: Hinter) -> None:
    far = str(int(time.time()) + 86400)
    with serve(saying(error(429, "", "slow down", Retry_After=far), "wine")) as endpoint:
        done = hinter(endpoint.base_url, "--concurrency", "1")
    assert done.returncode == 3
    assert "it asks for a wait of 1,4" in done.stdout
    assert "repeat the command after" in " ".join(done.stdout.split())
    assert summary(work)["status"] == "partial"
    assert summary(work)["answers"]["read"] > 0


@pytest.mark.parametrize("packed", [True, False])
def test_a_reply_without_end_is_not_read_and_fails_its_text_alone(
    work: Path, hinter: Hinter, packed: bool
) -> None:
    body = b" " * (32 << 20)
    answer = Answer(gzip.compress(body), headers={"Content-Encoding": "gzip"}) if packed else Answer(body)
    with serve(saying(answer, "wine")) as endpoint:
        hinter(endpoint.base_url, "--concurrency", "1")
    figures = summary(work)
    assert figures["answers"]["failed"] == 2
    assert "larger than 8 MB" in figures["failures"][0]["reason"]
    assert len(endpoint.requests) == 16


def test_a_reply_that_is_packed_is_read(work: Path, hinter: Hinter) -> None:
    body = gzip.compress(json.dumps(completion("Positive").body).encode())
    with serve(lambda *_: Answer(body, headers={"Content-Encoding": "gzip"})) as endpoint:
        assert hinter(endpoint.base_url).returncode == 0
    assert summary(work)["answers"]["read"] == 16


@pytest.mark.parametrize(
    ("variable", "value"),
    [
        ("ALL_PROXY", "socks4://127.0.0.1:9"),
        ("HTTP_PROXY", "ftp://user:PASSWORD@127.0.0.1:9"),
        ("http_proxy", "::::"),
        ("HTTP_PROXY", "http://user:PASSWORD@127.0.0.1:99999"),
        ("SSL_CERT_FILE", "/nowhere/PASSWORD.pem"),
    ],
)
def test_a_proxy_or_certificate_that_cannot_be_used_is_one_line(
    hinter: Hinter, monkeypatch: pytest.MonkeyPatch, variable: str, value: str
) -> None:
    monkeypatch.setenv(variable, value)
    done = hinter("http://model.example/v1")
    assert done.returncode == 2
    assert len(done.stderr.splitlines()) == 1
    assert variable in done.stderr
    assert "PASSWORD" not in done.stderr or variable == "SSL_CERT_FILE"


def test_a_file_without_certificates_is_one_line(
    work: Path, hinter: Hinter, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SSL_CERT_FILE", str(work / "texts.csv"))
    done = hinter("https://model.example/v1")
    assert (done.returncode, len(done.stderr.splitlines())) == (2, 1)
    assert "SSL_CERT_FILE" in done.stderr


@pytest.mark.parametrize("url", ["http://127.0.0.1:99999/v1", "http://127.0.0.1:0/v1", "http://h:x/v1"])
def test_a_port_that_is_none_is_one_line(hinter: Hinter, url: str) -> None:
    done = hinter(url)
    assert (done.returncode, len(done.stderr.splitlines())) == (2, 1)
    assert "base_url" in done.stderr


@pytest.mark.parametrize(
    "ending", ["", "/", "/chat/completions", "/chat/completions/", "/completions", "/chat"]
)
def test_a_known_ending_of_an_address_is_cut(hinter: Hinter, ending: str) -> None:
    with serve(lambda *_: completion("Positive")) as endpoint:
        assert hinter(f"{endpoint.base_url}{ending}").returncode == 0
    assert set(endpoint.paths) == {"/v1/chat/completions"}


def test_an_address_that_the_server_does_not_have_is_named(hinter: Hinter) -> None:
    def nowhere(body: dict[str, Any], number: int) -> Answer:
        return Answer(b"<html>Not Found</html>", 404)

    with serve(nowhere, nowhere) as endpoint:
        done = hinter(endpoint.base_url.removesuffix("/v1"))
    assert done.returncode == 2
    assert f"asked {endpoint.base_url.removesuffix('/v1')}/chat/completions" in done.stderr
    assert "/v1" in done.stderr


@pytest.mark.parametrize(
    ("body", "shown"),
    [
        (b'data: {"id":"1"}\n\ndata: [DONE]\n', 'data: {"id":"1"} data: [DONE]'),
        (b"<html>\x1b[31mWelcome</html>", "<html>\\x1b[31mWelcome</html>"),
        (b"", "it is empty"),
    ],
)
def test_a_body_that_is_no_json_is_shown(hinter: Hinter, body: bytes, shown: str) -> None:
    with serve(lambda *_: Answer(body), lambda *_: Answer(body)) as endpoint:
        done = hinter(endpoint.base_url)
    assert done.returncode == 2
    assert shown in done.stderr.replace("\\\\", "\\")


SHOUT = "\x1b[31mred\x1b]0;title\x07[/red]\x9b\u202e"


@pytest.mark.parametrize("answered", [True, False])
def test_nothing_that_comes_from_outside_commands_the_terminal(
    work: Path, hinter: Hinter, answered: bool
) -> None:
    text = f"The waiter {SHOUT} was kind."
    (work / "texts.csv").write_text(f'text\n"{text}"\n"{TEXTS[1]}"\n', encoding="utf-8")
    reply = completion(f"Positive {SHOUT}", model=f"served {SHOUT}", system_fingerprint=SHOUT)
    second = completion("Positive", model="another")

    def script(body: dict[str, Any], number: int) -> Answer:
        if not answered:
            return error(400, "", f"no {SHOUT}")
        return reply if number % 2 else second

    model = ("--model", f"m{SHOUT}")
    with serve(script, None if answered else script) as endpoint:
        done = [
            hinter(endpoint.base_url, *model),
            called(work, "report", "out"),
            called(work, "compare", "out", "out"),
            called(work, "check", text, *USUAL[3:13], *model, "--base-url", endpoint.base_url),
            called(work, "doctor", *USUAL[1:13], *model, "--base-url", endpoint.base_url),
        ]
    for one in done:
        assert one.returncode in (0, 2, 3), one.stderr
        printed = (one.stdout + one.stderr).replace("\n", "")
        assert printed.isprintable(), one
    assert "\\x1b[31mred" in done[0].stderr + done[0].stdout
    if answered:
        assert done[0].returncode == done[1].returncode == 0


def test_a_certificate_of_ones_own_serves_on_this_machine(
    work: Path, hinter: Hinter, monkeypatch: pytest.MonkeyPatch
) -> None:
    if (openssl := shutil.which("openssl")) is None:
        pytest.skip("no openssl to make a certificate with")
    made = [openssl, "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", "/CN=localhost"]
    made += ["-addext", "subjectAltName=IP:127.0.0.1", "-keyout", str(work / "own.key"), "-out"]
    subprocess.run([*made, str(work / "own.pem")], check=True, capture_output=True)
    both = work / "both.pem"
    both.write_bytes((work / "own.key").read_bytes() + (work / "own.pem").read_bytes())
    monkeypatch.setenv("HTTPS_PROXY", "http://127.0.0.1:9")
    monkeypatch.setenv("SSL_CERT_FILE", str(work / "own.pem"))
    with serve(lambda *_: completion("Positive"), certificate=both) as endpoint:
        assert hinter(endpoint.base_url).returncode == 0
    assert summary(work)["answers"]["read"] == 16


def test_a_server_that_changes_its_model_is_cautioned_about_with_counts(work: Path, hinter: Hinter) -> None:
    def script(body: dict[str, Any], number: int) -> Answer:
        return completion("Positive", model="m1" if number <= 5 else "m2", system_fingerprint="f")

    with serve(script) as endpoint:
        hinter(endpoint.base_url, "--concurrency", "1")
    caution = next(one for one in summary(work)["cautions"] if one["code"] == "model-changed")
    assert "m1 f (5)" in caution["text"]
    assert "m2 f (11)" in caution["text"]
