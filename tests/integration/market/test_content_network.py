"""Tasks whose standard and result are in the IPFS network: there, not there yet, never sent."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from arena.content.canonical import canonical
from arena.content.cid import parse_cid
from arena.content.errors import ContentPending, QuotaReached, WrongBlock
from arena.content.gateway import GatewayStore
from arena.content.kubo import KuboStore
from arena.content.store import LocalStore
from arena.content.tiered import TieredStore
from arena.content.tree import V0, cid_of
from arena.evaluation.resources import Resources
from arena.evaluation.verify import verify
from arena.market.errors import BadContent
from arena.market.judge_market import LocalMarket
from arena.market.judging import JudgeFlow
from arena.market.reviewing import TaskReviews
from arena.market.task import Assignment
from arena.reviews.reviews import Reviews
from arena.team import working_for
from ipfs_server import IpfsServer, ipfs_server
from market_desk import TEAM, Desk
from market_door import Door

STANDARD = {"type": "contains", "contains": ["return"]}
RESULT = b"def solve(): return 42"
PATIENCE_SECONDS = 60.0


@pytest.fixture
def daemon() -> Iterator[IpfsServer]:
    with ipfs_server() as server:
        yield server


@pytest.fixture
def networked(desk: Desk, daemon: IpfsServer) -> Desk:
    """The desk, with the daemon behind its store."""
    sources = [
        KuboStore(daemon.url, timeout_seconds=PATIENCE_SECONDS),
        GatewayStore(daemon.url, timeout_seconds=PATIENCE_SECONDS),
    ]
    store = TieredStore(desk.content, sources, timeout_seconds=PATIENCE_SECONDS)
    desk.market = Door(desk.database, store)
    return desk


def judge_of(desk: Desk, reports: list[str]) -> JudgeFlow:
    tasks = TaskReviews(desk.database, desk.market, sandbox="", reviewers_needed=1)
    market = LocalMarket(desk.market, Reviews(desk.database, Resources(), {}), tasks, TEAM)
    contents = desk.market.contents
    return JudgeFlow(market, "jim", contents, Resources(), sandbox="", report=reports.append)


def stored(desk: Desk) -> set[str]:
    return {path.name for path in desk.content.folder.rglob("*") if path.is_file()}


def forget(desk: Desk, cid: str) -> None:
    """Lose content, as on another machine that never had it."""
    for path in desk.content.folder.glob(f"blocks/*/{parse_cid(cid).key}"):
        path.unlink()


async def assigned(desk: Desk, **terms: object) -> int:
    task_id = await desk.post(assignment=Assignment.FIRST, **terms)
    await desk.apply(task_id)
    return task_id


async def test_a_task_is_posted_by_a_standard_that_only_the_network_has(
    networked: Desk, daemon: IpfsServer
):
    cid = daemon.keep(canonical(STANDARD))
    task_id = await networked.post(evaluation=cid)
    task = await networked.market.task(TEAM, task_id)
    assert task.evaluation_cid == cid
    # It is kept: the task can be judged without the network.
    daemon.blocks.clear()
    assert await networked.market.contents.standard(cid) == STANDARD
    assert (networked.content.folder / "pins" / cid).exists()


async def test_a_standard_that_is_not_there_yet_is_no_refusal_and_stores_nothing(
    networked: Desk, daemon: IpfsServer
):
    cid = cid_of(canonical(STANDARD))
    before = stored(networked), await networked.market.balances(TEAM)
    with pytest.raises(ContentPending) as caught:
        await networked.post(evaluation=cid, key="once")
    assert caught.value.retryable
    assert (stored(networked), await networked.market.balances(TEAM)) == before
    assert await networked.market.tasks(TEAM, limit=10) == []
    daemon.keep(canonical(STANDARD))
    # The same call, with the same key, succeeds once it is there.
    assert await networked.post(evaluation=cid, key="once")


async def test_without_a_network_a_standard_that_is_not_here_is_refused(desk: Desk):
    with pytest.raises(BadContent, match="put it there"):
        await desk.post(evaluation=cid_of(canonical(STANDARD)))


async def test_a_lie_about_a_standard_posts_nothing(networked: Desk, daemon: IpfsServer):
    cid = daemon.keep(canonical(STANDARD))
    daemon.lie = "wrong block"
    before = stored(networked)
    with pytest.raises(WrongBlock):
        await networked.post(evaluation=cid)
    assert stored(networked) == before


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"no standard", "not JSON"),
        (canonical({"type": "gizmo"}), "gizmo"),
        (bytes(1024 * 1024 + 1), "at most 1048576"),
    ],
)
async def test_what_the_network_has_is_checked_like_any_standard(
    networked: Desk, daemon: IpfsServer, data: bytes, message: str
):
    with pytest.raises(BadContent, match=message):
        await networked.post(evaluation=daemon.keep(data))


async def test_a_result_that_only_the_network_has_is_submitted_and_paid(
    networked: Desk, daemon: IpfsServer
):
    task_id = await assigned(networked, evaluation=daemon.keep(canonical(STANDARD), V0))
    result = daemon.keep(RESULT, V0)
    await networked.submit(task_id, result)
    daemon.blocks.clear()
    reports: list[str] = []
    assert await judge_of(networked, reports).step() == 1, reports
    task = await networked.market.task(TEAM, task_id)
    assert (task.state, task.score, task.result_hash) == ("paid", 100, result)
    assert task.reason_uri is not None
    store = networked.market.contents.store
    assert (await verify(store, task.reason_uri, None)).outcome == "holds"
    # Nobody asked to publish anything.
    assert daemon.writes == []


async def test_a_result_that_is_not_there_yet_may_be_submitted_again(
    networked: Desk, daemon: IpfsServer
):
    task_id = await assigned(networked, evaluation=STANDARD)
    with pytest.raises(ContentPending):
        await networked.submit(task_id, cid_of(RESULT))
    assert (await networked.market.task(TEAM, task_id)).state == "assigned"
    daemon.keep(RESULT)
    await networked.submit(task_id, cid_of(RESULT))
    assert (await networked.market.task(TEAM, task_id)).state == "submitted"


async def test_a_judge_waits_until_the_result_appears(networked: Desk, daemon: IpfsServer):
    task_id = await assigned(networked, evaluation=STANDARD)
    await networked.submit(task_id, RESULT)
    # The judge's machine has never seen it, as with a submission on a chain.
    forget(networked, cid_of(RESULT))
    reports: list[str] = []
    judge = judge_of(networked, reports)
    assert await judge.step() == 0
    assert "will be retried" in reports[0]
    assert cid_of(RESULT) in reports[0]
    assert (await networked.market.task(TEAM, task_id)).state == "submitted"
    daemon.keep(RESULT)
    assert await judge.step() == 0  # not at once
    networked.wait(60)
    assert await judge.step() == 1, reports
    assert (await networked.market.task(TEAM, task_id)).state == "paid"


async def test_posting_submitting_and_judging_send_nothing_to_the_daemon(
    networked: Desk, daemon: IpfsServer
):
    task_id = await assigned(networked, evaluation=STANDARD)
    await networked.submit(task_id, RESULT)
    assert await judge_of(networked, []).step() == 1
    assert daemon.requests == []


async def test_what_is_fetched_for_a_task_is_charged_to_the_team(
    networked: Desk, daemon: IpfsServer, tmp_path: Path
):
    local = LocalStore(tmp_path / "small", quota_bytes=10)
    source = GatewayStore(daemon.url, timeout_seconds=PATIENCE_SECONDS)
    store = TieredStore(local, [source], timeout_seconds=PATIENCE_SECONDS)
    small = replace(networked, market=Door(networked.database, store))
    with working_for(TEAM), pytest.raises(QuotaReached, match=TEAM):
        await small.post(evaluation=daemon.keep(canonical(STANDARD)))
