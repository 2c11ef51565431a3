"""``transformers:NAME_OR_FOLDER``: a fine-tuned text classifier in this process as the system under test.

It reads the bare text, not the prompt. Its weights load with the first text that the cache cannot answer.
"""

from __future__ import annotations

import asyncio
import math
from collections.abc import Sequence
from hashlib import sha256
from importlib.metadata import version

from harness.core import Capabilities, Failure, JsonObject, Reply, Request, Token, canonical
from harness.errors import ModelError
from harness.models import classifier
from harness.models.causal import CausalLikelihood
from harness.models.classifier import MULTI, SINGLE, Labels
from harness.models.model_files import Files, check_installed, listed
from harness.models.text_batches import TEXTS_A_BATCH, Batches
from harness.plugins import Model, ModelKit, ModelPlugin, Options, Scorer

LABELS_KEPT = 100


class TransformersModel(Model):
    """A sequence classifier. A task's labels come with each request, or all at once through ``bind``.

    ``identity`` is its folder or commit and, for several labels per text, the task's labels, which requests
    then do not carry.
    """

    capabilities = Capabilities(choices=True, logprobs=True, chat=False)
    concurrency = 2 * TEXTS_A_BATCH  # a full batch waits while one is computed

    def __init__(self, source: str, revision: str | None = None) -> None:
        self._files = Files(source, revision)
        self._own = Labels(self._files)
        self.name = self._files.name
        self.identity = self._files.identity
        self._matched: dict[tuple[str, ...], tuple[str, ...]] = {}
        self._task: tuple[tuple[str, ...], bool] | None = None
        self._packages = {package: version(package) for package in ("torch", "transformers")}
        self._origin = " ".join(f"{package}-{number}" for package, number in self._packages.items())
        self._batches = Batches(lambda: classifier.worker(self._files))

    def bind(self, labels: Sequence[str], multi_label: bool) -> None:
        """Answer with a task's ``labels``. Raises ``ModelError`` where the model's own labels differ."""
        if multi_label and self._own.problem == SINGLE:
            raise ModelError(
                f"{self.name} assigns one label per text, but the task allows several: use another model"
            )
        self._names(tuple(labels))
        self._task = (tuple(labels), multi_label)
        self.identity = self._files.identity
        if multi_label:
            digest = sha256(canonical(tuple(labels)).encode("utf-8", "surrogatepass")).hexdigest()
            self.identity = {**self._files.identity, "multi_label": True, "labels": digest}

    @property
    def context(self) -> int | None:
        """The maximum number of tokens in a text, special ones included; None where there is no limit."""
        return self._files.context

    def count_tokens(self, text: str) -> int:
        """Count the tokens of ``text``, special ones included: it fits if they do not exceed ``context``."""
        return len(self._files.encode(text)["input_ids"])

    async def answer(self, request: Request) -> Reply | Failure:
        """Return the label, or labels, of the request's text with their log-probabilities."""
        names, several = self._asked(request)
        stands = classifier.all_clear if several else classifier.clear
        computed = await asyncio.wrap_future(self._batches.put(request.text, stands))
        if isinstance(computed, Failure):
            return computed
        text, token = (read_several if several else read_one)(computed.numbers, names)
        return Reply(
            text,
            prompt_tokens=computed.tokens,
            logprobs=(token,),
            model=self.name,
            fingerprint=self._origin,  # no part of the key: an update asks nothing again, but is noticed
        )

    def _asked(self, request: Request) -> tuple[tuple[str, ...], bool]:
        """Return the labels to answer with, in output order, and whether several may apply."""
        if request.choices:
            return self._names(request.choices), False
        if self._task is not None:
            return self._names(self._task[0]), self._task[1]
        return self._own.names, self._own.problem == MULTI

    def _names(self, labels: tuple[str, ...]) -> tuple[str, ...]:
        if labels not in self._matched:
            self._matched[labels] = match(self._own.names, labels, self.name)
        return self._matched[labels]

    @property
    def facts(self) -> JsonObject:
        """The versions of the libraries, the device, and how outputs were matched to labels."""
        matched = [dict(zip(self._own.names, names, strict=True)) for names in self._matched.values()]
        return {"transformers": {**self._packages, **self._batches.facts, "labels": matched}}

    async def close(self) -> None:
        """Release the network."""
        await asyncio.to_thread(self._batches.close)


def match(outputs: Sequence[str], labels: Sequence[str], model: str) -> tuple[str, ...]:
    """Return the task's label for each of the model's ``outputs``. Raises ``ModelError``.

    Labels match when equal, when equal but for case and punctuation, or by position where the outputs are
    called LABEL_0, LABEL_1, …
    """
    for key in (str, _fold):
        by_key = {key(label): label for label in labels}
        if len(by_key) == len(labels) == len(outputs) and {key(o) for o in outputs} == by_key.keys():
            return tuple(by_key[key(o)] for o in outputs)
    if len(outputs) == len(labels) and all(o == f"LABEL_{place}" for place, o in enumerate(outputs)):
        return tuple(labels)
    ours, theirs = {_fold(label) for label in labels}, {_fold(o) for o in outputs}
    unknown = [o for o in outputs if _fold(o) not in ours]
    missing = [label for label in labels if _fold(label) not in theirs]
    if not unknown and not missing:
        unknown, missing = list(outputs), list(labels)
    raise ModelError(
        f"{model} does not have the task's labels: only the model has {listed(unknown)}; only the task has"
        f" {listed(missing)}: rename the labels (id2label in the model's config.json) or use another model"
    )


def read_one(logits: Sequence[float], names: Sequence[str]) -> tuple[str, Token]:
    """Return the likeliest label (the first of equals) and the log-probability of each label by softmax."""
    highest = max(logits)
    total = highest + math.log(math.fsum(math.exp(logit - highest) for logit in logits))
    ranked = _ranked([(name, logit - total) for name, logit in zip(names, logits, strict=True)])
    label, logprob = ranked[0]
    return label, Token(label, logprob, ranked)


def read_several(logits: Sequence[float], names: Sequence[str]) -> tuple[str, Token]:
    """Return the labels of probability 0.5 or more by sigmoid, and each one's and the set's log-probability.

    The text begins with "Labels:", so that a label of a single letter or digit is recognised.
    """
    chosen = [name for name, logit in zip(names, logits, strict=True) if logit >= 0]
    words = ", ".join(chosen) or "None"
    ranked = _ranked([(name, _log_sigmoid(logit)) for name, logit in zip(names, logits, strict=True)])
    joint = math.fsum(_log_sigmoid(abs(logit)) for logit in logits)
    return f"Labels: {words}", Token(words, joint, ranked)


def _ranked(scored: list[tuple[str, float]]) -> tuple[tuple[str, float], ...]:
    return tuple(sorted(scored, key=lambda pair: -pair[1])[:LABELS_KEPT])


def _log_sigmoid(logit: float) -> float:
    return -math.log1p(math.exp(-logit)) if logit >= 0 else logit - math.log1p(math.exp(logit))


def _fold(label: str) -> str:
    return "".join(letter for letter in label.casefold() if letter.isalnum())


def _source(kit: ModelKit) -> str:
    """Return the folder or hub name. Raises ``ModelError`` where it or a package is missing."""
    if not kit.name:
        raise ModelError("name a model after 'transformers:': a folder, or a model on the hub")
    check_installed(kit.name)
    return kit.name


def _make(options: Options, kit: ModelKit) -> Model:
    """Make the classifier, reading only its configuration."""
    return TransformersModel(_source(kit), kit.settings.revision)


def _scorer(options: Options, kit: ModelKit) -> Scorer:
    return CausalLikelihood(_source(kit), kit.settings.revision)


plugin = ModelPlugin(
    name="transformers",
    about="a fine-tuned text classifier in this process",
    options=Options,
    make=_make,
    lists={"transformers:NAME_OR_FOLDER": "a fine-tuned text classifier in this process"},
    scorer=_scorer,
)
