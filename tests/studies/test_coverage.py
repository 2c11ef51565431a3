"""Neuron coverage: Equations 1 and 2 by hand, bounds that only grow, and a small random network."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from click.testing import CliRunner
from hypothesis import given
from hypothesis import strategies as st

from harness import config
from harness.audit import assembly
from harness.cli import app
from harness.core import Case
from harness.errors import ConfigError, ModelError
from harness.folder import RunFolder
from harness.report import coverage as page
from harness.report.coverage import Reference
from harness.studies import coverage
from tests.models.test_transformers import build

if TYPE_CHECKING:
    from harness.studies.coverage import Outputs

ROWS = st.lists(st.lists(st.integers(-5, 5), min_size=3, max_size=3), min_size=1, max_size=8)


class Table:
    """A network of as many neurons as its rows are wide; what is not in it is too long."""

    name = "table"

    def __init__(self, rows: Mapping[str, Sequence[float]]) -> None:
        self._rows = rows

    def outputs(self, text: str) -> Outputs | None:
        return vector(self._rows[text]) if text in self._rows else None


def vector(values: Sequence[float]) -> Outputs:
    return np.asarray(values, dtype=np.float32)


NETWORK = Table(
    {
        "low": [0.0, 0.0, 0.0, 0.0],
        "high": [1.0, 1.0, 1.0, 1.0],
        "inside": [0.5, 1.0, 0.0, 0.5],
        "above": [1.5, 1.0, 0.5, 2.0],
        "below": [-0.5, 0.5, 0.5, -0.1],
    }
)


KNOWN = ["low", "high"] * 10


def test_the_equations_by_hand() -> None:
    made = coverage.measure(NETWORK, KNOWN, {"s": ["inside", "above", "below"]})
    (suite,) = made.suites
    assert (made.neurons, suite.upper, suite.lower) == (4, 2, 2)
    assert suite.bound_cov == (2 + 2) / (2 * 4)
    assert suite.s_act_cov == 2 / 4
    assert suite.curve == [(0, 0.0, 0.0), (1, 0.0, 0.0), (2, 0.25, 0.5), (3, 0.5, 0.5)]


def test_texts_that_are_too_long_are_counted_and_cover_nothing() -> None:
    made = coverage.measure(NETWORK, [*KNOWN, "?"], {"s": ["?", "above"]})
    assert made.reference == Reference(texts=20, left_out=1)
    (suite,) = made.suites
    assert (suite.texts, suite.left_out, suite.upper) == (1, 1, 2)


def test_a_reference_without_a_text_that_fits_is_an_error() -> None:
    with pytest.raises(ModelError, match="--reference"):
        coverage.measure(NETWORK, ["?"], {})


@given(ROWS, ROWS)
def test_corners_are_those_beyond_the_bounds_of_all_reference_texts(
    known: list[list[float]], suite: list[list[float]]
) -> None:
    bounds = coverage.profile(map(vector, known))
    corners = coverage.Corners(bounds)
    for row in suite:
        corners.add(vector(row))
    columns = range(3)
    upper = sum(any(row[c] > max(k[c] for k in known) for row in suite) for c in columns)
    lower = sum(any(row[c] < min(k[c] for k in known) for row in suite) for c in columns)
    assert (corners.upper, corners.lower) == (upper, lower)
    assert corners.boundary == pytest.approx((upper + lower) / 6)
    assert corners.strong == pytest.approx(upper / 3)


@given(ROWS)
def test_the_reference_itself_covers_nothing_in_any_order(known: list[list[float]]) -> None:
    corners = coverage.Corners(coverage.profile(map(vector, known)))
    for row in reversed(known):
        corners.add(vector(row))
    assert (corners.boundary, corners.strong) == (0.0, 0.0)


@given(st.integers(1, 200))
def test_a_curve_grows_with_the_suite_and_ends_at_its_coverage(size: int) -> None:
    network = Table({"r": [0.0] * 50} | {str(n): [float(n == c) for c in range(50)] for n in range(size)})
    (suite,) = coverage.measure(
        network, ["r"] * coverage.LEAST_REFERENCE, {"s": [str(n) for n in range(size)]}
    ).suites
    curve = suite.curve
    assert [*curve] == sorted(curve)
    assert curve[-1] == (size, suite.bound_cov, suite.s_act_cov)
    assert len(curve) <= coverage.POINTS + 1


def test_the_page_escapes_names_and_draws_a_curve_a_suite() -> None:
    made = coverage.measure(NETWORK, KNOWN, {"<i>a": ["above"], "b": ["below"]})
    html = page.render(made)
    assert "<i>a" not in html
    assert html.count("<polyline") == 4
    assert "25.0" in html


@pytest.fixture(scope="module")
def network(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build(tmp_path_factory.mktemp("network"), ["Negative", "Positive"])


def by_hand(folder: Path, text: str) -> Outputs:
    """The outputs of every linear layer of the small BERT, from its weights and its hidden states."""
    import torch
    from transformers import AutoModelForSequenceClassification, AutoTokenizer

    model = AutoModelForSequenceClassification.from_pretrained(folder).eval()
    encoding = AutoTokenizer.from_pretrained(folder)(text, return_tensors="pt")

    def linear(layer: Any, given: Any) -> Any:
        return given @ layer.weight.T + layer.bias

    found = []
    with torch.no_grad():
        states = model.bert(**encoding, output_hidden_states=True).hidden_states
        for layer, state in zip(model.bert.encoder.layer, states, strict=False):
            own = layer.attention.self
            queries, keys, values = (linear(part, state) for part in (own.query, own.key, own.value))
            heads = []
            for start in range(0, 32, 16):
                q, k, v = (part[..., start : start + 16] for part in (queries, keys, values))
                heads.append(torch.softmax(q @ k.transpose(1, 2) / 4.0, dim=-1) @ v)
            attended = linear(layer.attention.output.dense, torch.cat(heads, dim=-1))
            normed = layer.attention.output.LayerNorm(attended + state)
            inner = linear(layer.intermediate.dense, normed)
            outer = linear(layer.output.dense, torch.nn.functional.gelu(inner))
            found += [queries, keys, values, attended, inner, outer]
        pooled = linear(model.bert.pooler.dense, states[-1][:, 0])
        found += [pooled[None], linear(model.classifier, torch.tanh(pooled))[None]]
        outputs: Outputs = torch.cat([part[0].mean(dim=0) for part in found]).numpy()
    return outputs


def test_the_neurons_are_the_outputs_of_the_linear_layers(network: Path) -> None:
    from harness.studies.neurons import Neurons

    found = Neurons(f"transformers:{network}").outputs("the man was kind and not bad")
    assert found is not None
    assert len(found) == 2 * (4 * 32 + 64 + 32) + 32 + 2
    assert found == pytest.approx(by_hand(network, "the man was kind and not bad"), abs=1e-4)


def test_coverage_of_the_small_network_by_hand(network: Path) -> None:
    from harness.studies.neurons import Neurons

    known, suite = ["the man was kind", "a film is good"] * 10, ["the woman was bad !", "a b c d e f"]
    made = coverage.measure(Neurons(f"transformers:{network}"), known, {"s": suite})
    bounds = np.stack([by_hand(network, text) for text in known])
    outputs = np.stack([by_hand(network, text) for text in suite])
    upper = (outputs > bounds.max(axis=0)).any(axis=0).sum()
    lower = (outputs < bounds.min(axis=0)).any(axis=0).sum()
    (found,) = made.suites
    assert (found.upper, found.lower) == (upper, lower)
    assert found.bound_cov == pytest.approx((upper + lower) / (2 * made.neurons))


def test_a_text_has_the_same_outputs_whatever_went_before(network: Path) -> None:
    from harness.studies.neurons import Neurons

    looked_at = Neurons(f"transformers:{network}")
    first = looked_at.outputs("the man was kind")
    assert looked_at.outputs("a " * 200) is None
    looked_at.outputs("a b c d e f the man woman black white kind film")
    again = looked_at.outputs("the man was kind")
    assert first is not None
    assert again is not None
    assert first.tolist() == again.tolist()


def made(place: Path, resolved: str) -> RunFolder:
    """A run folder with three cases, made with the settings ``resolved``."""
    texts = ["the man was kind", "the woman was kind", "the woman was bad"]
    cases = [Case(str(n), "g", "d", "original" if not n else "atomic", text) for n, text in enumerate(texts)]
    folder = RunFolder(place / "run")
    folder.open(resolved, {})
    list(folder.keep_chunk(0, cases))
    folder.finish()
    return folder


def hinter(*line: str) -> Any:
    return CliRunner().invoke(app, ["coverage", *line], standalone_mode=False)


CASES = 30


@pytest.fixture
def cases(tmp_path: Path) -> Path:
    """A file in the layout of LexGLUE's ecthr_a: lists of paragraphs and of articles."""
    rows = [{"text": [f"{n} the man was kind.", "a film is good."], "labels": [n % 10]} for n in range(CASES)]
    file = tmp_path / "cases.jsonl"
    file.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return file


def settings(cases: Path, tokens: int | None = None) -> str:
    """The settings of a run over ``cases``, each cut to so many tokens."""
    cut = "" if tokens is None else f"max_tokens = {tokens}\n"
    return f"""task = "ecthr"
[model]
name = "m"
base_url = "http://127.0.0.1:9/v1"
[documents]
path = {json.dumps(str(cases))}
{cut}"""


def test_the_command_writes_figures_and_a_page(network: Path, tmp_path: Path) -> None:
    folder = made(tmp_path, "")
    rows = [f"{n} the man was kind,?" for n in range(20)]
    (tmp_path / "known.csv").write_text("\n".join(["text,label", *rows]), encoding="utf-8")
    line = [str(folder.path), "--model", f"transformers:{network}"]
    done = hinter(*line, "--reference", str(tmp_path / "known.csv"), "--json")
    assert done.exception is None
    measured = json.loads(done.stdout)
    assert measured == json.loads((folder.path / "coverage.json").read_text(encoding="utf-8"))
    (suite,) = measured["suites"]
    assert (suite["texts"], measured["reference"]["texts"]) == (3, 20)
    assert suite["upper"] > 0
    assert "Neuron coverage" in (folder.path / "coverage.html").read_text(encoding="utf-8")


@pytest.mark.parametrize("named", [True, False])
def test_the_reference_is_read_as_the_run_read_it(
    network: Path, tmp_path: Path, cases: Path, named: bool
) -> None:
    """With ``--reference``, and as the README has it, without: then the run's own texts are the reference."""
    folder = made(tmp_path, settings(cases))
    reference = ["--reference", str(cases)] if named else []
    line = [str(folder.path), "--model", f"transformers:{network}", *reference]
    done = hinter(*line, "--json")
    assert done.exception is None
    assert json.loads(done.stdout)["reference"] == {"texts": CASES, "left_out": 0}
    assert f"{CASES} reference texts\n" in hinter(*line).stdout


def test_reference_texts_are_shortened_as_in_the_run(cases: Path, tmp_path: Path) -> None:
    (tmp_path / "run.toml").write_text(settings(cases, tokens=8), encoding="utf-8")
    documents, _ = assembly.unlabelled(config.load(tmp_path / "run.toml"))
    assert {document.text.partition(" ")[2] for document in documents} == {"the man was kind."}
    (tmp_path / "run.toml").write_text(settings(cases), encoding="utf-8")
    whole, _ = assembly.unlabelled(config.load(tmp_path / "run.toml"))
    assert {document.text.partition(" ")[2] for document in whole} == {"the man was kind.\na film is good."}


def test_reference_texts_that_are_too_long_are_said(network: Path, tmp_path: Path) -> None:
    folder = made(tmp_path, "")
    rows = [f"{n} the man was kind" for n in range(25)] + ["a " * 200 + str(n) for n in range(3)]
    known = tmp_path / "known.csv"
    known.write_text("\n".join(["text", *rows]), encoding="utf-8")
    done = hinter(str(folder.path), "--model", f"transformers:{network}", "--reference", str(known))
    assert done.exception is None
    assert "25 reference texts (3 too long)" in done.stdout


def test_a_few_reference_texts_set_no_bounds() -> None:
    with pytest.raises(ModelError, match=r"19 of 24 reference texts fit .* at least 20"):
        coverage.measure(NETWORK, ["low"] * 19 + ["?"] * 5, {"s": ["above"]})


@pytest.mark.parametrize(
    "resolved",
    ['suite = "eec"\ntask = "valence"\n', 'task = "imdb"\n[documents]\npath = "-"\n'],
    ids=["texts of its own", "standard input"],
)
def test_a_run_without_a_file_needs_a_reference(tmp_path: Path, resolved: str) -> None:
    folder = made(tmp_path, resolved)
    done = hinter(str(folder.path), "--model", "transformers:x")
    assert isinstance(done.exception, ConfigError)
    assert str(done.exception).endswith("name reference texts with --reference")


def test_a_model_without_neurons_is_an_error(tmp_path: Path) -> None:
    folder = RunFolder(tmp_path / "run")
    folder.open("", {})
    folder.finish()
    line = ["coverage", str(folder.path), "--model", "local:vader", "--reference", "r.csv"]
    done = CliRunner().invoke(app, line, standalone_mode=False)
    assert "can only be read from a classifier, transformers:NAME_OR_FOLDER" in str(done.exception)
