"""Where a production may grow: sub-sequences of reference productions, and the table they are read from."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.errors import ConfigError
from harness.language.trees import Production, read
from harness.suites.linguistic import grammar
from harness.suites.linguistic.grammar import Grammar, Insertion

BUNDLED = grammar.load()
SYMBOLS = st.sampled_from(["DT", "JJ", "NN", "NP"])


def grown(production: Production, insertion: Insertion) -> tuple[str, ...]:
    """The right-hand side with the insertion made."""
    index, symbol = insertion
    return (*production[1][:index], symbol, *production[1][index:])


def subsequence(own: tuple[str, ...], right: tuple[str, ...]) -> bool:
    rest = iter(right)
    return all(symbol in rest for symbol in own)


def test_the_reference_production_of_figure_3() -> None:
    assert BUNDLED.counts["NP", ("DT", "NNS")] == 1676
    assert (1, "NNS") in BUNDLED.insertions(("NP", ("DT",)))


def test_the_bundled_table_is_whole_and_says_whose_it_is() -> None:
    assert len(BUNDLED.counts) == 10_298
    head = grammar.BUNDLED.read_text(encoding="utf-8")[:1000]
    assert "GUM" in head
    assert "CC BY 4.0" in head


@given(
    st.dictionaries(
        st.tuples(st.just("NP"), st.lists(SYMBOLS, min_size=1, max_size=4).map(tuple)), st.just(1)
    ),
    st.lists(SYMBOLS, min_size=1, max_size=3).map(tuple),
)
def test_insertions_are_exactly_what_makes_a_reference_production(
    counts: dict[Production, int], own: tuple[str, ...]
) -> None:
    found = Grammar(counts).insertions(("NP", own))
    made = {grown(("NP", own), insertion) for insertion in found}
    longer = {r for _, r in counts if len(r) == len(own) + 1 and subsequence(own, r)}
    words_alone = {r for r in longer if not counts or r.count("NP") == own.count("NP")}
    assert made == words_alone


def test_the_same_growth_in_two_places_is_two_insertions() -> None:
    found = Grammar({("NP", ("DT", "NN", "NN")): 3}).insertions(("NP", ("DT", "NN")))
    assert found == {(1, "NN"): 3, (2, "NN"): 3}


def test_only_words_of_letters_are_put_in() -> None:
    counts = {("S", ("NP", "VP", ".")): 1, ("S", ("NP", "HYPH", "VP")): 1, ("S", ("NP", "SBAR", "VP")): 1,
              ("SBAR", ("S",)): 1, ("S", ("NP", "RB", "VP")): 1}  # fmt: skip
    assert Grammar(counts).insertions(("S", ("NP", "VP"))) == {(1, "RB"): 1}


def test_another_left_hand_side_is_no_match() -> None:
    assert Grammar({("VP", ("DT", "NN")): 1}).insertions(("NP", ("DT",))) == {}


def test_a_learnt_grammar_reads_back(tmp_path: Path) -> None:
    trees = read(["( (S (NP-SBJ-1 (DT The) (NN cat)) (VP (VBZ sits) (NP (-NONE- *T*-1)))))"] * 2)
    learnt = grammar.learn(trees, "test")
    assert learnt.counts == {
        ("ROOT", ("S",)): 2,
        ("S", ("NP", "VP")): 2,
        ("NP", ("DT", "NN")): 2,
        ("VP", ("VBZ",)): 2,
    }
    file = tmp_path / "own.tsv"
    file.write_text("".join(grammar.to_tsv(learnt, ["a comment"])), encoding="utf-8")
    again = grammar.load(file)
    assert again.counts == learnt.counts
    assert again.digest == learnt.digest != BUNDLED.digest


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("NP\tDT NN\n", r"line 1: not a production"),
        ("# x\nNP\t\t3\n", r"line 2: not a production"),
        ("NP\tDT\tmany\n", r"line 1: not a production"),
        ("# x\n", r"no productions found"),
    ],
)
def test_a_wrong_table_is_named_with_the_line(tmp_path: Path, content: str, message: str) -> None:
    file = tmp_path / "own.tsv"
    file.write_text(content, encoding="utf-8")
    with pytest.raises(ConfigError, match=message) as raised:
        grammar.load(file)
    assert str(raised.value).startswith(str(file))


def test_a_treebank_is_found_by_its_files_and_its_faults_are_placed(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="this folder has no treebank"):
        list(grammar.treebank([tmp_path]))
    (tmp_path / "a.mrg").write_text("(S (NN a))\n", encoding="utf-8")
    (tmp_path / "b.ptb").write_text("(S (NN b))\n(S (NN", encoding="utf-8")
    with pytest.raises(ConfigError, match=r"b\.ptb: the end: 2 brackets are not closed"):
        list(grammar.treebank([tmp_path]))
    with pytest.raises(ConfigError, match=r"absent\.mrg: No such file"):
        list(grammar.treebank([tmp_path / "absent.mrg"]))
    with pytest.raises(ConfigError, match="no trees found"):
        grammar.learn([], "nothing")


def test_a_whole_treebank_is_learnt(shared_data: Path) -> None:
    learnt = grammar.learn(
        grammar.treebank([shared_data / "treebank" / "wsj_sample_combined.mrg.txt"]), "wsj"
    )
    assert sum(count for (left, _), count in learnt.counts.items() if left == "ROOT") == 3914
    assert learnt.counts["NP", ("DT", "NN")] > 2000
    assert not any("-NONE-" in right or "-" in left[1:] for left, right in learnt.counts)
