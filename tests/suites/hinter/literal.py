"""HINTER's Algorithms 1 to 4 as the paper writes them, slow and without any thought for it.

Names and order of lines are the paper's. What the paper leaves open is kept as simple as can be: terms
are replaced as plain text (``str.replace``), sentences are split by the same splitter as elsewhere, and
every sentence of every mutant is parsed, one at a time, each time it is met.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise

from harness.language.parsers import Parse, Parser

Pairs = Sequence[tuple[str, str]]


def algorithm_1(c: str, P_1: Pairs, P_2: Pairs) -> Iterator[tuple[str, str, str]]:
    """Lines 10 to 18: the two atomic mutants and the intersectional one of each two pairs that apply."""
    for p_1 in P_1:
        for p_2 in P_2:
            if p_1[0] in c and p_2[0] in c:
                t_1 = c.replace(p_1[0], p_1[1])
                t_2 = c.replace(p_2[0], p_2[1])
                m = t_1.replace(p_2[0], p_2[1])
                yield (t_1, t_2, m)


def algorithm_2(c: str, P: Pairs) -> Iterator[str]:
    """Lines 3 to 5: the atomic mutants."""
    for p in P:
        if p[0] in c:
            yield c.replace(p[0], p[1])


def inv_check(parser: Parser, c: str, m: str) -> str | None:
    """Algorithm 3, with the reason in place of false, and None in place of true."""
    cs, ms = sentence_split(parser, c), sentence_split(parser, m)
    if len(cs) != len(ms):
        return "sentences"
    for i in range(len(cs)):
        cdt, mdt = dependency_tree(parser, cs[i]), dependency_tree(parser, ms[i])
        if not tolerant_table_comp(cdt.pos, mdt.pos):
            return "pos"
        if not tolerant_table_comp(cdt.dep, mdt.dep):
            return "dependency"
    return None


def sentence_split(parser: Parser, text: str) -> list[str]:
    spans = parser.split(text).spans
    assert all(a[1] <= b[0] for a, b in pairwise(spans))
    return [text[start:end] for start, end in spans]


def dependency_tree(parser: Parser, sentence: str) -> Parse:
    (parse,) = parser.parse([sentence])
    return parse


def errors(s1: Sequence[str], s2: Sequence[str]) -> int:
    """Algorithm 4 up to line 20, over iterators: how many errors it counts."""
    longer, shorter = (list(s1), list(s2)) if len(s1) > len(s2) else (list(s2), list(s1))
    shifts = len(longer) - len(shorter)
    error = 0
    while longer and shorter:
        if longer.pop(0) != shorter.pop(0):
            error += 1
            if shifts > 0:
                shifts -= 1
                longer = longer[1:]
    return error + len(longer) + len(shorter)


def tolerant_table_comp(s1: Sequence[str], s2: Sequence[str]) -> bool:
    """Algorithm 4, line 21."""
    return errors(s1, s2) <= abs(len(s1) - len(s2))
