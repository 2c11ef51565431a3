"""The log-likelihood of a text under a causal language model of transformers in this process, in float32."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from harness.core import Failure
from harness.models.model_files import Encoding, Files
from harness.models.text_batches import TEXTS_A_BATCH, Batches, Worker
from harness.plugins import Measure, Score

if TYPE_CHECKING:
    from transformers import PreTrainedModel

LOGITS_AT_ONCE = 1 << 27  # half a gigabyte in float32: texts x tokens x words of the vocabulary


class CausalLikelihood:
    """A causal language model as a judge of fluency; its weights load with the first text."""

    measure: Measure = "log_likelihood"
    # logits are large: more at once are not computed faster, only told later
    concurrency = TEXTS_A_BATCH // 2

    def __init__(self, source: str, revision: str | None = None) -> None:
        self._files = Files(source, revision)
        self.name = self._files.name
        self.identity = self._files.identity
        self._batches = Batches(self._open)

    def _open(self) -> Worker:
        network = self._files.network("AutoModelForCausalLM", "causal language model")
        tokenizer = self._files.tokenizer
        tokenizer.padding_side = "right"  # causal: what follows a text changes nothing in it
        if tokenizer.pad_token_id is None:
            tokenizer.pad_token = tokenizer.eos_token
        return Worker(LogLikelihoods(network, tokenizer.pad_token_id or 0), self._files)

    async def prepare(self) -> None:
        """Do nothing: the weights load with the first text."""

    async def score(self, text: str) -> Score | Failure:
        """Return the log-likelihood of ``text``; a ``Failure`` where it is too short or too long."""
        computed = await asyncio.wrap_future(self._batches.put(text))
        if isinstance(computed, Failure):
            return computed
        if computed.tokens < 2:
            return Failure("failed", "a single token has no preceding context")
        return Score(computed.numbers[0], computed.tokens - 1)

    async def close(self) -> None:
        """Release the model."""
        await asyncio.to_thread(self._batches.close)


class LogLikelihoods:
    """A loaded causal model; a text's one number is the log-likelihood of all its tokens but the first."""

    def __init__(self, network: PreTrainedModel, padding: int) -> None:
        self._network = network
        self._padding = padding

    @property
    def device(self) -> str:
        """The device on which the network runs."""
        return str(self._network.device)

    def numbers(self, encodings: Sequence[Encoding]) -> list[tuple[float, ...]]:
        """Return the log-likelihood of each text."""
        return [(total,) for part in self._slices(encodings) for total in self._totals(part)]

    def _slices(self, encodings: Sequence[Encoding]) -> Iterator[Sequence[Encoding]]:
        """Yield slices of at most ``LOGITS_AT_ONCE`` logits: each token has one per vocabulary item."""
        width = max(1, *(len(encoding["input_ids"]) for encoding in encodings))
        step = max(1, LOGITS_AT_ONCE // (width * self._network.config.vocab_size))
        for start in range(0, len(encodings), step):
            yield encodings[start : start + step]

    def _totals(self, encodings: Sequence[Encoding]) -> list[float]:
        import torch

        lengths = [len(encoding["input_ids"]) for encoding in encodings]
        ids = torch.full((len(encodings), max(lengths)), self._padding)
        for row, encoding in enumerate(encodings):
            ids[row, : lengths[row]] = torch.tensor(encoding["input_ids"])
        inside = torch.arange(max(lengths))[None, :] < torch.tensor(lengths)[:, None]
        device = self._network.device
        with torch.inference_mode():
            logits = self._network(input_ids=ids.to(device), attention_mask=inside.long().to(device)).logits
            targets = ids[:, 1:, None].to(device)
            before = logits[:, :-1].float()  # a sum over the last dimension keeps all digits of float32
            logprobs = (before.gather(2, targets)[..., 0] - before.logsumexp(dim=2)).double()
            totals = logprobs.masked_fill(~inside[:, 1:].to(device), 0.0).sum(dim=1)
        return [float(total) for total in totals.cpu().tolist()]
