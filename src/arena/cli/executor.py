"""The custom executor: any command as an agent's solver.

The task goes to the command's stdin as JSON, the result comes from its stdout. The command is a
detached job: it is run once and to its end, even if `arena start` is killed meanwhile.
"""

import asyncio
import json
import shlex
import shutil
from collections.abc import Sequence
from pathlib import Path

from arena.agents.detached_job import DetachedJob, Order
from arena.client.executing import Result, read_output
from arena.errors import AgentFault, InvalidInput
from arena.market.task import Task


class CommandExecutor:
    """Runs the command for a task."""

    def __init__(self, words: Sequence[str], folder: Path, *, timeout_seconds: float) -> None:
        self._folder = folder
        self._order = Order(words=words, directory=str(Path.cwd()), timeout_seconds=timeout_seconds)

    async def __call__(self, task: Task) -> Result:
        """What the command answers; run now, still running, or run before we were killed."""
        job = self._job(task.id)
        try:
            said = await job.output(self._order, task_line(task))
        except asyncio.CancelledError:
            job.end()
            raise
        try:
            return read_output(said)
        except AgentFault:
            job.forget()  # the next call runs it again
            raise

    def forget(self, task_id: int) -> None:
        """Remove what the command left; its result is in the journal."""
        self._job(task_id).forget()

    def _job(self, task_id: int) -> DetachedJob:
        return DetachedJob(self._folder / str(task_id))


def solver_words(command: str) -> Sequence[str]:
    """The words of `--exec`, whose first is a program of this machine."""
    try:
        words = shlex.split(command)
    except ValueError as error:
        raise InvalidInput(f"--exec {command!r} cannot be read: {error}") from None
    if not words or shutil.which(words[0]) is None:
        named = words[0] if words else command
        raise InvalidInput(f"--exec: there is no program {named!r} here; give its full path")
    return words


def task_line(task: Task) -> bytes:
    """The task as a command gets it."""
    document = {
        "id": task.id,
        "description": task.description,
        "evaluationCID": task.evaluation_cid,
        "reward": str(task.reward),
    }
    return json.dumps(document, ensure_ascii=False).encode() + b"\n"
