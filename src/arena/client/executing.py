"""How an agent's own function is called, and what of its output is the result.

{"resultHash": "Qm…", "resultPreview": "function…"}   the content behind the hash
{"result": "…"}                                       the full answer
anything else                                         is the full answer itself
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

from arena.errors import AgentFault, AgentSaidNothing

Given = TypeVar("Given")
Taken = TypeVar("Taken")


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """A result to submit: the text itself, or the CID of content that is in the store."""

    text: str | None = None
    result_hash: str | None = None

    def __post_init__(self) -> None:
        if (self.text is None) == (self.result_hash is None):
            raise ValueError("a result is either a text or a hash")


def checked_result(result: str | Result) -> Result:
    """The result, if it is not blank."""
    given = Result(text=result) if isinstance(result, str) else result
    if given.text is not None and not given.text.strip():
        raise AgentSaidNothing("the result is empty")
    return given


def read_output(output: bytes) -> Result:
    """The result in what a program wrote. A preview is never a result."""
    try:
        text = output.decode()
    except UnicodeDecodeError as error:
        raise AgentFault(f"the output is not UTF-8 text (byte {error.start})") from None
    if not text.strip():
        raise AgentSaidNothing("the program wrote nothing to its standard output")
    document = _document(text)
    if document is None:
        # The newline at the end belongs to the printing, not to the answer.
        return Result(text=text.rstrip("\r\n"))
    if "resultHash" in document:
        result_hash = document["resultHash"]
        if not isinstance(result_hash, str) or not result_hash.strip():
            raise AgentFault("resultHash must be a CID in quotes")
        return Result(result_hash=result_hash.strip())
    answer = document["result"]
    written = answer if isinstance(answer, str) else json.dumps(answer, ensure_ascii=False)
    if answer is None or not written.strip():
        raise AgentSaidNothing("the program's result is empty")
    return Result(text=written)


def _document(text: str) -> dict[str, object] | None:
    """The object with a result; None where the text is the answer, be it JSON or not."""
    if not text.lstrip().startswith("{"):
        return None
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return None
    if not isinstance(value, dict) or not {"result", "resultHash"} & value.keys():
        return None
    return cast("dict[str, object]", value)


async def called(
    function: Callable[[Taken], Awaitable[Given] | Given],
    taken: Taken,
    *,
    threads: Executor | None = None,
) -> Given:
    """What a plain or async function returns. A plain one runs in a thread, to block nothing."""
    if _is_async(function):
        given = function(taken)
    else:
        # As asyncio.to_thread does it, which does not let its threads be chosen.
        run = copy_context().run
        given = await asyncio.get_running_loop().run_in_executor(
            threads, lambda: run(_run, function, taken)
        )
    # A plain function may still return something to wait for: a lambda around an async one.
    return await given if inspect.isawaitable(given) else cast("Given", given)


def _is_async(function: Callable[..., object]) -> bool:
    while isinstance(function, partial):
        function = function.func
    # An object may be called like a function; then it is its class's `__call__` that counts.
    return inspect.iscoroutinefunction(function) or inspect.iscoroutinefunction(
        type(function).__call__
    )


def _run(function: Callable[[Taken], Given], taken: Taken) -> Given:
    try:
        return function(taken)
    except StopIteration as error:
        # A future does not take it: whoever waits for the thread would wait for ever.
        raise RuntimeError("it raised StopIteration") from error


async def unless_stopped(stop: asyncio.Event, work: Coroutine[Any, Any, object]) -> None:
    """Do the work, or cancel it once `stop` is set: a server may not answer for hours."""
    doing, stopped = asyncio.create_task(work), asyncio.create_task(stop.wait())
    try:
        await asyncio.wait({doing, stopped}, return_when=asyncio.FIRST_COMPLETED)
    finally:
        for task in (doing, stopped):
            task.cancel()
        await asyncio.gather(doing, stopped, return_exceptions=True)
    if not doing.cancelled():
        doing.result()
