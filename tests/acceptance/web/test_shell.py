"""The frame of every page: tabs, team, colours, connection."""

import re
from collections.abc import Callable

import httpx2
import pytest
from playwright.sync_api import expect

from acceptance.web.conftest import DESK, PHONE, Look, Visit, in_both_looks

TABS = (
    "Agents",
    "Benchmarks",
    "Leaderboard",
    "Suites",
    "Compare",
    "Catalog",
    "Reviews",
    "Market",
    "Judges",
    "Workers",
)


def test_the_root_redirects_to_the_agents(visit: Visit):
    visit.page.goto(visit.url)
    visit.settle()
    expect(visit.page).to_have_url(f"{visit.url}/agent-dashboard")
    expect(visit.page.get_by_role("heading", level=1)).to_have_text("Agents")


@pytest.mark.parametrize("look", [DESK, PHONE], ids=["desk", "phone"])
def test_every_tab_has_its_own_url(visit_as: Callable[..., Visit], look: Look):
    visit = visit_as(look)
    page = visit.go()
    for name in TABS:
        page.get_by_role("navigation").get_by_role("link", name=name, exact=True).click()
        expect(page).to_have_title(re.compile(f"^{name}"))
        current = page.get_by_role("navigation").locator("[aria-current=page]")
        expect(current).to_have_text(name)
        visit.check_no_overflow()
    address = page.url
    visit.reload()
    current = page.get_by_role("navigation").locator("[aria-current=page]")
    expect(current).to_have_text(TABS[-1])
    expect(current).to_be_in_viewport()
    expect(page).to_have_url(address)


def test_the_first_key_skips_to_the_content(visit: Visit):
    page = visit.go()
    page.keyboard.press("Tab")
    expect(page.get_by_role("link", name="Skip to content")).to_be_focused()
    page.keyboard.press("Enter")
    expect(page.locator("#main")).to_be_focused()


def test_focus_follows_to_the_new_page(visit: Visit):
    page = visit.go()
    page.get_by_role("link", name="Leaderboard", exact=True).focus()
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", level=1, name="Leaderboard")).to_be_focused()


@in_both_looks
def test_a_chosen_team_is_part_of_the_address_and_of_every_request(visit: Visit):
    requests: list[str] = []
    page = visit.go()
    page.get_by_role("button", name="Team: default").click()
    page.get_by_label("Another team").fill("a/b ü")
    page.keyboard.press("Enter")
    expect(page.get_by_role("button", name="Team: a/b ü")).to_be_visible()
    page.get_by_role("link", name="Benchmarks", exact=True).click()
    expect(page.get_by_role("heading", level=1, name="Benchmarks")).to_be_visible()
    expect(page).to_have_url(re.compile("/agent-dashboard/teams/a%2Fb%20%C3%BC/benchmarks$"))
    # In another tab: late requests of this one may still name the first team.
    tab = page.context.new_page()
    tab.on("request", lambda request: requests.append(request.url))
    tab.goto(page.url)
    expect(tab.get_by_role("button", name="Team: a/b ü")).to_be_visible()
    tab.get_by_role("link", name="Leaderboard", exact=True).click()
    expect(tab.get_by_role("heading", name="The leaderboard is empty")).to_be_visible()
    calls = [url for url in requests if "/api/" in url]
    assert calls
    assert all("team_id=a%2Fb" in url for url in calls), calls


def test_colours_can_be_switched_and_stay(visit: Visit):
    page = visit.go()
    page.get_by_role("button", name="Switch to dark colours").click()
    html = page.locator("html")
    expect(html).to_have_attribute("data-mantine-color-scheme", "dark")
    visit.reload()
    expect(html).to_have_attribute("data-mantine-color-scheme", "dark")


def test_an_unknown_address_shows_page_not_found(visit: Visit):
    page = visit.go("/no/such/page")
    expect(page.get_by_role("heading", level=1)).to_have_text("Page not found")
    page.get_by_role("link", name="View agents").click()
    expect(page.get_by_role("heading", level=1, name="Agents")).to_be_visible()


@pytest.mark.parametrize(
    "path",
    [
        "/agents",
        "/agents/scribe/more",
        "/benchmarks/more",
        "/runs",
        "/runs/a/results",
        "/runs/a/results/b/c",
        "/leaderboard/more",
        "/leaderboard/history/more",
        "/suites/lab/more",
        "/compare/more",
        "/catalog/no/such/page",
        "/catalog/tests",
        "/catalog/tests/word_01/more",
        "/reviews/a/b",
        "/market/no-such-page",
        "/market/tasks",
        "/market/tasks/1/more",
        "/market/content",
        "/judges/more",
        "/teams/red/catalog/more",
    ],
)
def test_an_unknown_address_below_a_page_is_not_found(passing_visit: Visit, path: str):
    page = passing_visit.go(path)
    expect(page.get_by_role("heading", level=1)).to_have_text("Page not found")
    expect(page).to_have_title("Page not found · Arena")


def test_an_open_connection_is_shown_as_live(visit: Visit, server: httpx2.Client):
    page = visit.go()
    expect(page.get_by_role("status").filter(has_text="Live")).to_be_visible()
