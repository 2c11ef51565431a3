"""Names to scorers: whoever can say how fluent a text is."""

from __future__ import annotations

from harness.errors import ConfigError
from harness.settings import ModelSettings as Model
from harness.studies.fluency.scorers.likelihood import Scorer

USE = "use local:smollm2, transformers:NAME_OR_FOLDER, a server with --base-url, or --languagetool"


def scorer(section: Model) -> Scorer:
    """The judge that ``[model]`` stands for. Raises ``ConfigError`` where it gives no likelihoods."""
    kind, colon, rest = section.name.partition(":")
    if section.name == "local:smollm2":
        from harness.studies.fluency.scorers import local_likelihood

        return local_likelihood.smollm2(section.model_file)
    if kind == "transformers" and colon:
        from harness.studies.fluency.scorers import causal

        return causal.load(rest, section.revision)
    if kind == "vllm" and colon:
        raise ConfigError(f"{section.name}: start it with hinter serve {rest}, then give --base-url")
    if section.base_url is None and (colon or "/" in section.name):
        raise ConfigError(f"{section.name} gives no likelihood of a text: {USE}")
    from harness.models.endpoint import Key
    from harness.models.openai import DEFAULT_URL
    from harness.studies.fluency.scorers.likelihood import EndpointLikelihood

    urls = (
        [section.base_url] if isinstance(section.base_url, str) else list(section.base_url or [DEFAULT_URL])
    )
    key = Key(section.api_key_env, section.api_key_file, needed=section.base_url is None)
    return EndpointLikelihood(section.name, urls[0], key, section.api_version)


def languagetool(url: str) -> Scorer:
    """The LanguageTool server at ``url``. Raises ``ConfigError`` where that is no address."""
    from harness.studies.fluency.scorers.languagetool import LanguageTool

    if not url.startswith(("http://", "https://")):
        raise ConfigError(f"--languagetool {url}: give an http:// or https:// address")
    return LanguageTool(url)
