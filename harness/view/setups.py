"""What a text can be tried with: the model and settings of each run of the folder, and built-in models."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from harness import config
from harness.config import RunConfig
from harness.errors import ConfigError, HarnessError
from harness.settings import BudgetLimits, Documents, ModelSettings
from harness.suites import lexicon
from harness.suites.hinter.plugin import HinterOptions, resolve

SUITE = "hinter"
"""The suite that a text is tried with: it changes any text, by attributes that can be chosen."""
BUILT_IN = (ModelSettings().name, "local:vader")


@dataclass(frozen=True)
class Setup:
    """Settings to try a text with: ``attributes`` can be chosen among, ``usual`` are chosen at first."""

    name: str
    config: RunConfig
    options: HinterOptions
    attributes: tuple[str, ...]
    usual: tuple[str, ...]

    def of(self, attributes: Sequence[str]) -> RunConfig:
        """Return the configuration with the chosen attributes. Raises ``ConfigError``."""
        chosen = tuple(name for name in self.attributes if name in attributes)
        if not chosen:
            raise ConfigError("choose at least one attribute")
        options = self.options.model_copy(update={"attributes": chosen, "order": None})
        return self.config.of_suite(resolve(options))


def setups(runs: Mapping[str, Path], cache: Path | None) -> dict[str, Setup]:
    """Return the setups by name: those of ``runs``, and built-in models; alike ones once.

    Where ``cache`` is given, the replies are kept there and not in the cache of the run.
    """
    found: dict[str, Setup] = {}
    for loaded in _configurations(runs):
        try:
            setup = _setup(loaded.model_copy(update={"cache": str(cache)}) if cache else loaded)
        except HarnessError:
            continue  # its lexicon, task or plug-in is no longer there
        found.setdefault(setup.name, setup)
    return found


def _configurations(runs: Mapping[str, Path]) -> Iterator[RunConfig]:
    for path in runs.values():
        try:
            yield config.load(path / "run.toml", one_text=True)
        except HarnessError:
            continue
    for name in BUILT_IN:
        yield config.load(None, {"model.name": name}, one_text=True)


def _setup(loaded: RunConfig) -> Setup:
    """Return the setup of a run's model and task, with its options of the suite where it was of that one."""
    given = loaded.suite_options
    options = given if isinstance(given, HinterOptions) else HinterOptions()
    one = loaded.model_copy(
        update={
            "suite": SUITE,
            "suite_options": options,
            "documents": Documents(max_tokens=loaded.documents.max_tokens),
            "out": None,
            "batch": False,
            "repeats": 0,
            "confirm": 0,
            "fail_above": None,
            "workers": 1,
            "budget": BudgetLimits(),
        }
    )
    where = f" at {loaded.model.base_url}" if loaded.model.base_url else ""
    name = f"{loaded.model.name}{where}, task {loaded.task}, suite {SUITE}"
    usual = resolve(options).attributes or ()
    bundled = () if options.lexicon else lexicon.every(None).attributes
    return Setup(name, one, options, tuple(dict.fromkeys((*usual, *bundled))), usual)
