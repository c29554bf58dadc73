"""The standards that a test or a task can use: what a good answer is.

Plain validators check the text and give 100 or 0. Graded standards (test cases, a judge's criteria,
a checklist, own graders, a command over files) give 0 to 100 and pass at their `pass_score` or
above. Composites combine several. `VALIDATIONS` is the table of all of them.
"""

import re
import shlex
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Annotated, Any, ClassVar

from pydantic import Field, StrictInt, StrictStr

from arena.documents.problem import KeyPath
from arena.documents.validation import Fault
from arena.evaluation.checks import CHECKS, Check
from arena.evaluation.fields import (
    Body,
    Distinct,
    IsJson,
    Json,
    PassScore,
    Text,
    Tolerance,
    Weight,
    checked,
    converted,
)
from arena.evaluation.grader import GRADERS, Grader, Packaged
from arena.evaluation.tool_checks import TOOL_CHECKS
from arena.evaluation.validators import VALIDATORS, Validator
from arena.evaluation.verdict import MIN_PASS_SCORE
from arena.evaluation.verify_files import VerifyFiles
from arena.fields import MAX_VOTES
from arena.sandbox.arguments import checked_name
from arena.sandbox.languages import FUNCTION_LANGUAGES, check_language, normal_language
from arena.sandbox.ports import TestCase

# A standard may come from anybody: without limits it could keep a judge busy for ever.
MAX_CASES = 100_000
MAX_ITEMS = 1000
MAX_CRITERIA = 50
MAX_TURNS = 100
COMMITMENT = re.compile("[0-9a-f]{64}")
BETWEEN_WORDS = re.compile(r"[\s;&|()<>{}`'\"$=]+")
"""What separates the names of files in a shell command."""

PartPath = tuple[int, ...]
"""Which part of a composite: (1, 0) is the first part of the second part; () is the whole."""


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
    """None: the language of the standard, else of the submission."""


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
    """The language of cases that set none; None: that of the submission."""
    tolerance: Tolerance | None = None
    pass_score: PassScore = MIN_PASS_SCORE
    sealed: Annotated[
        tuple[Annotated[Text, checked(_commitment_fault)], ...],
        Field(min_length=1, max_length=MAX_CASES),
        Distinct,
    ] = ()
    """A commitment to each hidden case; without their openings nothing can be judged."""

    def faults(self) -> Iterator[Fault]:
        """No cases, or a function in a language that supports only whole programs."""
        # A standard may hide all its cases.
        if not self.cases and not self.sealed:
            yield Fault(path=("cases",), message="must not be empty")
        named: list[tuple[KeyPath, str | None]] = [(("language",), self.language)]
        named += ((("cases", i, "language"), case.language) for i, case in enumerate(self.cases))
        for path, language in named:
            if self.function_name and language and language not in FUNCTION_LANGUAGES:
                known = " and ".join(FUNCTION_LANGUAGES)
                message = f"functions are called in {known}; for {language} leave functionName out"
                yield Fault(path=path, message=message)


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgeChoice(Body):
    """The judge a standard requests instead of the configured one."""

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
    """One for each criterion; equal if none are given."""
    pass_score: PassScore = MIN_PASS_SCORE
    judge: JudgeChoice | None = None

    def __post_init__(self) -> None:
        if not self.weights:
            # The only way to fill in a field of a frozen dataclass.
            object.__setattr__(self, "weights", (1.0,) * len(self.criteria))

    def faults(self) -> Iterator[Fault]:
        """The number of weights must equal the number of criteria."""
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
    """A `Standard`; `reading` has already parsed it from either of its forms."""
    weight: Weight = 1.0


Parts = Annotated[
    tuple[Part, ...],
    Field(min_length=1),
    checked(lambda parts: _weights_fault([part.weight for part in parts])),
]


@dataclass(frozen=True, slots=True, kw_only=True)
class AllOf(Body):
    """Scores the weighted mean of several standards."""

    all_of: Parts
    pass_score: PassScore | None = None
    """What the mean must reach; None: every part must pass."""

    @property
    def parts(self) -> tuple["Standard", ...]:
        """The standards, in order."""
        return tuple(part.standard for part in self.all_of)


@dataclass(frozen=True, slots=True, kw_only=True)
class AnyOf(Body):
    """Scores the best of several standards."""

    any_of: Parts

    @property
    def parts(self) -> tuple["Standard", ...]:
        """The standards, in order."""
        return tuple(part.standard for part in self.any_of)


@dataclass(frozen=True, slots=True, kw_only=True)
class Reply(Body):
    """One reply of a conversation, judged by a standard of its own."""

    turn: Annotated[StrictInt, Field(ge=1, le=MAX_TURNS)]
    """From 1."""
    standard: Any
    """A `Standard`; `reading` has already parsed it from either of its forms."""

    @property
    def parts(self) -> tuple["Standard", ...]:
        """The standard, alone."""
        return (self.standard,)


Graded = TestCases | JudgePrompt | Checklist | Grader | Packaged | VerifyFiles
Leaf = Validator | Check | Graded
"""A standard that has no parts."""
Composite = AllOf | AnyOf | Reply
Standard = Leaf | Composite

VALIDATIONS: dict[str, type[Standard]] = {
    **VALIDATORS,
    **CHECKS,
    **GRADERS,
    **TOOL_CHECKS,
    "test_cases": TestCases,
    "judge_prompt": JudgePrompt,
    "checklist": Checklist,
    "verify": VerifyFiles,
    "all_of": AllOf,
    "any_of": AnyOf,
    "reply": Reply,
}
"""Every `validation` of a test, and every `type` of a document."""


def leaves(standard: Standard) -> Iterator[Leaf]:
    """Every part that has no parts itself, in order."""
    return (leaf for _, leaf in leaves_by_path(standard))


def leaves_by_path(standard: Standard, at: PartPath = ()) -> Iterator[tuple[PartPath, Leaf]]:
    """Every part that has no parts itself, in order, with its path."""
    if isinstance(standard, Composite):
        for i, part in enumerate(standard.parts):
            yield from leaves_by_path(part, (*at, i))
    else:
        yield at, standard


def parts_of(standard: Standard) -> Iterator[Standard]:
    """The standard itself and every part of it, at any depth."""
    yield standard
    if isinstance(standard, Composite):
        for part in standard.parts:
            yield from parts_of(part)


def is_graded(standard: Standard) -> bool:
    """Whether it can give a score between 0 and 100."""
    if isinstance(standard, Composite):
        pass_score = getattr(standard, "pass_score", None)
        return pass_score is not None or any(is_graded(part) for part in standard.parts)
    return isinstance(standard, Graded)


def passes_from(standard: Standard, score: float) -> bool:
    """Whether `passed` and "at least `score`" always mean the same for its verdicts."""
    match standard:
        case TestCases() | JudgePrompt() | Checklist() | Grader() | Packaged() | VerifyFiles():
            return standard.pass_score == score
        case AnyOf() | Reply():
            return all(passes_from(part, score) for part in standard.parts)
        case AllOf():
            alone = len(standard.parts) == 1 and passes_from(standard.parts[0], score)
            return standard.pass_score == score or (standard.pass_score is None and alone)
        case _:
            return 0 < score <= 100


def checklists(standard: Standard) -> Mapping[PartPath, Checklist]:
    """Every checklist in a standard, by its path."""
    return {at: leaf for at, leaf in leaves_by_path(standard) if isinstance(leaf, Checklist)}


def files_run_by(standard: Standard, given: Mapping[str, object]) -> set[str]:
    """The given files of a workspace that a verification runs by name."""
    words: set[str] = set()
    for leaf in leaves(standard):
        if isinstance(leaf, VerifyFiles):
            words.update(BETWEEN_WORDS.split(leaf.command))
            # A name with a blank; an open quote: the shell will say so.
            with suppress(ValueError):
                words.update(shlex.split(leaf.command))
    return {word.removeprefix("./") for word in words} & given.keys()


def hidden_files(standard: Standard) -> set[str]:
    """The paths of all files that verifications lay over those of a workspace."""
    found = (leaf.hidden for leaf in leaves(standard) if isinstance(leaf, VerifyFiles))
    return {path for hidden in found for path in hidden}
