"""A transformers text classifier: its labels, and its network, which computes a logit for each label."""

from __future__ import annotations

import inspect
from collections.abc import Sequence
from typing import TYPE_CHECKING

from harness.errors import ModelError
from harness.models.model_files import Encoding, Files
from harness.models.text_batches import Worker

if TYPE_CHECKING:
    from transformers import PreTrainedModel, PreTrainedTokenizerBase

NEAR_TIE = 1e-3  # of logits; far more than a batch changes them (about 1e-6 in float32)
SINGLE, MULTI, REGRESSION = "single_label_classification", "multi_label_classification", "regression"


class Labels:
    """The outputs of a classifier by its configuration: their ``names`` and the kind of ``problem``.

    Raises ``ModelError`` for a model that returns a number.
    """

    def __init__(self, files: Files) -> None:
        self.problem: str | None = getattr(files.config, "problem_type", None)
        self.names = tuple(str(label) for _, label in sorted(files.config.id2label.items()))
        if self.problem == REGRESSION or len(self.names) < 2:
            raise ModelError(f"{files.name} returns a number, not labels: use a text-classification model")


def load_network(files: Files) -> PreTrainedModel:
    """Load the weights of a sequence classifier. Raises ``ModelError``."""
    return files.network("AutoModelForSequenceClassification", "fine-tuned classifier")


def worker(files: Files) -> Worker:
    """Load the classifier in ``files``. Raises ``ModelError``."""
    return Worker(Logits(load_network(files), files.tokenizer), files)


class Logits:
    """A loaded classifier; a text's numbers are the logits of its labels."""

    def __init__(self, network: PreTrainedModel, tokenizer: PreTrainedTokenizerBase) -> None:
        self._network = network
        self._tokenizer = tokenizer
        self._accepted = inspect.signature(network.forward).parameters
        if getattr(network.config, "pad_token_id", None) is None:
            network.config.pad_token_id = tokenizer.pad_token_id

    @property
    def device(self) -> str:
        """The device on which the network runs."""
        return str(self._network.device)

    def numbers(self, encodings: Sequence[Encoding]) -> list[tuple[float, ...]]:
        """Return the logits of each text."""
        import torch

        if len(encodings) > 1:
            padded = self._tokenizer.pad(list(map(dict, encodings)), return_tensors="pt", verbose=False)
        else:
            padded = {key: torch.tensor([ids]) for key, ids in encodings[0].items()}
        inputs = {k: v.to(self._network.device) for k, v in padded.items() if k in self._accepted}
        with torch.inference_mode():
            logits = self._network(**inputs).logits
        return [tuple(row) for row in logits.float().cpu().tolist()]


def clear(logits: Sequence[float]) -> bool:
    """Return whether the likeliest label is not a near tie with the second."""
    second, first = sorted(logits)[-2:]
    return first - second >= NEAR_TIE


def all_clear(logits: Sequence[float]) -> bool:
    """Return whether no label is near a probability of 0.5."""
    return min(map(abs, logits)) >= NEAR_TIE
