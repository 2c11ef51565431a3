"""Which sentences can follow "that", and which one *not* negates as a whole; read by the bundled parser."""

from __future__ import annotations

import pytest

from harness.language.parsers import CachedParser
from harness.suites.linguistic.clauses import (
    CLAIM,
    COPULA,
    NAMELESS,
    PLAIN,
    SINGULAR,
    STATEMENT,
    has_form,
    verb,
)


def holds(form: str, text: str, parser: CachedParser) -> bool:
    (parse,) = parser.parse([text])
    return has_form(form, text, parse)


@pytest.mark.parametrize(
    "text",
    [
        "The film never finds its feet.",
        "It's a mess from start to finish.",
        "This is a story told by people who love it.",
        "The people in the room laughed.",
        "Mr. Allen has made a comedy.",
        "This is such a lovely film.",
        "The people who came for the songs laughed.",
    ],
)
def test_statements(text: str, parser: CachedParser) -> None:
    assert holds(STATEMENT, text, parser)


@pytest.mark.parametrize(
    "text",
    [
        "A lovely film with lovely performances.",  # no verb
        "Go and see it.",  # a command
        "Why was this made?",  # a question
        "What a treat!",
        "I loved it.",  # not what others can think of
        "We are glad to have seen it.",
        "But it never starts.",
        "When it works, the film is lovely.",  # a comma before the verb
        "The film is lovely, but it is too long.",  # a contrast
        'The film is "lovely".',
        "The film -- a comedy -- is dull.",
        "My thoughts were elsewhere.",  # whose?
        "It wants to tweak them with a taste of humor.",
        "One-sided documentary offers explanations.",
        "The the film is lovely.",
        "It is as subtle as boldface.",
        "That's its first sign of trouble.",
        "The insight of Mr. MÃ¼nch is genuine.",  # UTF-8 read as Latin-1
        "Storytelling feels slight.",  # the capital of a common noun may be a title's
        "Bears is a bore of a film.",
        "Guys shoot a lot of bullets.",  # which?
        "The Sweetest Thing leaves a sour taste.",  # that of an article before a name, too
        "He has improved upon the first.",  # who?
        "She's a treasure to watch.",
        "A film that appears destined to become a landmark.",
        "A film about friendship that men can embrace.",
        "A backstage must-see for fans of comedy.",
        "Eight Legged Freaks falls flat as a spoof.",
        "A film determined to uncover the truth about oil.",
        "The filmmakers 'eye for detail is sharp.",
        "The film delivers on that promise.",  # which?
        "The film is that good.",
        "Ann and Ben are two such good actors.",
        "The big surprise almost saves the film.",  # it does not
        "Younger fans may be disappointed.",
        "It's good fun, if a bit slow at times.",
        "These people love the film.",
        "These are lives of quiet desperation.",
        "It's also stupider.",  # than what?
        "The second film is equally dull.",
        "It's the only good film of the year.",
        "Beckett applied to the voting process.",  # who applied, or what was?
        "The audience will limited to children.",
    ],
)
def test_what_cannot_follow_that(text: str, parser: CachedParser) -> None:
    assert not holds(STATEMENT, text, parser)


@pytest.mark.parametrize(
    ("text", "at"),
    [("The film is flat.", 9), ("It's a mess.", 2), ("Films are made of moments.", 6)],
)
def test_one_copula_and_where_it_is(text: str, at: int, parser: CachedParser) -> None:
    assert holds(COPULA, text, parser)
    (parse,) = parser.parse([text])
    found = verb(text, parse)
    assert found is not None
    assert found[0] == at


@pytest.mark.parametrize(
    "text",
    [
        "This is a good movie in spurts, but when it doesn't work, it's dull.",
        "It's just filler.",  # "isn't just filler" says something else
        "It's been two years since the war.",  # has
        "It's a cookie-cutter movie, a cut-and-paste job.",  # what follows the comma is not negated
        "There is a bad joke.",
        "The first film was vile enough.",
        "The problem is that it's dull.",
        "The movie is a mess from start to finish.",
        "The film fails.",
        "It is hard to imagine a worse film.",
    ],
)
def test_what_one_not_does_not_negate_as_a_whole(text: str, parser: CachedParser) -> None:
    assert not holds(COPULA, text, parser)


@pytest.mark.parametrize(
    ("text", "true"),
    [
        ("This is a story told by people who love it.", True),
        ("The film fails.", True),
        ("The plot is a mess, and the jokes are dull.", False),  # "no" may deny either
        ("The movie is a blast, as the songs escort you through it.", False),
        ("It's hard to believe something so flabby.", False),  # it is flabby
        ("The film may be dull.", False),
        ("The film is all menace.", False),
        ("It's the lovely cast that makes it good.", False),
        ("The first film was vile enough.", False),
        ("It's the worst film of the year.", False),  # it may be bad
        ("It's just a lovely film.", False),  # or more than that
        ("The plot is a mess, which is a pity.", False),  # "no" leaves it a pity
        ("The food was beyond dull.", False),
        ("The service was a little slow.", False),
    ],
)
def test_what_no_denies_as_a_whole(text: str, true: bool, parser: CachedParser) -> None:
    assert holds(CLAIM, text, parser) is true


def test_what_names_nobody(parser: CachedParser) -> None:
    assert holds(NAMELESS, "The film is lovely.", parser)
    assert not holds(NAMELESS, "Mr. Allen has made a comedy.", parser)


def test_what_it_can_stand_for(parser: CachedParser) -> None:
    assert holds(SINGULAR, "The film is lovely.", parser)
    assert holds(SINGULAR, "The food was lovely.", parser)
    assert not holds(SINGULAR, "The songs are lovely.", parser)
    assert not holds(SINGULAR, "The songs were lovely.", parser)
    assert not holds(SINGULAR, "Ann is a lovely singer.", parser)


def test_plain_is_words_and_commas_of_more_than_a_few_words(parser: CachedParser) -> None:
    assert holds(PLAIN, "A smart, compelling drama.", parser)
    assert not holds(PLAIN, "Big time.", parser)
    assert not holds(PLAIN, "But for the wrong reasons.", parser)
    assert not holds(PLAIN, "A drama (and more).", parser)
