"""The form of a sentence: whether it can follow *that*, and whether one *not* negates all of it.

Read from parts of speech and dependency labels alone, of spaCy or of Universal Dependencies.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import pairwise

from harness.core import Span
from harness.language.parse import Parse
from harness.suites.linguistic.sentiment import NAMES

PLAIN, STATEMENT, NAMELESS, SINGULAR = "plain", "statement", "nameless", "singular"
CLAIM, COPULA = "claim", "copula"
FORMS = (PLAIN, STATEMENT, NAMELESS, SINGULAR, CLAIM, COPULA)
NEGATIONS = frozenset(
    [
        *("not", "no", "never", "none", "nothing", "nobody", "nowhere", "neither", "nor", "cannot"),
        *("n't", "n’t", "hardly", "barely", "scarcely", "rarely", "seldom", "without"),
    ]
)
FINITE = ("VBZ", "VBP", "VBD", "MD")
OPENING = ("DT", "PDT", "PRP", "PRP$", "NNP", "NNPS", "CD")
COMMON = ("NN", "NNS", "JJ", "JJR", "JJS")
OWNERS = ("PRP$", "POS")
SUPERLATIVES = frozenset(["JJS", "RBS"])
SUBJECTS = ("nsubj", "csubj", "expl")
RELATIVE = ("WDT", "WP")
CARRIERS = ("root", "aux", "auxpass", "cop", "aux:pass")
COPULAS = ("root", "auxpass", "cop", "aux:pass")
FORMS_OF_BE = {"is": "is", "are": "are", "was": "was", "were": "were", "'s": "is", "’s": "is", "'re": "are",
               "’re": "are"}  # fmt: skip
CONTRASTS = frozenset(
    [
        *("also", "but", "though", "although", "however", "yet", "while", "whereas", "except", "unless"),
        *("equally", "than"),
    ]
)
HEDGES = frozenset(
    [
        *("only", "almost", "nearly", "virtually", "somewhat", "fairly", "mildly", "kind", "sort"),
        *("maybe", "perhaps", "possibly", "probably", "may", "might", "could", "would", "if"),
    ]
)
"""What takes some of a statement back: "almost saves the movie", "it would seem"."""
QUALIFYING = CONTRASTS | HEDGES
POINTING = frozenset(["that", "these", "those"])
AFTER_SUCH = frozenset(["a", "an", "as", "that"])
"""One of them follows *such* where it does not point to another sentence: "two such actors"."""
LEAST = 4
LIMITS = frozenset(
    [
        *("beyond", "bit", "enough", "just", "quite", "so", "too", "always", "often", "uniformly"),
        *("all", "both", "each", "entire", "every", "everyone", "everything", "finish", "whole"),
    ]
)
"""What bounds a degree or an extent: "bad enough", "a mess from start to finish"."""
UNNAMED = frozenset(
    [
        *("i", "me", "my", "mine", "myself", "we", "us", "our", "ours", "ourselves"),
        *("they", "them", "their", "theirs", "themselves"),
    ]
)
"""Who a sentence by itself does not name, and who, after *they think that*, may be another."""
KEEPS_CAPITAL = re.compile(r"(?:I|[^\W\d_]*[^\W\d_a-z][^\W\d_]*[^\W\d_a-z][^\W\d_]*)\b|.[A-Z]")
"""The first word of a sentence that has its capitals within one, too: *I* and acronyms."""
_PERSON = re.compile(r"s?he\b", re.IGNORECASE)
# "MÃ¼nch": UTF-8 read as Latin-1.
_PLAIN = re.compile(
    r"(?!.*[ÂÃ])(?:[\w&%$,]|(?<=\w)['’]|(?<=\w)-(?=\w)|(?<=\b[A-Z])\.|(?<=Mr)\.|(?<=Ms)\.|(?<=Mrs)\.|\s)+[.!]?"
)


def has_form(form: str, text: str, parse: Parse) -> bool:
    """Return whether the sentence ``text`` has the ``form``, one of ``FORMS``."""
    if form == PLAIN:
        return _is_plain(text, parse)
    if form == COPULA:
        return _one_copula(text, parse)
    found = verb(text, parse) if _may_follow(text, parse) else None
    if found is None or form == STATEMENT:
        return found is not None
    if form == CLAIM:
        return _one_claim(text, parse)
    if not {*NAMES}.isdisjoint(parse.pos):
        return False
    return form == NAMELESS or parse.tag_at(found[0]) == "VBZ" or text[slice(*found)].lower() == "was"


def _is_plain(text: str, parse: Parse) -> bool:
    """Return whether the text is words and commas, without contrasts or hedges, and begins as phrases do."""
    if not _PLAIN.fullmatch(text) or len(parse.pos) < LEAST or parse.pos[0] not in OPENING + COMMON:
        return False
    return QUALIFYING.isdisjoint(_tokens(text, parse))


def _may_follow(text: str, parse: Parse) -> bool:
    """Return whether the capital of a sentence can go, and what *he* or *she* stands for is not left open.

    The capital of a common noun may be that of a title ("Bears is a bore"), and so may that of a word before
    another capital ("The Sweetest Thing", "Eight Legged Freaks").
    """
    first, second, *_ = *text.split(), "", ""
    opens = parse.pos[:1] != () and parse.pos[0] in OPENING
    titled = second[:1].isupper() and parse.pos[0] not in NAMES
    return opens and not titled and "-" not in first and not _PERSON.match(first)


def verb(text: str, parse: Parse) -> Span | None:
    """Return where the finite verb of a statement is, None if ``text`` is not one.

    A statement is a whole sentence without quotations, brackets, dashes, contrasts, hedges and the like, that
    begins with its subject, names whom it is about, and has no comma before its verb.
    """
    if not _is_plain(text, parse):
        return None
    tokens = _tokens(text, parse)
    doubled = any(one == other for one, other in pairwise(tokens))
    if doubled or tokens.count("as") > 1 or _points_elsewhere(tokens, parse):
        return None  # "as subtle as boldface"
    found = _finite(tokens, parse)
    return None if found is None else spans(text, parse)[found]


def _points_elsewhere(tokens: Sequence[str], parse: Parse) -> bool:
    """Return whether a word stands for what another sentence says: "it delivers on that promise", "my"."""
    pointing = any(
        tokens[at] in POINTING and tag in ("DT", "RB") and following not in FINITE
        for at, (tag, following) in enumerate(pairwise(parse.pos))
    )
    such = "such" in tokens and AFTER_SUCH.isdisjoint(tokens[tokens.index("such") :])
    subject = tokens[0] in POINTING and parse.dep[0].lower().startswith(SUBJECTS)
    return pointing or such or subject or not UNNAMED.isdisjoint(tokens)


def _finite(tokens: Sequence[str], parse: Parse) -> int | None:
    """Return the index of the finite verb of the main clause, None if there is none or a comma before it.

    What may be a participle is none: "a film determined to …", "Beckett applied to …".
    """
    labels = [label.lower() for label in parse.dep]
    subject = next((at for at, label in enumerate(labels) if label.startswith(SUBJECTS)), len(labels))
    carriers = (at for at, label in enumerate(labels) if label in CARRIERS and parse.pos[at] in FINITE)
    found = next((at for at in carriers if at > subject), None)
    if found is None or labels.count("root") != 1 or found > labels.index("root") or "," in tokens[:found]:
        return None
    relatives = sum(tag in RELATIVE for tag in parse.pos[:found]) + tokens[:found].count("that")
    if relatives > sum(tag in FINITE for tag in parse.pos[:found]):  # "A film that appears", "that men can"
        return None
    tag, *behind = parse.pos[found:]
    participle = tokens[found].endswith("ed") and (tokens[0] in ("a", "an") or behind[:1] in (["IN"], ["TO"]))
    if (
        (tag == "VBD" and participle)
        or (tag == "MD" and "VB" not in behind)
        or tokens[found + 1 :][:1] == ["-"]
    ):
        return None  # "a must-see"
    return found


def _one_claim(text: str, parse: Parse) -> bool:
    """Return whether the statement is of one clause, but for relative ones, and asserts all that it says.

    What follows ", which" or "it is hard to" or "it is the cast that" is not asserted, "not bad enough"
    presupposes what "not bad" denies, and what is not always, not all or not the worst may be bad.
    """
    tokens = _tokens(text, parse)
    finite = sum(tag in FINITE and before not in RELATIVE for before, tag in pairwise(("", *parse.pos)))
    cleft = tokens[0] == "it" and ("TO" in parse.pos[:5] or not {*RELATIVE}.isdisjoint(parse.pos))
    aside = any(word == "," and tag in RELATIVE for word, tag in zip(tokens, parse.pos[1:], strict=False))
    return finite == 1 and not cleft and not aside and not _limited(tokens, parse)


def _limited(tokens: Sequence[str], parse: Parse) -> bool:
    """Return whether denying the sentence may deny no more than a degree or a rank."""
    little = ("a", "little") in pairwise(tokens)  # "not a little slow" is very slow
    return little or not LIMITS.isdisjoint(tokens) or not SUPERLATIVES.isdisjoint(parse.pos)


def _one_copula(text: str, parse: Parse) -> bool:
    """Return whether the statement has one finite verb, a form of *be*, that no adverb follows.

    *Not* after that verb negates the whole sentence ("It's just filler" would become "It isn't just filler",
    which says something else), and no second clause, apposition or infinitive keeps what it says.
    """
    if verb(text, parse) is None:
        return False
    tokens = _tokens(text, parse)
    finite = [at for at, tag in enumerate(parse.pos) if tag in FINITE]
    subjects = sum(label.lower().startswith(SUBJECTS) for label in parse.dep)
    if len(finite) != 1 or subjects != 1 or "," in tokens or _limited(tokens, parse):
        return False
    if not {"EX", "TO"}.isdisjoint(parse.pos):
        return False
    (at,) = finite
    after = parse.pos[at + 1 : at + 2]
    clitic = tokens[at] not in ("is", "are", "was", "were")
    return (
        tokens[at] in FORMS_OF_BE
        and parse.dep[at].lower() in COPULAS
        and after not in ((), ("RB",))
        and not (clitic and after == ("VBN",))  # "It's been": has
        and tokens[at + 1] != "that"
    )


def within(sentence: str, *, named: bool) -> str:
    """Return the sentence as it is written within another: its capital stays only in names and acronyms."""
    keeps = named or KEEPS_CAPITAL.match(sentence)
    return sentence if keeps else sentence[:1].lower() + sentence[1:]


def spans(text: str, parse: Parse) -> list[Span]:
    """Return the characters of each token, without white space."""
    ends = (*parse.offsets[1:], len(text))
    return [(at, at + len(text[at:end].rstrip())) for at, end in zip(parse.offsets, ends, strict=True)]


def _tokens(text: str, parse: Parse) -> list[str]:
    return [text[start:end].lower() for start, end in spans(text, parse)]
