"""The custom executor: any command as an agent's solver.

The command gets the task as JSON on stdin and prints the result to stdout. It is a detached job: it
runs once and to its end, even if `arena start` is killed meanwhile.
"""

import asyncio
import json
import shlex
import shutil
from collections.abc import Sequence
from pathlib import Path

from arena.agents.detached_job import DetachedJob, Order
from arena.client.executing import TaskResult, read_output
from arena.errors import AgentFault, InvalidInput
from arena.market.task import Task


class CommandExecutor:
    """Runs the command for a task."""

    def __init__(self, words: Sequence[str], folder: Path, *, timeout_seconds: float) -> None:
        self._folder = folder
        self._order = Order(words=words, directory=str(Path.cwd()), timeout_seconds=timeout_seconds)

    async def __call__(self, task: Task) -> TaskResult:
        """The command's result; it is started now, still running, or ran before we were killed."""
        job = self._job(task.id)
        try:
            printed = await job.output(self._order, task_line(task))
        except asyncio.CancelledError:
            job.end()
            raise
        try:
            return read_output(printed)
        except AgentFault:
            job.forget()  # the next call runs it again
            raise

    def forget(self, task_id: int) -> None:
        """Remove the files of the command's job; its result is in the journal."""
        self._job(task_id).forget()

    def _job(self, task_id: int) -> DetachedJob:
        return DetachedJob(self._folder / str(task_id))


def solver_words(command: str) -> Sequence[str]:
    """The words of `--exec`; an error if the program does not exist here."""
    try:
        words = shlex.split(command)
    except ValueError as error:
        raise InvalidInput(f"--exec {command!r} cannot be read: {error}") from None
    if not words or shutil.which(words[0]) is None:
        program = words[0] if words else command
        raise InvalidInput(f"--exec: there is no program {program!r} here; give its full path")
    return words


def task_line(task: Task) -> bytes:
    """The task as JSON for a command."""
    document = {
        "id": task.id,
        "description": task.description,
        "evaluationCID": task.evaluation_cid,
        "reward": str(task.reward),
    }
    return json.dumps(document, ensure_ascii=False).encode() + b"\n"
