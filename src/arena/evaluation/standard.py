"""What a good answer is: a closed set of standards.

Plain validators look at the text and give 100 or 0. Graded standards (test cases, a judge's
criteria, a checklist) give a share of 100 and pass from their `pass_score` on.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar, Literal

from arena.sandbox.ports import TestCase

MIN_PASS_SCORE = 60
"""What a graded standard asks for where it does not say."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Exact:
    """The answer is this text, apart from white space around it."""

    value: str
    case_sensitive: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class Keywords:
    """The answer has all, any or none of these words."""

    keywords: tuple[str, ...]
    needed: Literal["all", "any", "none"]
    case_sensitive: bool = False
    whole_word: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Pattern:
    """A regular expression is found in the answer."""

    pattern: str
    case_sensitive: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class JsonSchema:
    """The answer is JSON that fits a schema."""

    schema: Mapping[str, object] | bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Number:
    """The last number in the answer is this one, give or take the tolerance."""

    value: float
    tolerance: float = 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Composite:
    """Several standards at once."""

    needed: Literal["all", "any"]
    parts: tuple["Standard", ...]
    weights: tuple[float, ...]
    pass_score: float | None = None
    """What the weighted score of `all` must reach; None: every part must pass."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TestCases:
    """The submission is code; it must give the expected values for the inputs."""

    __test__: ClassVar[bool] = False  # keeps pytest from collecting the class

    function_name: str | None
    """The function to call; None: the submission is a whole program."""
    cases: tuple[TestCase, ...]
    languages: tuple[str | None, ...]
    """The language each case asks for; None leaves it to the submission."""
    language: str | None = None
    """What holds for a case that asks for none."""
    tolerance: float | None = None
    pass_score: float = MIN_PASS_SCORE
    sealed: tuple[str, ...] = ()
    """Commitments to hidden cases, one each; without their openings nothing can be judged."""


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgeChoice:
    """Which judge a standard asks for, where it does not leave that to the settings."""

    models: tuple[str, ...] = ()
    votes: int | None = None
    base_url: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgePrompt:
    """A model scores the answer by criteria."""

    prompt: str
    criteria: tuple[str, ...]
    weights: tuple[float, ...]
    pass_score: float = MIN_PASS_SCORE
    judge: JudgeChoice | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Checklist:
    """A person answers each item with pass or fail."""

    items: tuple[str, ...]
    pass_score: float = MIN_PASS_SCORE


Simple = Exact | Keywords | Pattern | JsonSchema | Number
Graded = TestCases | JudgePrompt | Checklist
Standard = Simple | Graded | Composite


def is_graded(standard: Standard) -> bool:
    """Whether it can give anything between 0 and 100."""
    if isinstance(standard, Composite):
        return standard.pass_score is not None or any(is_graded(part) for part in standard.parts)
    return isinstance(standard, Graded)


def passes_from(standard: Standard, score: float) -> bool:
    """Whether `passed` and "at least `score`" always mean the same for its verdicts."""
    match standard:
        case TestCases() | JudgePrompt() | Checklist():
            return standard.pass_score == score
        case Composite(needed="any"):
            return all(passes_from(part, score) for part in standard.parts)
        case Composite():
            alone = len(standard.parts) == 1 and passes_from(standard.parts[0], score)
            return standard.pass_score == score or (standard.pass_score is None and alone)
        case _:
            return 0 < score <= 100
