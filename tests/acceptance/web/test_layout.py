"""Layout at every width: the header, tables on a phone, words, and the labels of charts."""

from collections.abc import Callable, Iterator
from typing import Any

import httpx2
import pytest
from playwright.sync_api import Locator, Page, expect

from acceptance.conftest import Shell
from acceptance.web.conftest import DESK, PHONE, Visit
from factories import write_agent, write_tests

WIDTHS = range(320, 1601, 20)
AGENTS = [f"assistant-with-a-long-name-{number:02}" for number in range(1, 19)]
VERSIONS = [f"1.{number}.0-candidate" for number in range(14)]
BENCHMARKED = [(agent, "1.0.0") for agent in AGENTS[:9]]
BENCHMARKED += [("many", version) for version in VERSIONS]
"""Agents with a benchmark; of the others only executions are known."""

HEADER = """() => {
    const header = document.querySelector('header')
    const isHit = (it, x, y) => it.contains(document.elementFromPoint(x, y))
    const faults = []
    for (const tab of header.querySelectorAll('nav a')) {
        tab.scrollIntoView({inline: 'center', block: 'nearest'})
        const {left, right, top, bottom} = tab.getBoundingClientRect()
        const y = (top + bottom) / 2
        const isFree = [left + 4, (left + right) / 2, right - 4].every(x => isHit(tab, x, y))
        if (!isFree) faults.push(`${tab.textContent} is covered`)
    }
    const parts = [...header.querySelectorAll('a:not(nav a), nav, button, [role=status]')]
    const boxes = parts.map(part => [part, part.getBoundingClientRect()])
    for (const [one, a] of boxes) for (const [other, b] of boxes)
        if (one !== other && !one.contains(other) && !other.contains(one)
            && a.left < b.right - 1 && b.left < a.right - 1
            && a.top < b.bottom - 1 && b.top < a.bottom - 1)
            faults.push(`${one.textContent} overlaps ${other.textContent}`)
    if (document.documentElement.scrollWidth > innerWidth) faults.push('the page is too wide')
    return faults
}"""
"""What cannot be clicked in the header, and which of its parts overlap."""

INSIDE = """it => {
    const box = it.getBoundingClientRect()
    for (let up = it.parentElement; up; up = up.parentElement) {
        const {left, right} = up.getBoundingClientRect()
        const isClipped = box.left < left - 1 || box.right > right + 1
        if (getComputedStyle(up).overflowX !== 'visible' && isClipped) return false
    }
    return box.width > 0 && box.left >= 0 && box.right <= innerWidth
}"""
"""Whether an element is visible without scrolling sideways."""

BROKEN_WORDS = """() => {
    const walker = document.createTreeWalker(document.querySelector('main'), NodeFilter.SHOW_TEXT)
    const range = document.createRange()
    const broken = []
    while (walker.nextNode()) {
        const node = walker.currentNode
        for (const {0: word, index} of node.data.matchAll(/[\\p{L}\\p{N}]+/gu)) {
            if (word.length > 20) continue
            range.setStart(node, index)
            range.setEnd(node, index + word.length)
            const lines = [...range.getClientRects()].filter(box => box.width > 0)
            if (new Set(lines.map(box => Math.round(box.top))).size > 1) broken.push(word)
        }
    }
    return broken
}"""
"""Words of ordinary length that are split between two lines."""

# A chart is drawn again some frames after a resize: only what lasts is a fault.
OVERPRINTED = """async () => {
    const found = () => {
        const faults = []
        for (const chart of document.querySelectorAll('main svg[role=img]')) {
            const frame = chart.getBoundingClientRect()
            const labels = [...chart.querySelectorAll('text')].filter(one => one.textContent.trim())
            const boxes = labels.map(label => [label.textContent, label.getBoundingClientRect()])
            boxes.forEach(([text, a], index) => {
                const isCut = a.left < frame.left - 2 || a.right > frame.right + 2
                if (isCut) faults.push(`${text} is cut`)
                for (const [other, b] of boxes.slice(index + 1))
                    if (a.left < b.right - 1 && b.left < a.right - 1
                        && a.top < b.bottom - 3 && b.top < a.bottom - 3)
                        faults.push(`${text} over ${other}`)
            })
        }
        return faults
    }
    for (let frame = 0; frame < 60 && found().length; frame++)
        await new Promise(requestAnimationFrame)
    return found()
}"""
"""Labels of charts that overlap each other or leave the chart."""


@pytest.fixture(scope="module")
def crowded(tmp_path_factory: pytest.TempPathFactory) -> Iterator[httpx2.Client]:
    """A server with many agents of long names, and one agent with many versions."""
    home = tmp_path_factory.mktemp("crowded")
    for agent in AGENTS:
        write_agent(home / "agents", agent, "return prompt.upper()")
    for number, version in enumerate(VERSIONS):
        write_agent(home / "agents", f"many-{number}", "return ''", id="many", version=version)
    keys = {"tags": ["capitals", "rivers", "mountains"], "validation": "contains_any"}
    tests = home / "benchmarks" / "geography.yaml"
    write_tests(tests, count=3, agents=[*AGENTS[:9], "many"], **keys)
    with Shell(home=home).serving() as client:
        for agent, version in BENCHMARKED:
            body = {"agent_id": agent, "version": version}
            run = client.post("/api/benchmarks/run", json=body).json()
            done = client.post(f"/api/benchmarks/run/{run['run_id']}/execute")
            assert done.status_code == 200, done.text
        subjects = [(agent, "1.0.0") for agent in AGENTS]
        subjects += [("many", version) for version in VERSIONS]
        reports = [_report(agent, version) for agent, version in subjects]
        answer = client.post("/api/benchmarks/executions", json={"executions": reports})
        assert answer.status_code == 200, answer.text
        yield client


def _report(agent: str, version: str) -> dict[str, Any]:
    key = f"{agent} {version}"
    return {"agent_id": agent, "version": version, "status": "completed", "idempotency_key": key}


def _url(client: httpx2.Client) -> str:
    return str(client.base_url).rstrip("/")


def _lines(page: Page, table: str, number: int) -> list[Locator]:
    """The rows that have cells: not the column headers, not a heading within the table."""
    rows = page.get_by_role("table", name=table).get_by_role("row")
    lines = rows.filter(has=page.get_by_role("cell"))
    expect(lines).to_have_count(number)
    return lines.all()


@pytest.mark.parametrize("path", ["", f"/teams/{'w' * 100}"], ids=["live", "long-team-offline"])
def test_every_tab_can_be_clicked_at_every_width(visit: Visit, path: str):
    if path:
        visit.page.route("**/api/events?*", lambda route: route.abort())
    page = visit.go(path)
    state = page.get_by_role("status").filter(has_text="Offline" if path else "Live")
    expect(state).to_be_visible()
    faults: dict[int, list[str]] = {}
    for width in WIDTHS:
        page.set_viewport_size({"width": width, "height": 800})
        if found := page.evaluate(HEADER):
            faults[width] = found
    assert faults == {}


@pytest.mark.parametrize("width", [360, 1000, 1024, 1170])
def test_the_last_tabs_are_clicked(visit: Visit, width: int):
    page = visit.go()
    page.set_viewport_size({"width": width, "height": 800})
    for name in ("Judges", "Workers"):
        page.get_by_role("navigation").get_by_role("link", name=name, exact=True).click()
        expect(page.get_by_role("heading", level=1)).to_have_text(name)


def test_tabs_out_of_sight_are_announced_by_the_edge(visit: Visit):
    page = visit.go()
    nav = page.get_by_role("navigation", name="Main")
    page.set_viewport_size({"width": 360, "height": 800})
    expect(nav).to_have_attribute("data-more", "right")
    page.get_by_role("link", name="Workers", exact=True).click()
    expect(nav).to_have_attribute("data-more", "left")
    page.set_viewport_size({"width": 1440, "height": 800})
    expect(nav).to_have_attribute("data-more", "")


@pytest.mark.parametrize("width", [320, 360])
def test_a_phone_shows_scores_without_scrolling_sideways(
    visit: Visit, server: httpx2.Client, width: int
):
    page = visit.go("/leaderboard")
    page.set_viewport_size({"width": width, "height": 800})
    board = server.get("/api/benchmarks/leaderboard").json()["leaderboard"]
    for entry, row in zip(board, _lines(page, "Leaderboard", len(board)), strict=True):
        assert row.get_by_role("link", name=entry["agent_id"]).first.evaluate(INSIDE)
        score = entry["benchmark_score"]
        shown = "–" if score is None else f"{score:.1f}"
        assert row.get_by_text(shown, exact=True).first.evaluate(INSIDE)
        assert row.get_by_text(entry["agent_version"], exact=True).evaluate(INSIDE)
    page = visit.go("/benchmarks")
    runs = server.get("/api/benchmarks/runs", params={"limit": 20}).json()["runs"]
    for run, row in zip(runs, _lines(page, "Benchmark runs", len(runs)), strict=True):
        assert row.get_by_role("link", name=run["agent_id"]).evaluate(INSIDE)
        assert row.get_by_text(run["status"], exact=True).evaluate(INSIDE)
        if run["score_percent"] is not None:
            assert row.get_by_text(f"{run['score_percent']:.1f} %").evaluate(INSIDE)


@pytest.mark.parametrize("width", [320, 390])
def test_a_phone_shows_every_agent_of_a_comparison(visit: Visit, width: int):
    page = visit.go("/compare?suite=custom&agents=scribe:1.0.0,scribe:1.1.0,scribe:2.0.0")
    page.set_viewport_size({"width": width, "height": 800})
    for row in _lines(page, "Tests against agents", 24):
        cells = row.get_by_role("cell").get_by_role("link")
        expect(cells).to_have_count(3)
        assert [cell.evaluate(INSIDE) for cell in cells.all()] == [True] * 3


@pytest.mark.parametrize("width", [1024, 1440])
def test_the_leaderboard_fits_the_window(visit: Visit, width: int):
    page = visit.go("/leaderboard")
    page.set_viewport_size({"width": width, "height": 800})
    board = page.get_by_role("region", name="Leaderboard", exact=True)
    assert board.evaluate("it => it.scrollWidth - it.clientWidth") <= 0


def test_a_long_name_does_not_hide_the_score(
    visit_as: Callable[..., Visit], crowded: httpx2.Client
):
    page = visit_as(PHONE, _url(crowded)).go("/leaderboard")
    page.set_viewport_size({"width": 320, "height": 800})
    for row in _lines(page, "Leaderboard", len(AGENTS) + len(VERSIONS)):
        assert row.get_by_role("cell").nth(2).evaluate(INSIDE)


@pytest.mark.parametrize("path", ["/catalog", "/leaderboard", "/benchmarks", "/", "/agents/many"])
def test_no_word_is_broken(visit_as: Callable[..., Visit], crowded: httpx2.Client, path: str):
    visit = visit_as(DESK, _url(crowded))
    page = visit.go(path)
    faults: dict[int, list[str]] = {}
    for width in (360, 768, 1024, 1280, 1440, 1600):
        page.set_viewport_size({"width": width, "height": 900})
        visit.check_no_overflow()
        if found := page.evaluate(BROKEN_WORDS):
            faults[width] = found
    assert faults == {}


def test_a_chart_says_how_many_it_shows_and_can_show_all(
    visit_as: Callable[..., Visit], crowded: httpx2.Client
):
    page = visit_as(DESK, _url(crowded)).go("/leaderboard")
    card = page.get_by_role("region", name="Benchmark scores").first
    many = len(BENCHMARKED)
    expect(card.get_by_text(f"The first 15 of {many} are shown.")).to_be_visible()
    chart = card.get_by_role("img")
    expect(chart.locator("circle")).to_have_count(15)
    card.get_by_role("button", name=f"Show all {many}").click()
    expect(chart.locator("circle")).to_have_count(many)
    card.get_by_role("button", name="Show as table").click()
    expect(card.get_by_role("row")).to_have_count(many + 1)


@pytest.mark.parametrize("path", ["/leaderboard", "/agents/many"])
def test_labels_of_crowded_charts_do_not_overlap(
    visit_as: Callable[..., Visit], crowded: httpx2.Client, path: str
):
    page = visit_as(DESK, _url(crowded)).go(path)
    _check_labels(page)


@pytest.mark.parametrize(
    "path",
    [
        "/leaderboard",
        "/agents/scribe?suite=custom",
        "/compare?suite=custom&agents=scribe:1.0.0,scribe:2.0.0",
    ],
)
def test_labels_of_charts_do_not_overlap(visit: Visit, path: str):
    _check_labels(visit.go(path))


def _check_labels(page: Page) -> None:
    expect(page.locator("main svg[role=img]").first).to_be_visible()
    faults: dict[int, list[str]] = {}
    for width in (1440, 1024, 600, 360, 320):
        page.set_viewport_size({"width": width, "height": 900})
        if found := page.evaluate(OVERPRINTED):
            faults[width] = found
    assert faults == {}
