"""Every page, in both sizes and both schemes: readable, reachable, and within the window."""

from collections.abc import Callable

import httpx2
import pytest
from playwright.sync_api import expect

from acceptance.web.conftest import DESK, Visit


@pytest.fixture(scope="module")
def addresses(server: httpx2.Client) -> dict[str, str]:
    """The path of every kind of page."""
    found: dict[str, str] = {}
    for run in server.get("/api/benchmarks/runs", params={"limit": 50}).json()["runs"]:
        found.setdefault(run["agent_id"], f"/runs/{run['id']}")

    def result_of(agent: str, **filters: str) -> str:
        address = found[agent]
        results = server.get(f"/api/benchmarks{address}/results", params=filters).json()["results"]
        return f"{address}/results/{results[0]['id']}"

    return {
        "agents": "",
        "benchmarks": "/benchmarks",
        "leaderboard": "/leaderboard",
        "leaderboard of a suite": "/leaderboard?suite=custom&archived=true",
        "leaderboard of the past": f"/leaderboard?at={_past(server)}",
        "leaderboard of no suite": "/leaderboard?suite=none-such",
        "history": "/leaderboard/history",
        "suites": "/suites",
        "suite": "/suites/custom",
        "no such suite": "/suites/none-such",
        "workers": "/workers",
        "agent": "/agents/scribe",
        "agent on the board of a suite": "/agents/scribe?suite=custom",
        "agent without history": "/agents/slow",
        "run": found["scribe"],
        "run with trials": f"{found['coin']}?flaky=true",
        "run that could not be executed": found["broken"],
        "result that passed": result_of("qa-web-manager", outcome="passed"),
        "result that failed": result_of("scribe", outcome="failed"),
        "result with hostile text": result_of("hostile", test_id="hostile_text"),
        "result of a megabyte": result_of("hostile", test_id="hostile_long"),
        "no such run": "/runs/00000000-0000-0000-0000-000000000000",
        "no such agent": "/agents/nobody",
        "no such page": "/nowhere",
    }


def _past(server: httpx2.Client) -> str:
    """A moment at which the board had some of its entries."""
    events = server.get("/api/benchmarks/leaderboard/log", params={"limit": 50}).json()["events"]
    return events[len(events) // 2]["at"]


PAGES = (
    "agents",
    "benchmarks",
    "leaderboard",
    "leaderboard of a suite",
    "leaderboard of the past",
    "leaderboard of no suite",
    "history",
    "suites",
    "suite",
    "no such suite",
    "workers",
    "agent",
    "agent without history",
    "run",
    "run with trials",
    "run that could not be executed",
    "result that passed",
    "result that failed",
    "result with hostile text",
    "result of a megabyte",
    "no such run",
    "no such agent",
    "no such page",
)


@pytest.mark.parametrize("name", PAGES)
def test_every_page_is_accessible_and_fits(
    passing_visit: Visit, addresses: dict[str, str], name: str
):
    passing_visit.go(addresses[name])
    passing_visit.check_every_look()


def test_a_long_description_ends_after_three_lines(passing_visit: Visit):
    passing_visit.page.set_viewport_size({"width": 1200, "height": 900})
    page = passing_visit.go()
    description = page.get_by_role("article", name="Coin").get_by_text("Never sure").locator("..")
    lines = description.evaluate(
        "it => it.clientHeight / parseFloat(getComputedStyle(it).lineHeight)"
    )
    assert lines == pytest.approx(3, abs=0.1)


@pytest.mark.parametrize("name", ["leaderboard", "agent on the board of a suite"])
def test_a_chart_can_be_shown_as_a_table(visit: Visit, addresses: dict[str, str], name: str):
    page = visit.go(addresses[name])
    buttons = page.get_by_role("button", name="Show as table")
    expect(buttons).to_have_count(2)
    expect(page.locator("main svg[role=img]")).to_have_count(2)
    for _ in range(2):
        buttons.first.click()
    expect(page.locator("main svg[role=img]")).to_have_count(0)
    expect(page.get_by_role("button", name="Show as chart")).to_have_count(2)
    visit.check_every_look()


def test_dialogs_are_accessible(visit: Visit):
    page = visit.go()
    page.get_by_role("button", name="Rate Scribe").click()
    expect(page.get_by_role("dialog")).to_be_visible()
    visit.check_every_look()
    page.keyboard.press("Escape")
    expect(page.get_by_role("dialog")).to_have_count(0)
    expect(page.get_by_role("button", name="Rate Scribe")).to_be_focused()
    page.get_by_role("button", name="Team: default").click()
    expect(page.get_by_label("Another team")).to_be_visible()
    visit.check_every_look()


def test_the_form_of_a_run_is_accessible(visit: Visit):
    page = visit.go("/benchmarks")
    page.get_by_role("button", name="Run benchmark").click()
    expect(page.get_by_role("dialog")).to_be_visible()
    visit.check_every_look()


def test_an_empty_home_says_what_to_do_next(
    visit_as: Callable[..., Visit], empty_server: httpx2.Client
):
    visit = visit_as(DESK, str(empty_server.base_url).rstrip("/"))
    page = visit.go("/benchmarks")
    expect(page.get_by_role("heading", name="No benchmarks yet")).to_be_visible()
    visit.check_every_look()
    page = visit.go("/leaderboard")
    expect(page.get_by_role("heading", name="The leaderboard is empty")).to_be_visible()
    visit.check_every_look()
    page.get_by_role("link", name="History", exact=True).click()
    expect(page.get_by_role("heading", name="No events yet")).to_be_visible()
    visit.check_every_look()
    page = visit.go("/suites/lab")
    expect(page.get_by_text("No version of this suite was run yet.")).to_be_visible()
    visit.check_every_look()
    page = visit.go("/leaderboard")
    page.get_by_role("link", name="View agents").click()
    expect(page.get_by_text("Not benchmarked yet").first).to_be_visible()
    visit.check_every_look()
