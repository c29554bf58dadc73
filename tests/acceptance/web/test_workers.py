"""Workers, the queue and what is stuck, on the page: live, and without a queue."""

import re
from collections.abc import Iterator
from uuid import UUID

import httpx2
import pytest
from playwright.sync_api import expect

from acceptance.conftest import Shell
from acceptance.web.conftest import DESK, Visit
from databases import new_postgres
from queue_rows import QueueRows, queue_rows


@pytest.fixture(scope="module")
def url(postgres_server: str, postgres_tables: str) -> Iterator[str]:
    with new_postgres(postgres_server, postgres_tables) as made:
        yield made


@pytest.fixture(scope="module")
def server(url: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[httpx2.Client]:
    """`arena serve` whose runs are executed by workers, of which it is none itself."""
    variables = {"ARENA_DATABASE_URL": url, "ARENA_DISPATCH": "queued"}
    shell = Shell(home=tmp_path_factory.mktemp("queued"), variables=variables)
    with shell.serving("--workers", "0") as client:
        yield client


@pytest.fixture
def rows(url: str) -> Iterator[QueueRows]:
    """Fills the queue, and empties it at the end."""
    with queue_rows(url) as made:
        yield made
        made.execute(
            "TRUNCATE agent_benchmark_runs, arena_workers, arena_queue_totals, arena_chores, "
            "arena_limit_places CASCADE"
        )


def furnish(rows: QueueRows) -> UUID:
    """Two live workers, one that died, and four runs; returns the id of the first."""
    rows.worker("w1", busy=3, labels=["gpu"], queues=["shards", "shards.gpu"], done_results=5120)
    rows.worker("w2", judges=["carol"], has_sandbox=False)
    rows.worker("w<b>3", silent=600)
    first = rows.run("scribe", completed_tests=42)
    rows.shards(first, "done", "done", "w1", "w1", "queued", "waiting")
    rows.results(first, [9, 8, 7])
    second = rows.run("painter", team_id="red", placement="arm")
    rows.shards(second, "queued", "queued", queue="shards.arm")
    third = rows.run("<i>poet</i>", ending={"reason": "its budget is spent", "is_exceeded": True})
    rows.shards(third, "w1", "waiting")
    fourth = rows.run("singer", team_id="red")
    problem = "the secret API_KEY is not set <script>"
    rows.shards(fourth, "w1", "queued", problem=problem, failures=3)
    rows.pause("agent:scribe@1.0.0", seconds=3600)
    rows.chore("audit", "waiting", waited=30)
    rows.total("takeovers", 7)
    return first


def test_workers_queues_runs_and_reasons_are_shown(visit: Visit, rows: QueueRows):
    run_id = furnish(rows)
    page = visit.go("/workers")
    runs = page.get_by_role("table", name="Runs in the queue")
    scribe = runs.get_by_role("row", name=re.compile("scribe"))
    expect(scribe).to_contain_text("2 of 6 done; 42 of 100 results")
    expect(scribe.get_by_role("link")).to_have_attribute("href", re.compile(f"/runs/{run_id}$"))
    # Its address names the team, which is not the one of this page.
    painter = runs.get_by_role("row", name=re.compile("painter")).get_by_role("link")
    expect(painter).to_have_attribute("href", re.compile("/agent-dashboard/teams/red/runs/"))
    stuck = page.get_by_role("table", name="What is stuck, and why")
    expect(stuck).to_contain_text("no live worker has the label arm")
    expect(stuck).to_contain_text("the secret API_KEY is not set <script> (tried 3 times)")
    expect(stuck).to_contain_text("its budget is spent")
    expect(stuck).to_contain_text("the agent asked for a pause until")
    workers = page.get_by_role("table", name="Workers")
    expect(workers.get_by_role("row", name=re.compile("w1"))).to_contain_text("working")
    expect(workers.get_by_role("row", name=re.compile("w<b>3"))).to_contain_text("silent")
    queue = page.get_by_role("table", name="Queues").get_by_role("row", name=re.compile("arm"))
    expect(queue).to_contain_text("none")
    expect(page.get_by_role("table", name="Chores")).to_contain_text("audit")
    expect(page.get_by_text("Takeovers").locator("..")).to_contain_text("7")
    visit.check_every_look()


def test_the_state_of_workers_is_a_filter_in_the_address(visit: Visit, rows: QueueRows):
    furnish(rows)
    page = visit.go("/workers?state=silent")
    workers = page.get_by_role("table", name="Workers")
    expect(workers.get_by_role("row")).to_have_count(2)
    expect(workers).to_contain_text("w<b>3")
    page.get_by_role("combobox", name="State").click()
    page.get_by_role("option", name="idle").click()
    expect(workers).to_contain_text("w2")
    expect(page).to_have_url(re.compile("/workers[?]state=idle$"))


def test_the_page_follows_the_queue(visit: Visit, rows: QueueRows):
    page = visit.go("/workers")
    expect(page.get_by_role("heading", name="No worker is running")).to_be_visible()
    visit.check_every_look()
    run_id = rows.run("scribe")
    rows.shards(run_id, "queued", "waiting")
    stuck = page.get_by_role("table", name="What is stuck, and why")
    expect(stuck).to_contain_text("no worker is running")
    rows.worker("w1")
    expect(page.get_by_role("table", name="Workers")).to_contain_text("w1")
    expect(stuck).to_have_count(0)
    rows.execute("UPDATE agent_run_shards SET state = 'done' WHERE number = 0")
    runs = page.get_by_role("table", name="Runs in the queue")
    expect(runs).to_contain_text("1 of 2 done")
    rows.execute("UPDATE agent_benchmark_runs SET status = 'completed'")
    expect(page.get_by_text("No run is in the queue.")).to_be_visible()


def test_without_a_queue_the_page_says_why_it_is_empty(visit_as, empty_server: httpx2.Client):
    visit = visit_as(DESK, str(empty_server.base_url).rstrip("/"))
    page = visit.go("/workers")
    expect(page.get_by_role("heading", name="This server needs no workers")).to_be_visible()
    visit.check_every_look()
