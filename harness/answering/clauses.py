"""Which clauses of an answer state a label, which deny it, and which only mention it.

The text comes with each label (or number) replaced by one character (``MARK`` and above). A clause states a
label if all its other words are of the closed list of ``words``, nothing in it denies the label, and what
leads up to it in its sentence is of that list, too. One pass over the text: the time is linear in its length.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from dataclasses import dataclass, field

from harness.answering import words as lists

MARK = 0xF0000
NONE = chr(0xFFFFD)
"""Stands for the words that say that no label applies."""
_MARKS = "[\U000f0000-\U000ffffd]"
_TOKEN = re.compile(
    rf"(?P<mark>{_MARKS})|(?P<word>\w+(?:'\w+)*)"
    rf"|(?P<end>[.!?…]+(?=[\"')\]]*(?:\s|$|{_MARKS}|[\u3040-\u9fff]))|\n+)"
    r"|(?P<gap>[;:()\[\]{}|—–=]|,(?!\d)|\s-+\s)"
)
_JOINING = "and or nor und oder et ou y o e ed i en и или as well"
_JOINERS = frozenset(_JOINING.split())
_AFTER = frozenset(["on", "for", "as", "in", "based", "star", "stars", "points"])
_SET_OFF = frozenset(":=|—–-(")
_OF_CASES = """
violation violations violated breach breached breaches infringed infringement convention protocol article
articles art arts court found finds respect conjunction read together has been there listed above
"""
_MORE = frozenset(_OF_CASES.split())


@dataclass(slots=True)
class Clause:
    """A part of a sentence: its tokens in order, how it is joined to what stands before, and what ends it."""

    tokens: list[str] = field(default_factory=list)
    joined: str = ""
    gap: str = ""
    languages: int = lists.EVERY
    prose: bool = False

    @property
    def unknown(self) -> bool:
        """Whether its words, denials apart, are not all in the list of one language."""
        return self.languages == 0

    @property
    def words(self) -> list[str]:
        """The words, without the marks."""
        return [token for token in self.tokens if not is_mark(token)]


@dataclass(frozen=True, slots=True)
class Statement:
    """Labels that a sentence states.

    ``cue``: it says that they are the answer; ``final``, the last one. ``opens``: it begins with them.
    """

    marks: frozenset[str]
    cue: bool = False
    final: bool = False
    opens: bool = False


@dataclass(slots=True)
class Stated:
    """What an answer states, and the labels that it mentions beside that without denying them.

    ``rivals`` are mentioned behind a cue with words that nobody knows: "Improved answer: Positive".
    """

    statements: list[Statement] = field(default_factory=list)
    mentioned: set[str] = field(default_factory=set)
    rivals: set[str] = field(default_factory=set)


@dataclass(frozen=True, slots=True)
class Grammar:
    """Reads the statements of a text; ``several`` labels may apply, ``small`` labels are also small words.

    With ``denying``, a label is itself a denial ("No, it is not."). ``more`` words may stand in a statement.
    """

    several: bool = False
    small: Collection[str] = ()
    denying: bool = False
    more: Collection[str] = ()

    def read(self, text: str) -> Stated:
        """Return what ``text``, in which marks stand for labels, states."""
        stated = Stated()
        listed: Statement | None = None
        for sentence, end in self._sentences(text):
            found = self._sentence(sentence, end, stated)
            if listed and found and not found.cue and found.opens and self.several:  # a list below its cue
                stated.statements[-1] = Statement(
                    stated.statements[-1].marks | found.marks, cue=True, final=listed.final
                )
                continue
            if listed and not listed.marks and found is None and sentence_is_empty(sentence):
                continue
            listed = found if found is not None and found.cue else None
            if found is not None:
                stated.statements.append(found)
        stated.statements = [statement for statement in stated.statements if statement.marks]
        return stated

    def _sentences(self, text: str) -> Iterator[tuple[list[Clause], str]]:
        """Yield the sentences, each as clauses, with what ends it."""
        sentence, clause = [], Clause()
        for token in _TOKEN.finditer(text):
            if token["mark"]:
                clause.tokens.append(token["mark"])
            elif token["word"]:
                word = token["word"].lower()
                kind = self._joint(word, clause)
                if kind and (clause.tokens or kind == "reason"):
                    sentence.append(clause)
                    clause = Clause(joined=kind)
                elif kind:
                    clause.joined = clause.joined or kind
                else:
                    clause.tokens.append(word)
                    if not lists.denying(word):
                        clause.languages &= self._languages(word)
                        clause.prose |= clause.unknown and not word.isdecimal()
            elif token["gap"]:
                clause.gap = token["gap"].strip()
                sentence.append(clause)
                clause = Clause()
            elif token["end"] == "\n" and clause.prose:  # a sentence goes on in the next line
                continue
            else:
                yield [*sentence, clause], token["end"]
                sentence, clause = [], Clause()
        yield [*sentence, clause], ""

    def _joint(self, word: str, clause: Clause) -> str:
        """Return how a word joins a new clause to the last one; "" for a word that does not."""
        if word == "except" and self.several:
            return "except"
        within = word in lists.CONCLUSIONS and clause.tokens
        return "" if within else lists.joining(word)

    def _languages(self, word: str) -> int:
        """Return the languages in which a word may stand in a statement."""
        own = word in lists.RETRACTIONS or word in self.more
        cases = self.several and (word in _MORE or word.isdecimal())
        return lists.EVERY if own or cases else lists.languages(word)

    def _sentence(self, clauses: list[Clause], end: str, stated: Stated) -> Statement | None:
        """Return what a sentence states; add to ``stated`` what it mentions, and clear what it takes back."""
        state = _State()
        first = next((clause.tokens[0] for clause in clauses if clause.tokens), "")
        state.led = first not in lists.QUESTIONS
        for clause in clauses:
            if not clause.unknown and any(word in lists.RETRACTIONS for word in clause.tokens):
                stated.statements.clear()
                state.take_back(state.marks)
            self._clause(clause, state)
            state.aside = clause.gap == "("
            if clause.gap == ";":
                state.led, state.cue, state.list_denied = True, False, False
                state.bare.clear()
        if "?" in end:
            return None
        stated.mentioned |= state.mentioned - state.marks
        stated.rivals |= state.rivals - state.marks
        if state.doubted and not state.marks and not state.mentioned and not self.several:
            stated.statements.clear()  # "Positive. Or maybe not."
            return None
        if not state.marks and not state.cued:
            return None
        return Statement(frozenset(state.marks), state.cued, state.final, state.opens)

    def _clause(self, clause: Clause, state: _State) -> None:
        affirmed, denied = self._split(clause)
        reason = clause.joined == "reason" or (state.reason and not clause.joined and clause.gap != ",")
        listed = all(word in _JOINERS for word in clause.words)
        if clause.joined == "turn":
            state.list_denied = False
        if clause.joined == "except" and NONE not in state.marks:
            affirmed, denied = set(), affirmed | denied
        if reason and not (affirmed and not clause.joined):
            state.reason = clause.gap not in (",", ";")
            state.bare.clear()
            return
        state.reason = False
        if affirmed and state.denied_from:
            return  # "Not violated: Article 6"
        if affirmed and listed and state.list_denied and not clause.joined:
            return  # "no violation of Article 3, Article 5 or Article 8"
        if affirmed and state.aside and state.marks and not listed:
            return  # "0.7 (7 of 10)"
        if (
            affirmed
            and not clause.unknown
            and (state.led or state.cue or clause.joined in ("turn", "except"))
        ):
            state.add(affirmed, clause, listed)
        elif affirmed:
            if listed and state.marks:  # "Negative, Neutral or Positive"
                state.take_back(state.marks)
            state.mentioned |= affirmed
            state.rivals |= affirmed if state.rival and listed else set()
            state.led = state.cue = False
        elif denied:
            self._deny(clause, state)
        elif clause.tokens:
            self._words(clause, state)
        elif clause.gap in _SET_OFF:
            state.cue = state.cue or state.cue_words

    def _split(self, clause: Clause) -> tuple[set[str], set[str]]:
        """Return the labels that a clause affirms, and those that it denies."""
        tokens = clause.tokens
        places = [i for i, token in enumerate(tokens) if is_mark(token) and self._stands(tokens, i)]
        no = next((i for i, token in enumerate(tokens) if not is_mark(token) and lists.denying(token)), None)
        if no is None:
            return {tokens[i] for i in places}, set()
        after = {tokens[i] for i in places if i > no}
        before = {tokens[i] for i in places if i < no}
        return (before, after) if after else (set(), before)

    def _stands(self, tokens: list[str], i: int) -> bool:
        """Return whether a label that is also a word stands at the end of its words, as labels do."""
        if tokens[i] not in self.small or i + 1 == len(tokens):
            return True
        return is_mark(tokens[i + 1]) or tokens[i + 1] in _JOINERS or tokens[i + 1] in _AFTER

    def _deny(self, clause: Clause, state: _State) -> None:
        # "Article 3, Article 5 and Article 8 were not violated"
        if is_mark(next(token for token in clause.tokens if token not in _JOINERS)):
            state.take_back(state.bare)
        state.list_denied = True
        state.bare.clear()

    def _words(self, clause: Clause, state: _State) -> None:
        """Heed a clause without a label: a cue, a lead-in, a doubt, or prose."""
        words = clause.words
        hedged = any(map(lists.doubting, words))
        denies = any(lists.denying(word) for word in words)
        if not hedged and not denies and not clause.unknown:
            state.cue_words = any(map(lists.cueing, words))
            state.led &= state.cue_words or clause.gap != ":" or not any(w in lists.INPUTS for w in words)
            state.cue = state.cue_words and clause.gap in _SET_OFF
            state.cue_final |= any(word in lists.FINAL for word in words)
            state.cued |= state.cue and clause.gap in (":", "=")
            return
        state.rival = any(map(lists.cueing, words)) and clause.gap in (":", "=")
        known = all(self._languages(w) or lists.doubting(w) or lists.denying(w) for w in words)
        doubts = hedged or (denies and known and not self.denying)
        if not state.marks:
            state.doubted |= doubts and known
        elif hedged or (doubts and not state.bare):
            state.take_back(state.marks)
        elif doubts:  # "Article 3: not violated"
            state.take_back(state.bare)
        state.denied_from |= denies and known and not state.marks and clause.gap in _SET_OFF
        if not state.aside:
            state.led = state.led and known and not hedged and clause.gap not in _SET_OFF
            state.cue = state.cue_words = False


@dataclass(slots=True)
class _State:
    """How far a sentence has been read."""

    marks: set[str] = field(default_factory=set)
    mentioned: set[str] = field(default_factory=set)
    rivals: set[str] = field(default_factory=set)
    rival: bool = False
    bare: set[str] = field(default_factory=set)
    led: bool = True
    cue: bool = False
    cue_words: bool = False
    cue_final: bool = False
    cued: bool = False
    final: bool = False
    opens: bool = False
    reason: bool = False
    list_denied: bool = False
    denied_from: bool = False
    doubted: bool = False
    aside: bool = False

    def add(self, marks: set[str], clause: Clause, listed: bool) -> None:
        """Add the labels that a clause states."""
        words = clause.words
        self.opens |= listed and not self.marks
        self.cued |= self.cue or any(map(lists.cueing, words))
        self.final |= self.cue_final or any(word in lists.FINAL for word in words)
        self.marks |= marks
        self.bare = self.bare | marks if listed else set(marks)

    def take_back(self, marks: set[str]) -> None:
        """Take back labels that the sentence has stated."""
        self.marks, self.bare = self.marks - marks, set()
        self.doubted = True


def is_mark(token: str) -> bool:
    """Return whether a token stands for a label."""
    return len(token) == 1 and ord(token) >= MARK


def sentence_is_empty(clauses: list[Clause]) -> bool:
    """Return whether a sentence has no words."""
    return not any(clause.tokens for clause in clauses)
