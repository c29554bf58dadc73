"""Makes a test of what happened: of a result, or of a reported execution."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

from arena.catalog.test import Test, WrittenTest
from arena.catalog.writing import keys_of, written_yaml
from arena.errors import InvalidInput
from arena.models.message import Message
from arena.models.step import Step
from arena.runs.run import Result, Run
from arena.scoring.history import ExecutionDetails, ExecutionStatus

MAX_ID = 50
MAX_NAME = 200
MAX_EXACT = 200
"""A longer answer is not expected word for word."""
MAX_QUOTED = 80
TOOL_NAME = re.compile("[A-Za-z0-9_-]{1,64}")
MAX_RECORDED = 1000


def test_of_result(run: Run, result: Result, test: Test, test_id: str | None = None) -> WrittenTest:
    """The test of a result, as it was asked there, with the standard that it was judged by."""
    output = _answer(result)
    chosen = test_id or _id(test.id, result.id.hex)
    frozen = replace(
        test,
        id=chosen,
        name=_short(f"{test.name} (from a result)", MAX_NAME),
        description=f"From a result of {test.id}: {run.agent_id} {run.agent_version}.",
        agents=None,
        trials=1,
        tools=_recorded(test.tools, result.steps or ()) or test.tools,
    )
    if result.messages:
        said = tuple(one.content for one in result.messages if one.role == "user")
        is_talk = test.turns is not None or test.user is not None
        # A simulated user may say something else next time: what it said is part of what happened.
        frozen = replace(frozen, user=None, turns=said if is_talk else None)
    comments = [
        f"Made from the result {result.id} of the run {run.id},",
        f"trial {result.trial} of the test {test.id}.",
        *_about_answer(output, result.passed, result.failure_reason),
    ]
    return WrittenTest(test_id=chosen, yaml=written_yaml(keys_of(frozen), comments))


def test_of_execution(
    execution: ExecutionDetails, expect: Sequence[str], test_id: str | None = None
) -> WrittenTest:
    """The test of an execution; `expect` is what a good answer contains.

    Without it, the answer of a completed execution is the good one.
    """
    said = [one.content for one in execution.messages or () if one.role == "user"]
    if not said:
        raise InvalidInput(
            f"execution {execution.id} was reported without messages, so nobody knows what was "
            "asked: report it with messages"
        )
    output = _output_of(execution)
    is_good = execution.status is ExecutionStatus.COMPLETED and not expect
    if execution.status in (ExecutionStatus.TIMEOUT, ExecutionStatus.CANCELLED):
        raise InvalidInput(f"execution {execution.id} was aborted ({execution.status})")
    if not expect and (not is_good or not output.strip()):
        raise InvalidInput(
            f"execution {execution.id} has no good answer (it is {execution.status}): say what a "
            "good one contains with --expect TEXT"
        )
    chosen = test_id or _id(execution.agent_id, execution.id.hex)
    validation, expected = _standard(output, expect)
    test = Test(
        id=chosen,
        name=_short(" ".join(said[0].split()), MAX_NAME) or chosen,
        description=f"From an execution of {execution.agent_id} {execution.agent_version}.",
        prompt=said[0],
        turns=tuple(said) if len(said) > 1 else None,
        tools=_recorded(None, execution.steps or ()),
        validation=validation,
        expected=expected,
    )
    system = [one.content for one in execution.messages or () if one.role == "system"]
    comments = [
        f"Made from the execution {execution.id}.",
        *(f"The agent had this system message: {text}" for text in system),
        *_about_answer(output, is_good, None),
    ]
    return WrittenTest(test_id=chosen, yaml=written_yaml(keys_of(test), comments))


def _answer(result: Result) -> str:
    """The answer of a result; an error if there is none that can be relied on."""
    if result.is_cut:
        raise InvalidInput(f"the answer of the result {result.id} was cut: it is not all there")
    output = (result.actual_output or {}).get("output")
    aborted = (ExecutionStatus.TIMEOUT, ExecutionStatus.CANCELLED, ExecutionStatus.ERROR)
    if result.status in aborted or not isinstance(output, str):
        raise InvalidInput(
            f"the result {result.id} has no answer (its execution ended with {result.status}): "
            "there is nothing to make a test of"
        )
    return output


def _output_of(execution: ExecutionDetails) -> str:
    if execution.output is not None:
        return execution.output
    messages: Sequence[Message] = execution.messages or ()
    return messages[-1].content if messages and messages[-1].role == "assistant" else ""


def _standard(output: str, expect: Sequence[str]) -> tuple[str, dict[str, Any]]:
    """What is expected, or else the standard that a good answer sets."""
    text = output.strip()
    if expect:
        return "contains", {"contains": list(expect)}
    if len(text) <= MAX_EXACT and "\n" not in text:
        return "exact", {"value": text}
    line = next(one.strip() for one in text.splitlines() if one.strip())
    return "contains", {"contains": [line[:MAX_EXACT].strip()]}


def _about_answer(output: str, passed: bool | None, reason: str | None) -> Iterator[str]:
    if not output.strip():
        yield "The agent's answer was empty."
        return
    how = {True: "good", False: "wrong", None: "not judged yet"}[passed]
    yield f"The agent's answer was {how}" + (f": {reason}" if reason and not passed else ":")
    yield f"  {output}" if "\n" not in output else output
    if passed is False:
        quoted = " ".join(output.split())[:MAX_QUOTED].replace("\\", "\\\\").replace('"', '\\"')
        yield "To forbid it, combine the standard (all_of) with:"
        yield f'  - {{validation: not_contains, expected: {{contains: ["{quoted}"]}}}}'


def _recorded(
    declared: Sequence[dict[str, Any]] | None, steps: Sequence[Step]
) -> tuple[dict[str, Any], ...] | None:
    """The tools with the answers that they gave; None if no tool was called."""
    calls: dict[str, list[dict[str, Any]]] = {}
    for step in steps:
        if TOOL_NAME.fullmatch(step.tool):
            call = {"arguments": step.arguments, "result": step.result, "error": step.error}
            kept = {key: value for key, value in call.items() if value is not None}
            calls.setdefault(step.tool, []).append(kept)
    if not calls:
        return None
    about = {str(tool.get("name")): tool for tool in declared or ()}
    tools: list[dict[str, Any]] = []
    for name in dict.fromkeys((*about, *calls)):
        tool = about.get(name, {"name": name})
        if name in calls:
            kept = {key: tool[key] for key in ("name", "description", "parameters") if key in tool}
            tool = {**kept, "recorded": calls[name][:MAX_RECORDED]}
        tools.append(tool)
    return tuple(tools)


def _id(base: str, digits: str) -> str:
    """A new id: the old one and the first digits of what it was made from."""
    name = re.sub(r"[^A-Za-z0-9_.-]", "_", base.partition("[")[0]).lstrip("_.-") or "test"
    return f"{name[: MAX_ID - 9]}_{digits[:8]}"


def _short(text: str, length: int) -> str:
    return text if len(text) <= length else f"{text[: length - 1]}…"
