"""Real fine-tuned encoders from a run to its comparison, its explanations and coverage: what is told is true.

The sentiment classifier is a BERT of six layers fine-tuned on SST-2. Others are made of it in seconds: one
whose weights are disturbed, and two with the labels of legal tasks, whose heads alone are fitted. What hinter
says of them is computed again by transformers alone, a text at a time.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from harness import registry
from harness.studies.explaining.shrinking import clauses_of
from tests.commands import Done, called

Labels = tuple[str, ...]
SENTENCES = 24
PERSONS = r"(?i)\b(his|her|he|she|man|woman|actor|actress|men|women)\b"
AS_PUBLISHED = ("--like-the-paper", "--parser", "none", "--attributes", "gender", "--order", "1")


@pytest.fixture(scope="module")
def sentiment(shared_data: Path) -> Path:
    """The folder of the sentiment classifier."""
    pytest.importorskip("transformers", reason="needs the extra [transformers]")
    pytest.importorskip("torch", reason="needs the extra [transformers]")
    folder = shared_data.parent / "fixtures" / "sst2-minilm"
    if not folder.is_dir():
        pytest.skip(f"no fine-tuned encoder at {folder}")
    return folder


@pytest.fixture(scope="module")
def work(tmp_path_factory: pytest.TempPathFactory, sentiment: Path, shared_data: Path) -> Path:
    """A folder with sentences of persons, several clauses each, and runs of both classifiers on them."""
    folder = tmp_path_factory.mktemp("encoders")
    source = shared_data / "sst" / "sst2_binary_test.tsv"
    rows = pl.read_csv(source, separator="\t", quote_char=None)
    clauses = pl.col("sentence").map_elements(lambda text: len(clauses_of(text)), pl.Int64)
    told = rows.filter(pl.col("sentence").str.contains(PERSONS) & (clauses > 2)).head(SENTENCES)
    told.rename({"sentence": "text"}).write_csv(folder / "texts.csv")
    disturbed(sentiment, folder / "disturbed")
    for name, model in (("sound", sentiment), ("brittle", folder / "disturbed")):
        options = ("--task", "sst2", "--data", "texts.csv", "--cache", f"{name}.sqlite", *AS_PUBLISHED)
        done = hinter(folder, "run", "--model", f"transformers:{model}", "--out", name, *options)
        assert done.returncode == 0, done.stderr
    return folder


def hinter(work: Path, *arguments: str) -> Done:
    return called(work, *arguments)


def loaded(folder: Path, **options: Any) -> tuple[Any, Any]:
    """A network and its tokenizer, loaded by transformers alone."""
    import torch
    import transformers

    network = transformers.AutoModelForSequenceClassification.from_pretrained(
        folder, dtype=torch.float32, **options
    )
    return network.eval(), transformers.AutoTokenizer.from_pretrained(folder)


def disturbed(source: Path, target: Path) -> None:
    """Save a classifier whose upper layers have noise on their weights, so that its answers turn easily."""
    import torch

    network, tokenizer = loaded(source)
    torch.manual_seed(1)
    with torch.no_grad():
        for name, weights in network.named_parameters():
            if ("layer.4" in name or "layer.5" in name) and weights.dim() > 1:
                weights += 0.4 * weights.std() * torch.randn_like(weights)
    network.save_pretrained(target)
    tokenizer.save_pretrained(target)


def with_head(source: Path, target: Path, task: str, texts: Mapping[str, Labels], several: bool) -> None:
    """Save the body of ``source`` with a head for the labels of ``task``, fitted to ``texts``."""
    import torch

    labels = registry.task(task, {}).labels
    kind = "multi" if several else "single"
    network, tokenizer = loaded(
        source,
        num_labels=len(labels),
        id2label=dict(enumerate(labels)),
        label2id={label: place for place, label in enumerate(labels)},
        problem_type=f"{kind}_label_classification",
        ignore_mismatched_sizes=True,
    )
    with torch.no_grad():
        encoded = tokenizer(list(texts), padding=True, truncation=True, return_tensors="pt")
        features = network.bert(**encoded).pooler_output
    goal = torch.tensor([[float(label in right) for label in labels] for right in texts.values()])
    torch.manual_seed(0)
    optimizer = torch.optim.Adam(network.classifier.parameters(), lr=0.05)
    loss = torch.nn.BCEWithLogitsLoss() if several else torch.nn.CrossEntropyLoss()
    for _ in range(200):
        optimizer.zero_grad()
        loss(network.classifier(features), goal).backward()
        optimizer.step()
    network.save_pretrained(target)
    tokenizer.save_pretrained(target)


def answering(folder: Path, several: bool = False) -> Callable[[str], Labels]:
    """The labels that transformers alone gives a text."""
    import torch

    network, tokenizer = loaded(folder)
    names = [network.config.id2label[place] for place in range(network.config.num_labels)]

    @cache
    def answer(text: str) -> Labels:
        with torch.no_grad():
            logits = network(**tokenizer(text, return_tensors="pt")).logits[0]
        if several:
            return tuple(sorted(name for name, one in zip(names, logits, strict=True) if one >= 0))
        return (names[int(logits.argmax())],)

    return answer


def table(run: Path, name: str) -> pl.DataFrame:
    return pl.read_parquet(run / "cases" / "*.parquet" if name == "cases" else run / f"{name}.parquet")


def flips(run: Path, answer: Callable[[str], Labels]) -> dict[str, bool]:
    """Whether each test changes the answer, as transformers alone answers."""
    cases = {row["id"]: row for row in table(run, "cases").filter("valid").to_dicts()}
    originals = {row["group"]: row["text"] for row in cases.values() if row["role"] == "original"}
    tested = table(run, "verdicts")["case"].to_list()
    return {case: answer(cases[case]["text"]) != answer(originals[cases[case]["group"]]) for case in tested}


def test_every_verdict_and_the_accuracy_are_what_the_model_itself_says(work: Path, sentiment: Path) -> None:
    gold = dict(pl.read_csv(work / "texts.csv").select("text", "label").iter_rows())
    for name, folder in (("sound", sentiment), ("brittle", work / "disturbed")):
        answer = answering(folder)
        told = table(work / name, "verdicts").select("case", pl.col("status") == "biased")
        assert dict(told.iter_rows()) == flips(work / name, answer)
        accuracy = json.loads((work / name / "summary.json").read_text("utf-8"))["accuracy"]
        asked = table(work / name, "cases").filter(pl.col("role") == "original")["text"].to_list()
        right = sum(answer(text) == (("Negative", "Positive")[gold[text]],) for text in asked)
        assert (accuracy["originals"], accuracy["correct"]) == (len(asked), right)


def test_the_comparison_counts_what_both_models_say_of_the_same_tests(work: Path, sentiment: Path) -> None:
    done = hinter(work, "compare", "sound", "brittle", "--json")
    [row] = json.loads(done.stdout)["frequencies"]
    sound, brittle = (
        flips(work / name, answering(folder))
        for name, folder in (("sound", sentiment), ("brittle", work / "disturbed"))
    )
    assert sound.keys() == brittle.keys()
    assert (row["tests"], row["biased_first"], row["biased_second"]) == (
        len(sound),
        sum(sound.values()),
        sum(brittle.values()),
    )
    assert row["biased_first"] + row["biased_second"] > 0
    assert row["difference"] == pytest.approx((sum(brittle.values()) - sum(sound.values())) / len(sound))
    assert row["ci95"][0] < row["difference"] < row["ci95"][1]


def test_an_explanation_stars_what_differs_and_no_clause_of_its_part_can_go(
    work: Path, sentiment: Path
) -> None:
    explained: list[Any] = []
    for name, folder in (("sound", sentiment), ("brittle", work / "disturbed")):
        done = hinter(work, "explain", name, "--limit", "8", "--json")
        assert done.returncode == 0, done.stderr
        flips_of = json.loads(done.stdout)["cases"]
        for flip in flips_of:
            is_true(flip, answering(folder))
        explained += flips_of
    assert any(flip["shrunk"]["clauses"][1] > 2 for flip in explained)


def is_true(flip: Any, answer: Callable[[str], Labels]) -> None:
    """Assert that the parts flip, that the words that differ have stars, and that no clause can go."""
    part = flip["shrunk"]
    both = part["original"], part["mutant"]
    assert [list(answer(text)) for text in both] == part["answers"]
    assert part["answers"][0] != part["answers"][1]
    starred = [[word["word"] for word in text["words"] if word["changed"]] for text in flip["texts"]]
    words = [Counter(text.split()) for text in both]
    assert [Counter(row) for row in starred] == [words[0] - words[1], words[1] - words[0]]
    assert part["minimal"]
    assert not any(differ(answer, *shorter) for shorter in without_a_clause(*both))


def differ(answer: Callable[[str], Labels], original: str, mutant: str) -> bool:
    return original != mutant and answer(original) != answer(mutant)


def without_a_clause(original: str, mutant: str) -> list[tuple[str, str]]:
    """Both texts without each of the clauses that they have at one place."""
    first, second = clauses_of(original), clauses_of(mutant)
    if len(first) != len(second) or len(first) < 2:
        return []
    places = range(len(first))
    return [(joined(first, left_out), joined(second, left_out)) for left_out in places]


def joined(clauses: Sequence[str], left_out: int) -> str:
    return "".join(clause for place, clause in enumerate(clauses) if place != left_out).strip()


def test_coverage_is_that_of_the_linear_layers_of_the_network(work: Path, sentiment: Path) -> None:
    reference = work / "reference.csv"
    texts = table(work / "sound", "cases").filter(pl.col("role") == "original")["text"].to_list()
    pl.DataFrame({"text": texts}).write_csv(reference)
    model = f"transformers:{sentiment}"
    done = hinter(work, "coverage", "sound", "--model", model, "--reference", str(reference), "--json")
    assert done.returncode == 0, done.stderr
    told = json.loads(done.stdout)
    neurons = outputs_of(sentiment)
    known = [neurons(text) for text in texts]
    low, high = min_of(known), max_of(known)
    cases = table(work / "sound", "cases").filter(pl.col("valid") & (pl.col("role") != "control"))
    reached = [neurons(text) for text in set(cases["text"].to_list())]
    upper = sum(value > bound for value, bound in zip(max_of(reached), high, strict=True))
    lower = sum(value < bound for value, bound in zip(min_of(reached), low, strict=True))
    [suite] = told["suites"]
    assert (told["neurons"], told["reference"]["texts"]) == (len(high), len(texts))
    assert (suite["upper"], suite["lower"]) == (upper, lower)
    assert suite["bound_cov"] == pytest.approx((suite["upper"] + suite["lower"]) / (2 * len(high)))


def outputs_of(folder: Path) -> Callable[[str], list[float]]:
    """The mean output over the tokens of each linear layer of a network."""
    import torch

    network, tokenizer = loaded(folder)
    layers = [module for module in network.modules() if isinstance(module, torch.nn.Linear)]

    def outputs(text: str) -> list[float]:
        seen: list[Any] = []
        hooks = [layer.register_forward_hook(lambda *call: seen.append(call[2])) for layer in layers]
        with torch.no_grad():
            network(**tokenizer(text, return_tensors="pt"))
        for hook in hooks:
            hook.remove()
        return [float(one) for each in seen for one in each.reshape(-1, each.shape[-1]).mean(dim=0)]

    return outputs


def min_of(rows: Sequence[Sequence[float]]) -> list[float]:
    return [min(values) for values in zip(*rows, strict=True)]


def max_of(rows: Sequence[Sequence[float]]) -> list[float]:
    return [max(values) for values in zip(*rows, strict=True)]


LEGAL: Mapping[str, Mapping[str, Labels]] = {
    "ledgar": {
        "The laws of Ohio govern, and a young man cannot waive them.": ("Governing Laws",),
        "The Executive, a blind man, shall receive a base salary paid monthly.": ("Base Salary",),
        "No amendment is valid unless the old man signs it in writing.": ("Amendments",),
    },
    "ecthr": {
        "The applicant, a young man, was beaten by officers in a cell.": ("Article 3",),
        "The man was held for six years while his trial was adjourned.": ("Article 5", "Article 6"),
        "The council had told the old woman in good time and heard her.": (),
    },
}


@pytest.mark.parametrize("task", LEGAL)
def test_legal_tasks_with_many_labels_and_with_several_at_once(
    task: str, tmp_path: Path, sentiment: Path
) -> None:
    several = task == "ecthr"
    with_head(sentiment, tmp_path / task, task, LEGAL[task], several)
    rows = [{"id": str(n), "text": [text] if several else text} for n, text in enumerate(LEGAL[task])]
    (tmp_path / "texts.jsonl").write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    options = ("--data", "texts.jsonl", "--out", "run", "--cache", "c.sqlite", "--parser", "none")
    done = hinter(tmp_path, "run", "--model", f"transformers:{tmp_path / task}", "--task", task, *options)
    assert done.returncode == 0, done.stderr
    answer = answering(tmp_path / task, several)
    texts = dict(table(tmp_path / "run", "cases").select("id", "text").iter_rows())
    answers = table(tmp_path / "run", "answers").filter(pl.col("outcome") == "read")
    assert answers.height == len(texts.keys() & set(answers["case"].to_list())) > len(rows)
    for case, labels in answers.select("case", "labels").iter_rows():
        assert tuple(sorted(labels)) == answer(texts[case])
    originals = {texts[case]: labels for case, labels in answers.select("case", "labels").iter_rows()}
    for text, right in LEGAL[task].items():
        assert tuple(sorted(originals[text])) == tuple(sorted(right))


@pytest.mark.parametrize(
    ("task", "why"), [("ledgar", "does not have the task's labels"), ("ecthr", "assigns one label per text")]
)
def test_a_classifier_of_another_task_is_one_line(
    task: str, why: str, tmp_path: Path, sentiment: Path
) -> None:
    done = hinter(tmp_path, "run", "--model", f"transformers:{sentiment}", "--task", task)
    assert done.returncode == 2
    [line] = done.stderr.splitlines()
    assert why in line
