"""The standards of own graders: a script that judges, or a function of an installed package.

A script runs in the sandbox, whoever wrote it. A function of a package (entry point
`arena.validators`) runs in this process: whoever installed the package trusts it.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Annotated, Any, ClassVar

from pydantic import Field

from arena.documents.validation import Fault
from arena.errors import InvalidInput
from arena.evaluation.fields import Body, Distinct, IsJson, PassScore, Text, converted
from arena.evaluation.verdict import MIN_PASS_SCORE
from arena.sandbox.arguments import checked_name
from arena.sandbox.languages import FUNCTION_LANGUAGES, normal_language

MAX_SCRIPT_CHARACTERS = 1_000_000
MAX_ENTRY_POINTS = 100


def _function_language(name: str) -> str:
    language = normal_language(name)
    if language not in FUNCTION_LANGUAGES:
        raise InvalidInput(f"code is called in {' and '.join(FUNCTION_LANGUAGES)}, not {name!r}")
    return language


Names = Annotated[
    tuple[Annotated[Text, converted(checked_name)], ...],
    Field(max_length=MAX_ENTRY_POINTS),
    Distinct,
]


@dataclass(frozen=True, slots=True, kw_only=True)
class Grader(Body):
    """A script judges the submission; it may call the submitted code."""

    script_language: ClassVar[str]

    script: Annotated[Text, Field(max_length=MAX_SCRIPT_CHARACTERS)]
    """`grade(submission)`, `check(candidate)`, tests, or assertions."""
    entry_points: Names = ()
    """The functions of the submitted code that the script calls."""
    classes: Names = ()
    """The classes of the submitted code that the script uses."""
    language: Annotated[Text, converted(_function_language)] | None = None
    """Of the submitted code; None: that of the script."""
    pass_score: PassScore = MIN_PASS_SCORE

    @property
    def code_language(self) -> str | None:
        """The language of the submitted code; None if none of it runs."""
        return (self.language or self.script_language) if self.names else None

    @property
    def names(self) -> tuple[str, ...]:
        """Everything that the script takes from the submitted code."""
        return (*self.entry_points, *self.classes)

    def faults(self) -> Iterator[Fault]:
        """A language without code, or one name in both lists."""
        if self.language and not self.names:
            message = "says nothing without entry_points: no submitted code runs"
            yield Fault(path=("language",), message=message)
        for i, name in enumerate(self.classes):
            if name in self.entry_points:
                yield Fault(path=("classes", i), message=f"{name!r} is in entry_points too")


@dataclass(frozen=True, slots=True, kw_only=True)
class PythonGrader(Grader):
    """A script in Python."""

    script_language: ClassVar[str] = "python"


@dataclass(frozen=True, slots=True, kw_only=True)
class JavaScriptGrader(Grader):
    """A script in JavaScript, run by Node."""

    script_language: ClassVar[str] = "javascript"


@dataclass(frozen=True, slots=True, kw_only=True)
class Packaged(Body):
    """A function of an installed package judges the submission."""

    name: Text
    """Its entry point in the group `arena.validators`."""
    expected: Annotated[dict[str, Any], IsJson]
    """What the function gets to compare with."""
    pass_score: PassScore = MIN_PASS_SCORE


GRADERS: dict[str, type[Grader]] = {"python": PythonGrader, "javascript": JavaScriptGrader}
"""By the `validation` of a test."""
