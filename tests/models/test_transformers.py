"""Fine-tuned classifiers, on tiny random models made here and saved to a folder."""

from __future__ import annotations

import asyncio
import json
import math
import random
import shutil
import subprocess
import sys
from collections.abc import Sequence
from importlib.metadata import version
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from harness import config, registry
from harness.answering.cache import ResponseCache
from harness.answering.limiter import Limiter
from harness.answering.margin import margin, set_margin
from harness.answering.parse import LabelReader
from harness.answering.runner import Runner
from harness.audit import pipeline
from harness.core import Failure, Message, Reply, Request
from harness.errors import ModelError
from harness.models import transformers as classifiers
from harness.models.classifier import Logits, clear
from harness.models.model_files import Files
from harness.models.text_batches import Batches, Computed, Worker
from harness.models.transformers import TransformersModel, match, read_one, read_several
from harness.plugins import Options
from harness.settings import ModelSettings
from tests.answering.test_margin import exactly
from tests.json_values import inside

VOCABULARY = "a b c d e f the man woman black white kind film good bad was is not and very . !"
WORDS = VOCABULARY.split()
LABELS = ("Negative", "Positive")
TOPICS = ("3", "8", "P1-1", "trade policy")
SPECIAL = ["[PAD]", "[UNK]", "[CLS]", "[SEP]"]
CONTEXT = 128


def build(
    folder: Path, labels: Sequence[str], seed: int = 0, context: int = CONTEXT, **settings: Any
) -> Path:
    """A random BERT of two layers with a word-level tokenizer, saved as a fine-tuned one would be."""
    torch = pytest.importorskip("torch", reason="needs the extra [transformers]")
    library = pytest.importorskip("transformers", reason="needs the extra [transformers]")
    torch.manual_seed(seed)
    made = library.BertConfig(
        vocab_size=len(SPECIAL + WORDS),
        hidden_size=32,
        num_hidden_layers=2,
        num_attention_heads=2,
        intermediate_size=64,
        max_position_embeddings=context,
        initializer_range=0.5,
        id2label=dict(enumerate(labels)),
        label2id={label: place for place, label in enumerate(labels)},
        **settings,
    )
    library.BertForSequenceClassification(made).save_pretrained(folder)
    tokenizer().save_pretrained(folder)
    return folder


def tokenizer() -> Any:
    from tokenizers import Tokenizer
    from tokenizers.models import WordLevel
    from tokenizers.normalizers import Lowercase
    from tokenizers.pre_tokenizers import Whitespace
    from tokenizers.processors import TemplateProcessing
    from transformers import PreTrainedTokenizerFast

    made = Tokenizer(WordLevel({word: i for i, word in enumerate(SPECIAL + WORDS)}, unk_token="[UNK]"))
    made.normalizer, made.pre_tokenizer = Lowercase(), Whitespace()
    made.post_processor = TemplateProcessing("[CLS] $A [SEP]", None, [("[CLS]", 2), ("[SEP]", 3)])
    names = {"unk_token": "[UNK]", "pad_token": "[PAD]", "cls_token": "[CLS]", "sep_token": "[SEP]"}
    return PreTrainedTokenizerFast(tokenizer_object=made, model_max_length=CONTEXT, **names)


@pytest.fixture(scope="module")
def single(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build(tmp_path_factory.mktemp("single"), ["NEGATIVE", "positive."])


@pytest.fixture(scope="module")
def several(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("several")
    return build(folder, TOPICS, problem_type="multi_label_classification")


def open_model(folder: Path) -> TransformersModel:
    return TransformersModel(str(folder))


def request(model: TransformersModel, text: str, labels: tuple[str, ...] = LABELS) -> Request:
    return Request(model.identity, (Message("user", text),), {}, labels, text=text)


def ask(
    model: TransformersModel, texts: Sequence[str], labels: tuple[str, ...] = LABELS, at_once: int = 64
) -> list[Reply | Failure]:
    async def work() -> list[Reply | Failure]:
        found: list[Reply | Failure] = []
        for start in range(0, len(texts), at_once):
            some = [request(model, text, labels) for text in texts[start : start + at_once]]
            found += await asyncio.gather(*map(model.answer, some))
        await model.close()
        return found

    return asyncio.run(work())


def sentences(number: int, longest: int = 60) -> list[str]:
    chance = random.Random(7)
    return [" ".join(chance.choices(WORDS, k=chance.randint(1, longest))) for _ in range(number)]


def test_a_label_of_the_task_with_all_probabilities(single: Path) -> None:
    (reply,) = ask(open_model(single), ["the film was very good"])
    assert isinstance(reply, Reply)
    assert reply.text in LABELS
    assert reply.prompt_tokens == 7
    assert reply.fingerprint == f"torch-{version('torch')} transformers-{version('transformers')}"
    assert reply.logprobs is not None
    (token,) = reply.logprobs
    assert token.text == reply.text
    assert dict(token.top).keys() == set(LABELS)
    assert math.isclose(sum(math.exp(logprob) for _, logprob in token.top), 1.0, rel_tol=1e-9)
    assert exactly(margin(reply, reply.text, LABELS)) == pytest.approx(token.top[0][1] - token.top[1][1])


def test_it_says_what_the_library_itself_says(single: Path) -> None:
    library = pytest.importorskip("transformers")
    pipe = library.pipeline("text-classification", str(single), device=-1)
    texts = sentences(40)
    model = open_model(single)
    for text, reply in zip(texts, ask(model, texts), strict=True):
        expected = pipe(text)[0]
        assert isinstance(reply, Reply)
        assert reply.logprobs is not None
        assert reply.text.lower() == expected["label"].strip(".").lower()
        assert math.exp(reply.logprobs[0].logprob) == pytest.approx(expected["score"], abs=1e-5)
    assert inside(model.facts, "transformers", "labels") == [
        {"NEGATIVE": "Negative", "positive.": "Positive"}
    ]


@pytest.mark.parametrize("kind", ["single", "several"])
def test_in_a_batch_as_one_by_one(kind: str, request: pytest.FixtureRequest) -> None:
    folder: Path = request.getfixturevalue(kind)
    labels = LABELS if kind == "single" else ()
    texts = sentences(200)
    model = open_model(folder)
    batched = ask(model, texts, labels)
    alone = ask(open_model(folder), texts, labels, at_once=1)
    assert len({reply.text for reply in alone if isinstance(reply, Reply)}) > 1
    for one, other in zip(batched, alone, strict=True):
        assert isinstance(one, Reply)
        assert isinstance(other, Reply)
        assert one.text == other.text
        assert one.logprobs is not None
        assert other.logprobs is not None
        assert dict(one.logprobs[0].top) == pytest.approx(dict(other.logprobs[0].top), abs=1e-4)
    assert inside(model.facts, "transformers", "padding") is True


def test_several_labels_are_read_back(several: Path) -> None:
    model = open_model(several)
    reader = LabelReader(TOPICS, multi_label=True)
    sets = set()
    for reply in ask(model, sentences(100), ()):
        assert isinstance(reply, Reply)
        assert reply.logprobs is not None
        top = reply.logprobs[0].top
        likely = frozenset(label for label, logprob in top if logprob >= math.log(0.5))
        assert reader(reply).labels == likely
        sets.add(likely)
    assert len(sets) > 3


def test_several_labels_take_the_names_of_the_task(several: Path) -> None:
    model, bare = open_model(several), open_model(several)
    model.bind(("P1-1", "Trade policy", "3", "8"), multi_label=True)
    assert model.identity != bare.identity
    texts = sentences(50)
    named = [reply.text for reply in ask(model, texts, ()) if isinstance(reply, Reply)]
    own = [reply.text for reply in ask(bare, texts, ()) if isinstance(reply, Reply)]
    assert named == [text.replace("trade", "Trade") for text in own]
    assert any("Trade policy" in text for text in named)


def test_the_empty_set_and_the_log_probability_of_a_set() -> None:
    text, token = read_several([-1.0, -2.0], ["a", "b"])
    assert (text, token.text) == ("Labels: None", "None")
    assert math.exp(token.logprob) == pytest.approx(1 / (1 + math.exp(-1)) / (1 + math.exp(-2)))
    assert read_several([0.0, -800.0], ["a", "b"])[0] == "Labels: a"
    assert LabelReader(("a", "b"), True)(Reply(text)).labels == frozenset()


def test_a_set_is_as_sure_as_its_least_sure_label(several: Path) -> None:
    text, token = read_several([3.0, -0.25, 1.0, -7.0], TOPICS)
    assert exactly(set_margin(Reply(text, logprobs=(token,)), TOPICS)) == pytest.approx(0.25)
    for reply in ask(open_model(several), sentences(20), ()):
        assert isinstance(reply, Reply)
        found = set_margin(reply, TOPICS)
        assert found is not None
        assert found.value > 0


def test_no_more_than_a_hundred_probabilities_are_kept() -> None:
    label, token = read_one([float(i) for i in range(150)], [str(i) for i in range(150)])
    assert label == "149"
    assert len(token.top) == 100
    assert token.top[0][1] > token.top[1][1]


@pytest.mark.parametrize(
    ("own", "labels", "found"),
    [
        (["pos", "neg"], ["neg", "pos"], ("pos", "neg")),
        (["NON_TOXIC", "Toxic."], ["toxic", "non-toxic"], ("non-toxic", "toxic")),
        (["LABEL_0", "LABEL_1"], ["Negative", "Positive"], ("Negative", "Positive")),
        (["A+", "A-"], ["A-", "A+"], ("A+", "A-")),
    ],
)
def test_labels_that_match(own: list[str], labels: list[str], found: tuple[str, ...]) -> None:
    assert match(own, labels, "m") == found


@pytest.mark.parametrize(
    ("own", "says"),
    [
        (["negative", "neutral", "positive"], "only the model has neutral; only the task has none"),
        (["negative", "mixed"], "only the model has mixed; only the task has Positive"),
        (
            ["LABEL_0", "LABEL_1", "LABEL_2"],
            "only the model has LABEL_0, LABEL_1, LABEL_2; only the task has",
        ),
        (["LABEL_1", "LABEL_0"], "only the model has LABEL_1, LABEL_0"),
        (["negative", "positive", "Positive"], "only the model has negative, positive, Positive"),
        ([f"t{i}" for i in range(99)], "t11 and 87 more; only the task has Negative, Positive"),
    ],
)
def test_labels_that_differ_are_listed(own: list[str], says: str) -> None:
    with pytest.raises(ModelError) as raised:
        match(own, LABELS, "m")
    assert says in str(raised.value)
    assert "\n" not in str(raised.value)


def test_a_task_of_other_labels_is_told_before_anything_is_asked(single: Path) -> None:
    with pytest.raises(ModelError, match="only the task has A, B"):
        open_model(single).bind(("A", "B"), multi_label=False)
    with pytest.raises(ModelError, match="only the task has A, B"):
        ask(open_model(single), ["a film"], ("A", "B"))


def test_one_label_where_the_task_has_several(tmp_path: Path) -> None:
    folder = build(tmp_path, LABELS, problem_type="single_label_classification")
    with pytest.raises(ModelError, match="assigns one label per text"):
        open_model(folder).bind(LABELS, multi_label=True)


def test_a_text_that_does_not_fit_is_not_cut(single: Path) -> None:
    model = open_model(single)
    assert model.context == CONTEXT
    fits, exceeds = "a " * (CONTEXT - 2), "a " * (CONTEXT - 1)
    assert (model.count_tokens(fits), model.count_tokens(exceeds)) == (CONTEXT, CONTEXT + 1)
    replies = ask(model, [fits, exceeds, "a film"])
    assert replies[1] == Failure("too-long", "129 tokens, but the model accepts 128")
    assert isinstance(replies[0], Reply)
    assert isinstance(replies[2], Reply)


def test_a_text_that_cannot_be_read_costs_only_itself(single: Path) -> None:
    replies = ask(open_model(single), ["a film", "a \ud800 film", ""])
    assert isinstance(replies[0], Reply)
    assert isinstance(replies[1], Failure)
    assert replies[1].reason == "failed"
    assert isinstance(replies[2], Reply)


def test_the_identity_is_the_files_not_their_place(single: Path, tmp_path: Path) -> None:
    moved = Path(shutil.copytree(single, tmp_path / "moved"))
    assert open_model(moved).identity == open_model(single).identity
    (moved / "README.md").write_text("a note")
    assert open_model(moved).identity == open_model(single).identity
    other = build(tmp_path / "other", ["NEGATIVE", "positive."], seed=1)
    (moved / "model.safetensors").write_bytes((other / "model.safetensors").read_bytes())
    assert open_model(moved).identity != open_model(single).identity


def test_pickled_weights_are_not_read(single: Path, tmp_path: Path) -> None:
    torch = pytest.importorskip("torch")
    folder = Path(shutil.copytree(single, tmp_path / "pickled"))
    (folder / "model.safetensors").unlink()
    torch.save({}, folder / "pytorch_model.bin")
    with pytest.raises(ModelError, match="pickled ones can run code"):
        open_model(folder)


def test_a_model_that_was_never_fine_tuned(tmp_path: Path) -> None:
    library = pytest.importorskip("transformers", reason="needs the extra [transformers]")
    folder = build(tmp_path, LABELS)
    library.BertModel.from_pretrained(folder).save_pretrained(folder)
    with pytest.raises(ModelError, match=r"not a fine-tuned classifier: its weights lack classifier\.bias"):
        ask(open_model(folder), ["a film"])


@pytest.mark.parametrize("what", ["config.json", "model.safetensors", "tokenizer.json"])
def test_a_broken_file_is_one_line(what: str, single: Path, tmp_path: Path) -> None:
    folder = Path(shutil.copytree(single, tmp_path / "broken"))
    (folder / what).write_text("{broken")
    with pytest.raises(ModelError, match="does not load") as raised:
        ask(open_model(folder), ["a film"])
    assert "\n" not in str(raised.value)


def test_no_such_folder() -> None:
    pytest.importorskip("transformers", reason="needs the extra [transformers]")
    with pytest.raises(ModelError, match="no such model folder"):
        TransformersModel("./no/such")
    with pytest.raises(ModelError, match="after 'transformers:'"):
        registry.make_model(ModelSettings(name="transformers:"), Options())


def test_a_regression_has_no_labels(tmp_path: Path) -> None:
    with pytest.raises(ModelError, match="returns a number"):
        open_model(build(tmp_path, ["score"], problem_type="regression"))


def test_without_the_extra_one_line_names_it() -> None:
    """In a Python that sees only the standard library and this project's own files."""
    root = Path(classifiers.__file__).parents[2]
    code = (
        f"import sys; sys.path.append({str(root)!r})\n"
        "from harness.models.model_files import check_installed\n"
        "from harness.errors import ModelError\n"
        "try: check_installed('some/model')\n"
        "except ModelError as error: print(error)\n"
    )
    said = subprocess.run(
        [sys.executable, "-I", "-S", "-c", code], capture_output=True, text=True, check=True
    )
    assert said.stdout == "transformers:some/model needs torch: pip install 'hinter-harness[transformers]'\n"


def test_padding_is_left_out_where_it_changes_answers(tmp_path: Path) -> None:
    """A model that reads the last token must have none after it: texts of one length only go together."""
    library = pytest.importorskip("transformers", reason="needs the extra [transformers]")
    made = library.XLNetConfig(
        vocab_size=len(SPECIAL + WORDS), d_model=16, n_layer=1, n_head=2, d_inner=32, initializer_range=0.5
    )
    library.XLNetForSequenceClassification(made).save_pretrained(tmp_path)
    tokenizer().save_pretrained(tmp_path)
    model, texts = open_model(tmp_path), sentences(60, longest=8)
    batched = ask(model, texts)
    assert inside(model.facts, "transformers", "padding") is False
    alone = ask(open_model(tmp_path), texts, at_once=1)
    assert [r.text for r in batched if isinstance(r, Reply)] == [
        r.text for r in alone if isinstance(r, Reply)
    ]


class Network:
    """Scripted: all but even logits by the text's length, off by ``noise`` in company, ``most`` at once."""

    device = "cpu"
    config = SimpleNamespace(pad_token_id=0)

    def __init__(self, most: int = 99, noise: float = 0.0, broken: int = 0) -> None:
        self.most, self.noise, self.broken = most, noise, broken

    def forward(self, input_ids: Any, attention_mask: Any) -> Any:
        import torch

        if len(input_ids) > self.most:
            raise RuntimeError("out of memory")
        lengths = attention_mask.sum(1).tolist()
        noise = self.noise if len(lengths) > 1 else 0.0
        rows = [[0.0, (1e-4 if n % 2 else -1e-4) + noise] for n in lengths]
        return SimpleNamespace(
            logits=torch.tensor(rows) / torch.tensor([[float(n != self.broken)] for n in lengths])
        )

    __call__ = forward


def scripted(folder: Path, network: Network, texts: Sequence[str]) -> list[Computed | Failure]:
    files = Files(str(folder), None)
    batches = Batches(lambda: Worker(Logits(network, files.tokenizer), files))
    futures = [batches.put(text, clear) for text in texts]
    batches.close()
    return [future.result(timeout=0) for future in futures]


LENGTHS = ["a " * n for n in (1, 2, 3, 4, 5, 6, 2, 3)]


def test_what_is_near_a_tie_is_computed_again_alone(single: Path) -> None:
    assert scripted(single, Network(noise=4e-4), LENGTHS) == scripted(single, Network(most=1), LENGTHS)


def test_a_batch_that_does_not_fit_in_memory_is_halved(single: Path) -> None:
    assert scripted(single, Network(most=2), LENGTHS) == scripted(single, Network(), LENGTHS)
    failed = Failure("failed", "the model: out of memory")
    assert scripted(single, Network(most=0), LENGTHS) == [failed] * len(LENGTHS)


def test_logits_that_are_not_numbers_are_no_label(single: Path) -> None:
    found = scripted(single, Network(broken=3), LENGTHS)
    assert found[0] == Failure("failed", "the model: its logits are not finite")
    assert all(isinstance(one, Computed) for one in found[1:])


def test_an_answer_nobody_waits_for_any_more(single: Path) -> None:
    async def work() -> Reply | Failure:
        model = open_model(single)
        given_up = [asyncio.create_task(model.answer(request(model, text))) for text in sentences(50)]
        await asyncio.sleep(0)
        for task in given_up:
            task.cancel()
        assert all(
            isinstance(e, asyncio.CancelledError)
            for e in await asyncio.gather(*given_up, return_exceptions=True)
        )
        reply = await model.answer(request(model, "a film"))
        await model.close()
        return reply

    assert isinstance(asyncio.run(work()), Reply)


def test_through_the_runner_and_its_cache(single: Path, tmp_path: Path) -> None:
    async def work() -> tuple[int, int, int]:
        model = open_model(single)
        asked = [request(model, text) for text in set(sentences(100))]
        async with ResponseCache(tmp_path / "c.sqlite") as cache:
            async with Runner(model, cache, Limiter(model.concurrency)) as runner:
                answers = await runner.replies(asked)
            async with Runner(open_model(single), cache, Limiter(model.concurrency)) as again:
                assert await again.replies(asked) == answers
        await model.close()
        return len(asked), runner.counts.sent, again.counts.sent

    asked, sent, sent_again = asyncio.run(work())
    assert (sent, sent_again) == (asked, 0)


def test_a_model_of_64_positions_takes_short_texts(tmp_path: Path) -> None:
    folder = build(tmp_path / "model", ["NEGATIVE", "positive."], context=64)
    short, long = "the man is kind .", "the man is kind . " + "a film . " * 30
    (tmp_path / "texts.csv").write_text(f"text\n{short}\n{long}\n")
    given = {
        "task": "sst2",
        "documents.path": str(tmp_path / "texts.csv"),
        "hinter.attributes": ["gender"],
        "hinter.parser": "none",
        "model.name": f"transformers:{folder}",
        "cache": str(tmp_path / "cache.sqlite"),
        "out": str(tmp_path / "run"),
    }
    figures = asyncio.run(pipeline.run(config.load(None, given)))
    assert figures["status"] == "complete"
    assert (figures["documents"]["read"], figures["documents"]["shortened"]) == (2, 1)
    assert figures["answers"]["read"] == 4
    assert figures["answers"]["too-long"] == 0


def test_a_whole_run(single: Path, tmp_path: Path) -> None:
    if not any(name.startswith("transformers:") for name in registry.models()):
        pytest.skip("the registry does not know transformers: yet")
    (tmp_path / "words.toml").write_text('[attribute.gender]\npairs = [["man", "woman"]]\n')
    (tmp_path / "texts.csv").write_text(
        "text,label\nThe man was kind.,Positive\nA very bad man.,Negative\n"
        + f'"{"The man is good. " * 60}",Positive\n'
    )
    given = {
        "documents.path": str(tmp_path / "texts.csv"),
        "hinter.lexicon": str(tmp_path / "words.toml"),
        "hinter.attributes": "gender",
        "hinter.order": 1,
        "model.name": f"transformers:{single}",
        "out": str(tmp_path / "run"),
        "cache": str(tmp_path / "cache.sqlite"),
    }
    figures = asyncio.run(pipeline.run(config.load(None, given)))
    assert figures["status"] == "complete"
    assert figures["answers"]["read"] == figures["requests"]["unique"] == 6
    assert json.loads((tmp_path / "run" / "summary.json").read_text())["answers"]["too-long"] == 0
