"""Text from agents and users is shown and never executed, with the real security policy."""

import httpx2
import pytest
from playwright.sync_api import Page, expect

from acceptance.web.conftest import Visit
from acceptance.web.furniture import HOSTILE


@pytest.fixture(scope="module")
def results(server: httpx2.Client) -> dict[str, str]:
    """The addresses of the hostile agent's results, by test."""
    run = server.get("/api/benchmarks/runs", params={"agent_id": "hostile"}).json()["runs"][0]
    address = f"/runs/{run['id']}"
    found = server.get(f"/api/benchmarks{address}/results").json()["results"]
    return {one["test_id"]: f"{address}/results/{one['id']}" for one in found}


def is_unharmed(page: Page) -> bool:
    return page.evaluate("window.hacked === undefined && !document.querySelector('main script')")


def test_markup_and_scripts_are_escaped(passing_visit: Visit, results: dict[str, str]):
    page = passing_visit.go(results["hostile_text"])
    answer = page.get_by_role("region", name="Answer", exact=True)
    expect(answer).to_contain_text("<script>window.hacked = 1</script><img src=x")
    assert is_unharmed(page)
    expect(page.locator("main a[href^=javascript], main img")).to_have_count(0)


def test_invisible_characters_are_marked_and_reverse_nothing(
    passing_visit: Visit, results: dict[str, str]
):
    page = passing_visit.go(results["hostile_text"])
    answer = page.get_by_role("region", name="Answer", exact=True)
    for code, name in (
        ("U+202E", "right-to-left override"),
        ("U+202C", "pop directional formatting"),
        ("U+200B", "zero width space"),
    ):
        mark = answer.get_by_text(code, exact=True)
        expect(mark).to_have_attribute("title", f"{name} ({code})")
    text = answer.inner_text()
    assert not set(text) & set("\u202e\u202c\u200b")
    assert "\u05e9\u05dc\u05d5\u05dd" in text  # legitimate Hebrew is unchanged


def test_a_megabyte_is_truncated_until_expanded(visit: Visit, results: dict[str, str]):
    page = visit.go(results["hostile_long"])
    answer = page.get_by_role("region", name="Answer", exact=True)
    assert len(answer.inner_text()) < 6_000
    page.get_by_role("button", name="Show all (1.0 million characters)").click()
    expect(page.get_by_role("button", name="Show less")).to_be_visible()
    assert len(answer.inner_text()) > 1_000_000
    visit.check_no_overflow()
    assert is_unharmed(page)


def test_a_comment_is_escaped_too(visit: Visit, server: httpx2.Client):
    vote = {"agent_id": "coin", "rating": 2, "comment": HOSTILE, "user_id": "<i>eve</i>\u202e"}
    assert server.post("/api/benchmarks/feedback", json=vote).status_code == 200
    page = visit.go("/agents/coin")
    ratings = page.get_by_role("region", name="Ratings")
    expect(ratings).to_contain_text("<script>window.hacked = 1</script>")
    expect(ratings).to_contain_text("<i>eve</i>")
    assert is_unharmed(page)


def test_the_policy_blocks_what_the_page_would_let_through(visit: Visit):
    page = visit.go()
    with page.expect_event("console", lambda _: len(visit.faults) >= 3):
        page.evaluate(
            """() => {
                const script = document.createElement('script');
                script.textContent = 'window.hacked = 4';
                document.body.append(script);
                const image = document.createElement('img');
                image.setAttribute('onerror', 'window.hacked = 5');
                image.src = 'data:image/png;base64,broken';
                document.body.append(image);
                const style = document.createElement('style');
                style.textContent = 'body { display: none }';
                document.head.append(style);
            }"""
        )
    assert page.evaluate("window.hacked") is None
    expect(page.locator("body")).to_be_visible()
    refused = [fault for fault in visit.faults if "Content Security Policy" in fault]
    assert len(refused) == len(visit.faults) == 3
    visit.faults.clear()
