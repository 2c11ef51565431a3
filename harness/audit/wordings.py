"""The runs that several prompts make of one configuration: one for each wording in each context."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from itertools import product
from pathlib import Path

from harness import registry
from harness.audit.assembly import resolve_task
from harness.config import RunConfig
from harness.core import canonical
from harness.errors import ConfigError
from harness.settings import OWN_PROMPT, Prompts


@dataclass(frozen=True)
class Variant:
    """The configuration of the run under one wording, whose ``name`` also names its folder."""

    name: str
    config: RunConfig

    @property
    def folder(self) -> Path:
        """The folder of the run."""
        return Path(self.config.out or ".")


def variants(config: RunConfig) -> Sequence[Variant]:
    """Return the run of each prompt in each context, in folders within that of ``config``.

    Raises ``ConfigError`` or ``TaskError`` if a prompt cannot be read, two of them ask the same, or the model
    reads no prompt.
    """
    model = registry.make_model(config.model, config.model_options)
    if not model.capabilities.chat:
        raise ConfigError(f"prompts: {model.name} reads the bare text and no prompt: leave prompts out")
    files = config.prompts.files or (OWN_PROMPT,)
    contexts = config.prompts.contexts or ("",)
    alone = [
        (_name(file, files, number, len(contexts)), _alone(config, file, context))
        for file, (number, context) in product(files, enumerate(contexts, 1))
    ]
    seen: dict[str, str] = {}
    for name, one in alone:
        digest = resolve_task(one)[1].digest
        if digest in seen:
            raise ConfigError(f"prompts: {seen[digest]} and {name} ask the same: leave one out")
        seen[digest] = name
    if len(seen) < 2:
        raise ConfigError("prompts: give two or more, or one with --prompt")
    folder = _folder(config, list(seen))
    return [
        Variant(name, one.model_copy(update={"out": str(folder / f"{number}-{_slug(name)}")}))
        for number, (name, one) in enumerate(alone, 1)
    ]


def _alone(config: RunConfig, file: str, context: str) -> RunConfig:
    """Return the configuration under one prompt."""
    prompt = None if file == OWN_PROMPT else file
    return config.model_copy(update={"prompts": Prompts(), "prompt": prompt, "context": context or None})


def _name(file: str, files: Sequence[str], number: int, contexts: int) -> str:
    stem = Path(file).stem
    name = stem if [Path(other).stem for other in files].count(stem) == 1 else file
    return f"{name}, context {number}" if contexts > 1 else name


def _slug(name: str) -> str:
    return re.sub(r"[^\w.]+", "-", name).strip("-")


def _folder(config: RunConfig, digests: Sequence[str]) -> Path:
    """Return the folder of all runs: the configured one, or one that is named by the settings."""
    if config.out:
        return Path(config.out)
    identity = canonical([dict(config.identity()), list(digests)])
    names = (Path(config.task).stem, config.suite, config.model.name, "prompts")
    return Path("runs") / "-".join((*map(_slug, names), sha256(identity.encode()).hexdigest()[:8]))


def folders(variants: Sequence[Variant]) -> Mapping[str, Path]:
    """Return the folder of each run by the name of its wording."""
    return {variant.name: variant.folder for variant in variants}
