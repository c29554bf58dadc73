"""The Python connector: an agent that is a function, run in worker processes.

In processes, because only then does a timeout end the work, and a crash does not affect Arena.
"""

import json
import os
import sys
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path

from arena.agents.agent import AgentDefinition
from arena.agents.connector import (
    MAX_OUTPUT_BYTES,
    Answer,
    Connector,
    Question,
    answer_from_value,
    history,
)
from arena.agents.line_pool import Ended, LinePool, LineProcess, how_it_ended
from arena.agents.process import Program
from arena.agents.secrets import Secrets, program_environment
from arena.agents.spec import PythonSpec
from arena.agents.workspace_folder import VARIABLE
from arena.errors import AgentCrashed, AgentSaidNothing, AgentUnavailable

START_SECONDS = 60.0
"""How long the import of the module may take; it does not count as answering."""

_WORKER = Path(__file__).with_name("worker.py")
# The worker truncates the output itself, but a character can take twelve bytes in JSON.
_MAX_LINE_BYTES = 12 * MAX_OUTPUT_BYTES + 64 * 1024


def connect(agent: AgentDefinition, secrets: Secrets) -> Connector:
    """The connector for `{type: python}`."""
    spec = agent.connector
    assert isinstance(spec, PythonSpec)
    folder = agent.directory
    python = spec.python or sys.executable
    if "/" in python:
        python = str(folder / Path(python).expanduser())
    program = Program(
        # The worker needs no package, so that the interpreter may be one without Arena.
        words=[python, str(_WORKER), spec.callable, *(str(folder / path) for path in spec.path)],
        directory=folder,
        environment=_module_path(secrets) | program_environment(spec.env, secrets),
    )
    return PythonCallable(spec.callable, program)


def _module_path(secrets: Secrets) -> dict[str, str]:
    """The user's PYTHONPATH. Made absolute: the worker runs in the folder of the agent's file."""
    entries = secrets.environ.get("PYTHONPATH", "").split(os.pathsep)
    absolute = [str(Path(entry).absolute()) for entry in entries if entry]
    return {"PYTHONPATH": os.pathsep.join(absolute)} if absolute else {}


class PythonCallable:
    """Calls a function in worker processes, which are reused."""

    def __init__(self, reference: str, program: Program) -> None:
        self._reference = reference
        self._program = program
        self._pool = self._new_pool(program)

    def _new_pool(self, program: Program) -> LinePool:
        return LinePool(program, max_line_bytes=_MAX_LINE_BYTES, greet=self._greet)

    async def answer(self, question: Question) -> Answer:
        """Call the function with the prompt and, in a conversation, what was said before it."""
        more = history(question)
        variables: dict[str, str] | None = None
        if question.trace is not None:
            more["trace"] = question.trace.as_json()
            variables = question.trace.session_variables()
        asked = {"prompt": question.prompt, **more} if more else question.prompt
        sent = json.dumps(asked).encode() + b"\n"
        async with self._pool_for(question) as pool:
            line, is_cut = await pool.ask(sent, question.timeout_seconds, variables)
        if is_cut:
            raise AgentCrashed("the agent's answer is far longer than 1 MiB")
        kind, value = line[:1], _value(line)
        if kind == b"=":
            return answer_from_value(value)
        if kind == b"!":
            raise AgentCrashed(f"the function raised {value}")
        if kind == b"~":
            raise AgentUnavailable(
                f"{self._reference!r} cannot hold a conversation: it takes only the prompt; give "
                "it a parameter 'messages' (or 'context', if it keeps the conversation itself)",
                retryable=False,
            )
        if value == "NoneType":
            raise AgentSaidNothing("the function returned None; it must return its answer")
        raise AgentCrashed(
            f"the function returned a {value}; it must return text or a dict with 'output'"
        )

    @asynccontextmanager
    async def _pool_for(self, question: Question) -> AsyncGenerator[LinePool]:
        """The shared workers; for work on files, one of its own that ends with the question."""
        if question.workspace is None:
            yield self._pool
            return
        environment = {**self._program.environment, VARIABLE: str(question.workspace.path)}
        pool = self._new_pool(replace(self._program, environment=environment))
        try:
            yield pool
        finally:
            await pool.close()

    async def close(self) -> None:
        """End all workers."""
        await self._pool.close()

    async def _greet(self, worker: LineProcess) -> None:
        """Wait until the worker has loaded the function."""
        try:
            line, _ = await worker.ask(b"", START_SECONDS)
        except TimeoutError:
            reason = f"it took longer than {START_SECONDS:g} s"
        except Ended:
            reason = await how_it_ended(worker)
        else:
            if line == b"+":
                return
            reason = _value(line)
        raise AgentUnavailable(f"{self._reference!r} cannot be loaded: {reason}", retryable=False)


def _value(line: bytes) -> object:
    """The value after the kind. Not trusted: the function may have written it."""
    try:
        return json.loads(line[1:])
    except RecursionError:
        raise AgentCrashed("the agent's answer is nested too deep") from None
    except ValueError:
        raise AgentCrashed("the function wrote into the pipe for its answers") from None
