"""Tasks to offer in tests of the market."""

from datetime import timedelta
from typing import Any

from arena import clock
from arena.client import Client
from arena.content.tree import cid_of
from arena.market.task import TaskPost

ADD = "def add(a, b):\n    return a + b\n"
STANDARD = {
    "type": "test_cases",
    "functionName": "add",
    "language": "python",
    "cases": [{"input": [1, 2], "expected": 3}, {"input": [2, 2], "expected": 4}],
}


def offer(**terms: object) -> TaskPost:
    """A task that alice offers and judy judges."""
    given: dict[str, Any] = {
        "poster": "alice",
        "description": "Write add(a, b) in Python.",
        "evaluation": STANDARD,
        "reward": "0.05",
        "deadline": clock.now() + timedelta(hours=1),
        "judge": "judy",
        **terms,
    }
    if "evaluationCID" in given:
        given["evaluation_cid"] = given.pop("evaluationCID")
    return TaskPost(**given)


async def posted(client: Client, **terms: object) -> int:
    """Post a task and return its number."""
    task_id = (await client.post_task(offer(**terms))).task_id
    assert task_id is not None
    return task_id


async def held(client: Client, account: str) -> str:
    """The balance of an account."""
    return str((await client.balance(account)).balances[0].amount)


async def judged(reader: Client, task_id: int, score: int) -> None:
    """Judge the submitted result, as judy."""
    task = (await reader.task(task_id)).task
    assert task.agent and task.result_hash
    await reader.judge(
        task_id,
        by="judy",
        score=score,
        winner=task.agent,
        result_hash=task.result_hash,
        reason_uri=cid_of(b"why"),
    )
