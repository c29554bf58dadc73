"""A run of one home is pushed to another: checked, replayed, stored once, marked as a claim."""

import asyncio
import json
import shutil
from collections.abc import AsyncIterator, Callable
from datetime import timedelta
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest
import yaml
from pydantic import SecretStr
from sqlalchemy import func, select

import reviewing
from arena import clock
from arena.assembly import Arena, open_arena
from arena.catalog.suite import version_of
from arena.catalog.test import LATER_FIELDS
from arena.content.canonical import canonical
from arena.errors import Conflict, InfrastructureError, LimitReached
from arena.runs.bundle import BundleWriter, InvalidBundle
from arena.runs.run import Run, RunRequest
from arena.settings import Settings
from arena.store.tables.boards import BoardEvents, SuiteVersions
from arena.store.tables.runs import FrozenTests, Results, Runs
from arena.store.tables.scores import Executions
from conftest import missing
from factories import a_test, write_agent, write_tests

Lines = list[dict[str, Any]]
TEAM = "team"
HEADER, TEST, RESULT = 0, 1, 6
"""The lines of the parrot's bundle: a header, five tests, five results."""
CODE = "def add(a, b):\n    return a + b\n"
COMMITMENT = "0" * 64
CASES = [{"input": [1, 2], "expected": 3}, {"input": [2, 2], "expected": 5}]


@pytest.fixture
async def sender(tmp_path: Path, sqlite_tables: Path) -> AsyncIterator[Arena]:
    """Another home, with an agent of its own."""
    settings = Settings(home=tmp_path / "sender", retry_delay_seconds=0.01)
    settings.home.mkdir()
    shutil.copy(sqlite_tables, settings.home)
    write_agent(settings.home / "agents", "parrot", "return prompt.upper().replace('5', '')")
    write_tests(settings.home / "benchmarks" / "parrot.yaml", count=5, agents=["parrot"])
    async with open_arena(settings) as opened:
        yield opened


@pytest.fixture
async def server(settings: Settings) -> AsyncIterator[Arena]:
    """The home that is pushed to."""
    async with open_arena(settings) as opened:
        yield opened


async def executed(house: Arena, agent: str = "parrot", **request: Any) -> Run:
    run = await house.executor.create(RunRequest(team_id=TEAM, agent_id=agent, **request))
    await house.executor.start(run.id, TEAM)
    ended = await house.executor.wait(run.id)
    assert ended.status == "completed", ended.error_message
    return ended


async def bundle_of(house: Arena, run: Run) -> bytes:
    lines = house.pushing.bundle(run.id, TEAM, house.catalog.current.by_id)
    return b"".join([line async for line in lines])


def rewritten(data: bytes, change: Callable[[Lines], object]) -> bytes:
    """A bundle with other content, and the right hashes."""
    lines: Lines = [json.loads(line) for line in data.splitlines()[:-1]]
    change(lines)
    return sealed([canonical(line) + b"\n" for line in lines])


def sealed(lines: list[bytes]) -> bytes:
    """Lines with the last line that belongs to them."""
    writer = BundleWriter()
    for line in lines:
        writer.count(line)
    return b"".join(lines) + writer.end()


async def rows(house: Arena) -> dict[str, int]:
    """How many rows there are of everything that a push stores."""
    async with house.database.reading() as connection:
        return {
            table.__tablename__: (
                await connection.execute(select(func.count()).select_from(table))
            ).scalar_one()
            for table in (Runs, Results, Executions, SuiteVersions, FrozenTests, BoardEvents)
        }


async def test_a_pushed_run_has_the_same_results_and_is_marked_as_a_claim(
    sender: Arena, server: Arena
):
    source = await executed(sender)
    run = await server.pushing.receive(TEAM, await bundle_of(sender, source))
    assert run.id != source.id
    assert (run.provenance, run.source_run_id) == ("reported", source.id)
    same = ("agent_id", "agent_version", "status", "passed_tests", "failed_tests", "total_tests")
    same += ("score_percent", "points_earned", "points_possible", "points_percent", "is_full")
    same += ("suite", "suite_version", "suite_tests", "test_count", "environment", "agent_digest")
    same += ("created_at", "started_at", "completed_at", "results_duration_seconds")
    for name in same:
        assert getattr(run, name) == getattr(source, name), name
    ours = (await server.runs.results(run.id)).results
    theirs = (await sender.runs.results(source.id)).results
    for mine, other in zip(ours, theirs, strict=True):
        assert mine.id != other.id
        for name in ("test_id", "trial", "passed", "actual_output", "findings", "failure_reason"):
            assert getattr(mine, name) == getattr(other, name), name
        assert (mine.sequence, mine.created_at) == (other.sequence, other.created_at)
    checked = run.verification
    assert checked is not None
    assert (checked["of_results"], checked["replayed"], checked["not_replayed"]) == (5, 5, 0)


async def test_a_run_of_tests_with_every_later_key_can_be_pushed(sender: Arena, server: Arena):
    keys = {"group": "pair", "quarantine": {"until": "2099-12-31", "reason": "flaky"}}
    file = sender.settings.home / "benchmarks" / "parrot.yaml"
    write_tests(file, count=2, agents=["parrot"], **keys)
    sender.catalog.refresh()
    source = await executed(sender)
    run = await server.pushing.receive(TEAM, await bundle_of(sender, source))
    (result, _) = (await server.runs.results(run.id)).results
    test = (await server.runs.result(run.id, result.id)).test
    later = {name: getattr(test, name) for name in LATER_FIELDS}
    assert {name: value for name, value in later.items() if value is not None} == {
        "group": "pair",
        "quarantined_until": "2099-12-31",
        "quarantine_reason": "flaky",
    }


async def test_its_executions_count_as_reported_and_the_board_knows_the_run(
    sender: Arena, server: Arena
):
    source = await executed(sender)
    await server.pushing.receive(TEAM, await bundle_of(sender, source))
    async with server.database.reading() as connection:
        sources = (await connection.execute(select(Executions.source))).scalars().all()
        events = (await connection.execute(select(BoardEvents.kind))).scalars().all()
    assert sources == ["reported"] * 5
    assert "run_completed" in events


async def test_a_run_that_is_pushed_twice_appears_once(sender: Arena, server: Arena):
    data = await bundle_of(sender, await executed(sender))
    first = await server.pushing.receive(TEAM, data)
    before = await rows(server)
    second = await server.pushing.receive(TEAM, data)
    assert (second.id, second.verification) == (first.id, first.verification)
    assert await rows(server) == before


async def test_a_run_that_is_pushed_many_times_at_once_appears_once(sender: Arena, server: Arena):
    data = await bundle_of(sender, await executed(sender))
    pushes = [server.pushing.receive(TEAM, data) for _ in range(5)]
    ids = {run.id for run in await asyncio.gather(*pushes)}
    assert len(ids) == 1
    counted = await rows(server)
    assert (counted["agent_benchmark_runs"], counted["agent_benchmark_results"]) == (1, 5)
    assert counted["agent_execution_history"] == 5


async def test_a_run_that_comes_back_to_where_it_was_executed_is_that_run(sender: Arena):
    source = await executed(sender)
    before = await rows(sender)
    assert await sender.pushing.receive(TEAM, await bundle_of(sender, source)) == source
    assert await rows(sender) == before


async def test_a_run_that_another_server_passes_on_is_the_same_run(
    sender: Arena, server: Arena, tmp_path: Path, sqlite_tables: Path
):
    source = await executed(sender)
    first = await bundle_of(sender, source)
    run = await server.pushing.receive(TEAM, first)
    relayed = await bundle_of(server, run)
    settings = Settings(home=tmp_path / "third")
    settings.home.mkdir()
    shutil.copy(sqlite_tables, settings.home)
    async with open_arena(settings) as third:
        there = await third.pushing.receive(TEAM, relayed)
        assert there.source_run_id == source.id
        with pytest.raises(Conflict, match="pushed before with other content"):
            await third.pushing.receive(TEAM, first)
    # Back at the server that passed it on, it is what it was.
    before = await rows(server)
    with pytest.raises(Conflict, match="pushed before"):
        await server.pushing.receive(TEAM, relayed)
    assert await rows(server) == before
    await server.boards.delete_run(TEAM, run.id, by="op", reason="on request")
    with pytest.raises(Conflict, match="deleted by the operator"):
        await server.pushing.receive(TEAM, relayed)


async def test_the_same_run_of_another_team_is_another_run(sender: Arena, server: Arena):
    data = await bundle_of(sender, await executed(sender))
    mine = await server.pushing.receive(TEAM, data)
    theirs = await server.pushing.receive("other", data)
    assert mine.id != theirs.id
    assert (mine.team_id, theirs.team_id) == (TEAM, "other")
    both = [(await server.runs.results(run.id)).results for run in (mine, theirs)]
    assert not {one.id for one in both[0]} & {one.id for one in both[1]}


async def test_the_same_run_with_other_content_is_a_conflict(sender: Arena, server: Arena):
    data = await bundle_of(sender, await executed(sender))
    await server.pushing.receive(TEAM, data)
    before = await rows(server)

    def later(lines: Lines) -> None:
        lines[RESULT]["result"]["duration_seconds"] += 1

    with pytest.raises(Conflict, match="other content"):
        await server.pushing.receive(TEAM, rewritten(data, later))
    assert await rows(server) == before


async def test_only_a_completed_run_can_be_pushed(sender: Arena):
    run = await sender.executor.create(RunRequest(team_id=TEAM, agent_id="parrot"))
    with pytest.raises(Conflict, match="only a completed run"):
        await bundle_of(sender, run)


def first_result(**changes: Any) -> Callable[[Lines], None]:
    return lambda lines: lines[RESULT]["result"].update(changes)


def of_run(**changes: Any) -> Callable[[Lines], None]:
    return lambda lines: lines[HEADER]["run"].update(changes)


def first_test(**changes: Any) -> Callable[[Lines], None]:
    return lambda lines: lines[TEST]["test"].update(changes)


def turned(lines: Lines) -> None:
    """The verdict of a wrong answer, with everything that follows from it."""
    wrong = next(line["result"] for line in lines[RESULT:] if not line["result"]["passed"])
    wrong |= {"passed": True, "score": 100.0, "points_earned": 1.0, "failure_reason": None}
    for finding in wrong["findings"]:
        finding["passed"] = True
    run = lines[HEADER]["run"]
    run["passed_tests"] += 1
    run["failed_tests"] -= 1
    run["points_earned"] += 1
    run["score_percent"] = run["points_percent"] = 100.0 * run["passed_tests"] / 5


def doubled(lines: Lines) -> None:
    lines.append(lines[RESULT])
    lines[HEADER]["results"] += 1


def repeated(lines: Lines) -> None:
    lines[RESULT + 1] = lines[RESULT]


def dropped(lines: Lines) -> None:
    del lines[-1]
    lines[HEADER]["results"] -= 1


def of_another_test(lines: Lines) -> None:
    lines[TEST]["test"]["id"] = lines[RESULT]["result"]["test_id"] = "stranger"


def edited(lines: Lines) -> None:
    """An easier test, under the fingerprint of the old one."""
    lines[TEST]["test"]["expected"] = {"contains": ["S"]}


def deep(lines: Lines) -> None:
    value: Any = 0
    for _ in range(150):
        value = [value]
    lines[RESULT]["result"]["steps"] = [
        {"tool": "t", "arguments": value, "result": None, "time": None}
    ]


def in_a_day() -> str:
    return (clock.now() + timedelta(days=1)).isoformat().replace("+00:00", "Z")


@pytest.mark.parametrize(
    ("lie", "message"),
    [
        (turned, "does not follow from the answer"),
        (first_result(actual_output={"output": "something else"}), "does not follow"),
        (dropped, "4 results"),
        (doubled, "6 results"),
        (repeated, "has a result already"),
        (of_another_test, "not a test of the suite"),
        (edited, "not the test of the suite's manifest"),
        (lambda lines: lines[HEADER]["suite"].update(version="0" * 64), "the manifest is of"),
        (lambda lines: lines[HEADER]["suite"]["manifest"].update(new="1" * 64), "manifest is of"),
        (of_run(passed_tests=5, failed_tests=0), "run.passed_tests is 5"),
        (of_run(score_percent=99.0), "run.score_percent is 99.0"),
        (of_run(points_earned=50.0), "run.points_earned is 50.0"),
        (of_run(cost_usd=0.0), "run.cost_usd is 0.0"),
        (of_run(completed_at=in_a_day()), "in the future"),
        (of_run(started_at="2001-01-01T00:00:00Z"), "created, then started"),
        (first_result(created_at="2001-01-01T00:00:00Z"), "not during the run"),
        (first_result(points_earned=2.0), "points_earned is 2"),
        (first_result(trial=2), "has 1 trials"),
        (first_result(status="timeout"), "has no answer"),
        (first_result(status="cancelled"), "cannot end as cancelled"),
        (first_result(actual_output=None), "has no answer"),
        (first_result(verdict_cid="bafkreigh2akiscaildc"), "belong together"),
        (first_result(model="a\0b"), "NUL"),
        (first_result(input_tokens=10**30), "input_tokens"),
        (first_result(input_tokens=-1), "input_tokens"),
        (first_result(duration_seconds=1e300), "duration_seconds"),
        (first_result(passed="yes"), "passed"),
        (first_result(passed=None), "has no verdict"),
        (first_result(category="other"), "not those of its test"),
        (first_result(points_possible=9.0), "not those of its test"),
        (first_result(score=101.0), "score"),
        (first_result(extra=1), "result.extra is unknown"),
        (first_result(workspace={"diff": ""}), "has a workspace, and its test has none"),
        (deep, "nested too deep"),
        (first_test(points=-1), "points"),
        (first_test(timeout_seconds="30"), "timeout"),
        (first_test(validation="magic"), "unknown validation"),
        (first_test(expected={"contains": []}), "must not be empty"),
        (first_test(prompt=" "), "not empty"),
        (first_test(surprise=1), "unknown key surprise"),
        (first_test(active=False), "not an active test"),
        (first_test(agents=["other"]), "not the test of the suite's manifest"),
        (lambda lines: lines[TEST]["test"].pop("name"), "needs the key name"),
        (lambda lines: lines[TEST].update(trials=2), "has 1 trials in such a run"),
        (of_run(agent_id="other"), "not an active test for the agent other"),
        (of_run(agent_version="one"), "agent_version"),
        (of_run(environment={"arena": {"deep": 1}}), "environment"),
        (lambda lines: lines[HEADER].update(kind="arena.run/9"), "kind"),
        (lambda lines: lines.__setitem__(HEADER, {"kind": "arena.run/1"}), "needs the key"),
        (lambda lines: lines.__setitem__(TEST, []), "line 2"),
    ],
)
async def test_each_lie_is_refused_and_nothing_is_stored(
    sender: Arena, server: Arena, lie: Callable[[Lines], object], message: str
):
    data = await bundle_of(sender, await executed(sender))
    before = await rows(server)
    with pytest.raises(InvalidBundle, match=message):
        await server.pushing.receive(TEAM, rewritten(data, lie))
    assert await rows(server) == before


@pytest.mark.parametrize(
    ("raw", "message"),
    [
        (b"", "cut off"),
        (b"\n", "not the last line"),
        (sealed([]), "no header"),
        (sealed([b"not JSON\n"]), "line 1: not JSON"),
        (sealed([b'{"a":1,"a":2}\n']), "line 1: not JSON: an object has a key twice"),
        (sealed([b'{"a": 1}\n']), "not canonical"),
        (sealed([b'{"a":NaN}\n']), "line 1: not JSON"),
        (sealed([b'{"a":"\\ud83d"}\n']), "line 1: not JSON"),
        (sealed([b'"\xff"\n']), "line 1: not JSON"),
        (sealed([b"[" * 100_000 + b"]" * 100_000 + b"\n"]), "line 1: not JSON"),
        (sealed([b"9" * 10_000 + b"\n"]), "line 1: not JSON"),
    ],
)
async def test_bytes_that_are_no_bundle_are_refused(server: Arena, raw: bytes, message: str):
    with pytest.raises(InvalidBundle, match=message):
        await server.pushing.receive(TEAM, raw)


async def test_a_run_is_full_only_if_the_other_tests_are_shown_to_be_for_others(
    sender: Arena, server: Arena
):
    benchmarks = sender.settings.home / "benchmarks"
    write_tests(benchmarks / "others.yaml", count=2, agents=["somebody"])
    sender.catalog.refresh()
    source = await executed(sender)
    assert (source.is_full, source.test_count, source.suite_tests) == (True, 5, 7)
    data = await bundle_of(sender, source)
    assert len(data.splitlines()) == 1 + 5 + 5 + 2 + 1
    assert (await server.pushing.receive(TEAM, data)).is_full

    def forgot(lines: Lines) -> None:
        del lines[-1]

    # The digest of a run does not cover the other tests, so this is the same run for the team.
    unproved = await server.pushing.receive("other", rewritten(data, forgot))
    assert not unproved.is_full
    assert unproved.verification and unproved.verification["unproved_tests"] == 1

    def for_all(lines: Lines) -> None:
        lines[-1]["other_test"]["agents"] = None

    with pytest.raises(InvalidBundle, match="not the test of the suite's manifest"):
        await server.pushing.receive("third", rewritten(data, for_all))


async def test_a_run_of_some_tests_stays_one_of_some_tests(sender: Arena, server: Arena):
    source = await executed(sender, test_ids=("parrot_00001", "parrot_00002"))
    run = await server.pushing.receive(TEAM, await bundle_of(sender, source))
    assert (run.is_full, run.test_count, run.suite_tests) == (False, 2, 5)

    data = rewritten(await bundle_of(sender, source), of_run(is_full=True))
    run = await server.pushing.receive("other", data)
    assert not run.is_full


async def test_failures_steps_trials_and_usage_arrive(sender: Arena, server: Arena):
    body = """
    import json
    if "word1" in prompt: time.sleep(60)
    if "word2" in prompt: raise ValueError("no")
    return json.dumps({"output": prompt.upper(), "steps": [{"tool": "look", "arguments": [1]}],
                       "usage": {"input_tokens": 3, "output_tokens": 4, "cost_usd": 0.25}})
    """
    write_agent(sender.settings.home / "agents", "busy", body)
    path = sender.settings.home / "benchmarks" / "busy.yaml"
    write_tests(path, count=3, agents=["busy"], timeout=1, trials=2)
    sender.catalog.refresh()
    sender.registry.refresh()
    source = await executed(sender, "busy")
    assert source.passed_tests == 2
    run = await server.pushing.receive(TEAM, await bundle_of(sender, source))
    theirs = (await sender.runs.results(source.id)).results
    for mine, other in zip((await server.runs.results(run.id)).results, theirs, strict=True):
        for name in ("status", "steps", "input_tokens", "cost_usd", "failure_reason", "attempts"):
            assert getattr(mine, name) == getattr(other, name), name
    assert (run.input_tokens, run.cost_usd, run.costed_tests) == (
        source.input_tokens,
        source.cost_usd,
        source.costed_tests,
    )
    assert run.verification
    assert (run.verification["replayed"], run.verification["without_answer"]) == (2, 4)


@pytest.mark.parametrize(
    ("given", "error"),
    [
        ({"push_max_results": 4}, InvalidBundle),
        ({"push_quota_results": 9}, LimitReached),
    ],
)
async def test_limits_on_results_are_named_with_their_setting(
    sender: Arena, settings: Settings, given: dict[str, int], error: type[Exception]
):
    first, second = [await bundle_of(sender, await executed(sender)) for _ in range(2)]
    async with open_arena(settings.model_copy(update=given)) as server:
        if error is LimitReached:
            await server.pushing.receive(TEAM, first)
        before = await rows(server)
        (name,) = given
        with pytest.raises(error, match=f"ARENA_{name.upper()}"):
            await server.pushing.receive(TEAM, second)
        assert await rows(server) == before


@pytest.fixture
def graded(sender: Arena) -> Arena:
    """The sender with a test whose answers are programs, and an agent that writes them."""
    if shutil.which("bwrap") is None:
        missing("bubblewrap")
    write_agent(sender.settings.home / "agents", "coder", f"return {CODE!r}")
    test = {
        "id": "add",
        "name": "Add",
        "prompt": "Write add",
        "validation": "test_cases",
        "expected": {"functionName": "add", "cases": CASES},
        "pass_score": 50,
        "agents": ["coder"],
    }
    file = {"category": "code", "tests": [test]}
    (sender.settings.home / "benchmarks" / "graded.yaml").write_text(yaml.safe_dump(file))
    sender.catalog.refresh()
    sender.registry.refresh()
    return sender


async def test_a_graded_verdict_comes_with_its_record_and_is_replayed(graded: Arena, server: Arena):
    source = await executed(graded, "coder")
    run = await server.pushing.receive(TEAM, await bundle_of(graded, source))
    assert run.verification and run.verification["replayed"] == 1
    (result,) = (await server.runs.results(run.id)).results
    assert (result.score, result.passed) == (50, True)
    assert result.verdict_cid is not None
    found = await server.evaluation.verify(result.verdict_cid)
    assert found.outcome == "holds"


async def test_a_record_that_does_not_hold_is_refused_and_not_kept(graded: Arena, server: Arena):
    data = await bundle_of(graded, await executed(graded, "coder"))

    def perfect(lines: Lines) -> None:
        """A record of a full score, with all that follows from it."""
        line = next(line for line in lines if "result" in line)
        record = json.loads(line["record"])
        record["verdict"]["score"] = line["result"]["score"] = 100.0
        for findings in (record["verdict"]["findings"], line["result"]["findings"]):
            for finding in findings:
                finding["passed"] = True
        line["record"] = canonical(record).decode()
        line["result"]["verdict_cid"] = graded.content.put(line["record"].encode())

    with pytest.raises(InvalidBundle, match="add, trial 1: its verdict does not follow"):
        await server.pushing.receive(TEAM, rewritten(data, perfect))
    assert not [path for path in server.content.local.folder.rglob("*") if path.is_file()]

    def without_record(lines: Lines) -> None:
        line = next(line for line in lines if "result" in line)
        line["record"] = line["result"]["verdict_cid"] = None

    with pytest.raises(InvalidBundle, match="record of its verdict is missing"):
        await server.pushing.receive(TEAM, rewritten(data, without_record))


async def test_slow_replays_are_limited_and_the_rest_is_taken_as_recorded(
    graded: Arena, server: Arena, monkeypatch: pytest.MonkeyPatch
):
    data = await bundle_of(graded, await executed(graded, "coder"))
    monkeypatch.setattr("arena.runs.replaying.MAX_SLOW_REPLAYS", 0)
    run = await server.pushing.receive(TEAM, data)
    assert run.verification
    assert (run.verification["replayed"], run.verification["not_replayed"]) == (0, 1)
    assert run.verification["reasons"] == {"over the limit of this server": 1}


async def test_what_people_said_is_taken_as_recorded_but_must_add_up(sender: Arena, server: Arena):
    reviewing.furnish(sender.settings)
    sender.catalog.refresh()
    sender.registry.refresh()
    source = await reviewing.execute(sender)
    for review in await reviewing.reviews_of(sender):
        await reviewing.answer(sender, review.id, True, True, False)
    source = await sender.runs.get(source.id, TEAM)
    assert (source.status, source.passed_tests) == ("completed", 3)
    data = await bundle_of(sender, source)
    run = await server.pushing.receive(TEAM, data)
    assert run.verification
    assert (run.verification["replayed"], run.verification["not_replayed"]) == (1, 2)
    assert run.verification["reasons"] == {"judged by models or people": 2}

    def better(lines: Lines) -> None:
        """A score that the people's answers do not give."""
        line = next(line for line in lines if line.get("record"))
        record = json.loads(line["record"])
        record["verdict"]["score"] = line["result"]["score"] = 99.0
        line["record"] = canonical(record).decode()
        line["result"]["verdict_cid"] = sender.content.put(line["record"].encode())

    with pytest.raises(InvalidBundle, match="does not follow from the answer"):
        await server.pushing.receive("other", rewritten(data, better))


async def test_a_run_is_executed_again_on_its_frozen_tests_and_compared(
    sender: Arena, server: Arena
):
    source = await executed(sender)
    pushed = await server.pushing.receive(TEAM, await bundle_of(sender, source))
    # Here the agent gives the whole answer, so that every test passes; the files have no tests.
    write_agent(server.settings.home / "agents", "parrot", "return prompt.upper()")
    server.registry.refresh()
    again = await server.executor.reexecute(pushed.id, TEAM)
    await server.executor.start(again.id, TEAM)
    ended = await server.executor.wait(again.id)
    assert (ended.status, ended.provenance) == ("completed", "re_executed")
    assert (ended.source_run_id, ended.is_full) == (pushed.id, True)
    assert (ended.suite, ended.suite_version) == (pushed.suite, pushed.suite_version)
    assert (ended.suite_tests, ended.test_count) == (5, 5)
    agreement = await server.runs.agreement(ended.id, TEAM)
    assert agreement.results == 5
    assert agreement.agreed == source.passed_tests
    assert len(agreement.differences) == source.failed_tests
    assert all(one.passed and not one.source_passed for one in agreement.differences)
    with pytest.raises(Conflict, match="does not repeat"):
        await server.runs.agreement(pushed.id, TEAM)


async def test_an_agent_that_is_not_registered_here_cannot_be_asked_again(
    sender: Arena, server: Arena
):
    pushed = await server.pushing.receive(TEAM, await bundle_of(sender, await executed(sender)))
    with pytest.raises(Exception, match="no agent is called 'parrot'"):
        await server.executor.reexecute(pushed.id, TEAM)


def with_hidden_cases(lines: Lines) -> None:
    """A forged run: its only test has the commitment of a case that somebody else keeps."""
    cases = {"functionName": "f", "cases": [{"input": [1], "expected": 1}], "sealed": [COMMITMENT]}
    test = a_test(validation="test_cases", expected=cases, agents=("parrot",))
    result = lines[RESULT]["result"] | {"test_id": test.id, "status": "failed", "passed": False}
    result |= {"actual_output": None, "findings": [], "failure_reason": "no", "score": 0.0}
    result |= {"points_earned": 0.0, "category": test.category}
    manifest = {test.id: test.fingerprint}
    header = lines[HEADER] | {"tests": 1, "results": 1}
    header["suite"] |= {"manifest": manifest, "version": version_of(sorted(manifest.items()))}
    header["run"] |= {"total_tests": 1, "passed_tests": 0, "failed_tests": 1, "score_percent": 0.0}
    header["run"] |= {"points_earned": 0.0, "points_possible": 1.0, "points_percent": 0.0}
    header["run"] |= {"completed_tests": 1, "results_duration_seconds": result["duration_seconds"]}
    line = {"test": test.as_json(), "trials": 1}
    lines[:] = [header, line, {"result": result, "record": None}]


async def test_pushed_tests_with_hidden_cases_are_not_opened_for_a_team(
    sender: Arena, settings: Settings
):
    """Otherwise a team could push the commitments of another's standard, and see its cases."""
    forged = rewritten(await bundle_of(sender, await executed(sender)), with_hidden_cases)
    write_agent(settings.home / "agents", "parrot", "return prompt.upper()")
    shared = settings.model_copy(update={"tokens": (SecretStr("team:aaaaaaaaaaaaaaaaaaaa"),)})
    async with open_arena(shared) as server:
        pushed = await server.pushing.receive(TEAM, forged)
        with pytest.raises(Conflict, match="sealed cases"):
            await server.executor.reexecute(pushed.id, TEAM)


async def test_a_push_that_dies_before_its_commit_leaves_nothing(
    sender: Arena, server: Arena, monkeypatch: pytest.MonkeyPatch
):
    data = await bundle_of(sender, await executed(sender))
    before = await rows(server)

    async def die(*_: object) -> None:
        raise InfrastructureError("the machine stopped")

    with monkeypatch.context() as broken:
        broken.setattr("arena.runs.records.bundles.end_run", die)
        with pytest.raises(InfrastructureError):
            await server.pushing.receive(TEAM, data)
    assert await rows(server) == before
    await server.pushing.receive(TEAM, data)
    assert (await rows(server))["agent_benchmark_runs"] == 1


def test_ids_of_pushed_runs_do_not_collide():
    from arena.runs.records.bundles import pushed_id, pushed_result_id

    runs = [uuid4() for _ in range(20)]
    ids = {pushed_id(team, run) for team in ("a", "b", "a b") for run in runs}
    assert len(ids) == 60
    keys = [("t", 11), ("1 t", 1), ("t1", 1), ("t", 1)]
    assert len({pushed_result_id(runs[0], test, trial) for test, trial in keys}) == 4
