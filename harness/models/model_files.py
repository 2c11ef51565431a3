"""The files of a transformers model, in a folder or on the hub: configuration, tokenizer, weights.

Remote code is not run, and pickled weights are not read.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from hashlib import sha256
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any

from harness import hub
from harness.core import JsonObject
from harness.errors import ModelError

if TYPE_CHECKING:
    from transformers import PretrainedConfig, PreTrainedModel, PreTrainedTokenizerBase

LABELS_SHOWN = 12
UNLIMITED = 10**9  # tokenizers say 1e30 for "not known"
DECIDES = (".json", ".model", ".safetensors", ".txt")
OFFSET_POSITIONS = ("camembert", "longformer", "roberta", "xlm-roberta")

Encoding = Mapping[str, list[int]]


def check_installed(source: str) -> None:
    """Raise ``ModelError`` where ``transformers:SOURCE`` lacks a package, without importing any."""
    for package in ("torch", "transformers"):
        try:
            version(package)
        except PackageNotFoundError as error:
            what = f"transformers:{source} needs {package}"
            raise ModelError(f"{what}: pip install 'hinter-harness[transformers]'") from error


class Files:
    """A model on disk or on the hub; the configuration is read at once, everything else on first use.

    ``config`` and ``tokenizer`` are objects of transformers. Raises ``ModelError`` where a file does not
    load.
    """

    def __init__(self, source: str, revision: str | None) -> None:
        self.name = f"transformers:{source}"
        path = Path(source).expanduser()
        folder = path if path.is_dir() else None
        if folder is None and (path.is_absolute() or source.startswith((".", "~")) or source.count("/") > 1):
            raise ModelError(f"{source}: no such model folder")
        if folder is not None and not any(folder.glob("*.safetensors")):
            raise ModelError(self._unsafe())
        self._folder = folder is not None
        self._place = str(folder or source)
        self._revision = revision or "main"
        self._lock = threading.RLock()
        self._away = hub.unreachable() if folder is None else None
        self._tokenizer: PreTrainedTokenizerBase | None = None
        self.config: PretrainedConfig = self._load("AutoConfig")
        if folder is not None:
            self.identity: JsonObject = {"kind": "transformers", "sha256": digest(folder)}
        else:  # from here on nothing but the commit the configuration came from
            self._revision = str(getattr(self.config, "_commit_hash", None) or self._revision)
            self.identity = {"kind": "transformers", "name": source, "revision": self._revision}

    @property
    def tokenizer(self) -> PreTrainedTokenizerBase:
        """The tokenizer, loaded on first use."""
        with self._lock:
            if self._tokenizer is None:
                self._tokenizer = self._load("AutoTokenizer")
            return self._tokenizer

    @property
    def context(self) -> int | None:
        """The maximum number of tokens in a text, special ones included; None where there is no limit."""
        positions = getattr(self.config, "max_position_embeddings", None) or 0
        if self.config.model_type in OFFSET_POSITIONS:
            positions -= (self.config.pad_token_id or 0) + 1
        limits = [n for n in (self.tokenizer.model_max_length, positions) if 0 < n < UNLIMITED]
        return int(min(limits)) if limits else None

    def encode(self, text: str) -> Encoding:
        """Return the token ids and masks of a whole text. Safe to call from any thread: calls take turns."""
        with self._lock:
            encoding: Encoding = dict(self.tokenizer(text, truncation=False, verbose=False))
            return encoding

    def network(self, loader: str, noun: str) -> PreTrainedModel:
        """Load the network and its weights by the transformers class ``loader``, on the best device.

        ``noun`` names such a network in messages. Raises ``ModelError``, also where weights are missing.
        """
        import torch

        network, info = self._load(
            loader, dtype=torch.float32, use_safetensors=True, output_loading_info=True
        )
        if missing := sorted(info["missing_keys"]):
            raise ModelError(
                f"{self.name} is not a {noun}: its weights lack {listed(missing)}, which would be random"
            )
        mps = torch.backends.mps.is_available()
        device = "cuda" if torch.cuda.is_available() else "mps" if mps else "cpu"
        return network.to(device).eval()

    def _load(self, loader: str, **options: object) -> Any:
        try:
            import transformers

            with _quiet(transformers.utils.logging, bars=not self._folder):
                return getattr(transformers, loader).from_pretrained(
                    self._place,
                    revision=self._revision,
                    trust_remote_code=False,
                    local_files_only=self._folder or self._away is not None,
                    **options,
                )
        except Exception as error:  # whatever a library of many authors raises for a file it cannot use
            if options and "safetensors" in str(error) and isinstance(error, OSError):
                raise ModelError(self._unsafe()) from error
            if self._away is not None and isinstance(error, OSError):
                raise ModelError(
                    f"{self.name} is not whole in this machine's cache, and {self._away}"
                ) from error
            raise ModelError(f"{self.name} does not load: {one_line(error)}") from error

    def _unsafe(self) -> str:
        return (
            f"{self.name} has no *.safetensors weights, and pickled ones can run code: save it again with"
            " save_pretrained() of a current transformers"
        )


@contextmanager
def _quiet(library: ModuleType, bars: bool) -> Iterator[None]:
    """Suppress the warnings of the libraries, which are meant for training; an error takes one line."""
    hub = logging.getLogger("huggingface_hub")
    level, hub_level, has_bars = library.get_verbosity(), hub.level, library.is_progress_bar_enabled()
    library.set_verbosity_error()
    hub.setLevel(logging.ERROR)
    if not bars:
        library.disable_progress_bar()
    try:
        yield
    finally:
        library.set_verbosity(level)
        hub.setLevel(hub_level)
        if has_bars and not bars:
            library.enable_progress_bar()


def digest(folder: Path) -> str:
    """Return the SHA-256 of all files of a model folder that can change its answers."""
    whole = sha256()
    for file in sorted(folder.iterdir()):
        if file.suffix in DECIDES and file.is_file():
            with file.open("rb") as opened:
                part = sha256()
                while block := opened.read(1 << 20):
                    part.update(block)
            whole.update(f"{file.name} {part.hexdigest()}\n".encode())
    return whole.hexdigest()


def one_line(error: BaseException) -> str:
    """Return the message of an error on one line of at most 300 characters."""
    text = " ".join(str(error).split()) or type(error).__name__
    return text if len(text) <= 300 else f"{text[:299]}…"


def listed(labels: Sequence[str]) -> str:
    """Return the labels as a list in words, cut after ``LABELS_SHOWN``."""
    more = len(labels) - LABELS_SHOWN
    text = ", ".join(labels[:LABELS_SHOWN]) or "none"
    return f"{text} and {more} more" if more > 0 else text
