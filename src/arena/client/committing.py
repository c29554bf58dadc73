"""Commits an agent to a result that it does not show yet, and reveals the result later.

The result and its salt are on the disk before the commitment is sent, so a process may be killed at
any moment: without the salt the work could never be revealed.
"""

import base64
import json
import secrets
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from arena.content.cid import parse_cid
from arena.content.tree import cid_of
from arena.errors import Conflict, InfrastructureError, InvalidInput, NotFound
from arena.files import write_atomically
from arena.market.signing import Prover, commitment_of
from arena.market.task import Task
from arena.operations.tasks import TaskOperations

SALT_BYTES = 32


@dataclass(frozen=True, slots=True, kw_only=True)
class CommittedResult:
    """A result that is not shown yet, and the salt that reveals it."""

    result_hash: str
    salt: str
    data: bytes | None = None
    """None: the result is stored content with this hash."""


class Commitments:
    """The results that one agent has committed to, one private file for each commitment."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def get(self, task_id: int, commitment: str) -> CommittedResult | None:
        """What this commitment was made for; None if it was not made here."""
        path = self._path(task_id, commitment)
        try:
            value: dict[str, Any] = json.loads(path.read_bytes())
            data = value["data"]
            return CommittedResult(
                result_hash=value["result_hash"],
                salt=value["salt"],
                data=None if data is None else base64.b64decode(data),
            )
        except FileNotFoundError:
            return None
        except (OSError, ValueError, TypeError, KeyError) as error:
            message = f"the commitment {path} cannot be read ({error})"
            raise InfrastructureError(message, retryable=False) from None

    def keep(self, task_id: int, commitment: str, result: CommittedResult) -> None:
        """Store it; when this returns, it is on the disk."""
        data = None if result.data is None else base64.b64encode(result.data).decode()
        text = json.dumps({"result_hash": result.result_hash, "salt": result.salt, "data": data})
        path = self._path(task_id, commitment)
        try:
            self.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            write_atomically(path, text.encode(), mode=0o600)
        except OSError as error:
            message = f"cannot write the commitment {path}: {error.strerror}"
            raise InfrastructureError(message, retryable=False) from error

    def forget(self, task_id: int) -> None:
        """Remove those of a task that has been revealed."""
        for path in self.folder.glob(f"{task_id}-*.json"):
            path.unlink(missing_ok=True)

    def _path(self, task_id: int, commitment: str) -> Path:
        # One file per commitment, not per task: whether an attempt arrived may be unknown.
        return self.folder / f"{task_id}-{commitment}.json"


async def commit_result(
    client: TaskOperations,
    kept: Commitments,
    task_id: int,
    data: bytes | None,
    *,
    result_hash: str | None = None,
) -> None:
    """Commit the signer's agent to a result; again with the same result: nothing happens."""
    if client.signer is None:
        raise InvalidInput("only an agent can commit to a result")
    hashed = cid_of(data) if data is not None else str(parse_cid(result_hash or ""))
    task = (await client.task(task_id)).task
    if task.commitment is not None and task.agent == client.signer.agent:
        earlier = kept.get(task_id, task.commitment)
        if earlier is not None and earlier.result_hash == hashed:
            return  # it arrived, but the process was killed before it knew
        raise Conflict(f"task {task_id} already has a commitment, to another result")
    result = CommittedResult(result_hash=hashed, salt=secrets.token_hex(SALT_BYTES), data=data)
    commitment = await _commitment(client, client.signer, task, result)
    kept.keep(task_id, commitment, result)
    await client.commit(task_id, commitment)


async def _commitment(
    client: TaskOperations, signer: Prover, task: Task, result: CommittedResult
) -> str:
    """The commitment, as the ledger of the task computes it."""
    if task.contract is None or task.network is None or task.chain_task is None:
        market = (await client.market()).market
        return commitment_of(market, task.id, signer.agent, result.result_hash, result.salt)
    # Imported here to save start-up: few tasks are on a chain.
    from arena.chain import signing

    chain_id = int(task.network.removeprefix("eip155:"))
    domain = signing.Domain(chain_id=chain_id, contract=task.contract)
    return signing.commitment_of(
        domain, task.chain_task, signer.public_key, result.result_hash, result.salt
    )


async def reveal_result(client: TaskOperations, kept: Commitments, task_id: int) -> None:
    """Submit the result that the signer's agent committed to; again: nothing happens."""
    task = (await client.task(task_id)).task
    if task.commitment is None or task.commit_deadline is None:
        raise Conflict(f"task {task_id} has no commitment: make one with arena task commit")
    result = kept.get(task_id, task.commitment)
    if result is None:
        if task.result_hash is not None:
            raise Conflict(f"the result of task {task_id} has already been submitted")
        raise NotFound(f"the salt of task {task_id} is not in {kept.folder}: it was made elsewhere")
    if task.result_hash is None:
        # Checked here: the result must not be sent while others can still commit.
        if (await client.market()).now < task.commit_deadline:
            opens = task.commit_deadline.isoformat()
            raise Conflict(f"the result of task {task_id} can be revealed from {opens} on")
        uses_hash = result.result_hash if result.data is None else None
        await client.submit(task_id, result.data, result_hash=uses_hash, salt=result.salt)
    kept.forget(task_id)
