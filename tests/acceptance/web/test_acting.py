"""What agents did beside answering: conversations with their steps, and changed files."""

import shutil
from collections.abc import Iterator
from pathlib import Path

import httpx2
import pytest
from playwright.sync_api import expect

from acceptance.conftest import Shell
from acceptance.web.conftest import Visit
from conftest import missing

EXAMPLES = Path(__file__).parents[3] / "examples"


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[httpx2.Client]:
    if shutil.which("bwrap") is None:
        missing("bubblewrap")
    shell = Shell(home=tmp_path_factory.mktemp("acting"))
    talk, code = EXAMPLES / "conversation", EXAMPLES / "coding-agent"
    shell.arena(
        "run", "waiter", "--agents", str(talk / "waiter.yaml"), "--tests", str(talk / "tests")
    )
    for agent in ("lazy-agent", "coding-agent"):
        folders = ("--agents", str(code), "--tests", str(code / "tests"))
        shell.arena("run", agent, *folders, "--suite", "repair")
    tools = EXAMPLES / "tools" / "tests"
    with shell.serving("--tests", str(code / "tests"), "--tests", str(tools)) as client:
        yield client


def result_of(server: httpx2.Client, agent: str, test_id: str) -> str:
    runs = server.get("/api/benchmarks/runs", params={"agent_id": agent}).json()["runs"]
    address = f"/runs/{runs[0]['id']}"
    found = server.get(f"/api/benchmarks{address}/results", params={"test_id": test_id}).json()
    return f"{address}/results/{found['results'][0]['id']}"


def test_a_conversation_is_shown_as_one_with_the_steps_of_each_reply(
    visit: Visit, server: httpx2.Client
) -> None:
    page = visit.go(result_of(server, "waiter", "book_in_three_turns"))
    expect(page.get_by_role("region", name="User, turn 2")).to_have_text("On Friday, please.")
    expect(page.get_by_role("region", name="Agent, turn 1")).to_contain_text("hich day")
    expect(page.get_by_role("heading", name="Prompt")).to_have_count(0)
    page.get_by_text("1 step before this reply").click()
    expect(page.get_by_text("claimed by the agent")).to_be_visible()
    visit.check_every_look()


def test_changed_files_are_shown_with_their_difference_and_that_nothing_protected_them(
    visit: Visit, server: httpx2.Client
) -> None:
    page = visit.go(result_of(server, "lazy-agent", "repair_discount"))
    card = page.get_by_role("region", name="Workspace", exact=True)
    expect(card).to_contain_text("Unprotected")
    expect(card).to_contain_text("changed tests/test_prices.py")
    expect(card).to_contain_text("the test collects none of these files")
    # A reason may have several lines.
    reason = page.get_by_text("collateral damage: ").first
    expect(reason).to_have_css("white-space-collapse", "preserve-breaks")
    visit.check_every_look()
    visit.go(result_of(server, "coding-agent", "repair_discount"))
    difference = page.get_by_role("region", name="Difference")
    expect(difference.locator("[data-kind=added]").first).to_be_visible()
    visit.check_every_look()


def test_a_test_shows_the_files_it_gives_and_hides(visit: Visit) -> None:
    page = visit.go("/catalog/tests/repair_discount")
    files = page.get_by_role("region", name="Workspace", exact=True)
    files.get_by_text("shop/prices.py").click()
    expect(page.get_by_role("region", name="shop/prices.py")).to_contain_text("discount")
    # Its patterns are a list, not JSON.
    expect(files.get_by_role("listitem")).to_have_text(["shop/**"])
    expect(page.get_by_role("region", name="Standard", exact=True)).to_contain_text("hidden")
    visit.check_every_look()


def test_a_tool_of_a_test_is_shown_key_by_key(visit: Visit) -> None:
    page = visit.go("/catalog/tests/tries_again")
    tool = page.get_by_role("region", name="Tool weather", exact=True)
    expect(tool.get_by_role("listitem").filter(has_text="kind: timeout")).to_be_visible()
    # A JSON Schema has a type, and is no standard.
    expect(tool.get_by_role("region", name="parameters")).to_contain_text('"type": "object"')
    visit.check_every_look()
