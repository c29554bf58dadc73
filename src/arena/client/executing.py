"""Calls an agent's own function, and reads the result from a program's output.

A program may print one of these, or the full answer itself:

    {"resultHash": "Qm…", "resultPreview": "function…"}   the content with this CID
    {"result": "…"}                                       the full answer

An object may also name the language of the code: {"result": "…", "language": "go"}. What is plainly
an error is refused (`output_fault.py`).
"""

import asyncio
import inspect
import json
from collections.abc import Awaitable, Callable, Coroutine
from concurrent.futures import Executor
from contextvars import copy_context
from dataclasses import dataclass
from functools import partial
from typing import Any, TypeVar, cast

from arena.client.output_fault import object_fault, text_fault
from arena.errors import AgentFault, AgentSaidNothing

Returned = TypeVar("Returned")
Argument = TypeVar("Argument")


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskResult:
    """A result to submit: the text itself, or the CID of stored content."""

    text: str | None = None
    result_hash: str | None = None
    language: str | None = None
    """The language of its code; None if the standard or a fence names it."""

    def __post_init__(self) -> None:
        if (self.text is None) == (self.result_hash is None):
            raise ValueError("a result is either a text or a hash")


def checked_result(result: str | TaskResult) -> TaskResult:
    """The result; an error if it is blank."""
    result = TaskResult(text=result) if isinstance(result, str) else result
    if result.text is not None and not result.text.strip():
        raise AgentSaidNothing("the result is empty")
    return result


def read_output(output: bytes) -> TaskResult:
    """The result in a program's output. A preview alone is not a result."""
    try:
        text = output.decode()
    except UnicodeDecodeError as error:
        raise AgentFault(f"the output is not UTF-8 text (byte {error.start})") from None
    if not text.strip():
        raise AgentSaidNothing("the program wrote nothing to its standard output")
    document = _document(text)
    if fault := text_fault(text) if document is None else object_fault(document):
        raise AgentFault(f'{fault}; an answer that looks so must be printed as {{"result": "…"}}')
    if document is None or not {"result", "resultHash"} & document.keys():
        # The newline at the end comes from printing, not from the answer.
        return TaskResult(text=text.rstrip("\r\n"))
    language = document.get("language")
    if language is not None and (not isinstance(language, str) or not language.strip()):
        raise AgentFault('language must be a name in quotes, such as "python"')
    if "resultHash" in document:
        result_hash = document["resultHash"]
        if not isinstance(result_hash, str) or not result_hash.strip():
            raise AgentFault("resultHash must be a CID in quotes")
        return TaskResult(result_hash=result_hash.strip(), language=language)
    answer = document["result"]
    written = answer if isinstance(answer, str) else json.dumps(answer, ensure_ascii=False)
    if answer is None or not written.strip():
        raise AgentSaidNothing("the program's result is empty")
    return TaskResult(text=written, language=language)


def _document(text: str) -> dict[str, object] | None:
    """The object that the text is; None if it is something else."""
    if not text.lstrip().startswith("{"):
        return None
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return cast("dict[str, object]", value) if isinstance(value, dict) else None


async def call_function(
    function: Callable[[Argument], Awaitable[Returned] | Returned],
    argument: Argument,
    *,
    threads: Executor | None = None,
) -> Returned:
    """Call a plain or async function. A plain one runs in a thread, to not block the loop."""
    if _is_async(function):
        result = function(argument)
    else:
        # Like asyncio.to_thread, which cannot be given an executor.
        run = copy_context().run
        result = await asyncio.get_running_loop().run_in_executor(
            threads, lambda: run(_run, function, argument)
        )
    # A plain function may still return an awaitable: a lambda around an async function does.
    return await result if inspect.isawaitable(result) else cast("Returned", result)


def _is_async(function: Callable[..., object]) -> bool:
    while isinstance(function, partial):
        function = function.func
    # A callable object is async if the `__call__` of its class is.
    return inspect.iscoroutinefunction(function) or inspect.iscoroutinefunction(
        type(function).__call__
    )


def _run(function: Callable[[Argument], Returned], argument: Argument) -> Returned:
    try:
        return function(argument)
    except StopIteration as error:
        # A future cannot hold StopIteration: the caller would wait for ever.
        raise RuntimeError("the function raised StopIteration") from error


async def unless_stopped(stop: asyncio.Event, work: Coroutine[Any, Any, object]) -> None:
    """Do the work, or cancel it once `stop` is set: a request may take hours."""
    doing, stopped = asyncio.create_task(work), asyncio.create_task(stop.wait())
    try:
        await asyncio.wait({doing, stopped}, return_when=asyncio.FIRST_COMPLETED)
    finally:
        for task in (doing, stopped):
            task.cancel()
        await asyncio.gather(doing, stopped, return_exceptions=True)
    if not doing.cancelled():
        doing.result()
