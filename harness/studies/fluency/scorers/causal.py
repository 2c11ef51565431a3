"""The log-likelihood of a text under a causal language model of transformers in this process.

What a classifier does with texts (batches of like length, halves where memory ends, a text that does not fit)
is done here with a causal model, whose one logit is the log-likelihood of the text. Computed in float32.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from harness.core import Failure
from harness.errors import ModelError
from harness.models.classifier import TEXTS_A_BATCH, Batches, Classifier
from harness.models.classifier_files import Encoding, Files, check_installed, listed
from harness.studies.fluency.scorers.likelihood import Measure, Score

LOGITS_AT_ONCE = 1 << 27  # half a gigabyte in float32: texts x tokens x words of the vocabulary


def load(source: str, revision: str | None = None) -> CausalLikelihood:
    """The model that ``transformers:SOURCE`` stands for. Reads its configuration only."""
    if not source:
        raise ModelError("name a model after 'transformers:', a folder or a model of the hub")
    check_installed(source)
    return CausalLikelihood(source, revision)


class CausalLikelihood:
    """A causal language model as a judge of fluency; its weights load with the first text."""

    measure: Measure = "log_likelihood"
    concurrency = (
        TEXTS_A_BATCH // 2
    )  # logits are large: more at once are not computed faster, only told later

    def __init__(self, source: str, revision: str | None = None) -> None:
        self.name = f"transformers:{source}"
        self._files = CausalFiles(source, revision)
        self.identity: Mapping[str, Any] = self._files.identity
        self._batches = Batches(self._open)

    def _open(self) -> Classifier:
        return CausalModel(self._files.network(), self._files)

    async def prepare(self) -> None:
        return None

    async def score(self, text: str) -> Score | Failure:
        found = await asyncio.wrap_future(self._batches.put(text, several=True))
        if isinstance(found, Failure):
            return found
        if found.tokens < 2:
            return Failure("failed", "a single token has nothing before it")
        return Score(found.logits[0], found.tokens - 1)

    async def close(self) -> None:
        await asyncio.to_thread(self._batches.close)


class CausalFiles(Files):
    """A causal language model on disk or on the hub."""

    def network(self) -> Any:
        import torch

        network, info = self._load(
            "AutoModelForCausalLM", dtype=torch.float32, use_safetensors=True, output_loading_info=True
        )
        if missing := sorted(info["missing_keys"]):
            raise ModelError(
                f"{self._name} is not a causal language model: its weights lack {listed(missing)}, which"
                " would be random"
            )
        self.tokenizer.padding_side = "right"  # causal: what follows a text changes nothing in it
        if self.tokenizer.pad_token_id is None:
            self.tokenizer.pad_token = self.tokenizer.eos_token
        mps = torch.backends.mps.is_available()
        device = "cuda" if torch.cuda.is_available() else "mps" if mps else "cpu"
        return network.to(device).eval()


class CausalModel(Classifier):
    """A loaded network. Used by one thread."""

    def _logits(self, encodings: Sequence[Encoding]) -> list[tuple[float, ...]]:
        return [(total,) for some in self._slices(encodings) for total in self._totals(some)]

    def _slices(self, encodings: Sequence[Encoding]) -> Iterator[Sequence[Encoding]]:
        """As many texts at a time as have ``LOGITS_AT_ONCE``: a token has one for each word there is."""
        width = max(1, *(len(one["input_ids"]) for one in encodings))
        step = max(1, LOGITS_AT_ONCE // (width * self._network.config.vocab_size))
        for start in range(0, len(encodings), step):
            yield encodings[start : start + step]

    def _totals(self, encodings: Sequence[Encoding]) -> list[float]:
        import torch

        lengths = [len(one["input_ids"]) for one in encodings]
        ids = torch.full((len(encodings), max(lengths)), self._files.tokenizer.pad_token_id or 0)
        for row, one in enumerate(encodings):
            ids[row, : lengths[row]] = torch.tensor(one["input_ids"])
        inside = torch.arange(max(lengths))[None, :] < torch.tensor(lengths)[:, None]
        with torch.inference_mode():
            given = {"input_ids": ids, "attention_mask": inside.long()}
            logits = self._network(**{key: value.to(self._device) for key, value in given.items()}).logits
            targets = ids[:, 1:, None].to(self._device)
            before = logits[:, :-1].float()  # a sum over the last dimension keeps all digits of float32
            found = (before.gather(2, targets)[..., 0] - before.logsumexp(dim=2)).double()
            totals = found.masked_fill(~inside[:, 1:].to(self._device), 0.0).sum(dim=1)
        return [float(total) for total in totals.cpu().tolist()]
