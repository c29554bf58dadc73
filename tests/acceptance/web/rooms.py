"""More sample data: every kind of standard, a review, a market."""

import asyncio
from datetime import timedelta
from pathlib import Path
from typing import Any

import httpx2

from arena.client import Client, Signer
from arena.clock import now
from arena.market.task import TaskPost
from factories import write_agent

STANDARDS = r"""
category: standards
suite: standards
tests:
  - id: std_cases
    name: Deep merge
    prompt: Write a function deepMerge(a, b).
    validation: test_cases
    tags: [code]
    agents: [nobody]
    expected:
      functionName: deepMerge
      cases:
        - {input: [{a: 1}, {b: 2}], expected: {a: 1, b: 2}, desc: two flat objects}
  - id: std_judge
    name: A clear explanation
    prompt: Explain recursion.
    validation: judge_prompt
    tags: [prose]
    agents: [nobody]
    expected:
      prompt: Does a child of ten understand it?
      criteria: [correct, simple words]
      weights: [70, 30]
  - id: std_all
    name: "Polite\u202e refusal"
    prompt: Refuse politely.
    validation: all_of
    agents: [nobody]
    expected:
      all_of:
        - {validation: not_contains, expected: {contains: [hunter2]}}
        - {validation: regex, expected: {pattern: "never, ever"}, weight: 2}
  - id: std_echo
    name: Say hello
    prompt: Say hello to Ada
    tags: [prose]
    agents: [nobody]
    expected: {contains: [hello]}
  - id: std_list
    name: A press release
    prompt: Write a press release.
    validation: checklist
    tags: [prose]
    agents: [writer]
    expected:
      items: [Names the product, Has a quote, <b>Is short</b>]
"""
FREE = """
category: standards
suite: free
tests:
  - id: std_free
    name: Costs nothing
    prompt: Say yes
    agents: [thrifty]
    expected: {contains: ["yes"]}
"""
SONG = {"type": "checklist", "items": ["It rhymes", "It is short", "It is new"]}
BROKEN = "category: broken\ntests:\n  - id: bad one\n    name: Bad\n    prompt: hm\n"


def add_files(home: Path) -> None:
    """Test files of every kind, one of them broken, and an agent whose work people judge."""
    (home / "benchmarks" / "standards.yaml").write_text(STANDARDS)
    # A suite of its own: only an agent with a rank is on the chart of costs.
    (home / "benchmarks" / "free.yaml").write_text(FREE)
    (home / "benchmarks" / "zz_broken.yaml").write_text(BROKEN)
    write_agent(home / "agents", "writer", "return 'The Arena 3000: <b>buy it</b>.'")
    free = "return {'output': 'yes', 'usage': {'cost_usd': 0.0}}"
    write_agent(home / "agents", "thrifty", free)


def add_rooms(client: httpx2.Client) -> None:
    """A run that awaits review, and tasks: paid, open, disputed, in review, to be judged."""
    for agent, team in (("writer", "default"), ("thrifty", "thrift")):
        of = {"team_id": team}
        run = client.post("/api/benchmarks/run", json={"agent_id": agent}, params=of).json()
        client.post(f"/api/benchmarks/run/{run['run_id']}/execute", params=of)
    asyncio.run(_trade(str(client.base_url)))


async def _trade(url: str) -> None:
    async with Client(url, signer=Signer.new("worker")) as client:
        await client.deposit_test_money("alice", "5")
        await client.register()
        paid = await _post(client, "Write deepMerge(a, b).\nAs in the example.")
        await client.apply(paid)
        await _submit(client, paid, "def deepMerge(a, b): return a | b")
        await _judge(client, paid, by="carol", score=90, reason="It merges.")
        await client.apply(await _post(client, "<b>Paint</b> a bird"))
    async with Client(url, signer=Signer.new("smith")) as client:
        await client.register(version="1.0\u202e")
        await _dispute(client)
        reviewed = await _post(client, "Write a song.", evaluation=SONG)
        await client.apply(reviewed)
        await _submit(client, reviewed, "La la la")
        await client.review_task(reviewed, by="carol")
        late = {"fallback_judge": "dave", "fallback_window_seconds": 3600}
        waiting = await _post(client, "Write a poem.", judge_window_seconds=3600, **late)
        await client.apply(waiting)
        await _submit(client, waiting, "Roses are red")


async def _post(client: Client, description: str, **terms: Any) -> int:
    post = {
        "poster": "alice",
        "description": description,
        "evaluation": {"type": "contains", "contains": ["def"]},
        "reward": "0.25",
        "deadline": now() + timedelta(days=2),
        "judge": "carol",
        **terms,
    }
    posted = await client.post_task(TaskPost(**post))
    assert posted.task_id is not None
    return posted.task_id


async def _submit(client: Client, task_id: int, result: str) -> None:
    assert client.signer is not None
    await client.assign(task_id, by="alice", agent=client.signer.agent)
    await client.submit(task_id, result)


async def _judge(client: Client, task_id: int, *, by: str, score: int, reason: str) -> None:
    task = (await client.task(task_id)).task
    assert task.agent is not None
    assert task.result_hash is not None
    await client.judge(
        task_id,
        by=by,
        score=score,
        winner=task.agent,
        result_hash=task.result_hash,
        reason_uri=(await client.put_content(reason.encode())).cid,
    )


async def _dispute(client: Client) -> None:
    """A task whose verdict was overturned, with a hostile description."""
    terms = {"dispute_window_seconds": 3600, "arbiter": "trent", "arbiter_window_seconds": 3600}
    description = f"Turn \u202earound {'w' * 119}"
    task_id = await _post(client, description, judge="judy", bond="0.05", **terms)
    await client.apply(task_id)
    await _submit(client, task_id, "def turn(): ...")
    await _judge(client, task_id, by="judy", score=90, reason="It turns.")
    await client.dispute(task_id, by="alice", reason_uri="https://example.org/why")
    await client.resolve(task_id, by="trent", score=30, reason_uri="https://example.org/no")
