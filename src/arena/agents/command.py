"""The command connector: an agent that is a program, one process per prompt."""

import asyncio
import shlex
import sys

from arena.agents.agent import Agent
from arena.agents.answers import answer_from_bytes
from arena.agents.connector import MAX_OUTPUT_BYTES, Answer, Connector, Question
from arena.agents.environment import program_environment
from arena.agents.persistent import PersistentCommand, question_line
from arena.agents.process import Process, Program, describe_end
from arena.agents.secrets import Secrets
from arena.agents.spec import CommandSpec
from arena.errors import AgentCrashed, AgentTimedOut, AgentUnavailable


def connect(agent: Agent, secrets: Secrets) -> Connector:
    """The connector for `{type: command}`."""
    spec = agent.connector
    assert isinstance(spec, CommandSpec)
    words = [sys.executable if word == "{python}" else word for word in shlex.split(spec.command)]
    environment = program_environment(spec.env, secrets)
    program = Program(words=words, directory=agent.directory, environment=environment)
    return PersistentCommand(program) if spec.persistent else Command(program)


class Command:
    """Starts the program for every question, and ends it with its whole process group."""

    def __init__(self, program: Program) -> None:
        self._program = program
        self._running: set[Process] = set()
        self._is_closed = False

    async def answer(self, question: Question) -> Answer:
        """Ask a new process: the question on stdin, the answer on stdout."""
        output = _Output()
        process = output.process = Process(self._program, output.add)
        self._running.add(process)
        try:
            async with asyncio.timeout(question.timeout_seconds):
                process.write(question_line(question))
                process.finish_input()
                code = await asyncio.shield(process.ended)
        except TimeoutError:
            raise AgentTimedOut(
                f"the agent did not answer within {question.timeout_seconds:g} s"
            ) from None
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


class _Output:
    """What a process writes, up to the cap; then the process is ended, for nobody reads more."""

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
