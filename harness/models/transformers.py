"""``transformers:NAME_OR_FOLDER``: a fine-tuned text classifier in this process, as the system under test.

It reads the bare text, not the prompt. Its weights load with the first text the cache cannot answer. Texts
that wait are taken together; what is near a tie in a batch is computed again alone, so that a label does not
depend on what else was in the batch. Remote code is not run and pickled weights are not read.
"""

from __future__ import annotations

import asyncio
import inspect
import logging
import math
import queue
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Future
from contextlib import contextmanager
from dataclasses import dataclass, field
from hashlib import sha256
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from harness.core import Capabilities, Failure, Reply, Request, Token, canonical
from harness.errors import ModelError

TEXTS_A_BATCH = 32
TOKENS_A_BATCH = TEXTS_A_BATCH * 512  # padded ones: long texts go fewer at a time
LABELS_KEPT = 100
LABELS_SHOWN = 12
NEAR_TIE = 1e-3  # of logits; far more than a batch changes them (about 1e-6 in float32)
UNLIMITED = 10**9  # tokenizers say 1e30 for "not known"
DECIDES = (".json", ".model", ".safetensors", ".txt")
OFFSET_POSITIONS = ("camembert", "longformer", "roberta", "xlm-roberta")
SINGLE, MULTI, REGRESSION = "single_label_classification", "multi_label_classification", "regression"

Encoding = Mapping[str, list[int]]


@dataclass(frozen=True, slots=True)
class Scored:
    """The classifier's output for one text: a logit for each of its labels."""

    logits: tuple[float, ...]
    tokens: int


def load(rest: str, section: Any) -> TransformersModel:
    """The model that ``--model transformers:NAME_OR_FOLDER`` stands for. Reads its configuration only."""
    if not rest:
        raise ModelError("name a classifier after 'transformers:', a folder or a model of the hub")
    for package in ("torch", "transformers"):
        try:
            version(package)
        except PackageNotFoundError as error:
            what = f"transformers:{rest} needs {package}"
            raise ModelError(f"{what}: pip install 'hinter-harness[transformers]'") from error
    return TransformersModel(rest, getattr(section, "revision", None))


class TransformersModel:
    """A sequence classifier. A task's labels come with each request, or all at once by ``bind``."""

    concurrency = 2 * TEXTS_A_BATCH  # a full batch waits while one is computed

    def __init__(self, source: str, revision: str | None = None) -> None:
        self.name = f"transformers:{source}"
        self.capabilities = Capabilities(choices=True, logprobs=True, chat=False)
        self._files = Files(source, revision)
        self._own = self._files.labels
        self._matched: dict[tuple[str, ...], tuple[str, ...]] = {}
        self._task: tuple[tuple[str, ...], bool] | None = None
        self._batches = Batches(self._files.classifier)

    def bind(self, labels: Sequence[str], multi_label: bool) -> None:
        """Answer with a task's ``labels``, one or several. Raises ``ModelError`` where its own differ."""
        if multi_label and self._files.problem == SINGLE:
            raise ModelError(f"{self.name} gives each text one label, the task several: use another model")
        self._names(tuple(labels))
        self._task = (tuple(labels), multi_label)

    @property
    def identity(self) -> Mapping[str, Any]:
        """Folder or commit; for several labels also the task's, which requests do not carry."""
        if self._task is None or not self._task[1]:
            return self._files.identity
        labels = sha256(canonical(self._task[0]).encode("utf-8", "surrogatepass")).hexdigest()
        return {**self._files.identity, "multi_label": True, "labels": labels}

    @property
    def context(self) -> int | None:
        """How many tokens a text may have, the special ones included; None where there is no limit."""
        return self._files.context

    def count_tokens(self, text: str) -> int:
        """Tokens of ``text``, the special ones included: it fits if they are no more than ``context``."""
        return len(self._files.encode(text)["input_ids"])

    async def prepare(self, known: Mapping[str, Any] | None) -> None:
        return None

    async def answer(self, request: Request) -> Reply | Failure:
        names, several = self._asked(request)
        scored = await asyncio.wrap_future(self._batches.put(request.text, several))
        if isinstance(scored, Failure):
            return scored
        text, token = (read_several if several else read_one)(scored.logits, names)
        return Reply(text, prompt_tokens=scored.tokens, logprobs=(token,), model=self.name)

    def _asked(self, request: Request) -> tuple[tuple[str, ...], bool]:
        """The labels to answer with, in the order of the outputs, and whether there may be several."""
        if request.choices:
            return self._names(request.choices), False
        if self._task is not None:
            return self._names(self._task[0]), self._task[1]
        return self._own, self._files.problem == MULTI

    def _names(self, labels: tuple[str, ...]) -> tuple[str, ...]:
        if labels not in self._matched:
            self._matched[labels] = match(self._own, labels, self.name)
        return self._matched[labels]

    @property
    def facts(self) -> Mapping[str, Any]:
        packages = {package: version(package) for package in ("torch", "transformers")}
        matched = [dict(zip(self._own, names, strict=True)) for names in self._matched.values()]
        return {"transformers": {**packages, **self._batches.facts, "labels": matched}}

    async def close(self) -> None:
        await asyncio.to_thread(self._batches.close)


def match(own: Sequence[str], labels: Sequence[str], model: str) -> tuple[str, ...]:
    """The task's label for each output of a model whose own are ``own``. Raises ``ModelError``.

    Equal, or equal but for case and punctuation, or by place where the model's are LABEL_0, LABEL_1, …
    """
    for key in (str, _fold):
        by_key = {key(label): label for label in labels}
        if len(by_key) == len(labels) == len(own) and {key(o) for o in own} == by_key.keys():
            return tuple(by_key[key(o)] for o in own)
    if len(own) == len(labels) and all(o == f"LABEL_{place}" for place, o in enumerate(own)):
        return tuple(labels)
    ours, theirs = {_fold(label) for label in labels}, {_fold(o) for o in own}
    unknown = [o for o in own if _fold(o) not in ours]
    missing = [label for label in labels if _fold(label) not in theirs]
    if not unknown and not missing:
        unknown, missing = list(own), list(labels)
    raise ModelError(
        f"{model} does not have the task's labels: only the model has {_listed(unknown)}; only the task has"
        f" {_listed(missing)}: rename the labels (id2label in the model's config.json) or use another model"
    )


def read_one(logits: Sequence[float], names: Sequence[str]) -> tuple[str, Token]:
    """The likeliest label (of equals the first), and the log-probability of each by softmax."""
    highest = max(logits)
    total = highest + math.log(math.fsum(math.exp(logit - highest) for logit in logits))
    ranked = _ranked([(name, logit - total) for name, logit in zip(names, logits, strict=True)])
    label, logprob = ranked[0]
    return label, Token(label, logprob, ranked)


def read_several(logits: Sequence[float], names: Sequence[str]) -> tuple[str, Token]:
    """The labels of probability 0.5 and more by sigmoid, each label's log-probability, and that of the set.

    The text begins with "Labels:", so that a label of one letter or digit is read for one.
    """
    chosen = [name for name, logit in zip(names, logits, strict=True) if logit >= 0]
    words = ", ".join(chosen) or "None"
    ranked = _ranked([(name, _log_sigmoid(logit)) for name, logit in zip(names, logits, strict=True)])
    joint = math.fsum(_log_sigmoid(abs(logit)) for logit in logits)
    return f"Labels: {words}", Token(words, joint, ranked)


class Batches:
    """A thread that computes what waits, up to ``TEXTS_A_BATCH`` at a time; the first text opens it."""

    def __init__(self, open_classifier: Callable[[], Classifier]) -> None:
        self._open = open_classifier
        self._jobs: queue.SimpleQueue[Job | None] = queue.SimpleQueue()
        self._thread: threading.Thread | None = None
        self.facts: Mapping[str, Any] = {}

    def put(self, text: str, several: bool) -> Future[Scored | Failure]:
        job = Job(text, several)
        self._jobs.put(job)
        if self._thread is None:
            self._thread = threading.Thread(target=self._run, name="transformers", daemon=True)
            self._thread.start()
        return job.future

    def close(self) -> None:
        """After what has been asked for by now; the thread and the model with it."""
        if self._thread is not None:
            self._jobs.put(None)
            self._thread.join()
            self._thread = None

    def _run(self) -> None:
        classifier: Classifier | None = None
        while jobs := self._waiting():
            try:
                if classifier is None:
                    classifier = self._open()
                    self.facts = classifier.facts
                classifier.answer(jobs)
            except BaseException as error:  # whoever waits must hear of it, or waits for ever
                for job in jobs:
                    if not job.future.done():
                        job.future.set_exception(error)

    def _waiting(self) -> list[Job]:
        """All that waits and is still wanted, at least one; nothing when closed."""
        jobs: list[Job] = []
        while not jobs:
            job = self._jobs.get()
            while job is not None:
                if job.future.set_running_or_notify_cancel():
                    jobs.append(job)
                try:
                    job = self._jobs.get_nowait()
                except queue.Empty:
                    break
            else:
                if jobs:
                    self._jobs.put(None)  # these first, then the end
                return jobs
        return jobs


@dataclass(frozen=True, slots=True)
class Job:
    text: str
    several: bool
    future: Future[Scored | Failure] = field(default_factory=Future)


class Classifier:
    """A loaded network. Used by one thread."""

    def __init__(self, network: Any, files: Files) -> None:
        self._network = network
        self._files = files
        self._device = network.device
        self._accepted = inspect.signature(network.forward).parameters
        self._most = 1 if files.tokenizer.pad_token_id is None else TEXTS_A_BATCH
        self._pads = self._most > 1 and self._may_pad()

    @property
    def facts(self) -> Mapping[str, Any]:
        return {"device": str(self._device), "padding": self._pads}

    def answer(self, jobs: Sequence[Job]) -> None:
        """Each job's result, as its batch is done; a text that cannot be read or is too long costs itself."""
        fit: list[tuple[Job, Encoding]] = []
        for job in jobs:
            try:
                encoding = self._files.encode(job.text)
            except Exception as error:  # a lone surrogate, say: the tokenizer's own kinds of error
                job.future.set_result(Failure("failed", f"the tokenizer: {one_line(error)}"))
                continue
            tokens, limit = len(encoding["input_ids"]), self._files.context
            if limit is not None and tokens > limit:
                job.future.set_result(Failure("too-long", f"{tokens} tokens, the model takes {limit}"))
            else:
                fit.append((job, encoding))
        for batch in self._chunks(fit):
            for (job, _), result in zip(batch, self._scored(batch), strict=True):
                job.future.set_result(result)

    def _chunks(self, jobs: list[tuple[Job, Encoding]]) -> Iterator[list[tuple[Job, Encoding]]]:
        """Texts of like length together, the longest first; of the same one where padding changes answers."""
        jobs = sorted(jobs, key=lambda one: -len(one[1]["input_ids"]))
        batch: list[tuple[Job, Encoding]] = []
        for one in jobs:
            if batch:
                width = len(batch[0][1]["input_ids"])
                full = len(batch) >= min(self._most, TOKENS_A_BATCH // max(1, width))
                if full or not (self._pads or len(one[1]["input_ids"]) == width):
                    yield batch
                    batch = []
            batch.append(one)
        if batch:
            yield batch

    def _scored(self, batch: Sequence[tuple[Job, Encoding]]) -> list[Scored | Failure]:
        """What the network says; halves of a batch that it cannot compute (out of memory), down to one."""
        try:
            rows = self._logits([encoding for _, encoding in batch])
        except (RuntimeError, ValueError, IndexError) as error:
            if len(batch) == 1:
                return [Failure("failed", f"the model: {one_line(error)}")]
            middle = len(batch) // 2
            return [*self._scored(batch[:middle]), *self._scored(batch[middle:])]
        results: list[Scored | Failure] = []
        for (job, encoding), row in zip(batch, rows, strict=True):
            if not all(map(math.isfinite, row)):
                results.append(Failure("failed", "the model: its logits are not numbers"))
            elif len(batch) > 1 and _near_tie(row, job.several):
                results += self._scored([(job, encoding)])
            else:
                results.append(Scored(row, len(encoding["input_ids"])))
        return results

    def _logits(self, encodings: Sequence[Encoding]) -> list[tuple[float, ...]]:
        import torch

        if len(encodings) > 1:
            padded = self._files.tokenizer.pad(list(map(dict, encodings)), return_tensors="pt", verbose=False)
        else:
            padded = {key: torch.tensor([ids]) for key, ids in encodings[0].items()}
        given = {k: v.to(self._device) for k, v in padded.items() if k in self._accepted}
        with torch.inference_mode():
            logits = self._network(**given).logits
        return [tuple(row) for row in logits.float().cpu().tolist()]

    def _may_pad(self) -> bool:
        """Tried on a short and a long text: some architectures read the padding as if it were text."""
        if getattr(self._network.config, "pad_token_id", None) is None:
            self._network.config.pad_token_id = self._files.tokenizer.pad_token_id
        short, long = self._files.encode("a"), self._files.encode("a b c d e f")
        try:
            alone, together = self._logits([short])[0], self._logits([short, long])[0]
        except (RuntimeError, ValueError, IndexError):
            return False
        return all(abs(a - b) < NEAR_TIE / 2 for a, b in zip(alone, together, strict=True))


class Files:
    """A classifier on disk or on the hub: its configuration at once, the rest when it is needed."""

    def __init__(self, source: str, revision: str | None) -> None:
        self._name = f"transformers:{source}"
        path = Path(source).expanduser()
        folder = path if path.is_dir() else None
        if folder is None and (path.is_absolute() or source.startswith((".", "~")) or source.count("/") > 1):
            raise ModelError(f"{source}: no such model folder")
        if folder is not None and not any(folder.glob("*.safetensors")):
            raise ModelError(self._unsafe())
        self._folder = folder is not None
        self._place: dict[str, Any] = {
            "pretrained_model_name_or_path": str(folder or source),
            "revision": revision or "main",
            "trust_remote_code": False,
        }
        self._lock = threading.RLock()
        self._loaded: Any = None
        self._config: Any = self._load("AutoConfig")
        if folder is not None:
            self.identity: Mapping[str, Any] = {"kind": "transformers", "sha256": digest(folder)}
        else:  # from here on nothing but the commit the configuration came from
            self._place["revision"] = getattr(self._config, "_commit_hash", None) or self._place["revision"]
            self.identity = {"kind": "transformers", "name": source, "revision": self._place["revision"]}
        self.problem: str | None = getattr(self._config, "problem_type", None)
        self.labels = tuple(str(label) for _, label in sorted(self._config.id2label.items()))
        if self.problem == REGRESSION or len(self.labels) < 2:
            raise ModelError(f"{self._name} gives a number, not labels: use a text-classification model")

    @property
    def tokenizer(self) -> Any:
        with self._lock:
            if self._loaded is None:
                self._loaded = self._load("AutoTokenizer")
            return self._loaded

    @property
    def context(self) -> int | None:
        positions = getattr(self._config, "max_position_embeddings", None) or 0
        if self._config.model_type in OFFSET_POSITIONS:
            positions -= (self._config.pad_token_id or 0) + 1
        limits = [n for n in (self.tokenizer.model_max_length, positions) if 0 < n < UNLIMITED]
        return int(min(limits)) if limits else None

    def encode(self, text: str) -> Encoding:
        """Token ids and masks of one text, whole. Any thread may ask; a tokenizer bears one at a time."""
        with self._lock:
            encoding: Encoding = dict(self.tokenizer(text, truncation=False, verbose=False))
            return encoding

    def classifier(self) -> Classifier:
        import torch

        network, info = self._load(
            "AutoModelForSequenceClassification",
            dtype=torch.float32,
            use_safetensors=True,
            output_loading_info=True,
        )
        if missing := sorted(info["missing_keys"]):
            raise ModelError(
                f"{self._name} is not a fine-tuned classifier: its weights lack {_listed(missing)}, which"
                " would be random"
            )
        mps = torch.backends.mps.is_available()
        device = "cuda" if torch.cuda.is_available() else "mps" if mps else "cpu"
        return Classifier(network.to(device).eval(), self)

    def _load(self, kind: str, **more: Any) -> Any:
        try:
            import transformers

            with _quiet(transformers.utils.logging, bars=not self._folder):
                return getattr(transformers, kind).from_pretrained(**self._place, **more)
        except Exception as error:  # whatever a library of many authors raises for a file it cannot use
            if more and "safetensors" in str(error) and isinstance(error, OSError):
                raise ModelError(self._unsafe()) from error
            raise ModelError(f"{self._name} does not load: {one_line(error)}") from error

    def _unsafe(self) -> str:
        return (
            f"{self._name} has no *.safetensors weights, and pickled ones can run code: save it again with"
            " save_pretrained() of a current transformers"
        )


@contextmanager
def _quiet(library: Any, bars: bool) -> Iterator[None]:
    """Without the libraries' warnings, which are for those who train; an error says all on its one line."""
    hub = logging.getLogger("huggingface_hub")
    level, hub_level, shown = library.get_verbosity(), hub.level, library.is_progress_bar_enabled()
    library.set_verbosity_error()
    hub.setLevel(logging.ERROR)
    if not bars:
        library.disable_progress_bar()
    try:
        yield
    finally:
        library.set_verbosity(level)
        hub.setLevel(hub_level)
        if shown and not bars:
            library.enable_progress_bar()


def digest(folder: Path) -> str:
    """SHA-256 of all in a model's folder that can change its answers: configuration, tokenizer, weights."""
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
    text = " ".join(str(error).split()) or type(error).__name__
    return text if len(text) <= 300 else f"{text[:299]}…"


def _near_tie(logits: Sequence[float], several: bool) -> bool:
    if several:
        return min(map(abs, logits)) < NEAR_TIE
    second, first = sorted(logits)[-2:]
    return first - second < NEAR_TIE


def _ranked(scored: list[tuple[str, float]]) -> tuple[tuple[str, float], ...]:
    return tuple(sorted(scored, key=lambda one: -one[1])[:LABELS_KEPT])


def _log_sigmoid(logit: float) -> float:
    return -math.log1p(math.exp(-logit)) if logit >= 0 else logit - math.log1p(math.exp(logit))


def _fold(label: str) -> str:
    return "".join(letter for letter in label.casefold() if letter.isalnum())


def _listed(labels: Sequence[str]) -> str:
    more = len(labels) - LABELS_SHOWN
    shown = ", ".join(labels[:LABELS_SHOWN]) or "none"
    return f"{shown} and {more} more" if more > 0 else shown
