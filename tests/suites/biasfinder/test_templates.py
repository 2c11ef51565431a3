"""Templates from texts, their written form, and what fills them: the paper's figures and examples."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.core import Document
from harness.errors import TemplateError
from harness.suites.biasfinder import country, filling, gender, occupation, templates
from harness.suites.biasfinder.filling import Person
from harness.suites.biasfinder.sources import Miner
from harness.suites.biasfinder.templates import Placeholder, Refusal, Template
from tests.suites.biasfinder.resolved import JOBS, NOUNS, resolved, resolver

EXAMPLES: list[dict[str, Any]] = tomllib.loads(
    Path(__file__).with_name("examples.toml").read_text(encoding="utf-8")
)["example"]
WOMAN = Person("female", "Julia", "editor")
MAN = Person("male", "Peter", "nurse")


def mined(characteristic: str, text: str) -> Template | Refusal:
    document, resolution = resolved(text)
    if characteristic == "gender":
        return gender.template(document, resolution, NOUNS)
    if characteristic == "occupation":
        return occupation.template(document, resolution, JOBS)
    if characteristic == "country":
        return country.template(document, resolution, NOUNS)
    one, other = mined("gender", text), mined("occupation", text)
    assert isinstance(one, Template)
    assert isinstance(other, Template)
    return templates.combine(one, other)


def shown(found: Template | Refusal) -> str:
    return templates.write(found, originals=False) if isinstance(found, Template) else f"!{found.reason}"


def template(text: str, characteristic: str = "gender") -> Template:
    found = mined(characteristic, text)
    assert isinstance(found, Template), found
    return found


def example_parameters() -> list[Any]:
    return [
        pytest.param(
            example["text"],
            key,
            example[key],
            id=f"{key}-{example['text'][:40]}",
            marks=[pytest.mark.xfail(reason=example["why"], strict=True)]
            if key in example.get("fails", ())
            else [],
        )
        for example in EXAMPLES
        for key in ("gender", "occupation", "country", "both")
        if key in example
    ]


@pytest.mark.parametrize(("text", "characteristic", "expected"), example_parameters())
def test_a_sentence_gives_its_template_or_the_reason_for_none(
    text: str, characteristic: str, expected: str
) -> None:
    found = mined(characteristic, text)
    assert shown(found) == expected
    if isinstance(found, Template):
        assert found.original == text
        assert templates.parse(templates.write(found), "d").original == text


FIGURES = [
    (
        "gender",
        "It seems that Jake with all his knowledge of the great outdoors didn't realize the danger! "
        "He enters a mine shaft",
        "It seems that <name> with all <pro-pp> knowledge of the great outdoors didn't realize the danger! "
        "<pro-spp> enters a mine shaft",
    ),
    (
        "gender",
        "'Never Been Kissed' is a real feel good film. Drew Barrymore is excellent again, she plays her part "
        "well.",
        "'Never Been Kissed' is a real feel good film. <name> is excellent again, <pro-spp> plays <pro-pp> "
        "part well.",
    ),
    (
        "gender",
        'Even the manic loony who hangs out with the bad guys in "Mad Max" is there. That guy from "Blade '
        'Runner" also cops a good billing, although he only turns up at the beginning and the end of the '
        "movie.",
        'Even the manic loony who hangs out with the bad guys in "Mad Max" is there. That <gaw> from "Blade '
        'Runner" also cops a good billing, although <pro-spp> only turns up at the beginning and the end of '
        "the movie.",
    ),
    (
        "occupation",
        "The beautiful Jennifer Jones looks the part and gives a wonderful, Oscar nominated performance as a "
        "doctor of mixed breed. William Holden never looked better playing a romantic lead as a journalist.",
        "The beautiful Jennifer Jones looks the part and gives a wonderful, Oscar nominated performance as "
        "<det> <occupation> of mixed breed. William Holden never looked better playing a romantic lead as a "
        "journalist.",
    ),
    (
        "country",
        "I loved this movie, it was cute and funny! Lauren Holly was wonderful, she's funny and very "
        "believable in her role.",
        "I loved this movie, it was cute and funny! <female> was wonderful, she's funny and very believable "
        "in her role.",
    ),
]


@pytest.mark.parametrize(("characteristic", "text", "expected"), FIGURES, ids=["1", "6", "7", "8", "9"])
def test_the_worked_examples_of_the_paper(characteristic: str, text: str, expected: str) -> None:
    assert shown(mined(characteristic, text)) == expected


def test_every_word_of_a_mutant_is_of_one_class() -> None:
    mined = template(FIGURES[0][1])
    assert filling.mutant(mined, WOMAN, NOUNS) == (
        "It seems that Julia with all her knowledge of the great outdoors didn't realize the danger! "
        "She enters a mine shaft"
    )


@pytest.mark.parametrize(
    ("text", "woman", "man"),
    [
        ("He's a guy who knows himself.", "She's a gal who knows herself.", "He's a guy who knows himself."),
        ("The prize was hers.", "The prize was hers.", "The prize was his."),
        ("We saw her with her bags.", "We saw her with her bags.", "We saw him with his bags."),
        ("Mr. Smith lost his keys.", "Ms. Julia lost her keys.", "Mr. Peter lost his keys."),
        ("Mrs. Brown lost her keys.", "Mrs. Julia lost her keys.", "Mr. Peter lost his keys."),
        ("James' voice is thin, but he tries.", "Julia's voice is thin, but she tries.", None),
        ("MICHAEL IS THE BEST AND I LOVE HIS VOICE!", "JULIA IS THE BEST AND I LOVE HER VOICE!", None),
        ("She is one of the funniest women here.", None, "He is one of the funniest men here."),
        ("An old woman lives there.", "An old woman lives there.", "An old man lives there."),
        ("My uncle is an uncle like no other.", "My aunt is an aunt like no other.", None),
    ],
)  # fmt: skip
def test_values_take_the_form_of_their_place(text: str, woman: str | None, man: str | None) -> None:
    found = template(text)
    for person, expected in ((WOMAN, woman), (MAN, man)):
        if expected is not None:
            assert filling.mutant(found, person, NOUNS) == expected


def test_an_occupation_brings_its_article() -> None:
    found = template("A race car driver explains the trick.", "occupation")
    assert found.placeholders == (Placeholder("det", "A"), Placeholder("occupation", "race car driver"))
    assert filling.mutant(found, Person(occupation="editor"), NOUNS) == "An editor explains the trick."
    assert filling.mutant(found, Person(occupation="CEO"), NOUNS) == "A CEO explains the trick."


def test_an_occupation_takes_no_capital_from_a_nation_before_it() -> None:
    found = template("The film is about a German scientist, who left.", "occupation")
    assert Placeholder("occupation", "German scientist") in found.placeholders
    filled = filling.mutant(found, Person(occupation="editor"), NOUNS)
    assert filled == "The film is about an editor, who left."


def test_gender_and_occupation_are_filled_together() -> None:
    found = template("Karl is an honest accountant, and he works hard.", "gender+occupation")
    assert filling.mutant(found, WOMAN, NOUNS) == "Julia is an editor, and she works hard."
    assert filling.mutant(found, MAN, NOUNS) == "Peter is a nurse, and he works hard."


def test_overlapping_templates_are_not_combined() -> None:
    document = Document("d", "A woman doctor came.")
    one = templates.cut(document, "gender", [templates.Slot(2, 7, "gaw")])
    other = templates.cut(document, "occupation", [templates.Slot(2, 14, "occupation")])
    assert isinstance(one, Template)
    assert isinstance(other, Template)
    assert templates.combine(one, other) == Refusal("overlap", "woman doctor")


def test_a_name_of_the_wrong_gender_is_refused() -> None:
    with pytest.raises(ValueError, match="male"):
        filling.values(templates.parse("<male> came."), Person("female", "Mamiko"), NOUNS)
    with pytest.raises(ValueError, match="name"):
        filling.values(templates.parse("<name> came."), Person("female"), NOUNS)


LITERALS = st.text(alphabet=st.sampled_from('ab \\<>=/n\n"é.#'), max_size=12)
PLACEHOLDERS = st.builds(
    Placeholder,
    st.sampled_from(["name", "pro-spp", "pro-rp", "gaw", "gaw-pl", "title"]),
    LITERALS | st.none(),
)


@st.composite
def any_template(draw: st.DrawFn) -> Template:
    placeholders = draw(st.lists(PLACEHOLDERS, min_size=1, max_size=4))
    literals = draw(st.lists(LITERALS, min_size=len(placeholders) + 1, max_size=len(placeholders) + 1))
    return Template("d", "gender", tuple(literals), tuple(placeholders))


@given(any_template())
def test_the_written_form_can_be_read_again(found: Template) -> None:
    assert templates.parse(templates.write(found), "d") == found


@given(st.text(max_size=60), st.data())
def test_the_original_values_give_the_original_text(text: str, data: st.DataObject) -> None:
    ends = sorted(data.draw(st.sets(st.integers(0, len(text)), max_size=8)))
    slots = [templates.Slot(a, b, "name") for a, b in zip(ends[::2], ends[1::2], strict=False)]
    found = templates.cut(Document("d", text), "gender", slots)
    assert isinstance(found, Template)
    assert found.original == text
    assert [text[a:b] for a, b in found.spans] == [p.original for p in found.placeholders]


def test_a_template_can_be_written_by_hand() -> None:
    found = templates.parse("<pro-spp> hugged <pro-pp> friend<br /> in \\<b>1999\\<b> <3. 2 < 3")
    assert found.characteristic == "gender"
    assert filling.mutant(found, WOMAN, NOUNS) == "She hugged her friend<br /> in <b>1999<b> <3. 2 < 3"
    job = templates.parse("<det> <occupation> came.")
    assert filling.mutant(job, WOMAN, NOUNS) == "An editor came."
    both = templates.parse("<name> is <det> <occupation>.")
    assert both.characteristic == "gender+occupation"


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("<nmae> came.", ["unknown placeholder <nmae>", "name", r"\<nmae>"]),
        ("Nobody came.", ["no placeholder"]),
        ("<det> friend of <name>.", ["<det> must come directly before"]),
        ("<male> met <name>.", ["<male> cannot be combined with <name>"]),
        ("<male> met <female>.", ["cannot be combined with"]),
    ],
)
def test_a_wrong_template_is_named_with_its_line(tmp_path: Path, line: str, words: list[str]) -> None:
    path = tmp_path / "mine.txt"
    path.write_text(f"# mine\n\n<name> came.\n{line}\n", encoding="utf-8")
    with pytest.raises(TemplateError) as error:
        list(templates.read(path))
    assert str(error.value).startswith(f"{path}, line 4: ")
    assert all(word in str(error.value) for word in words)


def test_a_file_holds_a_template_a_line(tmp_path: Path) -> None:
    path = tmp_path / "mine.txt"
    path.write_text("# mine\n\n<name> came.\\nAlone.\n<female> left.\n", encoding="utf-8")
    first, second = templates.read(path)
    assert (first.document, first.characteristic, first.literals) == (
        "line 3",
        "gender",
        ("", " came.\nAlone."),
    )
    assert (second.document, second.characteristic) == ("line 4", "country")
    assert first.id != second.id
    with pytest.raises(TemplateError, match=r"none\.txt"):
        list(templates.read(tmp_path / "none.txt"))


@pytest.mark.parametrize(
    "text",
    [
        "My mom, dad, and I went there.",
        "My mom and dad went there.",
        "He and his brother sang.",
        "Anna liked Annas hat, and she sang.",
    ],
)
def test_a_person_beside_another_or_a_torn_name_gives_no_gender_template(text: str) -> None:
    assert isinstance(gender.template(*resolved(text), NOUNS), Refusal)


def test_the_worker_of_a_combined_template_is_the_gendered_person() -> None:
    miner = Miner("gender+occupation", resolver(), NOUNS, JOBS)
    assert isinstance(miner.template(*resolved("Jake is a doctor, and he sings.")), Template)
    assert isinstance(miner.template(*resolved("Jake met a doctor, and he sings.")), Refusal)
