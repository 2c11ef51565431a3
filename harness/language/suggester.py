"""Suggesters of words for the gap of a text: the embedded model, a masked one, an endpoint, or n-grams.

``suggest`` takes each text as the parts before and after its gap, and returns words, likeliest first: whole
words of letters only, each once.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterable, Sequence
from importlib.util import find_spec
from itertools import groupby, islice
from typing import TYPE_CHECKING

from harness import http_client
from harness.core import JsonObject
from harness.disclosure import one_line
from harness.errors import EndpointError, ModelError, Transient
from harness.http_client import TooLarge
from harness.language.embedded import EmbeddedSuggester
from harness.retrying import Policy, retry_after

if TYPE_CHECKING:
    import httpx2
    from transformers import PreTrainedModel, PreTrainedTokenizerBase

Text = tuple[str, str]

KINDS = ("local", "mlm", "endpoint", "ngram")
TEXTS_AT_ONCE = 16
PIECES = 4  # candidates for each word returned: many are word pieces or punctuation
LIMIT = 512  # most pieces of a text that a masked model reads
NGRAMS = 1_000_000  # about 200 MB
DEADLINE = 60.0
_WORD = re.compile(r"[^\W\d_]+(?:-[^\W\d_]+)*")
_TOKEN = re.compile(r"[^\W\d_]+(?:['’-][^\W\d_]+)*|[^\w\s]")
EDGE = ""


class MlmSuggester:
    """A masked language model loaded by ``transformers`` from the hub or a folder. Raises ``ModelError``."""

    def __init__(self, model: str, revision: str | None = None) -> None:
        if not (find_spec("torch") and find_spec("transformers")):
            raise ModelError(
                "a masked language model needs an extra: pip install 'hinter-harness[transformers]'"
            )
        from transformers import AutoModelForMaskedLM, AutoTokenizer

        try:
            self._tokenizer: PreTrainedTokenizerBase = AutoTokenizer.from_pretrained(model, revision=revision)
            self._model: PreTrainedModel = AutoModelForMaskedLM.from_pretrained(
                model, revision=revision, use_safetensors=True
            ).eval()
        except (OSError, ValueError, ImportError) as error:
            reason = str(error).strip().splitlines()[0]
            raise ModelError(f"masked model {model!r} does not load: {reason}") from error
        if self._tokenizer.mask_token is None:
            raise ModelError(
                f"{model!r} has no mask token: name a masked language model, such as bert-base-uncased"
            )
        positions = getattr(self._model.config, "max_position_embeddings", LIMIT)
        self._limit = min(self._tokenizer.model_max_length, positions, LIMIT)
        vocabulary = self._tokenizer.get_vocab()
        self._start = next((mark for mark in ("Ġ", "▁") if f"{mark}the" in vocabulary), "")
        self.name = f"mlm:{model}" + (f"@{revision}" if revision else "")

    def learn(self, text: str) -> None:
        """Do nothing: a pretrained model needs no training."""

    def suggest(self, texts: Sequence[Text], words: int) -> list[list[str]]:
        """Return up to ``words`` words for the gap of each text.

        Texts of equal length are batched together, because padding would change the model's predictions.
        """
        mask = self._tokenizer.mask_token
        joined = [mask.join(part.replace(mask, " ") for part in parts) for parts in texts]
        encoded = (
            self._tokenizer(joined, truncation=True, max_length=self._limit)["input_ids"] if texts else []
        )
        suggestions: list[list[str]] = [[] for _ in texts]
        by_length = sorted(range(len(texts)), key=lambda i: len(encoded[i]))
        for _, same in groupby(by_length, key=lambda i: len(encoded[i])):
            while batch := list(islice(same, TEXTS_AT_ONCE)):
                found = self._batch([encoded[i] for i in batch], words)
                for index, suggested in zip(batch, found, strict=True):
                    suggestions[index] = suggested
        return suggestions

    def _batch(self, encoded: Sequence[list[int]], words: int) -> list[list[str]]:
        """Return the words for the gap of each text; none where it is beyond what the model reads."""
        import torch

        ids = torch.tensor(encoded)
        with torch.inference_mode():
            logits = self._model(input_ids=ids, attention_mask=torch.ones_like(ids)).logits
        suggestions: list[list[str]] = []
        for text_ids, scores in zip(ids, logits, strict=True):
            place = (text_ids == self._tokenizer.mask_token_id).nonzero().flatten()
            best = scores[place].topk(min(words * PIECES, scores.shape[-1])).indices.flatten().tolist()
            suggestions.append(self._words(best, words))
        return suggestions

    def _words(self, pieces: Sequence[int], words: int) -> list[str]:
        tokens = self._tokenizer.convert_ids_to_tokens(pieces)
        whole = [t.removeprefix(self._start) for t in tokens if t.startswith(self._start)]
        return _distinct(whole, words)


class EndpointSuggester:
    """A model behind an OpenAI-compatible endpoint, asked for a JSON list of words for each text.

    Raises ``EndpointError`` where the endpoint cannot be reached; an answer that is not a list yields no
    words.
    """

    def __init__(self, model: str, base_url: str, key: str = "none") -> None:
        self._model = model
        self._url = base_url.rstrip("/") + "/chat/completions"
        self._headers = {"Authorization": f"Bearer {key}"}
        self.name = f"endpoint:{model}"

    def learn(self, text: str) -> None:
        """Do nothing: a pretrained model needs no training."""

    def suggest(self, texts: Sequence[Text], words: int) -> list[list[str]]:
        """Return up to ``words`` words for the gap of each text. Raises ``EndpointError``."""
        with http_client.synchronous(self._url, DEADLINE, self._headers) as client:
            return [self._ask(client, text, words) for text in texts]

    def _ask(self, client: httpx2.Client, text: Text, words: int) -> list[str]:
        sentence = " ".join("____".join(text).split())
        question = (
            f"Which single words fit the gap ____ in this text? Give {words} different ones, the likeliest"
            f" first, as a JSON list of strings and nothing else.\n\n{sentence}"
        )
        body: JsonObject = {
            "model": self._model,
            "messages": [{"role": "user", "content": question}],
            "temperature": 0,
            "seed": 0,
            "max_tokens": 16 + 8 * words,
        }
        return _distinct(_listed(self._post(client, body)), words)

    def _post(self, client: httpx2.Client, body: JsonObject) -> str:
        """Return the text of one answer, retrying transient errors."""
        import httpx2

        try:
            return Policy().blocking()(self._once, client, body)
        except (Transient, TooLarge, httpx2.HTTPError, ValueError, LookupError, TypeError) as error:
            reason = " ".join(str(error).split())[:200] or type(error).__name__
            raise EndpointError(f"words from {self._url}: {reason}") from error

    def _once(self, client: httpx2.Client, body: JsonObject) -> str:
        import httpx2

        try:
            answer = http_client.ask_now(client, self._url, body)
        except httpx2.TransportError as error:
            raise Transient(str(error) or type(error).__name__) from error
        if answer.status_code == 429 or answer.status_code >= 500:
            raise Transient(f"status {answer.status_code}", retry_after(answer.headers))
        if not answer.is_success:
            raise ValueError(f"status {answer.status_code}: {one_line(answer.text)}")
        return str(answer.json()["choices"][0]["message"]["content"] or "")


class NgramSuggester:
    """Suggests words seen in the learnt documents between the same neighbours, then beside either of them.

    Stores at most ``most`` different n-grams, first come, first stored.
    """

    def __init__(self, most: int = NGRAMS) -> None:
        self._between: dict[tuple[str, str], Counter[str]] = {}
        self._left = most
        self.name = "ngram"

    def learn(self, text: str) -> None:
        """Count the n-grams of ``text``."""
        tokens = [EDGE, *_tokens(text), EDGE]
        for left, word, right in zip(tokens, tokens[1:], tokens[2:], strict=False):
            if _WORD.fullmatch(word):
                for context in ((left, right), (left, "*"), ("*", right)):
                    self._count(context, word)

    def suggest(self, texts: Sequence[Text], words: int) -> list[list[str]]:
        """Return up to ``words`` words for the gap of each text."""
        return [self._words(_last(before), _first(after), words) for before, after in texts]

    def _count(self, context: tuple[str, str], word: str) -> None:
        seen = self._between.get(context)
        if seen is not None and word in seen:
            seen[word] += 1
        elif self._left:
            self._left -= 1
            self._between.setdefault(context, Counter())[word] = 1

    def _words(self, left: str, right: str, words: int) -> list[str]:
        ranked: list[str] = []
        nothing: Counter[str] = Counter()
        after, before = (self._between.get(c, nothing) for c in ((left, "*"), ("*", right)))
        ranked += _ordered(self._between.get((left, right), nothing))
        ranked += _ordered(Counter({word: after[word] * before[word] for word in after if word in before}))
        ranked += _ordered(after) + _ordered(before)
        return _distinct(ranked, words)


Suggester = EmbeddedSuggester | MlmSuggester | EndpointSuggester | NgramSuggester


def load(
    kind: str | None = None,
    *,
    model: str | None = None,
    revision: str | None = None,
    endpoint: tuple[str, str, str] | None = None,
    local: EmbeddedSuggester | None = None,
) -> Suggester:
    """Load the suggester ``local``, ``mlm`` (of ``model``), ``endpoint`` (model, base URL, key) or ``ngram``.

    With None, choose the first available: a masked model if one is named and loads, then the endpoint, then
    ``local``, then n-grams. Raises ``ModelError``.
    """
    if kind == "local":
        if local is None:
            raise ModelError("suggester local: the embedded model is not here")
        return local
    if kind == "mlm":
        if model is None:
            raise ModelError("suggester mlm: name a masked language model, such as bert-base-uncased")
        return MlmSuggester(model, revision)
    if kind == "endpoint":
        if endpoint is None:
            raise ModelError("suggester endpoint: name its model and base URL")
        return EndpointSuggester(*endpoint)
    if kind == "ngram":
        return NgramSuggester()
    if kind is not None:
        raise ModelError(f"unknown suggester {kind!r}: use {', '.join(KINDS)}")
    if model is not None:
        try:
            return MlmSuggester(model, revision)
        except ModelError:
            pass  # without the extra or the weights; the suggester's name tells which is used
    return EndpointSuggester(*endpoint) if endpoint else local or NgramSuggester()


def _tokens(text: str) -> list[str]:
    return [token.lower() for token in _TOKEN.findall(text)]


def _last(before: str) -> str:
    tokens = _tokens(before)
    return tokens[-1] if tokens else EDGE


def _first(after: str) -> str:
    tokens = _tokens(after)
    return tokens[0] if tokens else EDGE


def _ordered(counts: Counter[str]) -> list[str]:
    return [word for word, _ in sorted(counts.items(), key=lambda item: (-item[1], item[0]))]


def _listed(answer: str) -> list[str]:
    """Return the strings of the first JSON list in an answer."""
    start, end = answer.find("["), answer.find("]")
    try:
        items = json.loads(answer[start : end + 1]) if 0 <= start < end else []
    except ValueError:
        return []
    return [str(word).strip() for word in items if isinstance(word, str)]


def _distinct(candidates: Iterable[str], words: int) -> list[str]:
    whole = (word for word in candidates if _WORD.fullmatch(word) and word.replace("-", "").isalpha())
    return list(dict.fromkeys(whole))[:words]
