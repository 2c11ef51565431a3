"""Templates: a text with typed placeholders (BiasFinder, section 3.1), and its written form.

In writing, a placeholder is ``<kind>`` or ``<kind=original text>``; ``\\<`` is a literal ``<``, ``\\\\`` a
backslash, and ``\\n`` a line break. Anything that does not look like a placeholder (``<br />``, ``<3``) is
literal text. A file of templates has one per line; empty lines and lines that begin with ``#`` are skipped.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal, get_args

from harness.core import Document, Span
from harness.errors import TemplateError
from harness.language.surface import begins_sentence

Characteristic = Literal["gender", "occupation", "country", "gender+occupation"]
Kind = Literal[
    "name",  # a person's name, of the mutant's gender
    "pro-spp",  # he, she
    "pro-opp",  # him, her
    "pro-pp",  # his, her
    "pro-ap",  # his, hers: the possessive on its own (the paper does not distinguish it)
    "pro-rp",  # himself, herself
    "gaw",  # a gender noun in the singular
    "gaw-pl",  # … in the plural
    "title",  # Mr., Ms.
    "det",  # the indefinite article before an occupation or a gender noun
    "occupation",
    "male",  # a man's name, of a country
    "female",  # a woman's name, of a country
]
KINDS: tuple[Kind, ...] = get_args(Kind)
GENDERS: tuple[Literal["male"], Literal["female"]] = ("male", "female")
COUNTRY_KINDS = frozenset(GENDERS)
GENDER_KINDS = frozenset(KINDS) - COUNTRY_KINDS - {"det", "occupation"}
ARTICLE_BEARERS = frozenset({"occupation", "gaw", "gaw-pl"})

Reason = Literal[
    "no-person",
    "two-persons",
    "unclear",  # the references disagree, or one is not to a person
    "gendered-word",  # a gendered word would stay unchanged
    "no-name",
    "no-pronoun",
    "no-occupation",
    "other-worker",  # the occupation is not that of the gendered person
    "not-a-person",  # the occupation's word names no person
    "maker",  # the occupation may be that of who made the work reviewed
    "joined",  # the occupation is tied to other words: co-writer, director/writer
    "complement",  # what follows fits this occupation alone: the writer of three novels
    "word-left",  # the occupation's word would stay elsewhere
    "other-title",  # a title says a profession or a rank, too
    "overlap",
]

_PLACEHOLDER = re.compile(r"\\(.)|<([a-zA-Z][\w-]*)(?:=((?:\\.|[^<>\\])*))?>", re.S)


@dataclass(frozen=True, slots=True)
class Refusal:
    """The reason why a text has no template; ``detail`` quotes the words responsible."""

    reason: Reason
    detail: str = ""


@dataclass(frozen=True, slots=True)
class Placeholder:
    """A typed gap; ``original`` is the text it replaces, None in a template written by hand."""

    kind: Kind
    original: str | None = None


@dataclass(frozen=True, slots=True)
class Template:
    """A text with placeholders.

    ``literals`` are the unchanged stretches around the placeholders, one more than there are placeholders.
    """

    document: str
    characteristic: Characteristic
    literals: tuple[str, ...]
    placeholders: tuple[Placeholder, ...]
    id: str = field(init=False)

    def __post_init__(self) -> None:
        if len(self.literals) != len(self.placeholders) + 1:
            raise ValueError("a template has one more literal than placeholders")
        key = "\0".join((self.document, self.characteristic, write(self)))
        digest = hashlib.sha256(key.encode("utf-8", "surrogatepass")).hexdigest()
        object.__setattr__(self, "id", digest[:12])

    @property
    def original(self) -> str | None:
        """The text the template was mined from, None if it was written by hand."""
        values = [p.original for p in self.placeholders if p.original is not None]
        return fill(self, values) if len(values) == len(self.placeholders) else None

    @property
    def spans(self) -> tuple[Span, ...]:
        """The spans of the placeholders in the original text, empty for those without an original."""
        spans: list[Span] = []
        at = 0
        for literal, placeholder in zip(self.literals, self.placeholders, strict=False):
            start = at + len(literal)
            at = start + len(placeholder.original or "")
            spans.append((start, at))
        return tuple(spans)

    def begins_sentence(self, index: int) -> bool:
        """Return whether placeholder ``index`` begins a sentence."""
        before = "".join(
            literal + (p.original or "x")
            for literal, p in zip(self.literals[:index], self.placeholders[:index], strict=True)
        )
        before += self.literals[index]
        return begins_sentence(before, len(before))


@dataclass(frozen=True, slots=True, order=True)
class Slot:
    """A placeholder for ``text[start:end]`` of a document."""

    start: int
    end: int
    kind: Kind


def cut(document: Document, characteristic: Characteristic, slots: Sequence[Slot]) -> Template | Refusal:
    """Return the template of a text with ``slots`` cut out, or a refusal if they overlap."""
    text = document.text
    literals: list[str] = []
    placeholders: list[Placeholder] = []
    at = 0
    for slot in sorted(set(slots)):
        if slot.start < at:
            return Refusal("overlap", text[slot.start : slot.end])
        literals.append(text[at : slot.start])
        placeholders.append(Placeholder(slot.kind, text[slot.start : slot.end]))
        at = slot.end
    return Template(document.id, characteristic, (*literals, text[at:]), tuple(placeholders))


def fill(template: Template, values: Sequence[str]) -> str:
    """Return the text with ``values`` in place of the placeholders, in order.

    The original's values give the original text. Raises ``ValueError`` if there is not one value per
    placeholder.
    """
    if len(values) != len(template.placeholders):
        raise ValueError(f"{len(template.placeholders)} placeholders and {len(values)} values")
    parts = [template.literals[0]]
    for value, literal in zip(values, template.literals[1:], strict=True):
        parts += (value, literal)
    return "".join(parts)


def combine(gender: Template, occupation: Template) -> Template | Refusal:
    """Return a template with the placeholders of two templates of one text, for intersections.

    Raises ``ValueError`` if they are not mined from the same text.
    """
    text = gender.original
    if text is None or text != occupation.original or gender.document != occupation.document:
        raise ValueError("only templates mined from the same text can be combined")
    slots = [
        Slot(*span, placeholder.kind)
        for template in (gender, occupation)
        for span, placeholder in zip(template.spans, template.placeholders, strict=True)
    ]
    return cut(Document(gender.document, text), "gender+occupation", slots)


def write(template: Template, originals: bool = True) -> str:
    """Return the written form of a template; without ``originals``, as the paper prints it."""
    parts = [_escaped(template.literals[0])]
    for placeholder, literal in zip(template.placeholders, template.literals[1:], strict=True):
        had = placeholder.original if originals else None
        value = "" if had is None else "=" + re.sub(r"[\\<>]", r"\\\g<0>", had).replace("\n", r"\n")
        parts += (f"<{placeholder.kind}{value}>", _escaped(literal))
    written = "".join(parts)
    return f"\\{written}" if written.startswith("#") else written


def _escaped(literal: str) -> str:
    plain = literal.replace("\\", "\\\\").replace("\n", r"\n")
    return re.sub(r"<(?=[a-zA-Z][\w-]*[>=])", r"\\<", plain)


def parse(written: str, document: str = "", where: str = "template") -> Template:
    """Parse a template's written form. Raises ``TemplateError`` naming ``where`` and the placeholder."""
    literals: list[str] = [""]
    placeholders: list[Placeholder] = []
    at = 0
    for match in _PLACEHOLDER.finditer(written):
        literals[-1] += written[at : match.start()]
        at = match.end()
        if match[1]:
            literals[-1] += _unescaped(match[0])
            continue
        placeholders.append(_placeholder(match, where))
        literals.append("")
    literals[-1] += written[at:]
    characteristic = _characteristic(placeholders, where)
    _check_articles(literals, placeholders, where)
    return Template(document, characteristic, tuple(literals), tuple(placeholders))


def _placeholder(match: re.Match[str], where: str) -> Placeholder:
    for kind in KINDS:
        if kind == match[2]:
            return Placeholder(kind, None if match[3] is None else _unescaped(match[3]))
    raise TemplateError(
        f"{where}: unknown placeholder <{match[2]}>: use {', '.join(KINDS)}, "
        f"or write \\<{match[2]}> for literal text"
    )


def _unescaped(text: str) -> str:
    return re.sub(r"\\(.)", lambda m: "\n" if m[1] == "n" else m[1], text, flags=re.S)


def _characteristic(placeholders: Sequence[Placeholder], where: str) -> Characteristic:
    kinds = {p.kind for p in placeholders}
    if not kinds - {"det"}:
        raise TemplateError(f"{where}: no placeholder: a template needs at least one, such as <name>")
    gender, country, occupation = kinds & GENDER_KINDS, kinds & COUNTRY_KINDS, "occupation" in kinds
    if country and (gender or occupation or len(country) > 1):
        other = sorted(kinds - {min(country)})[0]
        raise TemplateError(f"{where}: <{min(country)}> cannot be combined with <{other}>")
    if country:
        return "country"
    if gender and occupation:
        return "gender+occupation"
    return "gender" if gender else "occupation"


def _check_articles(literals: Sequence[str], placeholders: Sequence[Placeholder], where: str) -> None:
    for index, placeholder in enumerate(placeholders):
        if placeholder.kind == "det" and not (
            index + 1 < len(placeholders)
            and placeholders[index + 1].kind in ARTICLE_BEARERS
            and not literals[index + 1].strip(" \t\n\"'“‘(")
        ):
            raise TemplateError(f"{where}: <det> must come directly before <occupation>, <gaw> or <gaw-pl>")


def read(path: str | Path) -> Iterator[Template]:
    """Yield the templates of a file, one per line. Raises ``TemplateError`` naming file and line."""
    try:
        lines = Path(path).read_text(encoding="utf-8").split("\n")
    except OSError as error:
        raise TemplateError(f"{path}: {error.strerror or error}") from error
    except UnicodeDecodeError as error:
        raise TemplateError(f"{path}: not UTF-8 at byte {error.start}") from error
    for number, line in enumerate(lines, 1):
        if line.strip() and not line.startswith("#"):
            yield parse(line, f"line {number}", f"{path}, line {number}")
