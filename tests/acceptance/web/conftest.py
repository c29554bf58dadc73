"""A real browser and a real server: Debian's chromium, `arena serve`, the bundled agents.

The whole folder shares one browser, and one server for tests that only read; a module that changes
data has its own server. Nothing lasts for the session: Playwright keeps an event loop running in
its thread while it is open, and other tests of the worker need their own.
"""

import os
import re
import shutil
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx2
import pytest
from playwright.sync_api import Browser, Page, expect, sync_playwright

from acceptance.conftest import Shell
from acceptance.web.furniture import furnish
from arena.dashboard.built import DIST
from conftest import missing

AXE = Path(__file__).parents[3] / "web" / "node_modules" / "axe-core" / "axe.min.js"
RULES = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa"]
CONTRAST = ["color-contrast"]
SIZES = {"phone": (380, 760), "desk": (1600, 1000)}


@dataclass(frozen=True, kw_only=True)
class Look:
    """The viewport and colour scheme of a page."""

    size: str
    scheme: str

    @property
    def options(self) -> dict[str, Any]:
        width, height = SIZES[self.size]
        return {
            "viewport": {"width": width, "height": height},
            "color_scheme": self.scheme,
            "reduced_motion": "reduce",
            "locale": "en-GB",
            "timezone_id": "UTC",
        }


DESK = Look(size="desk", scheme="light")
PHONE = Look(size="phone", scheme="dark")
LOOKS = (
    (DESK, RULES),
    (Look(size="desk", scheme="dark"), CONTRAST),
    (PHONE, RULES),
    (Look(size="phone", scheme="light"), CONTRAST),
)
"""Every look, and the accessibility rules to check in it."""

in_both_looks = pytest.mark.parametrize(
    "visit", [DESK, PHONE], ids=["desk-light", "phone-dark"], indirect=True
)
"""Run a test on a desktop in light colours, and on a phone in dark ones."""

# Layout by script settles some frames after a resize: only lasting overflow is a fault.
WIDTHS = """async () => {
    const wide = () => document.documentElement.scrollWidth > window.innerWidth
    for (let frame = 0; frame < 60 && wide(); frame++) await new Promise(requestAnimationFrame)
    return [document.documentElement.scrollWidth, window.innerWidth]
}"""


def complaints(page: Page, rules: Sequence[str] = RULES) -> list[str]:
    """The violations that axe-core finds in a page."""
    if not AXE.exists():
        missing("axe-core (scripts/npm ci)")
    if not page.evaluate("'axe' in window"):
        page.evaluate(AXE.read_text())
    # Only violations: transferring the passed checks takes longer than running them.
    script = """async runOnly =>
        (await axe.run(document, {runOnly, resultTypes: ['violations']})).violations"""
    return [
        f"{one['id']} ({one['impact']}): {node['html'][:160]} | {node['failureSummary'][:300]}"
        for one in page.evaluate(script, list(rules))
        for node in one["nodes"]
    ]


@dataclass(frozen=True, kw_only=True)
class Visit:
    """A page of the browser, and the errors it logged."""

    page: Page
    url: str
    faults: list[str] = field(default_factory=list)

    def go(self, path: str = "") -> Page:
        """Open a view of the dashboard, and wait until it has loaded."""
        self.page.goto(f"{self.url}/agent-dashboard{path}")
        self.settle()
        return self.page

    def reload(self) -> None:
        """Reload the page and wait until it has loaded, so that nothing moves before a click."""
        self.page.reload()
        self.settle()

    def settle(self) -> None:
        """Wait until nothing is loading any more."""
        self.page.locator("main h1").first.wait_for()
        # Not wait_for_function: it needs eval, which the page's policy forbids.
        expect(self.page.locator("[aria-busy=true]")).to_have_count(0)

    def check_accessibility(self, rules: Sequence[str] = RULES) -> None:
        """axe-core finds no violations."""
        self.settle()
        found = complaints(self.page, rules)
        assert found == [], "\n".join(found)

    def check_every_look(self) -> None:
        """Accessible and within the window, in both sizes and both schemes.

        Every rule in each size and in each scheme; in the other two looks what depends on both.
        """
        html = self.page.locator("html")
        for look, rules in LOOKS:
            self.take(look)
            expect(html).to_have_attribute("data-mantine-color-scheme", look.scheme)
            self.check_no_overflow()
            self.check_accessibility(rules)

    def take(self, look: Look) -> None:
        """Show the same page in another look."""
        self.page.set_viewport_size(look.options["viewport"])
        self.page.emulate_media(color_scheme=look.scheme)

    def stretch(self, height: int) -> None:
        """Make the window higher: rows of a long list that are out of sight are not rendered."""
        size = self.page.viewport_size
        assert size is not None
        self.page.set_viewport_size({"width": size["width"], "height": height})

    def check_no_overflow(self) -> None:
        """The page never scrolls sideways."""
        page, window = self.page.evaluate(WIDTHS)
        assert page <= window, f"the page is {page} px wide, the window {window}"


def _listen(visit: Visit) -> None:
    """Record every script error and every violation of the content security policy."""

    def note(message: Any) -> None:
        text = message.text
        # A server that is down, or a 404 that a test requests, is not an error of the page.
        if message.type == "error" and not re.search(r"Failed to load resource|ERR_", text):
            visit.faults.append(text)

    visit.page.on("console", note)
    visit.page.on("pageerror", lambda error: visit.faults.append(str(error)))


@pytest.fixture(scope="package")
def browser() -> Iterator[Browser]:
    """Debian's chromium, or the one that ARENA_TEST_CHROMIUM names; nothing is downloaded."""
    program = shutil.which(os.environ.get("ARENA_TEST_CHROMIUM", "chromium"))
    if program is None:
        missing("chromium (apt-get install chromium)")
    if not (DIST / "index.html").exists():
        missing("the built dashboard (python hatch_build.py)")
    arguments = ["--no-sandbox"] if os.geteuid() == 0 else []
    # Long, because only failures wait that long, and machines can be busy.
    expect.set_options(timeout=20_000)
    with sync_playwright() as playwright:
        opened = playwright.chromium.launch(executable_path=program, args=arguments)
        yield opened
        opened.close()


@pytest.fixture(scope="package")
def furnished(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A home with agents, tests, runs and ratings; created once, copied by tests that change it."""
    home = tmp_path_factory.mktemp("furnished")
    furnish(Shell(home=home))
    return home


@contextmanager
def serving_a_copy(furnished: Path, folder: Path) -> Iterator[httpx2.Client]:
    """`arena serve` on its own copy of the furnished home."""
    shutil.copytree(furnished, folder / "home")
    with Shell(home=folder / "home").serving() as client:
        yield client


@pytest.fixture(scope="package")
def shared_server(
    furnished: Path, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[httpx2.Client]:
    """`arena serve` on a furnished home, for all modules that do not change it."""
    with serving_a_copy(furnished, tmp_path_factory.mktemp("web")) as client:
        yield client


@pytest.fixture(scope="module")
def server(shared_server: httpx2.Client) -> httpx2.Client:
    """The server that a module's tests visit: the shared one, unless it has its own."""
    return shared_server


@pytest.fixture(scope="package")
def empty_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[httpx2.Client]:
    """`arena serve` on an empty home."""
    with Shell(home=tmp_path_factory.mktemp("empty")).serving() as client:
        yield client


@pytest.fixture
def visit_as(browser: Browser, request: pytest.FixtureRequest) -> Iterator[Callable[..., Visit]]:
    """Opens the dashboard with the given look; errors of the page fail the test."""
    opened: list[Visit] = []

    def open_with(look: Look, url: str | None = None) -> Visit:
        page = browser.new_context(**look.options).new_page()
        page.set_default_timeout(20_000)
        visited = url or str(request.getfixturevalue("server").base_url)
        visit = Visit(page=page, url=visited.rstrip("/"))
        _listen(visit)
        opened.append(visit)
        return visit

    yield open_with
    for visit in opened:
        visit.page.context.close()
    assert [fault for visit in opened for fault in visit.faults] == []


@pytest.fixture(scope="module")
def window(browser: Browser, server: httpx2.Client) -> Iterator[Visit]:
    """A window that stays open, because opening one takes as long as a test."""
    page = browser.new_context(**DESK.options).new_page()
    page.set_default_timeout(20_000)
    opened = Visit(page=page, url=str(server.base_url).rstrip("/"))
    _listen(opened)
    yield opened
    page.context.close()


@pytest.fixture
def passing_visit(window: Visit) -> Iterator[Visit]:
    """The dashboard on a desktop in a shared window, for tests that only read."""
    window.take(DESK)
    window.faults.clear()
    yield window
    assert window.faults == []


@pytest.fixture
def visit(visit_as: Callable[..., Visit], request: pytest.FixtureRequest) -> Visit:
    """The dashboard on a desktop in light colours, or in the look of `in_both_looks`."""
    return visit_as(getattr(request, "param", DESK))
