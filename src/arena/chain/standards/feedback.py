"""A settled verdict as feedback (ERC-8004, text of 2026-01-25): what may be given, and the file.

Only a verdict that can no longer change is given to a registry: nothing there is ever deleted.
"""

import asyncio
import math
from collections.abc import Collection
from dataclasses import dataclass

from arena.chain.standards.registration import RegisteredAgent
from arena.content.canonical import canonical
from arena.content.cid import parse_cid
from arena.content.ports import ContentStore
from arena.content.reading import reading
from arena.errors import Conflict, InvalidInput
from arena.evaluation.record import MAX_RECORD_BYTES, read_record
from arena.market.errors import BadContent, WrongRole, WrongState
from arena.market.task import Task, TaskState

IPFS = "ipfs://"
QUALITY = "starred"
"""The first tag: what the text calls a rating of quality from 0 to 100."""
SOURCE = "arena"
"""The second tag, and that of a validation."""
WHOLE = 0
"""Scores have no decimals."""


class SelfJudged(Conflict):
    """The poster judged the task itself: such a verdict counts nowhere."""

    code = "self_judged"


@dataclass(frozen=True, slots=True, kw_only=True)
class SettledVerdict:
    """The verdict that a task was settled by."""

    task: Task
    agent: str
    score: int
    """It decided about the payment: the arbiter's after a dispute, else the judge's."""
    record_cid: str
    """The judge's record."""
    record: bytes
    givers: Collection[str]
    """The judge, and the arbiter if there was a dispute."""

    def check_giver(self, by: str, address: str) -> None:
        """Refuse anybody but those who gave the verdict; a party may be known by its address."""
        self._check(by, address, self.givers, "did not judge it")

    def check_party(self, by: str, address: str) -> None:
        """Refuse anybody but the poster and those who gave the verdict."""
        known = {self.task.poster, *self.givers}
        self._check(by, address, known, "neither posted nor judged it")

    def _check(self, by: str, address: str, known: Collection[str], why: str) -> None:
        if not {by, address} & {*known, *(name.lower() for name in known)}:
            raise WrongRole(
                f"{by!r} cannot tell how task {self.task.id} went: it {why} "
                f"({', '.join(sorted(known))} did)"
            )


async def settled_verdict(store: ContentStore, task: Task) -> SettledVerdict:
    """The verdict of a task that has ended with one, with its record.

    An error before settlement, for a self-judged task, and if the record does not match.
    """
    if task.is_self_judged:
        raise SelfJudged(
            f"task {task.id} was judged by its poster: its verdict is no feedback for anybody"
        )
    is_settled = task.state in (TaskState.PAID, TaskState.REFUNDED)
    if not is_settled or task.final_score is None or task.agent is None:
        why = "nobody judged it" if task.state.is_final else "try again when it is settled"
        raise WrongState(f"task {task.id} is {task.state}, it has no settled verdict: {why}")
    cid, record = await _record_of(store, task)
    givers = [task.judged_by or task.judge]
    if task.resolution_uri is not None and task.arbiter is not None:
        givers.append(task.arbiter)
    return SettledVerdict(
        task=task,
        agent=task.agent,
        score=task.final_score,
        record_cid=cid,
        record=record,
        givers=givers,
    )


async def _record_of(store: ContentStore, task: Task) -> tuple[str, bytes]:
    """The CID and the bytes of the judge's record, which must be about this task's verdict."""
    try:
        cid = str(parse_cid((task.reason_uri or "").removeprefix(IPFS)))
    except InvalidInput as error:
        raise BadContent(f"the verdict of task {task.id} has no record: {error.message}") from None
    data = await reading(store, lambda source: source.get(cid, max_bytes=MAX_RECORD_BYTES))
    record = await asyncio.to_thread(read_record, data)
    same_standard = parse_cid(record.standard_cid).key == parse_cid(task.evaluation_cid).key
    if not same_standard or math.floor(record.verdict.score) != task.score:
        raise BadContent(
            f"the record {cid} is not about task {task.id}: it has another standard or score"
        )
    return cid, data


def feedback_file(settled: SettledVerdict, to: RegisteredAgent, *, client: str) -> bytes:
    """The file that a feedback's URI names. The same verdict always gives the same file.

    `client` is who gives it, with the chain: `eip155:<chain>:<address>`.
    """
    task = settled.task
    assert task.ended_at is not None
    found: dict[str, object] = {
        "ledger": task.ledger,
        "chain": task.network,
        "contract": task.contract,
        "id": task.id if task.chain_task is None else task.chain_task,
        "state": task.state,
    }
    verdict: dict[str, object] = {
        "task": {name: value for name, value in found.items() if value is not None},
        "verdict": settled.record_cid,
        "score": settled.score,
    }
    if task.resolution_uri is not None:
        verdict["resolution"] = task.resolution_uri
    return canonical(
        {
            "agentRegistry": to.agent_registry,
            "agentId": to.agent_id,
            "clientAddress": client,
            # Of the settlement, not of this file: so it is the same file every time.
            "createdAt": task.ended_at.isoformat().replace("+00:00", "Z"),
            "value": settled.score,
            "valueDecimals": WHOLE,
            "tag1": QUALITY,
            "tag2": SOURCE,
            "arena": verdict,
        }
    )
