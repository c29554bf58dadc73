"""The checks of the tools that an agent called.

A call is a step of the submission, whether it failed or not. Steps are what the agent claims,
except those of tools that Arena played; a finding says which. If some of them are missing
(`steps_problem`), nothing is known of what was not called, and what is not known fails.
"""

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Annotated, Any, cast

from pydantic import Field, StrictBool, StrictInt

from arena.documents.validation import Fault
from arena.evaluation.checks import Check, Findings
from arena.evaluation.fields import Body, Distinct, IsJson, Json, Text, checked
from arena.evaluation.json_schema import first_misfit
from arena.evaluation.text import excerpt
from arena.evaluation.validators import quoted, schema_problem
from arena.evaluation.verdict import Finding, Submission
from arena.models.step import SOURCES, Step
from arena.pools.effort import effort
from arena.sandbox.values import equal
from arena.text import storable

SCHEMA_EFFORT = 250
"""Of one check by a schema: it may take far longer than its value is large."""
MAX_TOOLS = 100

Arguments = Annotated[dict[str, Any], IsJson]
Numbered = tuple[int, Step]
"""A step and its number, from 1."""


def misfit_of(arguments: object, expected: dict[str, Any], *, is_exact: bool = False) -> str | None:
    """Why a call does not have the expected arguments, or None; others may be there."""
    # A call without arguments has none, however it says so.
    got: object = {} if arguments is None or arguments == "" else arguments
    if not isinstance(got, dict):
        return "its arguments are not an object"
    named = cast(dict[str, object], got)
    for name, value in expected.items():
        if name not in named:
            return f"{name} is missing"
        if not equal(named[name], value):
            return f"{name} is {_shown(named[name])}"
    others = sorted(named.keys() - expected.keys()) if is_exact else []
    return f"it also has {excerpt(', '.join(others))}" if others else None


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolCheck(Check):
    """Looks at the steps only."""

    def effort(self, submission: Submission, *, limit: int) -> int:
        """All values in the steps."""
        values = (
            value for one in submission.steps for value in (one.tool, one.arguments, one.result)
        )
        return effort(*values, limit=limit)


@dataclass(frozen=True, slots=True, kw_only=True)
class Times(Body):
    """How often something happens."""

    at_least: Annotated[StrictInt, Field(ge=0)] | None = None
    at_most: Annotated[StrictInt, Field(ge=0)] | None = None

    def faults(self) -> Iterator[Fault]:
        """No limit at all, or limits that exclude each other."""
        if self.at_least is None and self.at_most is None:
            yield Fault(path=(), message="needs the key 'at_least' or 'at_most'")
        if self.at_most is not None and (self.at_least or 0) > self.at_most:
            yield Fault(path=("at_least",), message="must not be more than at_most")

    def __str__(self) -> str:
        bounds = (("at least", self.at_least), ("at most", self.at_most))
        named = [f"{word} {_times(count)}" for word, count in bounds if count is not None]
        return " and ".join(named)


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolCalled(ToolCheck):
    """The agent called a tool, with these arguments."""

    tool: Text
    arguments: Arguments | None = None
    """What these arguments must be; others may be there."""
    exact: StrictBool = False
    """Whether there must be no other arguments."""
    arguments_schema: Annotated[Json, checked(schema_problem)] | None = None
    result: Json = None
    """What the tool returned; null: anything."""
    times: Times = field(default_factory=lambda: Times(at_least=1))

    def faults(self) -> Iterator[Fault]:
        """Limits that exclude each other, or `exact` without arguments."""
        for fault in self.times.faults():
            yield Fault(path=("times", *fault.path), message=fault.message)
        if self.exact and self.arguments is None:
            yield Fault(path=("exact",), message="needs 'arguments': {} if there must be none")

    @property
    def is_slow(self) -> bool:
        """Whether there is a schema."""
        return self.arguments_schema is not None

    def effort(self, submission: Submission, *, limit: int) -> int:
        """More for every check by the schema."""
        calls = len(_calls(submission.steps, self.tool)) if self.is_slow else 0
        return SCHEMA_EFFORT * calls + ToolCheck.effort(self, submission, limit=limit)

    def check(self, submission: Submission) -> Findings:
        """One finding: the first call that fits, or why there are too few or too many."""
        calls = _calls(submission.steps, self.tool)
        fitting: list[Numbered] = []
        misfits: list[tuple[Numbered, str]] = []
        for number, step in calls:
            misfit = self._misfit(step)
            if misfit is None:
                fitting.append((number, step))
            else:
                misfits.append(((number, step), misfit))
        least, most = self.times.at_least or 0, self.times.at_most
        name = quoted(self.tool)
        if len(fitting) < least:
            return (self._too_few(submission, len(fitting), misfits),)
        if most is not None and len(fitting) > most:
            reason = f"{name} is called {_times(len(fitting))}, {self.times} expected"
            return (_finding(self._criterion, False, reason, fitting[most]),)
        if most is not None and submission.steps_problem:
            return (_unknown(self._criterion, submission.steps_problem),)
        if not fitting:
            reason = f"{name} is not called{_of_whom(submission)}"
            return (_finding(self._criterion, True, reason),)
        often = f" and {len(fitting) - 1:,} more" if len(fitting) > 1 else ""
        reason = f"step {fitting[0][0]}{often} calls {name}"
        return (_finding(self._criterion, True, reason, fitting[0]),)

    def _misfit(self, step: Step) -> str | None:
        if self.arguments is not None:
            misfit = misfit_of(step.arguments, self.arguments, is_exact=self.exact)
            if misfit is not None:
                return misfit
        if self.arguments_schema is not None:
            arguments: object = {} if step.arguments is None else step.arguments
            if misfit := first_misfit(self.arguments_schema, arguments):
                return misfit
        if self.result is not None and not equal(step.result, self.result):
            return f"its result is {_shown(step.result)}"
        return None

    def _too_few(
        self, submission: Submission, count: int, misfits: Sequence[tuple[Numbered, str]]
    ) -> Finding:
        name = quoted(self.tool)
        if misfits:
            call, misfit = misfits[-1]
            reason = f"step {call[0]} calls {name}, but {misfit}"
            return _finding(self._criterion, False, reason, call)
        if count:
            reason = f"{name} is called {_times(count)}, {self.times} expected"
        else:
            reason = f"{name} is not called{_of_whom(submission)}"
        return _finding(self._criterion, False, reason)

    @property
    def _criterion(self) -> str:
        text = f"calls {quoted(self.tool)}"
        if self.arguments is not None:
            text += f" with {'exactly ' if self.exact else ''}{_shown(self.arguments)}"
        if self.arguments_schema is not None:
            text += " with arguments that fit the JSON Schema"
        if self.result is not None:
            text += f" that returns {_shown(self.result)}"
        return text if self.times == Times(at_least=1) else f"{text} {self.times}"


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolNotCalled(ToolCheck):
    """The agent called none of these tools."""

    tools: Annotated[tuple[Text, ...], Field(min_length=1, max_length=MAX_TOOLS), Distinct]
    arguments: Arguments | None = None
    """Only calls with these arguments are meant."""

    def check(self, submission: Submission) -> Findings:
        """A finding for each tool."""
        return tuple(self._of_tool(tool, submission) for tool in self.tools)

    def _of_tool(self, tool: str, submission: Submission) -> Finding:
        name, meant = quoted(tool), ""
        if self.arguments is not None:
            meant = f" with {_shown(self.arguments)}"
        criterion = f"does not call {name}{meant}"
        for number, step in _calls(submission.steps, tool):
            if self.arguments is None or misfit_of(step.arguments, self.arguments) is None:
                reason = f"step {number} calls {name}{meant}"
                return _finding(criterion, False, reason, (number, step))
        if submission.steps_problem:
            return _unknown(criterion, submission.steps_problem)
        return _finding(criterion, True, f"{name} is not called{meant}{_of_whom(submission)}")


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolOrder(ToolCheck):
    """The agent called these tools in this order."""

    tools: Annotated[tuple[Text, ...], Field(min_length=1, max_length=MAX_TOOLS)]
    exact: StrictBool = False
    """Whether nothing else is called before, between or after them."""

    def check(self, submission: Submission) -> Findings:
        """One finding: where the order is broken, or the last step of it."""
        steps = submission.steps
        criterion = f"calls {'only ' if self.exact else ''}{excerpt(', then '.join(self.tools))}"
        at = 0
        last: Numbered | None = None
        for number, step in enumerate(steps, start=1):
            if at < len(self.tools) and step.tool == self.tools[at]:
                at, last = at + 1, (number, step)
            elif self.exact:
                wanted = quoted(self.tools[at]) if at < len(self.tools) else "nothing more"
                reason = f"step {number} calls {quoted(step.tool)}, {wanted} expected"
                return (_finding(criterion, False, reason, (number, step)),)
        if at == len(self.tools) and self.exact and submission.steps_problem:
            return (_unknown(criterion, submission.steps_problem),)
        if at == len(self.tools):
            place = last[0] if last else 0
            return (_finding(criterion, True, f"step {place} completes the order", last),)
        return (self._broken(criterion, submission, at, last),)

    def _broken(
        self, criterion: str, submission: Submission, at: int, last: Numbered | None
    ) -> Finding:
        tool = self.tools[at]
        reason = f"{quoted(tool)} is not called"
        if last is not None:
            reason += f" after step {last[0]} ({excerpt(last[1].tool)})"
        earlier = _calls(submission.steps, tool)
        if earlier and tool not in self.tools[:at]:
            return _finding(criterion, False, f"{reason}, only before", earlier[0])
        return _finding(criterion, False, reason + ("" if last else _of_whom(submission)), last)


def _calls(steps: Sequence[Step], tool: str) -> list[Numbered]:
    return [(number, one) for number, one in enumerate(steps, start=1) if one.tool == tool]


def _of_whom(submission: Submission) -> str:
    """What a step that is not there was looked for in."""
    steps = submission.steps
    if submission.steps_problem:
        return f": {excerpt(submission.steps_problem)}"
    if not steps:
        return ": there are no steps"
    sources = [SOURCES[source] for source in SOURCES if any(one.source == source for one in steps)]
    noun = "the only step is" if len(steps) == 1 else f"the {len(steps):,} steps are"
    return f": {noun} {' or '.join(sources)}"


def _unknown(criterion: str, problem: str) -> Finding:
    return _finding(criterion, False, f"not known: {excerpt(problem)}")


def _finding(criterion: str, passed: bool, reason: str, call: Numbered | None = None) -> Finding:
    evidence = None
    if call is not None:
        number, step = call
        reason = f"{reason} ({SOURCES[step.source]})"
        shown = _shown(step.arguments) if step.arguments is not None else ""
        evidence = storable(f"step {number}: {excerpt(step.tool)}({shown})")
        if step.error:
            evidence += f" failed: {storable(excerpt(step.error))}"
    return Finding(
        criterion=storable(criterion), passed=passed, reason=storable(reason), evidence=evidence
    )


def _shown(value: object) -> str:
    return excerpt(json.dumps(value, ensure_ascii=False))


def _times(count: int) -> str:
    return "once" if count == 1 else f"{count:,} times"


TOOL_CHECKS: dict[str, type[Check]] = {
    "tool_called": ToolCalled,
    "tool_not_called": ToolNotCalled,
    "tool_order": ToolOrder,
}
"""By the `validation` of a test."""
