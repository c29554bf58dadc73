"""Runs a Python function for Arena in its own process: `python worker.py module:function [path…]`.

This file stands alone: it may run in any Python from 3.9 on, without Arena. It imports little,
because it is started often. It reads a JSON value per line (the prompt; or an object with `prompt`
and, within a conversation, `messages`, `turn` and `context`, or the `trace` of the question) and
writes a line per answer; the first byte says what it is:

    +           the function is loaded, ready for questions (once, at the start)
    =JSON       the answer: text, or an object with `output`, `usage` and so on
    ?JSON       the function returned something else: its type
    !JSON       the function raised: what and where
    ~JSON       the function takes only the prompt, so it cannot continue a conversation
    -JSON       there is no such module or function: why (then the process ends)
"""

import json
import os
import sys
from collections.abc import Awaitable, Callable
from functools import cache, partial
from importlib import import_module

TYPE_CHECKING = False  # `typing` itself is slow to import
if TYPE_CHECKING:
    import asyncio
    from typing import TypeGuard

SEND_SPANS_MILLISECONDS = 2000
MAX_OUTPUT_CHARACTERS = 1024 * 1024
"""Arena keeps at most this many bytes; one more shows that the output was longer."""


def main(reference: str, paths: "list[str]") -> None:
    """Serve questions until stdin ends; `paths` are more folders with modules."""
    source = os.fdopen(os.dup(0), "rb")
    target = os.dup(1)
    # What the function prints goes to stderr, and its child processes cannot reach the pipes:
    # copies made by `os.dup` are not inherited.
    os.dup2(2, 1)
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.close(nothing)
    try:
        search(paths)
        function = in_workspace(find(reference), os.environ.get("ARENA_WORKSPACE"))
    except BaseException as error:  # importing a module can raise anything
        send(target, b"-", describe(error))
        return
    os.write(target, b"+\n")
    for line in source:
        question = json.loads(line)
        trace = None if isinstance(question, str) else question.get("trace")
        if trace is not None:
            continue_trace(trace)
        answer = reply(function, question)
        if trace is not None and "ARENA_WORKSPACE" in os.environ:
            send_spans()  # before the answer: this process ends with the question
        send(target, *answer)
        if trace is not None:
            send_spans()  # after the answer, which is not late because of them


def search(paths: "list[str]") -> None:
    """Search the working folder first, then `paths`, and never the folder of this file."""
    # It has a `secrets.py` and a `http.py`. Not `python -P`, which is new in 3.11.
    own = os.path.dirname(os.path.abspath(__file__))  # noqa: PTH100, PTH120 - pathlib is slow
    rest = sys.path[1:] if sys.path[:1] == [own] else sys.path
    sys.path[:] = [os.getcwd(), *paths, *rest]  # noqa: PTH109


def find(reference: str) -> Callable[..., object]:
    """The function called `module:function`."""
    module, _, name = reference.partition(":")
    found: object = import_module(module)
    for part in name.split("."):
        found = getattr(found, part)
    if not callable(found):
        raise TypeError(f"{reference} is not a function")
    return found


def in_workspace(function: Callable[..., object], folder: "str | None") -> Callable[..., object]:
    """The function in its working folder, which it also gets as `workspace` if it accepts that."""
    if folder is None:
        return function
    os.chdir(folder)
    more = accepted(function, {"workspace": folder})
    return partial(function, **more) if more else function


def reply(
    function: Callable[..., object], question: "str | dict[str, object]"
) -> tuple[bytes, object]:
    """Call the function; returns the kind and the value of the line."""
    more = {}
    prompt: object = question
    if isinstance(question, dict):
        prompt = question.pop("prompt")
        if "messages" in question:
            question.setdefault("context", None)
        more = accepted(function, question)
        if "messages" in question and not {"messages", "context"} & set(more):
            return b"~", None
    try:
        value = function(prompt, **more)
        if is_awaitable(value):
            value = finish(value)
    except BaseException as error:  # also SystemExit: the function failed, the worker continues
        return b"!", describe(error)
    return answered(value)


def answered(value: object) -> tuple[bytes, object]:
    """The kind and the value of the line for what the function returned."""
    if isinstance(value, str):
        return b"=", cut(value)
    if has_output(value):
        answer = {"output": cut(value["output"]), "usage": value.get("usage")}
        if "steps" in value:
            answer["steps"] = json_or_type(value["steps"])
        if value.get("truncated") is True:
            answer["truncated"] = True
        for name in ("language", "context"):
            if isinstance(value.get(name), str):
                answer[name] = value[name]
        return b"=", answer
    return b"?", type(value).__name__


def accepted(function: Callable[..., object], parts: "dict[str, object]") -> "dict[str, object]":
    """The parts of a question, besides the prompt, that the function has parameters for."""
    import inspect  # slow to import, and few questions have more than a prompt

    try:
        parameters = inspect.signature(function).parameters
    except ValueError:  # a function of another language may have no signature
        return {}
    takes_any = any(one.kind is one.VAR_KEYWORD for one in parameters.values())
    # A trace only where it is asked for by name: a function may pass the others on to a client.
    wanted = [name for name in parts if name in parameters or (takes_any and name != "trace")]
    return {name: parts[name] for name in wanted}


def continue_trace(trace: "dict[str, object]") -> None:
    """Make the next spans part of the trace of this question, if OpenTelemetry is installed."""
    traceparent = str(trace["traceparent"])
    os.environ["TRACEPARENT"] = traceparent
    try:
        from opentelemetry import context
        from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator
    except ImportError:
        return
    # Never detached: the next question replaces it.
    context.attach(TraceContextTextMapPropagator().extract({"traceparent": traceparent}))


def send_spans() -> None:
    """Send the spans that wait for a batch, if the function has set OpenTelemetry up."""
    module = sys.modules.get("opentelemetry.trace")
    flush = getattr(module.get_tracer_provider(), "force_flush", None) if module else None
    if flush is not None:
        try:
            flush(SEND_SPANS_MILLISECONDS)
        except Exception as error:  # an exporter can raise anything; the answer is sent already
            print(f"spans were not sent: {describe(error)}", file=sys.stderr)


def is_awaitable(value: object) -> "TypeGuard[Awaitable[object]]":
    """Whether the function was async."""
    return isinstance(value, Awaitable)


def has_output(value: object) -> "TypeGuard[dict[str, object]]":
    """Whether the function returned its answer in a dict."""
    return isinstance(value, dict) and "output" in value


def json_or_type(value: object) -> object:
    """`value` if it is JSON, else its type: an answer does not fail because of its steps."""
    try:
        json.dumps(value)
    except (TypeError, ValueError, RecursionError):
        return type(value).__name__
    return value


def cut(output: object) -> object:
    """Text truncated to what Arena keeps, plus one character if there was more."""
    return output[: MAX_OUTPUT_CHARACTERS + 1] if isinstance(output, str) else output


def finish(awaitable: Awaitable[object]) -> object:
    """The result of an async function."""

    async def wait() -> object:
        return await awaitable

    return event_loop().run_until_complete(wait())


@cache
def event_loop() -> "asyncio.AbstractEventLoop":
    """One loop for all questions, so that a function can keep its clients."""
    # Importing it costs more than the rest of this file, and most functions are not async.
    import asyncio

    return asyncio.new_event_loop()


def send(target: int, kind: bytes, value: object) -> None:
    """Write one line; a value that is not JSON counts as a failure of the function."""
    try:
        data = kind + json.dumps(value).encode() + b"\n"
    except (TypeError, ValueError, RecursionError) as error:
        data = b"!" + json.dumps(describe(error)).encode() + b"\n"
    while data:
        data = data[os.write(target, data) :]


def describe(error: BaseException) -> str:
    """An exception in one line: its type, its message, and where it was raised."""
    trace = error.__traceback__
    while trace is not None and trace.tb_next is not None:
        trace = trace.tb_next
    text = f"{type(error).__name__}: {error}"[:2000]
    if trace is None or trace.tb_frame.f_code.co_filename == __file__:
        return text
    code = trace.tb_frame.f_code
    return f"{text} ({code.co_filename}:{trace.tb_lineno}, in {code.co_name})"


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2:])
