"""The judge's flow: in the sandbox, by people, and what it does if it cannot judge."""

import json
from pathlib import Path

import pytest

from arena.client import Client
from arena.client.judging import ServerMarket
from arena.content.canonical import canonical
from arena.content.store import LocalStore
from arena.errors import Forbidden, InfrastructureError, InvalidInput
from arena.evaluation.resources import Resources
from arena.market.contents import Contents
from arena.market.judging import JudgeFlow
from arena.reviews.review import ReviewAnswer
from market_offers import ADD, held, posted

CONTAINS = {"type": "contains", "contains": ["return"]}
CHECKLIST = {"type": "checklist", "items": ["It adds", "It is documented", "It is short"]}


def flow(client: Client, folder: Path, reports: list[str], judge: str = "judy") -> JudgeFlow:
    store = LocalStore(folder / "judges-own")
    market, contents = ServerMarket(client, store), Contents(store)
    return JudgeFlow(market, judge, contents, Resources(), sandbox="", report=reports.append)


async def submitted(reader: Client, agent: Client, result: str = ADD, **terms: object) -> int:
    task_id = await posted(reader, assignment="first", **terms)
    await agent.apply(task_id)
    await agent.submit(task_id, result)
    return task_id


async def test_it_judges_keeps_the_record_and_settles_once(reader, agent, tmp_path: Path):
    good = await submitted(reader, agent, evaluation=CONTAINS)
    bad = await submitted(reader, agent, "pass", evaluation=CONTAINS)
    reports: list[str] = []
    assert await flow(reader, tmp_path, reports).step() == 2
    assert await flow(reader, tmp_path, reports).step() == 0
    paid, refunded = (await reader.task(good)).task, (await reader.task(bad)).task
    assert (paid.state, paid.score) == ("paid", 100)
    assert (refunded.state, refunded.score) == ("refunded", 0)
    assert paid.reason_uri is not None
    # The record was uploaded, so anyone who reads the task can check the verdict.
    checked = await reader.verify(paid.reason_uri)
    assert checked.outcome == "holds"
    assert await held(reader, "my-solver") == "0.05"


async def test_a_task_that_cannot_be_judged_is_left_alone_and_reported(
    reader, agent, tmp_path: Path
):
    task_id = await submitted(reader, agent)  # test cases, but there is no sandbox
    reports: list[str] = []
    judge = flow(reader, tmp_path, reports)
    assert await judge.step() == 0
    assert "will be retried" in reports[0]
    assert (await reader.task(task_id)).task.state == "submitted"
    # It does not retry at every step.
    assert await judge.step() == 0
    assert len(reports) == 1


async def test_it_leaves_tasks_of_another_judge_alone(reader, agent, tmp_path: Path):
    await submitted(reader, agent, evaluation=CONTAINS)
    assert await flow(reader, tmp_path, [], judge="somebody").step() == 0


async def test_it_refuses_content_that_does_not_match_its_hash(
    reader, agent, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    task_id = await submitted(reader, agent, "pass", evaluation=CONTAINS)
    task = (await reader.task(task_id)).task
    honest = reader.content

    async def lying(cid: str) -> bytes:
        return b"return" if cid == task.result_hash else await honest(cid)

    async def no_archive(_cids: object) -> bytes:
        raise InfrastructureError("no archive")

    monkeypatch.setattr(reader, "content", lying)
    monkeypatch.setattr(reader, "export_content", no_archive)
    reports: list[str] = []
    assert await flow(reader, tmp_path, reports).step() == 0
    assert (await reader.task(task_id)).task.state == "submitted"


@pytest.mark.parametrize(("passes", "state"), [([1, 1, 0], "paid"), ([1, 0, 0], "refunded")])
async def test_people_judge_a_checklist(reader, agent, tmp_path: Path, passes, state):
    cid = (await reader.put_content(canonical(CHECKLIST))).cid
    task_id = await submitted(reader, agent, evaluation=None, evaluationCID=cid)
    reports: list[str] = []
    with pytest.raises(Forbidden):
        await reader.review_task(task_id, by="mallory")
    judge = flow(reader, tmp_path, reports)
    assert await judge.step() == 0
    assert "waits for people" in reports[0]
    (review,) = (await reader.reviews(subject=f"task:{task_id}")).reviews
    task = (await reader.task(task_id)).task
    assert review.due_at == task.judge_until == (await reader.review(review.id)).review.due_at
    answers = [ReviewAnswer(item=n, passed=bool(mark)) for n, mark in enumerate(passes)]
    await reader.answer_review(review.id, answers, reviewer="rita")
    task = (await reader.task(task_id)).task
    assert (task.state, task.score, task.judged_by) == (state, sum(passes) * 100 // 3, "judy")
    assert (await reader.review(review.id)).review.status == "done"
    assert task.reason_uri is not None
    assert (await reader.verify(task.reason_uri)).outcome == "holds"


async def test_a_record_has_the_cids_of_its_task(reader, agent, tmp_path: Path):
    pretty = json.dumps(CONTAINS, indent=4).encode()  # the same standard, another CID
    cid = (await reader.put_content(pretty)).cid
    task_id = await submitted(reader, agent, evaluation=None, evaluationCID=cid)
    assert await flow(reader, tmp_path, []).step() == 1
    task = (await reader.task(task_id)).task
    checked = await reader.verify(task.reason_uri)
    assert checked.outcome == "holds"
    assert (checked.standard_cid, checked.submission_cid) == (cid, task.result_hash)


async def test_an_ambiguous_standard_cannot_be_posted(reader):
    twice = b'{"type": "exact", "value": "easy", "value": "impossible"}'
    cid = (await reader.put_content(twice)).cid
    with pytest.raises(InvalidInput, match="twice"):
        await posted(reader, evaluation=None, evaluationCID=cid)


async def test_tasks_that_wait_for_people_do_not_hide_older_ones(
    reader, agent, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr("arena.operations.tasks.TASKS_PAGE", 1)
    older = await submitted(reader, agent, evaluation=CONTAINS)
    await submitted(reader, agent, evaluation=CHECKLIST)
    assert await flow(reader, tmp_path, []).step() == 1
    assert (await reader.task(older)).task.state == "paid"
