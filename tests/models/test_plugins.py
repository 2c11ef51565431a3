"""A model from a package of its own: what comes through the door is checked, and a fault is one line."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from harness import config, registry
from harness.errors import ConfigError, HarnessError, ModelError
from harness.plugins import Model, Options
from harness.settings import ModelSettings
from tests.json_values import inside
from tests.packages import install

ECHO = """
from harness.core import Reply
from harness.plugins import Model, ModelPlugin, Options, Score
from pydantic import Field


class EchoOptions(Options):
    suffix: str = Field("Positive", description="What each answer ends with.")
    patience: int = Field(5, description="Seconds to wait.")
    aside = frozenset({"patience"})


class Echo(Model):
    def __init__(self, name, suffix):
        self.name = f"echo:{name}"
        self.identity = {"kind": "echo", "name": name, "suffix": suffix}
        self._suffix = suffix

    async def answer(self, request):
        return Reply(self._suffix)


class Lengths:
    name, measure, identity, concurrency = "lengths", "log_likelihood", {"kind": "lengths"}, 1

    async def prepare(self):
        pass

    async def score(self, text):
        return Score(-float(len(text)), len(text))

    async def close(self):
        pass


plugin = ModelPlugin(
    name="echo",
    about="answers the same to everything",
    options=EchoOptions,
    make=lambda options, kit: Echo(kit.name, options.suffix),
    scorer=lambda options, kit: Lengths(),
)
"""


def third_party(folder: Path, source: str, kind: str = "echo") -> Path:
    """Put the package ``third_party`` of the one module ``source`` into ``folder``."""
    folder.mkdir(exist_ok=True)
    return install(folder, "third_party", source, {f"harness.models:{kind}": "plugin"})


def hinter(packages: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    code = f"import sys; sys.path.insert(0, {str(packages)!r}); from harness.cli import main; main()"
    return subprocess.run(
        [sys.executable, "-W", "error", "-c", code, *arguments], capture_output=True, text=True, check=False
    )


def test_a_model_of_a_package_is_run_with_its_section(tmp_path: Path) -> None:
    packages = third_party(tmp_path / "packages", ECHO)
    settings = tmp_path / "run.toml"
    settings.write_text('[model]\nname = "echo:one"\n[model.echo]\nsuffix = "Negative"\n', encoding="utf-8")
    out = tmp_path / "run"
    shared = ("--parser", "none", "--limit", "3", "--max-pairs", "1", "--control", "0")
    cache = ("--cache", str(tmp_path / "c.sqlite"))
    ended = hinter(packages, "run", str(settings), *shared, *cache, "--out", str(out), "--json")
    assert (ended.returncode, ended.stderr.count("Traceback")) == (0, 0), ended.stderr
    summary = json.loads(ended.stdout)
    assert summary["model"] == "echo:one"
    assert summary["answers"]["read"] == summary["requests"]["sent"] > 0
    assert 'suffix = "Negative"' in (out / "run.toml").read_text(encoding="utf-8")
    fluency = hinter(packages, "fluency", str(out), "--json")
    assert json.loads(fluency.stdout)["scorer"] == {"name": "lengths", "kind": "lengths"}
    listed = hinter(packages, "models").stdout
    assert "answers the same to everything (package third_party)" in listed


def test_its_options_are_options_of_the_command_line(tmp_path: Path) -> None:
    packages = third_party(tmp_path / "packages", ECHO)
    shared = ("--parser", "none", "--limit", "2", "--max-pairs", "1", "--cache", str(tmp_path / "c.sqlite"))
    out = tmp_path / "run"
    ended = hinter(packages, "run", "--model", "echo:one", "--suffix", "Negative", *shared, "--out", str(out))
    assert ended.returncode == 0, ended.stderr
    assert 'suffix = "Negative"' in (out / "run.toml").read_text(encoding="utf-8")
    of_others = hinter(packages, "plan", "--model", "local:vader", "--suffix", "Negative", *shared)
    assert of_others.returncode == 2
    assert "--suffix is an option of models echo:…, not of 'local'" in of_others.stderr
    usage = " ".join(hinter(packages, "run", "--help").stdout.split())
    assert "Model echo: --suffix TEXT What each answer ends with. [Positive]" in usage
    assert "Model vllm: --max-model-len" in usage


@pytest.fixture
def echo(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(third_party(tmp_path / "packages", ECHO))
    monkeypatch.delitem(sys.modules, "third_party", raising=False)


@pytest.mark.parametrize(
    ("toml", "says"),
    [
        ("[model.echo]\nsufix = 'x'", "unknown key 'model.echo.sufix'"),
        ("[model.echo]\npatience = 'long'", "model.echo.patience: "),
        ("[model]\necho = 1", "model.echo: "),
        ("[model.reverb]\nsuffix = 'x'", "unknown key 'model.reverb'"),
        ("[model]\nname = 'reverb:x'", "unknown model 'reverb:x'"),
        ("[model_options]\nsuffix = 'x'", "unknown key 'model_options'"),
    ],
)
def test_a_section_is_checked_against_the_options(echo: None, tmp_path: Path, toml: str, says: str) -> None:
    file = tmp_path / "run.toml"
    file.write_text(toml, encoding="utf-8")
    with pytest.raises(HarnessError) as raised:
        config.load(file)
    assert says in str(raised.value)
    assert "\n" not in str(raised.value)


def test_what_decides_nothing_is_no_part_of_the_identity(echo: None) -> None:
    def identity(**options: object) -> object:
        given = {"model.name": "echo:x", **{f"model.echo.{name}": value for name, value in options.items()}}
        return config.load(None, given).identity()

    assert identity() == identity(patience=9)
    assert identity() != identity(suffix="other")


def test_the_section_of_another_kind_is_read_and_left_aside(echo: None, tmp_path: Path) -> None:
    file = tmp_path / "run.toml"
    file.write_text('[model]\nname = "local:vader"\n[model.echo]\nsuffix = "x"\n', encoding="utf-8")
    resolved = config.load(file).resolved()
    assert inside(resolved, "model", "local") == {}
    assert "echo" not in inside(resolved, "model")


BROKEN = {
    "import": ("import no_such_thing", "does not load: ModuleNotFoundError: No module named 'no_such_thing'"),
    "kind": ("def plugin(section): ...", "is a function, not a ModelPlugin"),
    "name": (ECHO.replace('name="echo"', 'name="other"'), "calls itself 'other'"),
    "options": (ECHO.replace("options=EchoOptions", "options=dict"), "its options are no class derived from"),
    "make": (ECHO.replace("Echo(kit.name, options.suffix)", "options.prefix"), "cannot make 'echo:x': Attr"),
    "none": (ECHO.replace("Echo(kit.name, options.suffix)", "None"), "makes a NoneType, not a Model"),
    "answer": (ECHO.replace("def answer", "def answers"), "abstract method '?answer'?"),
    "async": (ECHO.replace("async def answer", "def answer"), "Echo.answer must be an async function"),
    "identity": (ECHO.replace("self.identity =", "self.identify ="), "Echo has no 'identity'"),
    "member": (
        ECHO + "\n\nEcho.count_token = lambda self, text: 1\n",
        "Echo.count_token is no member of Model: did you mean count_tokens",
    ),
}


@pytest.mark.parametrize("fault", BROKEN)
def test_a_broken_plug_in_is_one_line_that_names_its_package(
    fault: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    source, says = BROKEN[fault]
    monkeypatch.syspath_prepend(third_party(tmp_path, source))
    monkeypatch.delitem(sys.modules, "third_party", raising=False)

    def make() -> Model:
        settings = config.load(None, {"model.name": "echo:x"})
        return registry.make_model(settings.model, settings.model_options)

    with pytest.raises((ConfigError, ModelError), match=says) as raised:
        make()
    assert "package third_party" in str(raised.value)
    assert "\n" not in str(raised.value)


def test_a_broken_plug_in_is_listed_and_harms_no_other(tmp_path: Path) -> None:
    packages = third_party(tmp_path, "import no_such_thing")
    listed = hinter(packages, "models")
    assert listed.returncode == 0
    assert "'echo' of package third_party does not load" in listed.stderr
    assert registry.make_model(ModelSettings(name="local:vader"), Options()).name == "local:vader"
    refused = hinter(packages, "plan", "--model", "echo:x", "--parser", "none")
    assert (refused.returncode, refused.stdout) == (2, "")
    assert refused.stderr.count("\n") == 1


def test_a_built_in_kind_is_nobody_elses(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(third_party(tmp_path, ECHO, kind="local"))
    with pytest.raises(ConfigError, match="'local' of package third_party is a built-in name: uninstall it"):
        config.load(None, {"model.name": "local:vader"})


@pytest.mark.parametrize(
    ("name", "url", "kind"),
    [
        ("local:vader", None, ("local", "vader")),
        ("vllm", None, ("vllm", "")),
        ("vllm", "http://127.0.0.1:1/v1", ("openai", "vllm")),
        ("llama3:8b", "http://127.0.0.1:1/v1", ("openai", "llama3:8b")),
        ("gpt-4.1-mini", None, ("openai", "gpt-4.1-mini")),
        ("openai:ft:gpt-4.1:me", None, ("openai", "ft:gpt-4.1:me")),
    ],
)
def test_what_a_name_stands_for(name: str, url: str | None, kind: tuple[str, str]) -> None:
    assert registry.model_kind(ModelSettings(name=name, base_url=url)) == kind
