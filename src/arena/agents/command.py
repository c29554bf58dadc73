"""The command connector: an agent that is a program.

One process per question, or long-lived processes that get a JSON line per question.
"""

import asyncio
import json
import shlex
import sys
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import replace
from typing import Literal

from arena.agents.agent import AgentDefinition
from arena.agents.connector import (
    MAX_OUTPUT_BYTES,
    Answer,
    Connector,
    Question,
    answer_from_bytes,
    has_output,
    history,
    timed_out,
)
from arena.agents.line_pool import LinePool
from arena.agents.process import Process, Program, describe_end
from arena.agents.secrets import Secrets, program_environment
from arena.agents.spec import PROMPT, CommandSpec, PlaceSpec
from arena.agents.workspace_folder import (
    DOCKER_VARIABLES,
    IN_CONTAINER,
    contained,
    program_in,
)
from arena.errors import AgentCrashed, AgentTimedOut, AgentUnavailable

MAX_ARGUMENT_BYTES = 128 * 1024 - 1
"""Linux starts no program with a longer argument."""


def connect(agent: AgentDefinition, secrets: Secrets) -> Connector:
    """The connector for `{type: command}`."""
    spec = agent.connector
    assert isinstance(spec, CommandSpec)
    python = sys.executable if spec.place is None else "python3"
    words = [python if word == "{python}" else word for word in shlex.split(spec.command)]
    environment = program_environment(spec.env, secrets)
    if spec.place is not None:
        environment |= {
            name: secrets.environ[name] for name in DOCKER_VARIABLES if name in secrets.environ
        }
    program = Program(words=words, directory=agent.directory, environment=environment)
    if spec.persistent:
        return PersistentCommand(program)
    return Command(program, spec.stdin, place=spec.place, names=spec.env)


class Command:
    """Starts the program for every question, and kills its whole process group after it."""

    def __init__(
        self,
        program: Program,
        stdin: Literal["json", "text", "none"] = "json",
        *,
        place: PlaceSpec | None = None,
        names: tuple[str, ...] = (),
    ) -> None:
        self._program = program
        self._stdin = stdin
        self._place = place
        self._names = names
        """Variables that the program gets in its place too."""
        self._has_prompt = any(PROMPT in word for word in program.words)
        self._running: set[Process] = set()
        self._is_closed = False

    async def answer(self, question: Question) -> Answer:
        """Ask a new process: the question on stdin or as an argument, the answer on stdout."""
        program = self._program_for(question)
        folder = question.workspace.path if question.workspace else None
        if self._place is not None:
            traced = question.trace.variables() if question.trace else ()
            names = (*self._names, *traced)
            async with contained(program, self._place, folder, names) as inside:
                return await self._ask(inside, question)
        return await self._ask(program_in(program, folder) if folder else program, question)

    async def _ask(self, program: Program, question: Question) -> Answer:
        output = _Output()
        process = output.process = Process(program, output.add)
        self._running.add(process)
        try:
            async with asyncio.timeout(question.timeout_seconds):
                process.write(self._input(question))
                process.finish_input()
                code = await asyncio.shield(process.ended)
        except TimeoutError:
            raise AgentTimedOut(timed_out(question)) from None
        finally:
            await process.end()
            self._running.discard(process)
        if self._is_closed:
            raise AgentUnavailable("the connector was closed while the agent was answering")
        if code != 0 and not output.is_full:
            raise AgentCrashed(describe_end(code, process.stderr))
        return answer_from_bytes(bytes(output.data), truncated=output.is_full)

    async def close(self) -> None:
        """End every process that is still running."""
        self._is_closed = True
        await asyncio.gather(*(process.end() for process in self._running))

    def _program_for(self, question: Question) -> Program:
        """The program with the prompt in its arguments, and the trace in its environment."""
        program = self._program
        if question.trace is not None:
            environment = {**program.environment, **question.trace.variables()}
            program = replace(program, environment=environment)
        if not self._has_prompt:
            return program
        if "\0" in question.prompt:
            message = "the prompt has a NUL, which no argument can have; use 'input: text'"
            raise AgentUnavailable(message, retryable=False)
        words = [word.replace(PROMPT, question.prompt) for word in self._program.words]
        longest = max(len(word.encode(errors="surrogateescape")) for word in words)
        if longest > MAX_ARGUMENT_BYTES:
            raise AgentUnavailable(
                f"the prompt is too long for an argument ({longest:,} bytes, at most"
                f" {MAX_ARGUMENT_BYTES:,}); leave {PROMPT} out and use 'input: text'",
                retryable=False,
            )
        return replace(program, words=words)

    def _input(self, question: Question) -> bytes:
        if self._stdin == "text":
            return question.prompt.encode(errors="replace")
        folder = IN_CONTAINER if self._place else None
        return question_line(question, folder) if self._stdin == "json" else b""


class _Output:
    """The output of a process; over the limit the process is killed."""

    process: Process

    def __init__(self) -> None:
        self.data = bytearray()
        self.is_full = False

    def add(self, data: bytes) -> None:
        room = MAX_OUTPUT_BYTES - len(self.data)
        self.data += data[:room]
        if len(data) > room:
            self.is_full = True
            self.process.kill()


def question_line(question: Question, folder: str | None = None) -> bytes:
    """The input of a program: one JSON object in one line.

    `folder` is where the program finds the workspace, if not where this machine has it.
    """
    value: dict[str, object] = {
        "id": question.id,
        "prompt": question.prompt,
        "timeout_seconds": question.timeout_seconds,
    }
    if question.trace is not None:
        value["trace"] = question.trace.as_json()
    if question.workspace is not None:
        value["workspace"] = folder or str(question.workspace.path)
    value |= history(question)
    return json.dumps(value).encode() + b"\n"


class PersistentCommand:
    """Keeps the program running; restarts it if it died or its output is out of sync."""

    def __init__(self, program: Program) -> None:
        self._program = program
        self._pool = LinePool(program, max_line_bytes=MAX_OUTPUT_BYTES)

    async def answer(self, question: Question) -> Answer:
        """Ask a free process of the pool, or a new one."""
        variables = question.trace.session_variables() if question.trace else None
        async with self._pool_for(question) as pool:
            line, is_cut = await pool.ask(
                question_line(question), question.timeout_seconds, variables
            )
        answered = _answered_id(line)
        if answered is not None and answered != question.id:
            # The process is a line behind, and all its later answers would be too.
            self._pool.forget_idle()
            raise AgentCrashed(f"the agent answered question {answered!r}, not {question.id!r}")
        return answer_from_bytes(line, truncated=is_cut)

    @asynccontextmanager
    async def _pool_for(self, question: Question) -> AsyncGenerator[LinePool]:
        """The shared processes; for work on files, one of its own that ends with the question."""
        if question.workspace is None:
            yield self._pool
            return
        program = program_in(self._program, question.workspace.path)
        pool = LinePool(program, max_line_bytes=MAX_OUTPUT_BYTES)
        try:
            yield pool
        finally:
            await pool.close()

    async def close(self) -> None:
        """End all processes."""
        await self._pool.close()


def _answered_id(line: bytes) -> str | None:
    """The id that an agent repeats in its answer, if it does: {"id": ..., "output": ...}."""
    if b'"id"' not in line:
        return None
    try:
        value: object = json.loads(line)
    except (ValueError, RecursionError):
        return None
    answered = value.get("id") if has_output(value) else None
    return answered if isinstance(answered, str) else None
