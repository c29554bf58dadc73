"""The market: what a task asks for, what was submitted and why it was paid; its poster's moves."""

import asyncio
import json
import re
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from typing import Any

import httpx2
import pytest
from playwright.sync_api import expect

from acceptance.conftest import Shell
from acceptance.web.conftest import Visit, in_both_looks
from arena.client import Client, Signer
from arena.clock import now
from arena.market.task import TaskPost

CASES = {
    "type": "all_of",
    "pass_score": 60,
    "all_of": [
        {"type": "contains", "contains": ["Roses"]},
        {"type": "not_contains", "contains": ["<b>"]},
    ],
}
SOON_SECONDS = 2


@pytest.fixture(scope="module")
def shell(tmp_path_factory: pytest.TempPathFactory) -> Shell:
    return Shell(home=tmp_path_factory.mktemp("market"))


@pytest.fixture(scope="module")
def server(shell: Shell) -> Iterator[httpx2.Client]:
    """A server whose market has a judged task."""
    with shell.serving() as client:
        in_thread(client, _judged_task)
        run = shell.arena("--server", str(client.base_url), "judge", "--once", "--as", "judy")
        assert run.returncode == 0, run.stderr
        yield client


def in_thread(client: httpx2.Client, work: Any) -> Any:
    """Runs a coroutine in a thread: the browser keeps an event loop running in this one."""
    with ThreadPoolExecutor(1) as thread:
        return thread.submit(asyncio.run, work(str(client.base_url))).result()


async def _post(client: Client, description: str, **terms: Any) -> int:
    post = {
        "poster": "alice",
        "description": description,
        "evaluation": CASES,
        "reward": "0.25",
        "deadline": now() + timedelta(days=1),
        "judge": "judy",
        **terms,
    }
    posted = await client.post_task(TaskPost(**post))
    assert posted.task_id is not None
    return posted.task_id


async def _judged_task(url: str) -> None:
    async with Client(url, signer=Signer.new("poet")) as client:
        await client.deposit_test_money("alice", "9")
        await client.register()
        task = await _post(client, "Write a poem.")
        await client.apply(task)
        await client.assign(task, by="alice", agent="poet")
        await client.submit(task, "Roses are <b>red</b>")


async def _open_task(url: str) -> int:
    """A task that two agents have applied for."""
    async with Client(url, signer=Signer.new(f"first-{now():%H%M%S%f}")) as client:
        await client.register()
        task = await _post(client, "Paint a bird")
        await client.apply(task)
    async with Client(url, signer=Signer.new(f"second-{now():%H%M%S%f}")) as client:
        await client.register(version="2.0.0")
        await client.apply(task)
    return task


async def _short_task(url: str) -> int:
    """A task whose time is over soon."""
    async with Client(url) as client:
        soon = now() + timedelta(seconds=SOON_SECONDS)
        return await _post(client, "Too late", deadline=soon)


def _task(server: httpx2.Client, number: int) -> dict[str, Any]:
    return server.get(f"/api/tasks/{number}").json()["task"]


@in_both_looks
def test_a_task_shows_standard_result_and_findings(visit: Visit, server: httpx2.Client):
    page = visit.go("/market/tasks/1")
    standard = page.get_by_role("region", name="Standard", exact=True)
    expect(standard.get_by_role("listitem").filter(has_text="Roses").first).to_be_visible()
    expect(standard).to_contain_text("not contains")
    result = page.get_by_role("region", name="Result", exact=True)
    expect(result).to_have_text("Roses are <b>red</b>")
    verdict = page.get_by_role("region", name="Verdict", exact=True)
    expect(verdict.get_by_role("listitem").filter(has_text='contains "Roses"')).to_have_count(2)
    expect(verdict).to_contain_text(re.compile("failed.*<b>", re.S))
    # The hashes are still there, as links.
    task = _task(server, 1)
    for cid in (task["evaluationCID"], task["resultHash"], task["reasonURI"]):
        expect(page.get_by_text(cid).first).to_be_visible()
    visit.check_every_look()


@in_both_looks
def test_the_poster_assigns_an_applicant_after_confirmation(visit: Visit, server: httpx2.Client):
    number = in_thread(server, _open_task)
    page = visit.go(f"/market/tasks/{number}")
    row = page.get_by_role("table", name="Applicants").get_by_role("row").filter(has_text="second-")
    row.get_by_role("button", name="Assign").click()
    dialog = page.get_by_role("dialog", name=re.compile("Assign the task to second-"))
    expect(dialog).to_contain_text("You act as alice, the poster.")
    expect(dialog.get_by_role("button", name="Cancel")).to_be_focused()
    visit.check_every_look()
    page.keyboard.press("Enter")
    expect(dialog).to_have_count(0)
    assert _task(server, number)["state"] == "open"
    row.get_by_role("button", name="Assign").click()
    dialog.get_by_role("button", name="Assign the task").click()
    expect(row).to_contain_text("assigned")
    expect(page.get_by_role("button", name="Assign")).to_have_count(0)
    expect(page.get_by_role("button", name="Cancel task")).to_have_count(0)
    assert _task(server, number)["agent"].startswith("second-")


@in_both_looks
def test_the_poster_cancels_an_open_task_after_confirmation(visit: Visit, server: httpx2.Client):
    number = in_thread(server, _open_task)
    page = visit.go(f"/market/tasks/{number}")
    page.get_by_role("button", name="Cancel task").click()
    page.get_by_role("button", name="Keep it open").click()
    assert _task(server, number)["state"] == "open"
    page.get_by_role("button", name="Cancel task").click()
    page.get_by_role("button", name="Cancel the task").click()
    expect(page.get_by_text("cancelled", exact=True)).to_be_visible()
    assert _task(server, number)["state"] == "cancelled"
    expect(page.get_by_role("button", name="Cancel task")).to_have_count(0)


def test_a_refused_move_says_why(visit: Visit, server: httpx2.Client):
    number = in_thread(server, _open_task)
    page = visit.go(f"/market/tasks/{number}")
    # The page does not hear that somebody else was faster.
    page.route("**/api/tasks/*?*", lambda route: route.abort())
    page.get_by_role("button", name="Cancel task").click()
    cancelled = server.post(f"/api/tasks/{number}/cancel", json={"by": "alice"})
    assert cancelled.status_code == 200
    page.get_by_role("button", name="Cancel the task").click()
    expect(page.get_by_role("dialog").get_by_role("alert")).to_contain_text("cancelled")


def test_anyone_closes_a_task_whose_time_is_over(visit: Visit, server: httpx2.Client):
    number = in_thread(server, _short_task)
    page = visit.go(f"/market/tasks/{number}")
    page.get_by_role("button", name="Close task").click()
    page.get_by_role("button", name="Close the task").click()
    expect(page.get_by_text("expired", exact=True)).to_be_visible()


@in_both_looks
def test_commands_for_the_other_moves_can_be_copied(visit: Visit, server: httpx2.Client):
    visit.page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    page = visit.go("/market")
    page.get_by_text("Post a task, work on one, or judge").click()
    page.get_by_role("button", name="Copy: Judge submissions").click()
    expect(page.get_by_role("button", name="Copied: Judge submissions")).to_be_visible()
    copied = page.evaluate("navigator.clipboard.readText()")
    assert copied == f"arena --server {visit.url} judge --once --as judy"
    visit.check_every_look()


def test_content_that_only_looks_like_a_record_is_shown_safely(visit: Visit, server: httpx2.Client):
    forged = {"kind": "arena.verdict/1", "verdict": {"reasoning": 7, "findings": [None, "x", {}]}}
    cid = server.post("/api/content", content=json.dumps(forged).encode()).json()["cid"]
    story = server.get("/api/tasks/1").json()
    story["task"]["reasonURI"] = cid
    visit.page.route("**/api/tasks/1?*", lambda route: route.fulfill(json=story))
    page = visit.go("/market/tasks/1")
    verdict = page.get_by_role("region", name="Verdict", exact=True)
    # The verdict itself and three findings.
    expect(verdict.get_by_text("failed")).to_have_count(4)
