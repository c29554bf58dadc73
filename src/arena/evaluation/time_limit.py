"""How long judging one submission may take, derived from the standard alone.

So a judge knows before it begins how long a submission can occupy it, an offer that could not be
judged within its window is refused, and a replay has the same limits as the verdict. Time that a
model or a person takes is not counted: no submission decides about that.
"""

import math
from collections.abc import Mapping

from arena.evaluation.checks import Check
from arena.evaluation.grader import Grader, Packaged
from arena.evaluation.standard import (
    Leaf,
    PartPath,
    Standard,
    TestCases,
    VerifyFiles,
    leaves_by_path,
)
from arena.evaluation.validators import Validator
from arena.sandbox.languages import languages
from arena.sandbox.limits import COMPILE_SECONDS, GRADING_SECONDS, Limits

CASE_SECONDS = Limits().wall_seconds
"""One run of a program, or all the cases of a function together."""
VALIDATOR_SECONDS = 5.0
"""A pattern or a schema."""
MAX_PROGRAM_SECONDS = 600.0
"""All runs of all programs of a submission together; cases not reached by then fail."""


def judging_seconds(standard: Standard) -> int:
    """The most time that the code and the patterns of a standard can take."""
    programs = math.fsum(program_limits(standard).values())
    return math.ceil(fixed_seconds(standard) + programs)


def fixed_seconds(standard: Standard) -> float:
    """The time of functions and validators, each of which has its own limit."""
    return math.fsum(_fixed(part) for _, part in leaves_by_path(standard))


def program_limits(standard: Standard) -> Mapping[PartPath, float]:
    """The total time of each part that runs programs; scaled down if the sum is too long."""
    found = {
        at: _program_seconds(part)
        for at, part in leaves_by_path(standard)
        if isinstance(part, TestCases) and part.function_name is None
    }
    share = min(1.0, MAX_PROGRAM_SECONDS / max(1.0, math.fsum(found.values())))
    return {at: seconds * share for at, seconds in found.items()}


def _program_seconds(part: TestCases) -> float:
    count = len(part.cases) + len(part.sealed)
    compiles = sum(_is_compiled(name) for name in _languages(part))
    return count * CASE_SECONDS + compiles * COMPILE_SECONDS


def _fixed(part: Leaf) -> float:
    if isinstance(part, TestCases) and part.function_name is not None:
        return len(_languages(part)) * CASE_SECONDS
    if isinstance(part, Grader):
        return GRADING_SECONDS
    if isinstance(part, Packaged):
        return VALIDATOR_SECONDS
    if isinstance(part, VerifyFiles):
        return part.timeout
    return VALIDATOR_SECONDS if isinstance(part, Validator | Check) and part.is_slow else 0.0


def _languages(part: TestCases) -> set[str | None]:
    """The languages of its cases; None is the submission's, as is that of hidden cases."""
    named = {case.language or part.language for case in part.cases}
    return named | {part.language} if part.sealed else named


def _is_compiled(name: str | None) -> bool:
    language = languages().get(name or "")
    return language is None or language.compile is not None
