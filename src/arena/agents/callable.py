"""The Python connector: an agent that is a function, run in worker processes.

In processes, because only then a time-out really ends the work and a crash stays outside Arena.
"""

import asyncio
import json
import sys
from pathlib import Path

from arena.agents.agent import Agent
from arena.agents.answers import answer_from_value
from arena.agents.connector import MAX_OUTPUT_BYTES, Answer, Connector, Question
from arena.agents.environment import program_environment
from arena.agents.lines import Ended, LinePool, LineProcess, how_it_ended
from arena.agents.process import Program
from arena.agents.secrets import Secrets
from arena.agents.spec import PythonSpec
from arena.errors import AgentCrashed, AgentSaidNothing, AgentUnavailable

START_SECONDS = 60.0
"""How long the import of the module may take; it does not count as answering."""

_WORKER = Path(__file__).with_name("worker.py")
# The worker cuts the output itself, but one character can take twelve bytes in JSON.
_MAX_LINE_BYTES = 12 * MAX_OUTPUT_BYTES + 64 * 1024


def connect(agent: Agent, secrets: Secrets) -> Connector:
    """The connector for `{type: python}`."""
    spec = agent.connector
    assert isinstance(spec, PythonSpec)
    return PythonCallable(
        spec.callable,
        directory=agent.directory,
        environment=program_environment(spec.env, secrets),
    )


class PythonCallable:
    """Calls a function in worker processes that are kept from question to question."""

    def __init__(self, reference: str, *, directory: Path, environment: dict[str, str]) -> None:
        self._reference = reference
        # -P: the worker's own folder must not be searched, its files are named like modules.
        words = [sys.executable, "-P", str(_WORKER), reference]
        program = Program(words=words, directory=directory, environment=environment)
        self._pool = LinePool(program, max_line_bytes=_MAX_LINE_BYTES, greet=self._greet)

    async def answer(self, question: Question) -> Answer:
        """Call the function with the prompt."""
        prompt = json.dumps(question.prompt).encode() + b"\n"
        line, is_cut = await self._pool.ask(prompt, question.timeout_seconds)
        if is_cut:
            raise AgentCrashed("the agent's answer is far longer than 1 MiB")
        kind, value = line[:1], _value(line)
        if kind == b"=":
            return answer_from_value(value)
        if kind == b"!":
            raise AgentCrashed(f"the function raised {value}")
        if value == "NoneType":
            raise AgentSaidNothing("the function returned None; it must return its answer")
        raise AgentCrashed(
            f"the function returned a {value}; it must return text or a dict with 'output'"
        )

    async def close(self) -> None:
        """End all workers."""
        await self._pool.close()

    async def _greet(self, worker: LineProcess) -> None:
        """Wait until the worker has loaded the function."""
        try:
            async with asyncio.timeout(START_SECONDS):
                line, _ = await worker.ask(b"")
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
    """What a worker sent behind the kind; it shares its process with a function that may do all."""
    try:
        return json.loads(line[1:])
    except RecursionError:
        raise AgentCrashed("the agent's answer is nested too deep") from None
    except ValueError:
        raise AgentCrashed("the function wrote into the line that its answers take") from None
