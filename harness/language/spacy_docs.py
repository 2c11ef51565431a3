"""Whole texts read by a full spaCy pipeline, with named entities: the input of coreference."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from itertools import groupby, islice
from typing import TYPE_CHECKING, cast

from harness.language.parsed_text import Named, ParsedText, Token
from harness.language.parsers import default_pipeline
from harness.language.parsers.loading import Pipeline
from harness.language.parsers.pipelines import READ_COMPONENTS
from harness.language.person_names import NAME_TAGS

if TYPE_CHECKING:
    from spacy.pipeline import TrainablePipe
    from spacy.tokens import Doc, Span

BATCH = 16  # texts, not sentences
OPENERS = frozenset("PRP PRP$ DT IN CC RB WRB WP WDT EX MD TO CD PDT".split())  # noqa: SIM905
UNREAD = ("lemmatizer", "attribute_ruler")
_CAPITALS = r"\b[^\W\d_a-z](?:['’]?[^\Wa-z])*\b"
_SHOUTED = re.compile(rf"{_CAPITALS}(?:[^\w<>]+{_CAPITALS}){{3,}}")
_GLUE = re.compile(r"<br ?/?>|(?<=[^\W\d_]{2})[()](?=[^\W\d_]{2})", re.IGNORECASE)
_WORD = re.compile(r"[^\W\d_](?:['’]?[^\W_])*")


class SpacyReader:
    """Reads texts in batches. Raises ``ParserError`` where the pipeline does not load or lacks a component.

    ``names``, in lower case, stay capitalised when a passage in ALL CAPS is lowered for the tagger, which
    would otherwise take every word of it for a name.
    """

    def __init__(self, pipeline: str | None = None, names: Collection[str] = frozenset()) -> None:
        self._pipeline = Pipeline(pipeline or default_pipeline(), UNREAD, READ_COMPONENTS | {"ner"})
        self._names = names
        self.name = self._pipeline.name

    def read(self, texts: Iterable[str]) -> Iterator[ParsedText]:
        """Yield the reading of each text, in order."""
        pairs = ((lowered(plain(text), self._names), text) for text in texts)
        docs = self._pipeline.nlp.pipe(pairs, as_tuples=True, batch_size=BATCH, disable=["ner"])
        while batch := list(islice(docs, BATCH)):
            for (doc, text), named in zip(batch, self._named([doc for doc, _ in batch]), strict=True):
                yield reading(doc, text, named)

    def _named(self, docs: Sequence[Doc]) -> list[list[Named]]:
        """Return the named entities of each of ``docs``, looked for where a sentence may have a name.

        Half the sentences of reviews have none, and the recogniser takes longer than tagger and parser.
        """
        passages = [(i, start, end) for i, doc in enumerate(docs) for start, end in _with_names(doc)]
        named: list[list[Named]] = [[] for _ in docs]
        recogniser = cast("TrainablePipe", self._pipeline.nlp.get_pipe("ner"))
        recognised = recogniser.pipe(docs[i][a:b].as_doc() for i, a, b in passages)
        for (i, start, _), passage in zip(passages, recognised, strict=True):
            named[i] += entities(passage, start)
        return named


def _with_names(doc: Doc) -> Iterator[tuple[int, int]]:
    """Yield the token ranges of neighbouring sentences that may have a name."""
    for named, neighbours in groupby(doc.sents, _may_name):
        if named:
            sentences = list(neighbours)
            yield sentences[0].start, sentences[-1].end


def _may_name(sentence: Span) -> bool:
    """Return whether a sentence may have a name.

    It is tagged as a proper noun, has a capital in mid-sentence, or opens the sentence in place of one of the
    words that open most (*The*, *He*, *But*).
    """
    return any(
        token.tag_ in NAME_TAGS
        or (token.is_title and len(token) > 1 and (token.i > sentence.start or token.tag_ not in OPENERS))
        for token in sentence
    )


def entities(doc: Doc, offset: int = 0) -> list[Named]:
    """Return the named entities of ``doc``, whose first token is at ``offset`` in the text."""
    return [Named(entity.start + offset, entity.end + offset, entity.label_) for entity in doc.ents]


def reading(doc: Doc, text: str, named: Sequence[Named]) -> ParsedText:
    """Convert a parsed ``Doc`` to a ``ParsedText`` of ``text``, which has the same word boundaries."""
    tokens: list[Token] = []
    sentence = -1
    for token in doc:
        sentence += bool(token.is_sent_start) or not tokens
        tokens.append(
            Token(token.idx, token.idx + len(token), token.tag_, token.dep_, token.head.i, sentence)
        )
    return ParsedText.of(text, tuple(tokens), tuple(named))


def plain(text: str) -> str:
    """Return ``text`` with spaces in place of what glues words together: *<br />His*, *story(Nash*."""
    return _GLUE.sub(lambda tag: " " * len(tag[0]), text)


def lowered(text: str, names: Collection[str]) -> str:
    """Lower passages of four or more words in ALL CAPS.

    The first letters of sentences and of ``names`` stay capital. The result has the length of ``text``.
    """

    def passage(match: re.Match[str]) -> str:
        """Lower a match of four or more words in capitals; return any other unchanged."""
        if sum(len(word) > 1 for word in _WORD.findall(match[0])) < 4 or not match[0].isupper():
            return match[0]
        return _WORD.sub(lambda word: _lower(word, match[0], names), match[0])

    changed = _SHOUTED.sub(passage, text)
    return changed if len(changed) == len(text) else text


def _lower(word: re.Match[str], passage: str, names: Collection[str]) -> str:
    low = word[0].lower()
    first = re.search(r"(?:^|[.!?]\W*)$", passage[: word.start()]) is not None
    bare = re.sub(r"['’]s$", "", low)
    return low[:1].upper() + low[1:] if first or low == "i" or bare in names else low
