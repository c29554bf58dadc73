"""`arena report`: a self-contained page that runs nothing from its data."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

from acceptance.conftest import Shell
from acceptance.web.conftest import complaints


@pytest.fixture(scope="module")
def shell(furnished: Path) -> Shell:
    return Shell(home=furnished)


def run_of(shell: Shell, agent: str) -> str:
    return str(shell.json("runs", "list", "--agent", agent)["runs"][0]["id"])


@pytest.fixture(params=[(380, "dark"), (1024, "light"), (1600, "light")], ids=str)
def page(request: pytest.FixtureRequest, browser: Browser) -> Iterator[Page]:
    """A page that records its requests and errors."""
    width, scheme = request.param
    context = browser.new_context(
        viewport={"width": width, "height": 900}, color_scheme=scheme, offline=True
    )
    opened = context.new_page()
    faults: list[str] = []
    requests: list[str] = []
    opened.on("pageerror", lambda error: faults.append(str(error)))
    opened.on(
        "console", lambda message: faults.append(message.text) if message.type == "error" else None
    )
    opened.on("request", lambda request: requests.append(request.url))
    yield opened
    context.close()
    assert faults == []
    assert all(url.startswith("file://") for url in requests), requests
    assert len(requests) == 1


def check(page: Page) -> None:
    width = page.evaluate("[document.documentElement.scrollWidth, window.innerWidth]")
    assert width[0] <= width[1]
    assert complaints(page) == []


def test_a_run_opens_from_disk_and_is_filtered(shell: Shell, page: Page, tmp_path: Path):
    done = shell.arena("report", run_of(shell, "scribe"), "--html", str(tmp_path / "out"))
    assert (done.returncode, done.stdout) == (0, f"wrote {tmp_path / 'out' / 'index.html'}\n")
    page.goto((tmp_path / "out" / "index.html").as_uri())
    expect(page.get_by_role("heading", level=1)).to_have_text("scribe 2.0.0")
    expect(page.get_by_text("24 of 24 shown")).to_be_visible()
    expect(page.locator("header")).to_contain_text("Suite custom, version ")
    page.get_by_label("Outcome").select_option("failed")
    expect(page.get_by_text("3 of 24 shown")).to_be_visible()
    page.get_by_text("Word 14", exact=True).click()
    prompt = page.get_by_role("region", name="Prompt").filter(visible=True)
    expect(prompt).to_have_text("say word 14")
    check(page)
    page.get_by_label("Test, reason or answer").fill("word7")
    expect(page.get_by_text("1 of 24 shown")).to_be_visible()
    whole = json.loads((tmp_path / "out" / "report.json").read_text())
    assert (len(whole["results"]), len(whole["tests"])) == (24, 24)


def test_trials_are_grouped_and_labelled_and_standards_are_readable(
    shell: Shell, page: Page, tmp_path: Path
):
    done = shell.arena("report", run_of(shell, "coin"), "--html", str(tmp_path))
    assert done.returncode == 0, done.stderr
    page.goto((tmp_path / "index.html").as_uri())
    names = page.locator("summary .quiet:not(.why):not(.took)")
    expect(names).to_have_text(
        [f"coin_{test} · trial {trial}" for test in (1, 2) for trial in range(1, 7)]
    )
    page.locator("summary").first.click()
    result = page.locator("details").first
    expect(result.get_by_role("heading", name="Standard")).to_be_visible()
    expect(result.locator("dl").get_by_role("listitem")).to_have_text("heads")
    check(page)


def test_a_cut_answer_is_marked(shell: Shell, page: Page, tmp_path: Path):
    done = shell.arena("report", run_of(shell, "hostile"), "--html", str(tmp_path))
    assert done.returncode == 0, done.stderr
    page.goto((tmp_path / "index.html").as_uri())
    long = page.locator("details").filter(has_text="hostile_long")
    expect(long.locator("summary .cut")).to_have_text("cut")
    long.locator("summary").click()
    expect(long.get_by_text("Cut: the answer was longer")).to_be_visible()
    expect(page.locator("summary .cut")).to_have_count(1)


def test_text_from_agents_is_escaped(shell: Shell, page: Page, tmp_path: Path):
    done = shell.arena("report", run_of(shell, "hostile"), "--html", str(tmp_path))
    assert done.returncode == 0, done.stderr
    # A megabyte-long answer does not make the page a megabyte long.
    assert (tmp_path / "index.html").stat().st_size < 100_000
    page.goto((tmp_path / "index.html").as_uri())
    for summary in page.locator("summary").all():
        summary.click()
    expect(page.get_by_text("<script>window.hacked = 1</script>").first).to_be_visible()
    expect(page.locator(".mark", has_text="U+202E").first).to_be_visible()
    assert page.evaluate("window.hacked") is None
    expect(page.locator("img, a[href^=javascript]")).to_have_count(0)
    check(page)


def test_the_leaderboard_opens_from_disk(shell: Shell, page: Page, tmp_path: Path):
    done = shell.arena("report", "--leaderboard", "--html", str(tmp_path))
    assert done.returncode == 0, done.stderr
    page.goto((tmp_path / "index.html").as_uri())
    expect(page.get_by_role("row")).to_have_count(10)
    # Every column is in sight.
    hidden = "it => it.scrollWidth - it.clientWidth"
    assert page.get_by_role("region", name="Leaderboard").evaluate(hidden) <= 0
    page.get_by_label("Agent").first.fill("scribe")
    expect(page.get_by_text("3 of 9 shown")).to_be_visible()
    check(page)
