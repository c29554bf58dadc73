"""User flows in the dashboard, click by click."""

import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import httpx2
import pytest
from playwright.sync_api import expect

from acceptance.web.conftest import DESK, PHONE, Look, Visit, in_both_looks, serving_a_copy

BOTH = pytest.mark.parametrize("look", [DESK, PHONE], ids=["desk", "phone"])


@pytest.fixture(scope="module")
def server(furnished: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[httpx2.Client]:
    """A separate server: these tests add runs and ratings."""
    with serving_a_copy(furnished, tmp_path_factory.mktemp("flows")) as client:
        yield client


def newest_run(server: httpx2.Client, agent: str) -> dict[str, Any]:
    runs = server.get("/api/benchmarks/runs", params={"agent_id": agent, "limit": 1}).json()["runs"]
    return runs[0]


@BOTH
def test_run_a_benchmark(visit_as: Callable[..., Visit], server: httpx2.Client, look: Look):
    page = visit_as(look).go()
    card = page.get_by_role("article", name="QA set-top box manager")
    card.get_by_role("button", name="Benchmark").click()
    expect(card.get_by_text(re.compile(r"Benchmark run: \d+ of 12 passed"))).to_be_visible()
    page.get_by_role("link", name="Benchmarks", exact=True).click()
    row = page.get_by_role("row").filter(has_text="qa-stb-manager").first
    expect(row).to_contain_text("completed")
    expect(row).to_contain_text(re.compile(r"\d+/12 passed"))
    row.get_by_role("link").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("qa-stb-manager 1.0.0")
    assert newest_run(server, "qa-stb-manager")["status"] == "completed"


@BOTH
def test_submit_feedback(visit_as: Callable[..., Visit], server: httpx2.Client, look: Look):
    page = visit_as(look).go()
    page.get_by_role("button", name="Rate AI assistant").click()
    dialog = page.get_by_role("dialog", name="Rate Atlas 1.0.0")
    expect(dialog.get_by_role("button", name="Submit")).to_be_disabled()
    # With the keyboard alone: the first star, then three more.
    dialog.get_by_role("radio", name="1 star, poor").focus()
    for _ in range(3):
        page.keyboard.press("ArrowRight")
    expect(dialog.get_by_role("radio", name="4 stars, good")).to_be_checked()
    comment = f"Said <b>more</b> than asked, on a {look.size}"
    dialog.get_by_label("Comment").fill(comment)
    dialog.get_by_label("Your name").fill(f"eve-{look.size}")
    dialog.get_by_role("button", name="Submit").click()
    expect(dialog.get_by_role("status")).to_contain_text("Your rating of 4 stars is saved")
    dialog.get_by_role("button", name="Done").click()
    votes = server.get("/api/benchmarks/feedback", params={"agent_id": "ai-assistant"}).json()
    assert (votes["feedback"][0]["rating"], votes["feedback"][0]["comment"]) == (4, comment)
    page.get_by_role("link", name="Atlas").click()
    expect(page.get_by_role("region", name="Ratings")).to_contain_text(comment)


@in_both_looks
def test_a_skipped_rating_is_not_saved(visit: Visit, server: httpx2.Client):
    before = server.get("/api/benchmarks/feedback").json()["count"]
    page = visit.go()
    page.get_by_role("button", name="Rate Slow").click()
    page.get_by_role("dialog").get_by_text("Skip").click()
    expect(page.get_by_role("dialog")).to_have_count(0)
    assert server.get("/api/benchmarks/feedback").json()["count"] == before


@in_both_looks
def test_the_leaderboard_links_to_its_runs(visit: Visit):
    page = visit.go("/leaderboard?suite=custom")
    board = page.get_by_role("table", name="Leaderboard")
    first = board.get_by_role("row").nth(1)
    expect(first).to_contain_text("(gold)")
    expect(first).to_contain_text(re.compile(r"\d+–\d+"))
    row = board.get_by_role("row").filter(has_text="scribe 2.0.0")
    expect(row.get_by_role("img", name=re.compile("4.0 of 5 stars"))).to_be_visible()
    row.get_by_role("link", name="87.5").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("scribe 2.0.0")
    page.go_back()
    page.get_by_role("combobox", name="Category").click()
    page.get_by_role("option", name="letters").click()
    expect(page).to_have_url(re.compile(r"category=letters"))
    expect(board.get_by_role("row").filter(has_text="qa-web-manager")).to_have_count(0)
    visit.reload()
    expect(board.get_by_role("row").filter(has_text="scribe")).to_have_count(3)


@in_both_looks
def test_filters_of_results_are_in_the_url(visit: Visit, server: httpx2.Client):
    run = newest_run(server, "scribe")
    page = visit.go(f"/runs/{run['id']}")
    results = page.get_by_role("region", name="Results")
    expect(results.get_by_text("24 results in total")).to_be_visible()
    results.get_by_text("Failed", exact=True).click()
    expect(results.get_by_text("3 results match the filter")).to_be_visible()
    expect(page).to_have_url(re.compile(r"outcome=failed"))
    results.get_by_role("combobox", name="Category").click()
    page.get_by_role("option", name="words").click()
    expect(results.get_by_text("2 results match the filter")).to_be_visible()
    visit.reload()
    expect(results.get_by_text("2 results match the filter")).to_be_visible()
    results.get_by_role("link", name="Word 7").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Word 7")
    expect(page.get_by_role("region", name="Verdict")).to_contain_text('"WORD7" is missing')
    expect(page.get_by_role("region", name="Prompt")).to_have_text("say word 7")
    # The next result is the next that matches the filter, and it is the last one.
    filters = {"outcome": "failed", "category": "words"}
    matching = server.get(f"/api/benchmarks/runs/{run['id']}/results", params=filters).json()
    other = next(row["name"] for row in matching["results"] if row["name"] != "Word 7")
    page.keyboard.press("ArrowRight")
    expect(page.get_by_role("heading", level=1)).to_have_text(other)
    expect(page.get_by_role("link", name="Next")).to_have_count(0)
    page.get_by_role("link", name="Back to the run").click()
    expect(results.get_by_text("2 results match the filter")).to_be_visible()


@in_both_looks
def test_flaky_tests_and_infrastructure_faults_are_distinguished(
    visit: Visit, server: httpx2.Client
):
    page = visit.go(f"/runs/{newest_run(server, 'coin')['id']}")
    page.get_by_role("switch", name="Flaky only").click()
    expect(page).to_have_url(re.compile(r"flaky=true"))
    expect(page.get_by_text("12 results match the filter")).to_be_visible()
    page = visit.go(f"/runs/{newest_run(server, 'broken')['id']}")
    note = page.get_by_role("alert").filter(has_text="1 test could not be executed")
    expect(note).to_contain_text("a_module_that_is_nowhere")
    expect(page.get_by_text("0 results in total")).to_be_visible()


@in_both_looks
def test_a_run_shows_its_progress_and_is_cancelled_only_after_confirmation(
    visit: Visit, server: httpx2.Client
):
    requests: list[str] = []
    page = visit.go("/benchmarks")
    page.get_by_role("button", name="Run benchmark").click()
    dialog = page.get_by_role("dialog")
    dialog.get_by_role("combobox", name="Agent").click()
    page.get_by_role("option", name="slow").click()
    dialog.get_by_label("Trials").fill("50")
    dialog.get_by_role("button", name="Run", exact=True).click()
    expect(page.get_by_role("heading", level=1)).to_have_text("slow 1.0.0")
    expect(page.get_by_text(re.compile(r"^([3-9]|\d\d+) of 300 done"))).to_be_visible()
    page.on("request", lambda request: requests.append(request.url))
    page.get_by_role("button", name="Cancel run").click()
    page.get_by_role("button", name="Keep running").click()
    expect(page.get_by_role("dialog")).to_have_count(0)
    assert newest_run(server, "slow")["status"] == "running"
    page.get_by_role("button", name="Cancel run").click()
    page.get_by_role("button", name="Cancel the run").click()
    expect(page.get_by_role("status").filter(has_text="cancelled")).to_be_visible()
    assert newest_run(server, "slow")["status"] == "cancelled"
    # Nothing runs any more, so after a last update there are no requests: no polling loop.
    for _ in range(12):
        requests.clear()
        page.wait_for_timeout(2500)
        if not requests:
            break
    assert requests == []
