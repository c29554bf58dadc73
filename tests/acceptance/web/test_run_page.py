"""A run and its results: trials side by side, cut answers, steps, standards and emoji."""

import re
import signal
import time
from collections.abc import Iterator
from pathlib import Path

import httpx2
import pytest
import yaml
from playwright.sync_api import expect

from acceptance.conftest import Shell
from acceptance.web.conftest import Visit, in_both_looks
from factories import write_agent

FAMILY = "\U0001f468\u200d\U0001f469\u200d\U0001f467\u200d\U0001f466"
HEART = "\u2764\u200d\U0001f525"  # without its variation selector, as many programs write it
FLAG = "\U0001f3f4\U000e0067\U000e0062\U000e0065\U000e006e\U000e0067\U000e007f"  # England
SUSPICIOUS = "x\u200dy \U0001f469\u200d\U0001f469 \U0001f469\u200d pay\u202eload \U000e0041"
"""Joiners that join no known emoji, a direction control, and a tag that no flag owns."""

STEPS = [
    {
        "tool": "search <b>the web</b>",
        "arguments": {"query": "rain in Bern"},
        "result": "pay\u202eload",
        "time": "2026-01-31T12:00:00Z",
    },
    *({"tool": f"look {number}"} for number in range(2, 31)),
]

TESTS = {
    "category": "geography",
    "tests": [
        {
            "id": "capital",
            "name": "Capital of France",
            "prompt": "What is the capital of France?",
            "validation": "all_of",
            "expected": {
                "all_of": [
                    {"validation": "contains", "expected": {"contains": ["Paris"]}},
                    {"validation": "not_contains", "expected": {"contains": ["London"]}},
                ]
            },
            "agents": ["traveller"],
        },
        *(
            {
                "id": f"river_{number}",
                "name": f"River {number}",
                "prompt": f"Name river {number}",
                "expected": {"contains": ["Seine"]},
                "agents": ["traveller"],
            }
            for number in (1, 2, 3)
        ),
        {
            "id": "endless",
            "name": "Endless",
            "prompt": "Tell all",
            "expected": {"contains": ["word"]},
            "agents": ["talker"],
        },
        {
            "id": "smile",
            "name": f"Smile {FAMILY}",
            "prompt": "Smile",
            "expected": {"contains": ["smile"]},
            "agents": ["talker"],
        },
        *(
            {
                "id": f"errand_{number}",
                "name": f"Errand {number}",
                "prompt": f"Run errand {number}",
                "expected": {"contains": ["done"]},
                "agents": ["doer"],
            }
            for number in (1, 2)
        ),
        *(
            {
                "id": f"purchase_{number}",
                "name": f"Purchase {number}",
                "prompt": f"Buy {number}",
                "expected": {"contains": ["bought"]},
                "agents": ["spender"],
            }
            for number in (1, 2, 3)
        ),
        {
            "id": "nap",
            "name": "Nap",
            "prompt": "Sleep",
            "expected": {"contains": ["awake"]},
            "agents": ["napper"],
            "timeout": 300,
        },
    ],
}
# The third river is answered at once, the others later: results arrive in another order.
TRAVELLER = """
if "capital" in prompt:
    return "London"
if prompt.endswith("2"):
    time.sleep(0.05)
    return "The Rhine"
time.sleep(0 if prompt.endswith("3") else 0.1)
return "The Seine"
"""
# Steps of an unknown shape are left out, and the page says why.
DOER = f"""
return {{"output": "done", "steps": {STEPS!r} if prompt.endswith("1") else [{{"name": "x"}}]}}
"""
SPENDER = 'return {"output": "bought", "usage": {"input_tokens": 900, "output_tokens": 100}}'
NAPPER = "if [ -e started ]; then echo awake; else touch started; exec sleep 300; fi"


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("runs")


@pytest.fixture(scope="module")
def server(home: Path) -> Iterator[httpx2.Client]:
    """A server with a run of repeated tests, one with a cut answer and emoji, one with steps."""
    write_agent(home / "agents", "traveller", TRAVELLER, limits={"max_concurrency": 4})
    emoji = f"smile {FAMILY} {HEART} {FLAG} {SUSPICIOUS}"
    talker = f"return {emoji!r} if prompt == 'Smile' else 'word ' * 300_000"
    write_agent(home / "agents", "talker", talker)
    write_agent(home / "agents", "doer", DOER)
    write_agent(home / "agents", "spender", SPENDER, limits={"max_concurrency": 1})
    command = {"type": "command", "command": f"sh -c '{NAPPER}'"}
    write_agent(home / "agents", "napper", "", connector=command)
    (home / "benchmarks").mkdir()
    text = yaml.safe_dump(TESTS, sort_keys=False, allow_unicode=True)
    (home / "benchmarks" / "geography.yaml").write_text(text)
    with Shell(home=home).serving() as client:
        options = {"traveller": {"trials": 3}, "talker": {}, "doer": {}}
        for agent, more in {**options, "spender": {"max_tokens": 1500}}.items():
            body = {"agent_id": agent, **more}
            run = client.post("/api/benchmarks/run", json=body).json()["run_id"]
            assert client.post(f"/api/benchmarks/run/{run}/execute").status_code == 200
        yield client


def _run(server: httpx2.Client, agent: str) -> str:
    runs = server.get("/api/benchmarks/runs", params={"agent_id": agent}).json()["runs"]
    return f"/runs/{runs[0]['id']}"


def _result(server: httpx2.Client, agent: str, test_id: str) -> str:
    run = _run(server, agent)
    found = server.get(f"/api/benchmarks{run}/results", params={"test_id": test_id}).json()
    return f"{run}/results/{found['results'][0]['id']}"


@in_both_looks
def test_trials_are_grouped_and_labelled_with_failures_first(visit: Visit, server: httpx2.Client):
    page = visit.go(_run(server, "traveller"))
    # High enough for every row: those out of sight are not rendered.
    visit.stretch(2000)
    rows = page.get_by_role("table", name="Results").get_by_role("row")
    outcomes = {"capital": "failed", "river_2": "failed", "river_1": "passed", "river_3": "passed"}
    # A table has the outcome first, a card has it last.
    expect(rows.filter(has_text="trial")).to_have_text(
        [
            re.compile(f"(?=.*{outcome}).*{test} · trial {trial}", re.S)
            for test, outcome in outcomes.items()
            for trial in (1, 2, 3)
        ]
    )
    # The next result is the next row.
    page.get_by_role("link", name="Capital of France").first.click()
    expect(page.get_by_text("capital · trial 1")).to_be_visible()
    page.keyboard.press("ArrowRight")
    expect(page.get_by_text("capital · trial 2")).to_be_visible()


@in_both_looks
def test_a_run_opens_with_its_score_and_a_mark_for_each_test(visit: Visit, server: httpx2.Client):
    page = visit.go(_run(server, "traveller"))
    card = page.get_by_role("region", name="Score", exact=True)
    expect(card).to_contain_text("50.0 %")
    expect(card).to_contain_text(re.compile(r"\d+\.\d–\d+\.\d at 95 % confidence"))
    expect(card).to_contain_text("6 of 12 passed, 6 failed")
    strip = card.get_by_role("img", name="4 tests: 2 failed, 2 passed")
    marks = strip.locator("[data-outcome]")
    expect(marks).to_have_count(4)
    for place, outcome in enumerate(("failed", "failed", "passed", "passed")):
        expect(marks.nth(place)).to_have_attribute("data-outcome", outcome)
    visit.check_every_look()


def test_a_completed_run_is_not_painted_as_a_success(passing_visit: Visit, server: httpx2.Client):
    page = passing_visit.go("/benchmarks")
    row = page.get_by_role("row").filter(has_text="traveller")
    colour = "it => getComputedStyle(it).color"
    status = row.get_by_text("completed", exact=True).evaluate(colour)
    dimmed = row.get_by_text("1.0.0").evaluate(colour)
    assert status == dimmed
    bar = row.locator("[aria-hidden] > span")
    expect(bar).to_have_count(2)
    widths = bar.evaluate_all("parts => parts.map(part => part.style.width)")
    colours = bar.evaluate_all("parts => parts.map(part => getComputedStyle(part).backgroundColor)")
    assert widths == ["50%", "50%"]
    assert colours[0] != colours[1]


def test_a_result_shows_its_standard_as_the_catalog_does(
    passing_visit: Visit, server: httpx2.Client
):
    page = passing_visit.go("/catalog/tests/capital")
    standard = page.get_by_role("region", name="Standard", exact=True)
    expect(standard.get_by_role("listitem").filter(has_text="Paris").first).to_be_visible()
    parts = standard.get_by_role("list").first.inner_text()
    passing_visit.go(_result(server, "traveller", "capital"))
    expect(standard.get_by_role("list").first).to_have_text(parts, use_inner_text=True)
    expect(standard).not_to_contain_text('"all_of"')
    expect(standard).not_to_contain_text("{")


@in_both_looks
def test_a_cut_answer_is_shown_as_cut(visit: Visit, server: httpx2.Client):
    page = visit.go(_run(server, "talker"))
    rows = page.get_by_role("table", name="Results").get_by_role("row")
    expect(rows.filter(has_text="Endless").get_by_text("cut", exact=True)).to_be_visible()
    expect(rows.filter(has_text="Smile").get_by_text("cut", exact=True)).to_have_count(0)
    page = visit.go(_result(server, "talker", "endless"))
    expect(page.get_by_text("The answer was longer:")).to_be_visible()
    visit.check_every_look()
    page = visit.go(_result(server, "talker", "smile"))
    expect(page.get_by_role("region", name="Answer", exact=True)).to_be_visible()
    expect(page.get_by_text("The answer was longer:")).to_have_count(0)


@in_both_looks
def test_the_steps_of_an_answer_are_shown_and_not_interpreted(visit: Visit, server: httpx2.Client):
    page = visit.go(_result(server, "doer", "errand_1"))
    steps = page.get_by_role("region", name="Steps", exact=True)
    first = steps.get_by_role("listitem").first
    expect(first).to_contain_text("search <b>the web</b>")
    expect(first.locator("b")).to_have_count(0)
    expect(first.get_by_text("31 Jan 2026")).to_be_visible()
    arguments = first.get_by_role("region", name="Arguments of step 1", exact=True)
    expect(arguments).to_contain_text('"query": "rain in Bern"')
    expect(first.get_by_text("U+202E", exact=True)).to_be_visible()
    expect(steps.get_by_role("listitem")).to_have_count(20)
    steps.get_by_role("button", name="Show all 30").click()
    expect(steps.get_by_role("listitem")).to_have_count(30)
    visit.check_every_look()
    page = visit.go(_result(server, "doer", "errand_2"))
    expect(page.get_by_text("steps[0].tool must be the name of a tool")).to_be_visible()
    expect(steps).to_have_count(0)


def test_an_interrupted_run_says_so_and_can_be_resumed(
    passing_visit: Visit, home: Path, server: httpx2.Client
):
    with Shell(home=home).start("run", "napper") as command:
        while not (home / "agents" / "started").exists():
            assert command.poll() is None
            time.sleep(0.02)
        page = passing_visit.go("/benchmarks")
        row = (
            page.get_by_role("table", name="Benchmark runs")
            .get_by_role("row")
            .filter(has_text="napper")
        )
        expect(row.get_by_text("running", exact=True)).to_be_visible()
        command.send_signal(signal.SIGTERM)
        command.communicate()
    # Without a reload: the process that executed the run cannot say anything to the page.
    expect(row.get_by_text("interrupted", exact=True)).to_be_visible()
    page = passing_visit.go(_run(server, "napper"))
    expect(page.get_by_role("alert")).to_contain_text("0 of 1 results")
    expect(page.get_by_role("alert")).to_contain_text("arena runs resume")
    passing_visit.check_every_look()
    page.get_by_role("button", name="Resume").click()
    expect(page.get_by_text("1 of 1 passed")).to_be_visible()
    expect(page.get_by_role("alert")).to_have_count(0)


def test_a_run_that_its_budget_stopped_says_what_was_spent_and_how_to_go_on(
    passing_visit: Visit, server: httpx2.Client
):
    page = passing_visit.go("/benchmarks?status=budget_exceeded")
    rows = page.get_by_role("table", name="Benchmark runs").get_by_role("row")
    expect(rows.filter(has_text="spender").get_by_text("budget exceeded")).to_be_visible()
    page = passing_visit.go(_run(server, "spender"))
    note = page.get_by_role("alert")
    expect(note).to_contain_text("2,000 of 1,500 tokens used (max_tokens)")
    expect(note).to_contain_text("Its 2 of 3 results are kept")
    expect(note).to_contain_text(re.compile(r"arena runs resume \S+ --max-tokens 3000\."))
    expect(page.get_by_text("2,000 of 1,500 tokens", exact=True)).to_be_visible()
    passing_visit.check_every_look()


def test_emoji_are_whole_and_other_joiners_are_marked(passing_visit: Visit, server: httpx2.Client):
    page = passing_visit.go(_result(server, "talker", "smile"))
    answer = page.get_by_role("region", name="Answer", exact=True)
    text = answer.inner_text()
    for emoji in (FAMILY, HEART, FLAG):
        assert emoji in text
    expect(answer.get_by_text("U+200D", exact=True)).to_have_count(3)
    expect(answer.get_by_text("U+202E", exact=True)).to_have_count(1)
    expect(answer.get_by_text("U+E0041", exact=True)).to_have_count(1)
    for emoji in (FAMILY, HEART, FLAG):
        text = text.replace(emoji, "")
    assert not set(text) & {"\u200d", "\u202e", "\U000e0041"}
    expect(page.get_by_role("heading", level=1)).to_have_text(f"Smile {FAMILY}")
    expect(page).to_have_title(f"Smile {FAMILY} · Arena")
