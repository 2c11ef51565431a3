"""Stanza over the tokens of spaCy's English tokenizer.

Stanza's own tokenizer reads ahead, so the text after a word could move its boundaries. With spaCy's tokens,
the offset of a token and the end of a sentence depend only on adjacent characters, whichever parser is
chosen, and no sentence is split a second time.
"""

from __future__ import annotations

import hashlib
import importlib.util
from collections.abc import Mapping, Sequence
from pathlib import Path
from pickle import UnpicklingError  # raised by Stanza for a bad file; it unpickles weights only
from sys import intern
from typing import TYPE_CHECKING

from harness.errors import ParserError
from harness.language.parse import Parse, Parser, Split
from harness.language.parsers.pipelines import names_folder
from harness.language.parsers.splitting import split

if TYPE_CHECKING:
    from stanza import Pipeline
    from stanza.models.common.doc import Sentence

DEFAULT_PACKAGE = "default"
PROCESSORS = "tokenize,pos,lemma,depparse"  # depparse requires lemmas
READ = ("pos", "depparse")  # processors whose output is read
SENTENCES_A_CALL = 1_000  # Stanza sorts and batches the sentences of a call
DIGITS = 8


class StanzaParser(Parser):
    """The English tagger and dependency parser of Stanza (Qi et al. 2020), on a GPU where there is one.

    ``chosen`` is a package of downloaded models, a folder of models (with its resources.json), or empty for
    the default package. Models are looked up in ``STANZA_RESOURCES_DIR`` or where ``stanza.download`` puts
    them; nothing is downloaded. Raises ``ParserError``.
    """

    def __init__(self, chosen: str = "") -> None:
        if not importlib.util.find_spec("stanza"):
            raise ParserError("the Stanza parser needs an extra: pip install 'hinter-harness[stanza]'")
        import spacy
        import stanza

        folder, package = find_models(chosen)
        self._pipeline = _load(folder, package, names_folder(chosen))
        self._tokens = spacy.blank("en").make_doc
        self.name = f"stanza:{package} {stanza.__version__} {_digest(self._pipeline.config)}"

    def split(self, text: str) -> Split:
        """Split ``text`` into sentences."""
        return split(self._tokens(text))

    def parse(self, sentences: Sequence[str]) -> list[Parse]:
        """Parse each of ``sentences`` on its own."""
        parses: list[Parse] = []
        for at in range(0, len(sentences), SENTENCES_A_CALL):
            parses += self._parse(sentences[at : at + SENTENCES_A_CALL])
        return parses

    def _parse(self, sentences: Sequence[str]) -> list[Parse]:
        tokens = [[t for t in self._tokens(sentence) if not t.is_space] for sentence in sentences]
        written = [[token.text for token in sentence_tokens] for sentence_tokens in tokens if sentence_tokens]
        parsed = iter(self._pipeline(written).sentences if written else ())
        return [
            _read([t.idx for t in sentence_tokens], next(parsed)) if sentence_tokens else Parse((), (), ())
            for sentence_tokens in tokens
        ]


def find_models(chosen: str) -> tuple[str, str]:
    """Return the folder of models that ``chosen`` names, and the package in it. Raises ``ParserError``."""
    from stanza.resources.common import DEFAULT_MODEL_DIR, load_resources_json

    own = names_folder(chosen)
    folder, package = (chosen, "") if own else (DEFAULT_MODEL_DIR, chosen)
    if own and not Path(folder).is_dir():
        raise ParserError(f"no folder {folder}: --parser stanza:FOLDER takes one with resources.json")
    try:
        packages = sorted(load_resources_json(folder)["en"]["packages"])
    except (OSError, ValueError, KeyError) as error:
        remedy = "a folder of models has them in its resources.json" if own else _download()
        raise ParserError(f"no English Stanza models in {folder}: {remedy}") from error
    if not package:
        package = packages[0] if len(packages) == 1 else DEFAULT_PACKAGE
    if package not in packages:
        raise ParserError(f"no Stanza package {package!r} in {folder}: it has {', '.join(packages)}")
    return folder, package


def _load(folder: str, package: str, own: bool) -> Pipeline:
    import stanza
    from stanza.pipeline.core import PipelineRequirementsException

    try:
        return stanza.Pipeline(
            "en",
            dir=folder,
            package=package,
            processors=PROCESSORS,
            download_method=None,
            tokenize_pretokenized=True,
            verbose=False,
        )
    except FileNotFoundError as error:
        remedy = "its resources.json only lists them" if own else _download(package)
        raise ParserError(f"the models of Stanza's {package} are not in {folder}: {remedy}") from error
    except (OSError, ValueError, RuntimeError, UnpicklingError, PipelineRequirementsException) as error:
        reason = " ".join(str(error).split())[:200]
        raise ParserError(f"Stanza's {package} in {folder} does not load: {reason}") from error


def _download(package: str = DEFAULT_PACKAGE) -> str:
    which = "" if package == DEFAULT_PACKAGE else f", package='{package}'"
    return f"python -c \"import stanza; stanza.download('en'{which})\""


def _digest(config: Mapping[str, object]) -> str:
    """Return a digest of the weights that determine tags and dependencies.

    Name and version do not tell custom-trained models apart.
    """
    weights = hashlib.sha256()
    for processor in READ:
        with open(str(config[f"{processor}_model_path"]), "rb") as file:
            weights.update(hashlib.file_digest(file, "sha256").digest())
    return weights.hexdigest()[:DIGITS]


def _read(offsets: Sequence[int], sentence: Sentence) -> Parse:
    words = sentence.words
    return Parse(
        tuple(offsets),
        tuple(intern(word.xpos) for word in words),
        tuple(intern(word.deprel) for word in words),
    )
