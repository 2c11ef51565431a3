"""BiasFinder: bias-uncovering test cases from templates mined in real texts (Asyrofi et al. 2021)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from hashlib import sha256
from typing import TYPE_CHECKING

from harness.core import Case, Document, JsonObject, Outcome, Substitution, Tables, Verdict, canonical
from harness.core import Role as CaseRole
from harness.plugins import Figures, Nouns, Suite
from harness.suites.biasfinder import exhibits, filling, relation, templates
from harness.suites.biasfinder.fillers import PARTS, Casting, Role
from harness.suites.biasfinder.gender_nouns import GenderNouns
from harness.suites.biasfinder.sources import Given, Miner
from harness.suites.biasfinder.templates import Template

if TYPE_CHECKING:
    import polars as pl


@dataclass(frozen=True)
class BiasFinder(Suite):
    """The suite: its fields are its configuration.

    A group is a template: the original text, if there is one, to measure accuracy, and the mutants, which are
    compared with each other. Templates of a file need no documents.
    """

    name = "biasfinder"
    nouns = Nouns(case="mutant", source="template")

    source: Miner | Given
    casting: Casting
    gender_nouns: GenderNouns

    @property
    def makes_texts(self) -> bool:
        return isinstance(self.source, Given)

    @property
    def by_document(self) -> bool:
        return not self.makes_texts

    @property
    def identity(self) -> JsonObject:
        cast = {"gender": asdict(self.casting.gender), "country": asdict(self.casting.country)}
        words = canonical({**cast, "occupations": list(self.casting.occupations)})
        return {**self.source.identity, "words": sha256(words.encode("utf-8")).hexdigest()}

    @property
    def settings(self) -> JsonObject:
        """What the summary records about the mutants."""
        mined = self.source.characteristic if isinstance(self.source, Miner) else None
        return {
            "characteristic": mined,
            "names_a_class": len(self.casting.gender.male),
            "max_mutants": self.casting.limit,
        }

    def cases(self, documents: Iterator[Document]) -> Iterator[Case]:
        """Yield each template's original, then its mutants. The first case's traits hold the template."""
        for sourced in self.source.mine(documents):
            template = sourced.template
            noted = {"template": templates.write(template)}
            if (text := template.original) is not None:
                yield self._case(template, "0", "original", text, noted, sourced.labels)
                noted = {}
            for role in self.casting.roles(template):
                yield self._mutant(template, role, noted)
                noted = {}

    def judge(self, group: Sequence[Case], outcomes: Mapping[str, Outcome]) -> Iterator[Verdict]:
        mutants = [case for case in group if case.role == "variant"]
        if mutants:
            yield from relation.judge(mutants, outcomes, PARTS[mutants[0].traits["characteristic"]])

    def figures(self, tables: Tables) -> Figures:
        return exhibits.figures(tables)

    def extracts(self, tables: Tables) -> Mapping[str, pl.LazyFrame]:
        """Return ``templates``, one per row, in the written form that the suite also reads."""
        import polars as pl

        written = pl.col("traits").str.json_path_match("$.template")
        kinds = pl.col("traits").str.json_path_match("$.characteristic")
        first = tables.scan("cases").filter(pl.col("traits").str.contains('"template":', literal=True))
        mined = first.select(
            pl.col("group").alias("id"),
            "document",
            kinds.alias("characteristic"),
            written.alias("template"),
            "expected",
        )
        return {"templates": mined}

    def _mutant(self, template: Template, role: Role, noted: Mapping[str, str]) -> Case:
        person = role.person
        named = {"name": person.name} if person.name is not None else {}
        traits = {**noted, **role.classes, **named, "class": ", ".join(role.classes.values())}
        if template.characteristic == "country" and person.gender is not None:
            traits["gender"] = person.gender
        values = filling.values(template, person, self.gender_nouns)
        digest = sha256(canonical([role.classes, person.name]).encode("utf-8", "surrogatepass")).hexdigest()
        return self._case(
            template,
            digest[:12],
            "variant",
            templates.fill(template, values),
            traits,
            substitutions=tuple(_substitutions(template, values, role.classes)),
        )

    def _case(
        self,
        template: Template,
        digest: str,
        role: CaseRole,
        text: str,
        traits: Mapping[str, str],
        labels: frozenset[str] | None = None,
        substitutions: tuple[Substitution, ...] = (),
    ) -> Case:
        return Case(
            id=f"{template.id}#{digest}",
            group=template.id,
            document=template.document,
            role=role,
            text=text,
            substitutions=substitutions,
            traits={"characteristic": template.characteristic, **traits},
            expected=labels,
        )


def _substitutions(
    template: Template, values: Sequence[str], classes: Mapping[str, str]
) -> Iterator[Substitution]:
    """Yield what now stands for the person, by attribute: the first inserted words, apart from an article.

    The group that they enter is the person's class; that of the text's own person is not known.
    """
    for attribute in PARTS[template.characteristic]:
        for placeholder, value in zip(template.placeholders, values, strict=True):
            job = placeholder.kind == "occupation"
            if placeholder.kind != "det" and job == (attribute == "occupation"):
                had = placeholder.original
                source = f"<{placeholder.kind}>" if had is None else had
                yield Substitution(attribute, source, value, target_group=classes[attribute])
                break
