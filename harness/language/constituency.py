"""Constituency trees of texts, from Stanza or, without it, flat phrases projected from spaCy's dependencies.

Both yield one tree for each sentence, with Penn Treebank labels; leaves carry the character offsets of their
words.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from importlib.util import find_spec
from itertools import takewhile
from typing import TYPE_CHECKING

from harness.errors import ParserError
from harness.language.parsed_text import ParsedText
from harness.language.parsers import default_pipeline
from harness.language.parsers.loading import load_pipeline
from harness.language.parsers.stanza_parser import find_models
from harness.language.spacy_docs import reading
from harness.language.trees import ROOT, Tree, phrase

if TYPE_CHECKING:
    from stanza.models.common.doc import Sentence, Token, Word
    from stanza.models.constituency.parse_tree import Tree as StanzaTree

Trees = list[tuple[Tree, ...]]

KINDS = ("stanza", "flat")
UNREAD = ("ner", "lemmatizer", "attribute_ruler")
PROCESSORS = "tokenize,pos,constituency"
# Dependents that stay bare words if they have none themselves: the Treebank puts no phrase over them.
BARE = frozenset(
    [
        *("det", "predet", "amod", "nummod", "compound", "poss", "case", "aux", "auxpass", "neg", "cc"),
        *("mark", "prt", "punct", "expl", "quantmod", "nmod", "preconj"),
    ]
)
CLAUSES = frozenset(["relcl", "acl", "advcl", "ccomp", "xcomp", "csubj", "csubjpass", "pcomp"])
SUBJECTS = frozenset(["nsubj", "nsubjpass", "csubj", "csubjpass", "expl"])
AUXILIARIES = ("aux", "auxpass")
PHRASES = {
    "N": "NP",
    "P": "NP",
    "D": "NP",
    "C": "NP",
    "V": "VP",
    "M": "VP",
    "J": "ADJP",
    "R": "ADVP",
    "I": "PP",
    "W": "WHNP",
}
OTHER_PHRASES = {
    "TO": "PP",
    "CC": "X",
    "RP": "PRT",
    "PDT": "NP",
    "UH": "INTJ",
    "EX": "NP",
    "FW": "X",
    "IN": "PP",
}


class StanzaConstituency:
    """Stanza's constituency parser, over Stanza's own tokens and tags.

    ``chosen`` is a package, a folder of models, or empty for the default, as for ``StanzaParser``. Nothing is
    downloaded. Raises ``ParserError`` where the extra or its models are missing.
    """

    def __init__(self, chosen: str = "") -> None:
        if not find_spec("stanza"):
            raise ParserError("Stanza's trees need an extra: pip install 'hinter-harness[stanza]'")
        import stanza
        from stanza.pipeline.core import PipelineRequirementsException

        folder, package = find_models(chosen)
        try:
            self._pipeline = stanza.Pipeline(
                "en",
                dir=folder,
                package=package,
                processors=PROCESSORS,
                download_method=None,
                verbose=False,
            )
        except (OSError, ValueError, RuntimeError, PipelineRequirementsException) as error:
            reason = " ".join(str(error).split())[:200]
            raise ParserError(
                f"Stanza's {package} in {folder} has no usable constituency parser: {reason}"
            ) from error
        self.name = f"stanza constituency:{package} {stanza.__version__}"

    def trees(self, texts: Sequence[str]) -> Trees:
        """Return the trees of each text, one for each sentence."""
        documents = self._pipeline.bulk_process(list(texts)) if texts else []
        return [tuple(map(_stanza_tree, document.sentences)) for document in documents]


class FlatConstituency:
    """Phrases over the words that depend on a head, labelled by the head's part of speech.

    Raises ``ParserError`` where the spaCy pipeline does not load.
    """

    def __init__(self, pipeline: str | None = None) -> None:
        pipeline = pipeline or default_pipeline()
        self._nlp = load_pipeline(pipeline, UNREAD)
        self.name = f"flat phrases of spacy:{pipeline} {self._nlp.meta['version']}"

    def trees(self, texts: Sequence[str]) -> Trees:
        """Return the trees of each text, one for each sentence."""
        return [projected(reading(doc, doc.text, ())) for doc in self._nlp.pipe(texts)]


def load(kind: str | None = None) -> StanzaConstituency | FlatConstituency:
    """Load trees by ``stanza``, ``stanza:PACKAGE_OR_FOLDER``, ``flat`` or ``flat:PIPELINE``.

    With None, use Stanza where the extra and its models are installed, else flat phrases; the ``name`` of the
    result tells which. Raises ``ParserError``.
    """
    name, _, variant = (kind or "").partition(":")
    if name == "stanza":
        return StanzaConstituency(variant)
    if name == "flat":
        return FlatConstituency(variant or None)
    if name:
        raise ParserError(f"unknown kind of trees {kind!r}: use {' or '.join(KINDS)}")
    if find_spec("stanza"):
        try:
            return StanzaConstituency()
        except ParserError:
            pass  # the extra is installed without its models
    return FlatConstituency()


def projected(read: ParsedText) -> tuple[Tree, ...]:
    """Return one tree for each sentence of a dependency parse."""
    read = projective(read)
    roots = [i for i, token in enumerate(read.tokens) if token.head == i and token.tag != "_SP"]
    return tuple(phrase(ROOT, [_Projection(read).clause(root)]) for root in roots)


def projective(read: ParsedText) -> ParsedText:
    """Return ``read`` with each arc that crosses another lifted to the nearest head where it crosses none.

    A phrase is then a stretch of words, as a tree needs (Nivre and Nilsson 2005, "Pseudo-Projective
    Dependency Parsing", section 2). The shortest such arc is lifted first.
    """
    heads = [token.head for token in read.tokens]

    def below(index: int, head: int) -> bool:
        """Return whether the token at ``index`` is, or descends from, ``head``."""
        while index != head and heads[index] != index:
            index = heads[index]
        return index == head

    def crosses(index: int) -> bool:
        """Return whether the arc to the token at ``index`` crosses another."""
        head = heads[index]
        between = range(min(index, head) + 1, max(index, head))
        return heads[head] != head and not all(below(other, head) for other in between)

    for root in [index for index, head in enumerate(heads) if index == head]:
        sentence = sorted(read.subtree(root))
        while crossing := [index for index in sentence if crosses(index)]:
            shortest = min(crossing, key=lambda index: abs(index - heads[index]))
            heads[shortest] = heads[heads[shortest]]
    if heads == [token.head for token in read.tokens]:
        return read
    tokens = (replace(token, head=head) for token, head in zip(read.tokens, heads, strict=True))
    return ParsedText.of(read.text, tuple(tokens), read.named)


class _Projection:
    """Builds the phrases of one reading.

    A clause holds its subject side and its verb phrase. Auxiliaries nest; the core of a noun phrase becomes a
    phrase of its own before whatever follows it; closing punctuation belongs to the clause.
    """

    def __init__(self, read: ParsedText) -> None:
        self._read = read

    def clause(self, head: int) -> Tree:
        """Return the sentence or clause around ``head``: S over a verb, FRAG over anything else."""
        left, right = self._dependents(head)
        closing = self._closing(right)
        right = right[: len(right) - len(closing)]
        verbal = self._tag(head)[:1] in ("V", "M")
        subject = max((i for i, d in enumerate(left) if self._dep(d) in SUBJECTS), default=-1)
        opening = next((i for i, d in enumerate(left) if self._dep(d) not in ("cc", "punct")), len(left))
        before = max(subject + 1, opening) if verbal else opening
        inner = left[before:]
        core = self._verb_phrase(head, inner, right) if verbal else self._phrase(head, inner, right)
        outer = [self._child(d, head) for d in left[:before]]
        label = "S" if verbal else "FRAG"
        return phrase(label, [*outer, core, *(self._leaf(d) for d in closing)])

    def _child(self, index: int, head: int) -> Tree:
        token = self._read.tokens[index]
        left, right = self._dependents(index)
        if not left and not right:
            modifies_noun = token.dep == "advmod" and self._tag(head)[:1] not in ("V", "M")
            if token.dep in BARE or modifies_noun:
                return self._leaf(index)
        if token.dep in CLAUSES or (token.dep == "conj" and any(self._dep(d) in SUBJECTS for d in left)):
            return self._subordinate(index)
        if self._tag(index)[:1] in ("V", "M") and token.dep not in ("amod", "compound"):
            return self._verb_phrase(index, left, right)
        return self._phrase(index, left, right)

    def _subordinate(self, index: int) -> Tree:
        """Return a dependent clause: SBAR over its mark and an S, or a bare S without a mark."""
        whole = self.clause(index)
        marks = {self._read.tokens[d].start for d in self._read.children[index] if self._dep(d) == "mark"}
        first = whole.children[0]
        if len(whole.children) > 1 and not first.children and first.start in marks:
            return phrase("SBAR", [first, phrase(whole.label, whole.children[1:])])
        return whole

    def _verb_phrase(self, head: int, left: Sequence[int], right: Sequence[int]) -> Tree:
        """Return a verb phrase in which each auxiliary opens a VP that holds the next."""
        for at, index in enumerate(left):
            if self._dep(index) in AUXILIARIES and not self._read.children[index]:
                before = [self._child(d, head) for d in left[:at]]
                after = left[at + 1 :]
                negations = list(takewhile(lambda d: self._dep(d) == "neg", after))
                inside = [self._leaf(index), *(self._child(d, head) for d in negations)]
                return phrase(
                    "VP", [*before, *inside, self._verb_phrase(head, after[len(negations) :], right)]
                )
        words = [*(self._child(d, head) for d in left), self._leaf(head)]
        return phrase("VP", [*words, *(self._child(d, head) for d in right)])

    def _phrase(self, head: int, left: Sequence[int], right: Sequence[int]) -> Tree:
        label = _label(self._tag(head))
        core = [*(self._child(d, head) for d in left), self._leaf(head)]
        after = [self._child(d, head) for d in right]
        if label == "NP" and any(child.children for child in after):
            return phrase("NP", [phrase("NP", core), *after])
        return phrase(label, [*core, *after])

    def _closing(self, right: Sequence[int]) -> Sequence[int]:
        closing = list(takewhile(self._closes, reversed(right)))
        return closing[::-1]

    def _closes(self, index: int) -> bool:
        return self._dep(index) == "punct" and self._dependents(index) == ([], [])

    def _dependents(self, head: int) -> tuple[list[int], list[int]]:
        dependents = [d for d in self._read.children[head] if self._tag(d) != "_SP"]
        return [d for d in dependents if d < head], [d for d in dependents if d > head]

    def _leaf(self, index: int) -> Tree:
        token = self._read.tokens[index]
        return Tree(token.tag, (), token.start, token.end)

    def _tag(self, index: int) -> str:
        return self._read.tokens[index].tag

    def _dep(self, index: int) -> str:
        return self._read.tokens[index].dep


def _label(tag: str) -> str:
    return OTHER_PHRASES.get(tag) or PHRASES.get(tag[:1], "X")


def _stanza_tree(sentence: Sentence) -> Tree:
    """Convert Stanza's tree, adding word offsets; a word of a multi-word token takes the token's offsets."""
    spans = iter([_span(word, token) for token in sentence.tokens for word in token.words])
    return _with_offsets(sentence.constituency, spans)


def _span(word: Word, token: Token) -> tuple[int, int]:
    if word.start_char is None:
        return token.start_char, token.end_char
    return word.start_char, word.end_char


def _with_offsets(tree: StanzaTree, spans: Iterator[tuple[int, int]]) -> Tree:
    if tree.is_preterminal():
        return Tree(tree.label, (), *next(spans))
    return phrase(tree.label, [_with_offsets(child, spans) for child in tree.children])
