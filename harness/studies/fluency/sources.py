"""Scorers by the name of a model or the address of a server."""

from __future__ import annotations

from harness import registry
from harness.config import RunConfig
from harness.errors import ConfigError
from harness.plugins import Scorer

USE = "use local:smollm2, transformers:NAME_OR_FOLDER, a server with --base-url, or --languagetool"


def scorer(config: RunConfig) -> Scorer:
    """Return the scorer that ``[model]`` names. Raises ``ConfigError`` where it gives no likelihoods."""
    judge = registry.make_scorer(config.model, config.model_options)
    if judge is None:
        raise ConfigError(f"{config.model.name} gives no likelihood of a text: {USE}")
    return judge


def languagetool(url: str) -> Scorer:
    """Return the LanguageTool server at ``url``. Raises ``ConfigError`` where ``url`` is not an address."""
    from harness.studies.fluency.languagetool import LanguageTool

    if not url.startswith(("http://", "https://")):
        raise ConfigError(f"--languagetool {url}: give an http:// or https:// address")
    return LanguageTool(url)
