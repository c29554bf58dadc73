"""Runs of some tests: by tag, by pattern, of what failed; and their quarantined tests."""

import pytest

from arena.assembly import Arena
from arena.errors import InvalidInput, NotFound
from arena.runs.run import QuarantinedTest, Run, RunRequest
from arena.settings import Settings
from factories import write_agent, write_tests

TEAM = "team"


@pytest.fixture
async def house(house: Arena, settings: Settings) -> Arena:
    """Five tests for an agent that fails two of them, the second only in its first trial."""
    body = """
        seen = __file__ + ".seen"
        if prompt.endswith("4") and not os.path.exists(seen):
            open(seen, "w").close()
            return "no"
        return "no" if prompt.endswith("2") else prompt.upper()
    """
    write_agent(settings.home / "agents", "half", body, limits={"max_concurrency": 1})
    folder = settings.home / "benchmarks"
    write_tests(folder / "plain.yaml", count=1, agents=["half"], tags=["smoke"])
    write_tests(folder / "mine.yaml", count=4, agents=["half"], quarantine="2026-12-31")
    house.catalog.refresh()
    house.registry.refresh()
    return house


async def execute(house: Arena, **options: object) -> Run:
    run = await house.executor.create(RunRequest(team_id=TEAM, agent_id="half", **options))
    await house.executor.start(run.id, TEAM)
    return await house.executor.wait(run.id)


async def ids(house: Arena, run: Run) -> set[str]:
    return {result.test_id for result in (await house.runs.results(run.id)).results}


async def test_a_run_of_a_tag_or_a_pattern_is_not_full(house: Arena):
    tagged = await execute(house, tags=("smoke",))
    assert await ids(house, tagged) == {"plain_00001"}
    assert not tagged.is_full
    matched = await execute(house, match=("*_00001",), category="mine")
    assert await ids(house, matched) == {"mine_00001"}
    assert (await execute(house, match=("*",))).is_full


async def test_a_selection_without_a_test_is_an_error_that_says_what_was_selected(house: Arena):
    request = RunRequest(team_id=TEAM, agent_id="half", tags=("smoke",), match=("mine*",))
    with pytest.raises(InvalidInput, match=r"no active test with the tag 'smoke' whose id or name"):
        await house.executor.create(request)
    with pytest.raises(NotFound, match="no tag is called 'smokey'"):
        await house.executor.create(RunRequest(team_id=TEAM, agent_id="half", tags=("smokey",)))


async def test_a_rerun_has_the_tests_that_did_not_pass_in_every_trial(house: Arena):
    first = await execute(house, trials=2)
    assert (first.passed_tests, first.failed_tests) == (7, 3)
    again = await execute(house, rerun_of=first.id)
    assert await ids(house, again) == {"mine_00002", "mine_00004"}
    assert not again.is_full
    last = await execute(house, rerun_of=again.id)
    assert await ids(house, last) == {"mine_00002"}
    nothing = RunRequest(team_id=TEAM, agent_id="half", rerun_of=last.id, match=("plain*",))
    with pytest.raises(InvalidInput, match=f"failed in run {last.id} applies to agent 'half'"):
        await house.executor.create(nothing)


async def test_a_run_in_which_nothing_failed_cannot_be_rerun(house: Arena):
    good = await execute(house, tags=("smoke",))
    with pytest.raises(InvalidInput, match=f"nothing failed in run {good.id}"):
        await execute(house, rerun_of=good.id)
    with pytest.raises(NotFound):
        await house.executor.create(RunRequest(team_id="others", agent_id="half", rerun_of=good.id))


async def test_a_test_that_is_gone_is_left_out_of_a_rerun(house: Arena, settings: Settings):
    first = await execute(house, trials=2)
    write_tests(settings.home / "benchmarks" / "mine.yaml", count=3, agents=["half"])
    house.catalog.refresh()
    assert await ids(house, await execute(house, rerun_of=first.id)) == {"mine_00002"}


async def test_a_test_that_could_not_be_executed_is_rerun_and_its_error_has_a_category(
    house: Arena, settings: Settings
):
    write_agent(settings.home / "agents", "half", "raise SystemExit")
    (settings.home / "agents" / "half.py").unlink()
    house.registry.refresh()
    first = await execute(house, tags=("smoke",))
    assert first.status == "failed"
    (error,) = await house.runs.errors(first.id)
    assert (error.test_id, error.category) == ("plain_00001", "plain")
    write_agent(settings.home / "agents", "half", "return prompt.upper()")
    house.registry.refresh()
    assert await ids(house, await execute(house, rerun_of=first.id)) == {"plain_00001"}


async def test_the_quarantined_tests_of_a_run_have_their_counts(house: Arena):
    run = await house.executor.create(
        RunRequest(team_id=TEAM, agent_id="half", trials=2, match=("plain*", "*2", "*4"))
    )
    kept = {"until": "2026-12-31", "reason": None, "trials": 2, "awaiting": 0}
    before = await house.runs.quarantined(run.id)
    assert before == [
        QuarantinedTest(test_id=name, passed=0, failed=0, **kept)
        for name in ("mine_00002", "mine_00004")
    ]
    await house.executor.start(run.id, TEAM)
    await house.executor.wait(run.id)
    assert await house.runs.quarantined(run.id) == [
        QuarantinedTest(test_id="mine_00002", passed=0, failed=2, **kept),
        QuarantinedTest(test_id="mine_00004", passed=1, failed=1, **kept),
    ]


async def test_a_selection_that_only_one_suite_meets_is_a_run_of_that_suite(
    house: Arena, settings: Settings
):
    file = write_tests(
        settings.home / "benchmarks" / "other.yaml",
        count=2,
        agents=["half"],
        tags=["rare"],
        expected={"contains": ["never said"]},
    )
    file.write_text(f"suite: other\n{file.read_text()}")
    house.catalog.refresh()
    usual = await execute(house)
    assert usual.suite != "other"
    tagged = await execute(house, tags=("rare",))
    assert (tagged.suite, tagged.total_tests) == ("other", 2)
    again = await execute(house, rerun_of=tagged.id)
    assert (again.suite, again.total_tests) == ("other", 2)
