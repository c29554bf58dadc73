"""Boards of suites, their history, suites and the archive, in a browser."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx2
import pytest
import yaml
from playwright.sync_api import Locator, Page, expect

from acceptance.conftest import Shell
from acceptance.web.conftest import Visit, in_both_looks
from factories import write_agent

SPELLER = """
number = int(prompt.split()[-1])
return "I do not know." if number % WEAK == 0 else f"The word is WORD{number}."
"""
WORDS = 8
"""Tests of the suite `words`."""


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    home = tmp_path_factory.mktemp("boards")
    for agent, weak in (("speller", 4), ("stutterer", 2), ("parrot", 3)):
        _write_speller(home, agent, weak)
    _write_words(home, "first", [f"WORD{number}" for number in range(1, WORDS + 1)])
    # A suite of its own, most of whose tests are for other agents.
    tests = [_test("letter_1", "say letter 1", "WORD1", agents=["speller", "stutterer"])]
    tests += [_test(f"letter_{n}", f"say letter {n}", "A", agents=["speller"]) for n in (2, 3)]
    _write_suite(home, "letters", tests)
    return home


@pytest.fixture(scope="module")
def server(home: Path) -> Iterator[httpx2.Client]:
    """`arena serve` with two suites, of which one was edited, and with archived agents and runs."""
    with Shell(home=home).serving() as client:
        for agent in ("speller", "stutterer", "parrot"):
            _run(client, agent, suite="words")
        # The same version with another file, and runs that differ.
        _write_speller(home, "speller", 8)
        _run(client, "speller", suite="words")
        for agent in ("speller", "stutterer"):
            _run(client, agent, suite="letters")
        _run(client, "stutterer", suite="words", test_ids=["word_1", "word_2"])
        mark = {"reason": "withdrawn by its owner", "by": "bob"}
        done = client.post("/api/agents/parrot/1.0.0/archive", json=mark)
        assert done.status_code == 200, done.text
    _edit_words(home)
    with Shell(home=home).serving() as client:
        # Only a part of what is now the newest version.
        _run(client, "speller", suite="words", test_ids=["word_1"])
        yield client


def _write_speller(home: Path, agent: str, weak: int) -> None:
    write_agent(home / "agents", agent, SPELLER.replace("WEAK", str(weak)))


def _write_words(home: Path, label: str, words: list[str]) -> None:
    tests = [_test(f"word_{n}", f"say word {n}", word) for n, word in enumerate(words, start=1)]
    _write_suite(home, "words", tests, suite_version=label)


def _test(test_id: str, prompt: str, word: str, **keys: object) -> dict[str, object]:
    expected = {"contains": [word]}
    return {"id": test_id, "name": test_id.title(), "prompt": prompt, "expected": expected, **keys}


def _write_suite(home: Path, suite: str, tests: list[dict[str, object]], **keys: object) -> None:
    body = {"category": suite, "suite": suite, **keys, "tests": tests}
    path = home / "benchmarks" / f"{suite}.yaml"
    path.parent.mkdir(exist_ok=True)
    path.write_text(yaml.safe_dump(body, sort_keys=False))


def _edit_words(home: Path) -> None:
    """Edit one test and remove another."""
    words = [f"WORD{number}" for number in range(1, WORDS)]
    words[2] = "word is WORD3"
    _write_words(home, "second", words)


def _run(client: httpx2.Client, agent: str, **options: object) -> str:
    created = client.post("/api/benchmarks/run", json={"agent_id": agent, **options})
    assert created.status_code == 200, created.text
    run_id = created.json()["run_id"]
    done = client.post(f"/api/benchmarks/run/{run_id}/execute")
    assert done.status_code == 200, done.text
    return run_id


def _row(page: Page, table: str, text: str) -> Locator:
    return page.get_by_role("table", name=table).get_by_role("row").filter(has_text=text)


def _choose(page: Page, box: str, option: str) -> None:
    page.get_by_role("combobox", name=box).click()
    page.get_by_role("option", name=option).click()


@in_both_looks
def test_a_row_says_what_it_rests_on(visit: Visit):
    page = visit.go("/leaderboard?suite=words")
    expect(page.get_by_text("Suite words (default), version first, 8 tests")).to_be_visible()
    speller = _row(page, "Leaderboard", "speller")
    expect(speller).to_contain_text("8 of 8 tests · latest of 2 runs, 75.0–87.5 · run here")
    expect(speller).to_contain_text("same version, other file")
    expect(speller.get_by_role("link", name="87.5")).to_be_visible()
    expect(_row(page, "Leaderboard", "stutterer")).to_contain_text("8 of 8 tests · 1 run")
    explained = page.get_by_text("answered without error, whatever the verdict")
    expect(explained.filter(visible=True)).to_have_count(1)
    visit.check_no_overflow()


def test_the_benchmark_is_the_largest_number_of_a_row(visit: Visit):
    page = visit.go("/leaderboard?suite=words")
    sizes = _row(page, "Leaderboard", "speller").evaluate(
        """row => [...row.querySelectorAll('td')].slice(2)
            .map(cell => parseFloat(getComputedStyle(cell).fontSize))"""
    )
    assert sizes[0] > max(sizes[1:])
    heads = page.get_by_role("table", name="Leaderboard").get_by_role("columnheader")
    for place, name in enumerate(("Rank", "Agent", "Benchmark", "Overall")):
        expect(heads.nth(place)).to_have_text(re.compile(f"^{name}"))


@in_both_looks
def test_an_entry_without_a_rank_has_a_reason_and_no_medal(visit: Visit):
    page = visit.go("/leaderboard?suite=letters")
    rows = page.get_by_role("table", name="Leaderboard").get_by_role("row")
    expect(rows).to_contain_text(["Rank", "speller", "Not ranked", "stutterer"])
    unranked = _row(page, "Leaderboard", "stutterer")
    expect(unranked).to_contain_text("Its run covers 1 of 3 tests, fewer than half")
    expect(unranked).not_to_contain_text(re.compile("gold|silver|bronze"))
    expect(_row(page, "Leaderboard", "speller")).to_contain_text("(gold)")


@in_both_looks
def test_suite_version_and_moment_are_chosen_and_stay_in_the_url(visit: Visit):
    page = visit.go("/leaderboard")
    _choose(page, "Suite", "letters")
    expect(page).to_have_url(re.compile(r"suite=letters"))
    expect(page.get_by_text("Suite letters, version")).to_be_visible()
    _choose(page, "Suite", "words")
    _choose(page, "Version", "first")
    expect(page).to_have_url(re.compile(r"suite=words&version=[0-9a-f]{64}"))
    expect(_row(page, "Leaderboard", "speller")).to_be_visible()
    page.get_by_label("As of", exact=True).fill("2020-02-03T04:05:06")
    expect(page).to_have_url(re.compile(r"at=2020-02-03T04%3A05%3A06.000Z"))
    visit.reload()
    expect(page.get_by_label("As of", exact=True)).to_have_value("2020-02-03T04:05:06")
    page.get_by_role("button", name="As of now").click()
    expect(_row(page, "Leaderboard", "speller")).to_be_visible()
    expect(page).not_to_have_url(re.compile("at="))


def test_a_board_names_newer_versions_without_a_complete_run(visit: Visit):
    page = visit.go("/leaderboard?suite=words")
    note = page.get_by_role("note")
    expect(note).to_contain_text("no complete run yet of version second (7 tests, since")
    note.get_by_role("link", name="What was edited").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("words")


@in_both_looks
def test_archived_agents_are_shown_with_who_and_why(visit: Visit):
    page = visit.go("/leaderboard?suite=words")
    archive = page.get_by_role("region", name="Archive", exact=True)
    expect(archive).to_contain_text("1 agent archived: not listed, but counted for the ranks.")
    expect(_row(page, "Leaderboard", "parrot")).to_have_count(0)
    archive.get_by_role("button", name="Show archived").click()
    expect(page).to_have_url(re.compile("archived=true"))
    expect(_row(page, "Leaderboard", "parrot")).to_contain_text("archived")
    mark = _row(page, "Archived and deleted", "parrot")
    expect(mark).to_contain_text("withdrawn by its owner")
    expect(mark).to_contain_text("bob")
    visit.check_no_overflow()


@in_both_looks
def test_the_history_says_why_and_opens_the_board_of_that_moment(visit: Visit):
    page = visit.go("/leaderboard")
    page.get_by_role("link", name="History", exact=True).click()
    events = page.get_by_role("table", name="Events")
    expect(events.get_by_role("row").filter(has_text="Tests edited")).to_contain_text("word_3")
    expect(events.get_by_role("row").filter(has_text="does not count")).to_have_count(2)
    _choose(page, "Agent", "parrot")
    expect(page).to_have_url(re.compile("agent=parrot"))
    expect(events.get_by_role("row")).to_have_count(3)
    archived, completed = (events.get_by_role("row").nth(place) for place in (1, 2))
    expect(archived).to_contain_text("withdrawn by its owner")
    expect(archived).to_contain_text("bob")
    expect(completed.get_by_role("link", name="Run completed")).to_be_visible()
    visit.check_no_overflow()
    completed.get_by_role("link", name="Board then").click()
    expect(page.get_by_role("note").first).to_contain_text("The board as it was on")
    expect(_row(page, "Leaderboard", "parrot")).to_be_visible()
    expect(_row(page, "Leaderboard", "speller")).to_contain_text("1 run ·")
    page.get_by_role("link", name="Show the current board").click()
    expect(_row(page, "Leaderboard", "speller")).to_contain_text("latest of 2 runs")


@in_both_looks
def test_a_suite_shows_its_versions_their_difference_and_weak_tests(visit: Visit):
    page = visit.go("/suites")
    words = _row(page, "Suites", "words")
    expect(words).to_contain_text("default")
    words.get_by_role("link", name="words", exact=True).click()
    versions = page.get_by_role("table", name="Versions")
    expect(versions.get_by_role("row").filter(has_text="second")).to_contain_text("newer")
    expect(versions.get_by_role("row").filter(has_text="first")).to_contain_text("shown")
    diff = page.get_by_role("region", name="Differences")
    expect(diff).to_contain_text("0 tests added, 1 removed, 1 edited; 6 tests unchanged.")
    weak = _row(page, "Weak tests", "word_1")
    expect(weak).to_contain_text("saturated: every agent passes it")
    visit.check_no_overflow()
    _choose(page, "To", "first")
    expect(diff).to_contain_text("1 test added, 0 removed, 1 edited; 6 tests unchanged.")
    expect(page.get_by_role("combobox", name="From")).to_have_value("second")
    expect(page).to_have_url(re.compile(r"after=[0-9a-f]{64}"))
    weak.get_by_role("link", name="word_1").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Word_1")


def _newest(server: httpx2.Client, **filters: object) -> dict[str, Any]:
    found = server.get("/api/benchmarks/runs", params={"limit": 20, **filters}).json()["runs"]
    return found[0]


@in_both_looks
def test_a_run_says_what_it_is_of_and_where_it_ran(visit: Visit, server: httpx2.Client):
    run = _newest(server, agent_id="speller", suite="words")
    page = visit.go(f"/runs/{run['id']}")
    expect(page.get_by_text("partial: does not count for the board")).to_be_visible()
    expect(page.get_by_text(re.compile(r"Suite words, version \w{12}, 1 of its 7"))).to_be_visible()
    page.get_by_text("Environment: run here").click()
    expect(page.get_by_text("Connector", exact=True)).to_be_visible()
    expect(page.get_by_text("python", exact=True)).to_be_visible()
    visit.check_every_look()


@in_both_looks
def test_a_run_is_archived_with_a_reason_and_restored(visit: Visit, server: httpx2.Client):
    run = _newest(server, agent_id="stutterer", suite="letters")
    page = visit.go(f"/runs/{run['id']}")
    page.get_by_role("button", name="Archive", exact=True).click()
    dialog = page.get_by_role("dialog")
    confirm = dialog.get_by_role("button", name="Archive the run")
    expect(confirm).to_be_disabled()
    dialog.get_by_label("Reason").fill("the proxy was down")
    dialog.get_by_label("Your name").fill("ann")
    confirm.click()
    expect(page.get_by_text("archived", exact=True)).to_be_visible()
    marks = _marks(server)
    assert (marks[0]["by"], marks[0]["reason"]) == ("ann", "the proxy was down")
    _check_list(visit, run["id"])
    visit.go(f"/runs/{run['id']}")
    page.get_by_role("button", name="Restore").click()
    dialog.get_by_label("Reason").fill("it was not")
    dialog.get_by_role("button", name="Restore the run").click()
    expect(page.get_by_role("button", name="Archive", exact=True)).to_be_visible()
    assert not server.get(f"/api/benchmarks/runs/{run['id']}").json()["run"]["is_archived"]


def _check_list(visit: Visit, run_id: str) -> None:
    """The list of runs hides the archived run until it is asked for it."""
    page = visit.go("/benchmarks?agent=stutterer&suite=letters")
    link = page.locator(f"a[href$='/runs/{run_id}']")
    expect(page.get_by_text("No matching runs")).to_be_visible()
    expect(link).to_have_count(0)
    page.get_by_label("Include archived").check()
    expect(link).to_be_visible()
    expect(page).to_have_url(re.compile("archived=true"))
    visit.check_no_overflow()


@in_both_looks
def test_an_agent_shows_its_scores_on_the_chosen_board(visit: Visit):
    page = visit.go("/leaderboard?suite=letters")
    _row(page, "Leaderboard", "stutterer").get_by_role("link", name="stutterer").click()
    expect(page).to_have_url(re.compile(r"/agents/stutterer\?suite=letters"))
    expect(
        page.get_by_text("Not ranked: its run covers 1 of 3 tests, fewer than half.")
    ).to_be_visible()
    _choose(page, "Scores on the board of the suite", "words")
    expect(page.get_by_text(re.compile(r"Rank \d on the leaderboard"))).to_be_visible()
    visit.check_no_overflow()


@in_both_looks
def test_an_archived_agent_is_restored_and_archived_again(visit: Visit, server: httpx2.Client):
    page = visit.go("/agents/parrot")
    expect(page.get_by_text("Archived: not listed there.")).to_be_visible()
    page.get_by_role("button", name="Restore", exact=True).click()
    dialog = page.get_by_role("dialog")
    dialog.get_by_label("Reason").fill("it is back")
    dialog.get_by_role("button", name="Restore the version").click()
    page.get_by_role("button", name="Archive", exact=True).click()
    visit.check_accessibility()
    dialog.get_by_label("Reason").fill("withdrawn by its owner")
    dialog.get_by_label("Your name").fill("bob")
    dialog.get_by_role("button", name="Archive the version").click()
    expect(page.get_by_text("Archived: not listed there.")).to_be_visible()
    (mark,) = (one for one in _marks(server) if one["agent_id"] == "parrot")
    assert (mark["by"], mark["reason"]) == ("bob", "withdrawn by its owner")


def _marks(server: httpx2.Client) -> list[dict[str, Any]]:
    return server.get("/api/benchmarks/archive").json()["marks"]


def test_agents_are_compared_on_the_chosen_suite(visit: Visit):
    page = visit.go("/compare?suite=words&agents=speller:1.0.0,stutterer:1.0.0")
    expect(page.get_by_text("the 8 tests that both ran")).to_be_visible()
    expect(
        page.get_by_text(re.compile(r"These tests can detect a difference of [\d.]+ percen"))
    ).to_be_visible()
    _choose(page, "Suite", "letters")
    expect(page).to_have_url(re.compile("suite=letters"))
    expect(page.get_by_text("did equally well on each of the 1 test that both ran")).to_be_visible()


def test_the_chart_shows_the_benchmark_and_greys_what_has_no_rank(visit: Visit):
    page = visit.go("/leaderboard?suite=letters")
    card = page.get_by_role("region", name="Benchmark scores")
    expect(card).to_contain_text("Entries without a rank are grey and come last.")
    labels = card.locator("svg[role=img] g > text")
    expect(labels).to_have_text(
        [
            "speller 1.0.0",
            re.compile(r"^33\.3 \("),
            "stutterer 1.0.0",
            re.compile(r"^not ranked · 100\.0 \("),
        ]
    )
    expect(_row(page, "Leaderboard", "stutterer")).to_contain_text("provisional")


def test_a_moment_that_is_no_date_leads_to_the_current_board(visit: Visit):
    page = visit.go("/leaderboard?suite=words&at=foo")
    alert = page.get_by_role("alert")
    expect(alert).to_contain_text("'foo' is not a date")
    expect(alert).not_to_contain_text("query.at")
    visit.check_every_look()
    alert.get_by_role("link", name="Show the current board").click()
    expect(page).to_have_url(re.compile(r"/leaderboard\?suite=words$"))
    expect(_row(page, "Leaderboard", "speller")).to_be_visible()


@in_both_looks
def test_a_card_shows_the_benchmark_and_the_run_behind_it(visit: Visit):
    page = visit.go("")
    speller = page.get_by_role("article", name="Speller", exact=True)
    expect(speller).to_contain_text("Benchmark · words")
    expect(speller.get_by_text("87.5", exact=True)).to_be_visible()
    # Not its latest run, which is partial.
    expect(speller.get_by_role("link", name="Benchmark run: 7 of 8 passed")).to_be_visible()
    expect(speller.get_by_text("partial", exact=True)).to_have_count(0)
    parrot = page.get_by_role("article", name="Parrot", exact=True)
    expect(parrot.get_by_text("archived", exact=True)).to_be_visible()
    visit.check_no_overflow()


def test_a_vote_alone_is_no_achievement(visit: Visit, server: httpx2.Client):
    vote = {"agent_id": "ai-assistant", "rating": 4, "user_id": "ada"}
    assert server.post("/api/benchmarks/feedback", json=vote).status_code == 200
    page = visit.go("")
    card = page.get_by_role("article", name="AI assistant")
    expect(card).to_contain_text("Not ranked: no complete run")
    expect(card).not_to_contain_text("Overall")
    page = visit.go("/leaderboard?suite=words")
    row = _row(page, "Leaderboard", "ai-assistant")
    expect(row.get_by_role("cell").nth(3)).to_have_text("–")
    expect(row.get_by_text("provisional", exact=True)).to_be_visible()
    # The interval of the rating is in stars, as the rating itself.
    expect(row.get_by_role("cell").nth(4)).to_have_text(re.compile(r"[1-3]\.\d–(4\.[1-9]|5\.0)$"))
    card = page.get_by_role("region", name="Benchmark scores")
    expect(card).to_contain_text("1 entry without a benchmark score is left out.")
    page = visit.go("/agents/ai-assistant?suite=words")
    expect(page.get_by_text("No version has a benchmark score on this board.")).to_be_visible()


def test_versions_are_in_order_and_reported_ones_are_marked(visit: Visit):
    page = visit.page
    page.route(re.compile(r"/api/benchmarks/leaderboard\?"), _versions)
    page = visit.go("/agents/speller?suite=words")
    card = page.get_by_role("region", name="Version history")
    expect(card).to_contain_text("Grey: reported from elsewhere, a claim.")
    names = card.locator("svg[role=img] text").filter(has_text=".")
    expect(names).to_have_text(["1.0.0-rc.2", "1.0.0", "2.1.0", "10.0.0"])
    card.get_by_role("button", name="Show as table").click()
    rows = card.get_by_role("row").filter(has_text="reported: a claim")
    expect(rows).to_have_count(1)
    expect(rows).to_contain_text("2.1.0")
    visit.check_every_look()
    page.unroute_all(behavior="ignoreErrors")


def _versions(route: Any) -> None:
    """The board as the server sends it, with versions that have no file here."""
    response = route.fetch()
    board = response.json()
    entry = board["leaderboard"][0]
    board["leaderboard"] = [
        {**entry, "agent_version": version, "provenance": provenance}
        for version, provenance in (
            ("10.0.0", "run_here"),
            ("2.1.0", "reported"),
            ("1.0.0", "run_here"),
            ("1.0.0-rc.2", "run_here"),
        )
    ]
    route.fulfill(response=response, json=board)


@in_both_looks
def test_a_run_from_elsewhere_is_marked_as_a_claim(
    visit: Visit, server: httpx2.Client, tmp_path: Path
):
    elsewhere = Shell(home=tmp_path / "elsewhere")
    done = elsewhere.arena("run", "qa-web-manager")
    assert done.returncode == 0, done.stderr
    pushed = elsewhere.arena("runs", "push", "latest", "--server", str(server.base_url))
    assert pushed.returncode == 0, pushed.stderr
    page = visit.go("/leaderboard?suite=lab")
    row = _row(page, "Leaderboard", "qa-web-manager").first
    expect(row.get_by_text("reported: a claim", exact=True)).to_be_visible()
    expect(row).to_contain_text("Reported from elsewhere, and this team does not rank reported")
    row.get_by_role("link", name="91.7").click()
    expect(page.get_by_text("12 of 12 verdicts replayed here with the same")).to_be_visible()
    expect(page.get_by_text("Environment (as stated by the sender)")).to_be_visible()
    visit.check_every_look()


def test_marks_of_judges_and_errors_are_in_sight(visit: Visit):
    page = visit.page
    page.route(re.compile(r"/api/benchmarks/leaderboard\?"), _marked)
    page = visit.go("/leaderboard?suite=words")
    row = _row(page, "Leaderboard", "speller")
    for mark in ("judged by its own model family (gpt)", "12.5 % infrastructure errors"):
        expect(row.get_by_text(mark, exact=True)).to_be_visible()
    visit.check_every_look()
    page.unroute_all(behavior="ignoreErrors")


def _marked(route: Any) -> None:
    """The board as the server sends it, with marks that need a judge or a broken network."""
    response = route.fetch()
    board = response.json()
    board["leaderboard"][0] |= {"judge_family": "gpt", "error_rate": 0.125}
    route.fulfill(response=response, json=board)


def test_another_suite_is_made_the_default(visit: Visit, server: httpx2.Client):
    # The last test of the file: the others expect the first default.
    page = visit.go("/suites/letters")
    page.get_by_role("button", name="Make default").click()
    dialog = page.get_by_role("dialog")
    visit.check_accessibility()
    dialog.get_by_label("Your name").fill("ann")
    dialog.get_by_role("button", name="Make default").click()
    expect(dialog).to_have_count(0)
    expect(page.get_by_text("Its board is shown first.")).to_be_visible()
    assert server.get("/api/benchmarks/leaderboard").json()["suite"] == "letters"
    page.get_by_role("link", name="View board", exact=True).click()
    expect(page.get_by_text("Suite letters (default)")).to_be_visible()
