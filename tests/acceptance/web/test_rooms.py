"""Compare, catalog, reviews, market and judges: their content and accessibility."""

import re
import shutil
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from pathlib import Path
from uuid import uuid4

import httpx2
import pytest
from playwright.sync_api import expect

from acceptance.conftest import Shell
from acceptance.web.conftest import Visit, in_both_looks
from acceptance.web.rooms import add_files, add_rooms

SCRIBES = "/compare?suite=custom&agents=scribe:1.0.0,scribe:1.1.0,scribe:2.0.0"


@pytest.fixture(scope="module")
def home(furnished: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    copied = tmp_path_factory.mktemp("rooms") / "home"
    shutil.copytree(furnished, copied)
    add_files(copied)
    return copied


@pytest.fixture(scope="module")
def server(home: Path) -> Iterator[httpx2.Client]:
    """`arena serve` on a home with reviews, a market and a judge that is not calibrated."""
    variables = {
        "ARENA_JUDGE_BASE_URL": "http://127.0.0.1:9/v1",
        "ARENA_JUDGE_MODELS": "a-model",
        "ARENA_JUDGE_API_KEY": "none",
    }
    with Shell(home=home, variables=variables).serving() as client:
        # In a thread of its own: the browser keeps an event loop running in this one.
        with ThreadPoolExecutor(1) as thread:
            thread.submit(add_rooms, client).result()
        yield client


@pytest.mark.parametrize(
    "address",
    [
        "/compare",
        f"{SCRIBES}&differing=true",
        "/compare?agents=scribe:1.0.0,nobody:9.9.9",
        "/catalog?tag=prose",
        "/catalog/tests/std_cases",
        "/catalog/tests/std_judge",
        "/catalog/tests/std_all",
        "/catalog/tests/word_02",
        "/catalog/tests/none_such",
        "/reviews",
        "/market",
        "/market/tasks/1",
        "/market/tasks/3",
        "/market/tasks/abc",
        "/agents/worker",
        "/judges",
    ],
)
def test_every_page_is_readable_and_within_the_window(passing_visit: Visit, address: str):
    passing_visit.go(address)
    passing_visit.check_every_look()


@in_both_looks
def test_agents_are_compared_in_plain_words(visit: Visit):
    page = visit.go(SCRIBES)
    expect(
        page.get_by_text("scribe 2.0.0 passed 87.5 % of the 24 tests that both ran")
    ).to_have_count(2)
    expect(page.get_by_text(re.compile(r"not significant \(p = ")).first).to_be_visible()
    expect(page.get_by_text("They differ on 17 of 24 tests")).to_be_visible()
    card = page.get_by_role("region", name="Paired differences")
    expect(card.get_by_role("img", name="Differences of 3 pairs")).to_be_visible()
    card.get_by_role("button", name="Show as table").click()
    expect(card.get_by_role("row")).to_have_count(4)
    expect(card.get_by_role("row").nth(1)).to_contain_text("−16.7")


@in_both_looks
def test_the_filter_for_differences_is_in_the_url(visit: Visit):
    page = visit.go(SCRIBES)
    matrix = page.get_by_role("table", name="Tests against agents")
    expect(matrix.get_by_role("row")).to_have_count(25)
    page.get_by_label("Only where they differ").check()
    expect(matrix.get_by_role("row")).to_have_count(18)
    expect(page).to_have_url(re.compile("differing=true"))
    visit.reload()
    expect(page.get_by_label("Only where they differ")).to_be_checked()
    expect(matrix.get_by_role("row")).to_have_count(18)
    matrix.get_by_role("link", name="failed").first.click()
    expect(page.get_by_role("region", name="Verdict")).to_contain_text("is missing")


@in_both_looks
def test_agents_are_chosen_from_a_picker(visit: Visit):
    page = visit.go("/compare?suite=custom")
    expect(page.get_by_text("Choose two or more agents")).to_be_visible()
    box = page.get_by_role("combobox", name="Agents").or_(page.get_by_label("Agents"))
    for name in ("scribe:1.0.0", "scribe:2.0.0"):
        box.first.click()
        page.get_by_role("option", name=name).click()
    expect(
        page.get_by_text("scribe 2.0.0 is ahead, and the difference is significant.")
    ).to_be_visible()
    expect(page).to_have_url(re.compile(r"scribe%3A1\.0\.0%2Cscribe%3A2\.0\.0"))


@in_both_looks
def test_the_catalog_reports_problems_and_recovers(visit: Visit, home: Path):
    page = visit.go("/catalog")
    alert = page.get_by_role("alert")
    expect(alert).to_contain_text(re.compile(r"zz_broken\.yaml:3:9.*id: must be", re.S))
    audit = page.get_by_role("region", name="Audit")
    audit.get_by_role("button", name="Show all").click()
    expect(audit).to_contain_text("std_echo: passed by the null agent echo")
    test = "{id: good, name: Good, prompt: q, expected: {contains: [xyz]}}"
    file = home / "benchmarks" / "zz_broken.yaml"
    broken = file.read_text()
    file.write_text(f"category: mended\ntests:\n  - {test}\n")
    expect(alert).to_have_count(0)
    expect(page.get_by_role("link", name="Good", exact=True)).to_be_visible()
    file.write_text(broken)
    expect(alert).to_contain_text("zz_broken.yaml")


@in_both_looks
def test_filters_of_the_catalog_are_in_the_url(visit: Visit):
    page = visit.go("/catalog?category=standards&tag=code")
    rows = page.get_by_role("table", name="Tests", exact=True).get_by_role("row")
    expect(rows).to_have_count(2)
    page.get_by_role("link", name="Deep merge").click()
    cases = page.get_by_role("table", name="Test cases")
    expect(cases.get_by_role("row").nth(1)).to_contain_text('{"a":1}, {"b":2}')
    page.go_back()
    expect(rows).to_have_count(2)


@in_both_looks
def test_a_test_shows_its_results_in_runs(visit: Visit):
    page = visit.go("/catalog/tests/word_02")
    card = page.get_by_role("region", name="Statistics")
    expect(card).to_contain_text("66.7 %")
    expect(card).to_contain_text("separates strong agents from weak ones")
    expect(card.get_by_role("row")).to_have_count(4)


def test_a_checklist_is_answered_by_keys_and_the_run_completes(visit: Visit, server: httpx2.Client):
    page = visit.go("/reviews")
    page.get_by_role("table", name="Reviews").get_by_role("link").first.click()
    expect(page.get_by_role("region", name="Submission")).to_contain_text("<b>buy it</b>")
    page.get_by_label("Your name").fill("ada")
    page.get_by_role("heading", level=1).click()
    items = page.get_by_role("region", name="Checklist").locator("ol > li")
    page.keyboard.press("p")
    expect(items.nth(0)).to_contain_text("passed")
    page.keyboard.press("n")
    page.keyboard.type("nobody is quoted")
    page.keyboard.press("Escape")
    page.keyboard.press("f")
    expect(items.nth(1)).to_contain_text("ada: nobody is quoted")
    page.keyboard.press("ArrowUp")
    expect(items.nth(1)).to_have_attribute("aria-current", "step")
    visit.check_every_look()
    page.keyboard.press("ArrowDown")
    page.keyboard.press("p")
    # Until the verdict is made the review is only "answered".
    expect(page.get_by_text(re.compile("^done · .* 3 of 3 items answered"))).to_be_visible()
    runs = server.get("/api/benchmarks/runs", params={"agent_id": "writer"}).json()["runs"]
    assert (runs[0]["status"], runs[0]["passed_tests"]) == ("completed", 1)
    page.get_by_role("link", name="All reviews").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Reviews")
    visit.settle()
    expect(page.get_by_role("link", name="A press release")).to_have_count(0)
    visit.go("/teams/thrift/reviews")
    expect(page.get_by_text("No open reviews")).to_be_visible()


def test_the_last_answer_to_a_task_needs_confirmation(visit: Visit, server: httpx2.Client):
    page = visit.go("/reviews")
    page.get_by_role("link", name="task 4").click()
    expect(page.get_by_text("answer before")).to_be_visible()
    items = page.get_by_role("region", name="Checklist").locator("ol > li")
    expect(items).to_have_count(3)
    # Holding a key down gives one answer.
    for _ in range(5):
        page.keyboard.down("f")
    page.keyboard.up("f")
    expect(page.get_by_text("1 of 3 items answered")).to_be_visible()
    expect(items.nth(1)).to_have_attribute("aria-current", "step")
    for _ in range(5):
        page.keyboard.down("Enter")
    page.keyboard.up("Enter")
    expect(page.get_by_text("2 of 3 items answered")).to_be_visible()
    # Quickly, while answers are still being sent: the dialog must appear anyway.
    page.keyboard.press("ArrowUp")
    page.keyboard.press("f")
    page.keyboard.press("f")
    dialog = page.get_by_role("dialog", name="Submit the last answer?")
    expect(dialog).to_contain_text("task 4 pays its agent or refunds its poster")
    visit.check_every_look()
    page.keyboard.press("p")
    page.keyboard.press("Escape")
    expect(dialog).to_have_count(0)
    assert server.get("/api/tasks/4").json()["task"]["state"] == "submitted"
    page.keyboard.press("f")
    expect(dialog.get_by_role("button", name="Cancel")).to_be_focused()
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    # Until the verdict is made the review is only "answered".
    expect(page.get_by_text(re.compile("^done · task .* 3 of 3 items answered"))).to_be_visible()
    assert server.get("/api/tasks/4").json()["task"]["state"] == "refunded"


@in_both_looks
def test_a_task_shows_its_history_and_its_postings(visit: Visit):
    page = visit.go("/market?state=paid")
    rows = page.get_by_role("table", name="Tasks").get_by_role("row")
    expect(rows).to_have_count(2)
    expect(page.get_by_role("table", name="Balances")).to_contain_text("user:worker")
    expect(page.get_by_role("table", name="Agents and their reputation")).to_contain_text("90.0")
    page.get_by_role("link", name="Write deepMerge(a, b).").click()
    expect(page.get_by_role("region", name="Verdict")).to_contain_text("90 of 100 by carol")
    life = page.get_by_role("region", name="History").get_by_role("listitem")
    expect(life.first).to_contain_text("Task posted")
    expect(life.nth(3)).to_be_visible()
    postings = page.get_by_role("table", name="Postings")
    expect(postings).to_contain_text("escrow:1")
    expect(postings).to_contain_text("+0.25")
    life = page.get_by_role("region", name="History")
    expect(life).to_contain_text("to worker 1.0.0")
    expect(life).to_contain_text("90 of 100")
    expect(life).to_contain_text("0.25 TEST to worker")
    terms = page.get_by_role("table", name="Terms")
    expect(terms.get_by_role("row", name="Judging window")).to_contain_text("1 day")
    expect(terms.get_by_role("row", name="Without a verdict")).to_contain_text("back to the poster")


@in_both_looks
def test_a_task_links_to_its_content(visit: Visit):
    page = visit.go("/market/tasks/1")
    content = page.get_by_role("region", name="Content")
    for place, link, text in (
        ("Standard", "Standard", '"def"'),
        ("Submission", "Result", "def deepMerge(a, b)"),
        ("Verdict", "Reason", "It merges."),
    ):
        region = page.get_by_role("region", name=place, exact=True)
        region.get_by_role("link", name=link).click()
        expect(content).to_contain_text(text)
        page.go_back()
    page.go_forward()
    visit.check_every_look()
    visit.go("/market/content/bafkreifzjut3te2nhyekklss27nh3k72ysco7y32koao5eei66wof36n5e")
    expect(page.get_by_role("alert")).to_contain_text("Not found")
    visit.go("/market/content/abc")
    expect(page.get_by_role("heading", level=1)).to_have_text("Page not found")


@in_both_looks
def test_a_disputed_verdict_names_the_judge_and_the_arbiter(visit: Visit):
    page = visit.go("/market/tasks/3")
    verdict = page.get_by_role("region", name="Verdict")
    entries = verdict.get_by_role("listitem")
    expect(entries.nth(0)).to_contain_text("90 of 100 by judy, the judge")
    expect(entries.nth(1)).to_contain_text("Disputed by alice")
    expect(entries.nth(2)).to_contain_text("30 of 100 by trent, the arbiter")
    life = page.get_by_role("region", name="History")
    expect(life).to_contain_text("bond 0.05 TEST")
    expect(life).to_contain_text("0.25 TEST to alice")


def test_a_missing_verdict_is_described_for_the_current_time(visit: Visit, server: httpx2.Client):
    story = server.get("/api/tasks/5").json()
    task = story["task"]
    page = visit.go("/market/tasks/5")
    verdict = page.get_by_role("region", name="Verdict")
    expect(verdict).to_contain_text(re.compile("carol judges by.*After that dave"))
    page.clock.set_fixed_time(datetime.fromisoformat(task["judge_until"]))
    visit.go("/market/tasks/5")
    expect(verdict).to_contain_text(re.compile("carol did not judge in time. dave can judge until"))
    page.clock.set_fixed_time(datetime.fromisoformat(task["exit_at"]))
    visit.go("/market/tasks/5")
    expect(verdict).to_contain_text("No verdict was given in time.")

    # A test cannot wait an hour: fake the response.
    story["task"] |= {"state": "expired", "expiry_reason": "no_verdict", "exit_at": None}
    page.route("**/api/tasks/5?*", lambda route: route.fulfill(json=story))
    visit.go("/market/tasks/5")
    expect(verdict).to_contain_text("No verdict was given in time.")
    expect(verdict.locator("time")).to_have_count(0)
    page.unroute_all(behavior="ignoreErrors")


@in_both_looks
def test_an_agent_without_a_file_has_a_page_too(visit: Visit):
    page = visit.go("/leaderboard")
    page.get_by_role("table", name="Leaderboard").get_by_role("link", name="worker").click()
    expect(page.get_by_text("There is no agent file with this name here")).to_be_visible()
    reputation = page.get_by_role("region", name="Market", exact=True)
    expect(reputation).to_contain_text(re.compile("Average score.*90.0", re.S))
    expect(page.get_by_role("region", name="Score of 1.0.0")).to_contain_text("1 execution")
    expect(page.get_by_role("alert")).to_have_count(0)
    expect(page.get_by_text("⚡")).to_have_count(0)
    visit.go("/agents/none-such")
    expect(page.get_by_role("alert")).to_contain_text("Not found")


@pytest.mark.parametrize(
    "address", ["/market/tasks/abc", "/market/tasks/0", "/runs/xyz", "/reviews/zzz"]
)
def test_a_malformed_address_is_not_found(passing_visit: Visit, address: str):
    page = passing_visit.go(address)
    alert = page.get_by_role("alert")
    expect(alert).to_contain_text("Not found")
    expect(alert).to_contain_text("Check it for typos")
    expect(alert).not_to_contain_text("Input should")
    expect(alert.get_by_role("button")).to_have_count(0)


def test_untrusted_text_is_marked_in_titles_too(passing_visit: Visit):
    page = passing_visit.go("/catalog/tests/std_all")
    mark = page.get_by_role("heading", level=1).get_by_text("U+202E", exact=True)
    expect(mark).to_have_attribute("title", "right-to-left override (U+202E)")
    expect(page).to_have_title("PoliteU+202E refusal · Arena")
    passing_visit.go("/market/tasks/3")
    expect(mark).to_be_visible()
    for address in ("/leaderboard", "/agents/smith"):
        passing_visit.go(address)
        expect(page.get_by_role("region").get_by_text("U+202E").first).to_be_visible()
        expect(page.locator("main")).not_to_contain_text("\u202e")


def test_a_chart_of_zero_costs_has_an_axis(passing_visit: Visit):
    page = passing_visit.go("/teams/thrift/leaderboard")
    chart = page.get_by_role("region", name="Accuracy against cost")
    expect(chart.get_by_text("$0", exact=True)).to_be_visible()
    expect(chart.locator("svg[role=img] text").filter(has_text="e-")).to_have_count(0)


@in_both_looks
def test_a_new_task_appears_without_a_reload(visit: Visit, server: httpx2.Client):
    page = visit.go("/market?state=open")
    expect(page.get_by_role("table", name="Balances")).to_be_visible()
    description = f"Write reversed{uuid4().hex[:8]}(text)."
    news = {
        "poster": "alice",
        "description": description,
        "evaluation": {"type": "contains", "contains": ["def"]},
        "reward": "0.01",
        "deadline": (datetime.now(UTC) + timedelta(hours=1)).isoformat(),
        "judge": "carol",
    }
    posted = server.post("/api/tasks", json=news)
    assert posted.status_code == 200, posted.text
    expect(page.get_by_role("link", name=description)).to_be_visible()
