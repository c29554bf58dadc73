"""What a good answer is: the standards that a test or a task can name, and how they are read.

Plain validators look at the text and give 100 or 0. Graded standards (test cases, a judge's
criteria, a checklist) give a share of 100 and pass from their `pass_score` on. Composites combine
several. `VALIDATIONS` is the table of all; `read_standard` and `read_standard_document` are the
only ways in, and report every fault at once, each with its path.
"""

import functools
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from typing import Annotated, Any, ClassVar, cast

from pydantic import Field, StrictBool, StrictInt, StrictStr

from arena.errors import nearest
from arena.evaluation.fields import (
    Body,
    Distinct,
    Fault,
    InvalidStandard,
    IsJson,
    Json,
    PassScore,
    Path,
    Text,
    Tolerance,
    Weight,
    checked,
    converted,
    read,
    type_name,
)
from arena.evaluation.validators import VALIDATORS, Validator
from arena.sandbox import (
    FUNCTION_LANGUAGES,
    TestCase,
    check_language,
    checked_name,
    normal_language,
)

MIN_PASS_SCORE = 60
"""The `pass_score` of a graded standard that names none."""
MAX_CASES = 100_000
MAX_ITEMS = 1000
MAX_CRITERIA = 50
MAX_VOTES = 25
MAX_DEPTH = 8
"""How deep composites may nest."""
COMMITMENT = re.compile("[0-9a-f]{64}")
FLAGS = ("case_sensitive", "whole_word")

PartPath = tuple[int, ...]
"""Which part of a composite: (1, 0) is the first part of its second one; () is the whole."""


def _known_language(name: str) -> str:
    language = normal_language(name)
    check_language(language)
    return language


def _weights_fault(weights: Sequence[float]) -> str | None:
    return None if sum(weights) > 0 else "the weights must not all be 0"


def _commitment_fault(text: str) -> str | None:
    is_commitment = COMMITMENT.fullmatch(text)
    return None if is_commitment else "must be a commitment of 64 hexadecimal digits"


Language = Annotated[Text, converted(_known_language)]


@dataclass(frozen=True, slots=True, kw_only=True)
class Case(TestCase, Body):
    """One call of the submission's function, or one run of its program."""

    input: Annotated[list[Any], IsJson] = field(default_factory=list[Any])
    expected: Json
    desc: Annotated[StrictStr, IsJson] = ""
    tolerance: Tolerance | None = None
    language: Language | None = None
    """None leaves it to the standard, and then to the submission."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TestCases(Body):
    """The submission is code; it must give the expected values for the inputs."""

    __test__: ClassVar[bool] = False  # keeps pytest from collecting the class

    function_name: Annotated[
        Annotated[Text, converted(checked_name)] | None, Field(alias="functionName")
    ] = None
    """The function to call; None: the submission is a whole program."""
    cases: Annotated[tuple[Case, ...], Field(max_length=MAX_CASES)]
    language: Language | None = None
    """The language of cases that name none; None leaves it to the submission."""
    tolerance: Tolerance | None = None
    pass_score: PassScore = MIN_PASS_SCORE
    sealed: Annotated[
        tuple[Annotated[Text, checked(_commitment_fault)], ...],
        Field(min_length=1, max_length=MAX_CASES),
        Distinct,
    ] = ()
    """Commitments to hidden cases, one each; without their openings nothing can be judged."""

    def faults(self) -> Iterator[Fault]:
        """No case at all, or a function in a language whose functions cannot be called."""
        # A standard may keep all its cases to itself.
        if not self.cases and not self.sealed:
            yield Fault(path=("cases",), message="must not be empty")
        named: list[tuple[Path, str | None]] = [(("language",), self.language)]
        named += ((("cases", i, "language"), case.language) for i, case in enumerate(self.cases))
        for path, language in named:
            if self.function_name and language and language not in FUNCTION_LANGUAGES:
                known = " and ".join(FUNCTION_LANGUAGES)
                message = f"functions are called in {known}; for {language} leave functionName out"
                yield Fault(path=path, message=message)


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgeChoice(Body):
    """Which judge a standard asks for, where it does not leave that to the settings."""

    models: Annotated[tuple[Text, ...], Field(min_length=1, max_length=MAX_VOTES), Distinct]
    votes: Annotated[StrictInt, Field(ge=1, le=MAX_VOTES)] | None = None
    base_url: Text | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgePrompt(Body):
    """A model scores the answer by criteria."""

    prompt: Text
    criteria: Annotated[
        tuple[Text, ...], Field(min_length=1, max_length=MAX_CRITERIA), Distinct
    ] = ("overall",)
    weights: Annotated[tuple[Weight, ...], Field(min_length=1), checked(_weights_fault)] = ()
    """One for each criterion; all count the same where none is given."""
    pass_score: PassScore = MIN_PASS_SCORE
    judge: JudgeChoice | None = None

    def __post_init__(self) -> None:
        if not self.weights:
            object.__setattr__(self, "weights", (1.0,) * len(self.criteria))

    def faults(self) -> Iterator[Fault]:
        """Another number of weights than of criteria."""
        weights, criteria = len(self.weights), len(self.criteria)
        if weights != criteria:
            message = f"has {weights} weights for {criteria} criteria: give one for each"
            yield Fault(path=("weights",), message=message)


@dataclass(frozen=True, slots=True, kw_only=True)
class Checklist(Body):
    """A person answers each item with pass or fail."""

    items: Annotated[tuple[Text, ...], Field(min_length=1, max_length=MAX_ITEMS), Distinct]
    pass_score: PassScore = MIN_PASS_SCORE


@dataclass(frozen=True, slots=True, kw_only=True)
class Part(Body):
    """A member of a composite."""

    standard: Any
    """A `Standard`; pydantic is not told so, because `_part` reads it in either of its forms."""
    weight: Weight = 1.0


Parts = Annotated[
    tuple[Part, ...],
    Field(min_length=1),
    checked(lambda parts: _weights_fault([part.weight for part in parts])),
]


@dataclass(frozen=True, slots=True, kw_only=True)
class AllOf(Body):
    """The weighted mean of several standards counts."""

    all_of: Parts
    pass_score: PassScore | None = None
    """What the mean must reach; None: every part must pass."""

    @property
    def parts(self) -> tuple["Standard", ...]:
        """The standards, in order."""
        return tuple(part.standard for part in self.all_of)


@dataclass(frozen=True, slots=True, kw_only=True)
class AnyOf(Body):
    """The best of several standards counts."""

    any_of: Parts

    @property
    def parts(self) -> tuple["Standard", ...]:
        """The standards, in order."""
        return tuple(part.standard for part in self.any_of)


Graded = TestCases | JudgePrompt | Checklist
Leaf = Validator | Graded
"""A standard that is not made of others."""
Composite = AllOf | AnyOf
Standard = Leaf | Composite

VALIDATIONS: dict[str, type[Standard]] = {
    **VALIDATORS,
    "test_cases": TestCases,
    "judge_prompt": JudgePrompt,
    "checklist": Checklist,
    "all_of": AllOf,
    "any_of": AnyOf,
}
"""Every `validation` a test may name, which is also every `type` a document may have."""


def is_graded(standard: Standard) -> bool:
    """Whether it can give anything between 0 and 100."""
    if isinstance(standard, Composite):
        pass_score = getattr(standard, "pass_score", None)
        return pass_score is not None or any(is_graded(part) for part in standard.parts)
    return isinstance(standard, Graded)


def passes_from(standard: Standard, score: float) -> bool:
    """Whether `passed` and "at least `score`" always mean the same for its verdicts."""
    match standard:
        case TestCases() | JudgePrompt() | Checklist():
            return standard.pass_score == score
        case AnyOf():
            return all(passes_from(part, score) for part in standard.parts)
        case AllOf():
            alone = len(standard.parts) == 1 and passes_from(standard.parts[0], score)
            return standard.pass_score == score or (standard.pass_score is None and alone)
        case _:
            return 0 < score <= 100


def checklists(standard: Standard, at: PartPath = ()) -> Mapping[PartPath, Checklist]:
    """Every checklist in a standard, with its place."""
    if isinstance(standard, Checklist):
        return {at: standard}
    found: dict[PartPath, Checklist] = {}
    if isinstance(standard, Composite):
        for i, part in enumerate(standard.parts):
            found |= checklists(part, (*at, i))
    return found


# Reading ------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class _Flags(Body):
    """How text is compared. Parts of a composite inherit what they do not say themselves."""

    case_sensitive: StrictBool | None = None
    whole_word: StrictBool | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class _Type(Body):
    """What kind of standard a document holds."""

    type: Text


@dataclass(frozen=True, slots=True, kw_only=True)
class _Test(Body):
    """A standard as a test writes it."""

    expected: Any
    validation: Text = "contains"


@dataclass(frozen=True, slots=True, kw_only=True)
class _Place:
    """Where a reader is, and what the text around says."""

    at: Path
    flags: _Flags
    depth: int = 0


def read_standard(
    validation: str,
    expected: object,
    *,
    case_sensitive: bool | None = None,
    whole_word: bool = False,
    pass_score: float | None = None,
) -> Standard:
    """The standard that `validation` and the body `expected` describe, or all their faults."""
    faults: list[Fault] = []
    flags = _Flags(case_sensitive=case_sensitive, whole_word=whole_word or None)
    place = _Place(at=("expected",), flags=flags)
    standard = _read(validation, ("validation",), expected, faults, place)
    if pass_score is not None and validation in VALIDATIONS:
        standard = _with_pass_score(validation, standard, expected, pass_score, faults)
    return _whole(standard, faults)


def read_standard_document(document: object) -> Standard:
    """The standard of a JSON document: `{"type": "test_cases", …}`, or all its faults."""
    faults: list[Fault] = []
    if not isinstance(document, Mapping):
        message = f"a standard is an object with a 'type', not {type_name(document)}"
        raise InvalidStandard([Fault(path=(), message=message)])
    body = cast(Mapping[object, object], document)
    return _whole(_member(body, faults, _Place(at=(), flags=_Flags())), faults)


def _whole(standard: Standard | None, faults: list[Fault]) -> Standard:
    if faults or standard is None:
        raise InvalidStandard(faults)
    return standard


def _with_pass_score(
    kind: str, standard: Standard | None, body: object, pass_score: float, faults: list[Fault]
) -> Standard | None:
    """The standard with the `pass_score` that its test gives it."""
    if "pass_score" not in _field_names(VALIDATIONS[kind]):
        why = "gives 100 or 0: a pass_score changes nothing; leave it out"
        if kind == "any_of":
            why = "passes where one of its parts does: give the parts the pass_score"
        faults.append(Fault(path=("pass_score",), message=f"{kind} {why}", of_key=True))
    elif standard is not None:
        own = cast(Mapping[str, object], body).get("pass_score", pass_score)
        if own != pass_score:
            message = f"is {own} here and {pass_score:g} in the test: say it once"
            faults.append(Fault(path=("expected", "pass_score"), message=message))
        return replace(cast(Any, standard), pass_score=pass_score)
    return standard


def _read(
    kind: str, kind_at: Path, value: object, faults: list[Fault], here: _Place
) -> Standard | None:
    """A standard of the given kind; None with what is wrong in `faults`."""
    if kind not in VALIDATIONS:
        message = f"unknown {kind_at[-1]} {kind!r}{nearest(kind, VALIDATIONS)}"
        if "known:" not in message:
            message += f" (allowed: {', '.join(sorted(VALIDATIONS))})"
        faults.append(Fault(path=kind_at, message=message))
        return None
    if not isinstance(value, Mapping):
        faults.append(Fault(path=here.at, message=f"must be a mapping, is {type_name(value)}"))
        return None
    known = _field_names(VALIDATIONS[kind])
    flags = {name: getattr(here.flags, name) for name in FLAGS if name in known}
    body: dict[str, Any] = {name: flag for name, flag in flags.items() if flag is not None}
    body |= cast(Mapping[str, object], value)
    if kind in ("all_of", "any_of") and isinstance(body.get(kind), list):
        before = len(faults)
        body[kind] = _parts(kind, body[kind], faults, here)
        if len(faults) > before:
            return None
        if kind == "all_of" and any(is_graded(part.standard) for part in body[kind]):
            body.setdefault("pass_score", MIN_PASS_SCORE)
    return read(VALIDATIONS[kind], body, faults, here.at)


def _parts(key: str, members: list[object], faults: list[Fault], here: _Place) -> list[Part]:
    if here.depth >= MAX_DEPTH:
        message = f"is nested more than {MAX_DEPTH} deep"
        faults.append(Fault(path=(*here.at, key), message=message))
        return []
    parts: list[Part] = []
    for i, member in enumerate(members):
        inner = replace(here, at=(*here.at, key, i), depth=here.depth + 1)
        if not isinstance(member, Mapping):
            message = f"must be a mapping with 'validation' and 'expected', is {type_name(member)}"
            faults.append(Fault(path=inner.at, message=message))
            continue
        body = dict(cast(Mapping[object, object], member))
        weight = {"weight": body.pop("weight")} if "weight" in body else {}
        standard = _member(body, faults, inner)
        if part := read(Part, {"standard": standard, **weight}, faults, inner.at):
            parts.append(part)
    return parts


def _member(
    document: Mapping[object, object], faults: list[Fault], here: _Place
) -> Standard | None:
    """A standard in either form: with a `type`, or with `validation` and `expected`."""
    body = dict(document)
    own = read(_Flags, {name: body.pop(name) for name in FLAGS if name in body}, faults, here.at)
    for name in FLAGS:
        if own is not None and getattr(own, name) is not None:
            here = replace(here, flags=replace(here.flags, **{name: getattr(own, name)}))
    if "type" in body:
        kind = read(_Type, {"type": body.pop("type")}, faults, here.at)
        return kind and _read(kind.type, (*here.at, "type"), body, faults, here)
    if "expected" not in body:
        faults.append(Fault(path=here.at, message="needs the key 'expected' or 'type'"))
        return None
    test = read(_Test, body, faults, here.at)
    if test is None:
        return None
    inside = replace(here, at=(*here.at, "expected"))
    return _read(test.validation, (*here.at, "validation"), test.expected, faults, inside)


@functools.cache
def _field_names(kind: type[Standard]) -> frozenset[str]:
    return frozenset(one.name for one in fields(kind))
