"""The standard `verify`: a command judges the files that an agent left in its workspace.

It runs in a fresh sandbox that holds the collected files and, laid over them, the hidden ones.
What it prints is not read: its exit code counts, or the report that it promised.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Annotated, Literal

from pydantic import Field, PlainValidator, StrictInt

from arena.documents.validation import Fault
from arena.evaluation.fields import Body, Number, PassScore, Text, checked, nested
from arena.evaluation.verdict import MIN_PASS_SCORE
from arena.workspaces.collected import File
from arena.workspaces.description import BadFiles, read_files, read_patterns
from arena.workspaces.names import path_problem, shown

VERIFY_SECONDS = 60.0
MAX_SECONDS = 3600.0
MAX_CASES = 10_000


def _files(value: object) -> Mapping[str, File]:
    try:
        return read_files(value)
    except BadFiles as error:
        raise nested([(error.path, error.message)]) from None


def _patterns(value: object) -> tuple[str, ...]:
    try:
        return read_patterns({"patterns": value}, "patterns")
    except BadFiles as error:
        raise nested([(error.path[1:], error.message)]) from None


def _path_fault(path: str) -> str | None:
    problem = path_problem(path)
    return f"the path {shown(path)} {problem}" if problem else None


@dataclass(frozen=True, slots=True, kw_only=True)
class VerifyFiles(Body):
    """A command judges the files that the agent left."""

    command: Text
    """Runs in a shell, in the folder with the files."""
    hidden: Annotated[Mapping[str, File], PlainValidator(_files)] = field(
        default_factory=dict[str, File]
    )
    """Laid over the collected files; the agent never gets them."""
    unchanged: Annotated[tuple[str, ...], PlainValidator(_patterns)] = ()
    """Files that the agent must leave as they are: no change, no deletion, no addition."""
    score: Literal["exit_code", "json", "junit", "reward"] = "exit_code"
    """Where the score comes from."""
    report: Annotated[Text, checked(_path_fault)] | None = None
    """The file that the command writes, unless its exit code counts.

    `reward`: a number from 0 to 1, or the same name with .json and an object of such numbers.
    """
    min_cases: Annotated[StrictInt, Field(ge=1, le=MAX_CASES)] | None = None
    """How many test cases a `junit` report must have at least; missing ones count as failed."""
    timeout: Annotated[Number, Field(gt=0, le=MAX_SECONDS)] = VERIFY_SECONDS
    image: Text | None = None
    """The image of the sandbox; None: the provider's own."""
    pass_score: PassScore = MIN_PASS_SCORE

    @property
    def reports(self) -> tuple[str, ...]:
        """The files that are read as the report, the first that there is."""
        if self.report is None:
            return ()
        if self.score != "reward":
            return (self.report,)
        return (self.report, f"{self.report.removesuffix('.txt')}.json")

    def faults(self) -> Iterator[Fault]:
        """A report that is missing, or that nothing reads."""
        if self.score != "exit_code" and self.report is None:
            message = f"score: {self.score} needs a report: the path of the file that it writes"
            yield Fault(path=("report",), message=message)
        if self.score == "exit_code" and self.report is not None:
            yield Fault(path=("report",), message="is not read: set score to json or junit")
        if self.score != "junit" and self.min_cases is not None:
            yield Fault(path=("min_cases",), message="is for score: junit only")
        if self.report is not None and self.report in self.hidden:
            yield Fault(path=("report",), message="is a hidden file: the command must write it")
