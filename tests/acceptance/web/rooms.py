"""What else a home can have to look at: every kind of standard, a review, a market."""

import asyncio
from datetime import timedelta
from pathlib import Path

import httpx

from arena.client import Client, Signer
from arena.clock import now
from arena.schemas import TaskJudge, TaskPost
from factories import write_agent

STANDARDS = r"""
category: standards
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
    name: Polite refusal
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
BROKEN = "category: broken\ntests:\n  - id: bad one\n    name: Bad\n    prompt: hm\n"


def add_files(home: Path) -> None:
    """Test files of every kind, one of them broken, and an agent whose work people judge."""
    (home / "benchmarks" / "standards.yaml").write_text(STANDARDS)
    (home / "benchmarks" / "zz_broken.yaml").write_text(BROKEN)
    write_agent(home / "agents", "writer", "return 'The Arena 3000: <b>buy it</b>.'")


def add_rooms(client: httpx.Client) -> None:
    """A run that waits for people, a task that was paid and one that is open."""
    created = client.post("/api/benchmarks/run", json={"agent_id": "writer"}).json()
    client.post(f"/api/benchmarks/run/{created['run_id']}/execute")
    asyncio.run(_trade(str(client.base_url)))


async def _trade(url: str) -> None:
    async with Client(url, signer=Signer.new("worker")) as client:
        await client.deposit_test_money("alice", "5")
        await client.register()
        for description in ("Write deepMerge(a, b).\nAs in the example.", "<b>Paint</b> a bird"):
            posted = await client.post_task(
                TaskPost(
                    poster="alice",
                    description=description,
                    evaluation={"type": "contains", "contains": ["def"]},
                    reward="0.25",
                    deadline=now() + timedelta(days=2),
                    judge="carol",
                )
            )
            assert posted.task_id is not None
            await client.apply(posted.task_id)
            if "Paint" in description:
                continue
            await client.assign(posted.task_id, by="alice", agent="worker")
            await client.submit(posted.task_id, "def deepMerge(a, b): return a | b")
            task = (await client.task(posted.task_id)).task
            assert task.result_hash is not None
            await client.judge(
                posted.task_id,
                TaskJudge(
                    by="carol",
                    score=90,
                    winner="worker",
                    result_hash=task.result_hash,
                    reason_uri="https://example.org/reason",
                ),
            )
