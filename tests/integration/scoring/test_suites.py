"""Boards compare like with like: suites, their versions, coverage, runs that count."""

from collections.abc import AsyncIterator
from dataclasses import replace

import pytest

from arena import clock
from arena.assembly import Arena, open_arena
from arena.catalog.suite import KnownVersion, Suite
from arena.catalog.test import Test
from arena.errors import Conflict, NotFound
from arena.runs.records.lease import claim
from arena.runs.records.results import add_results
from arena.runs.records.runs import NewRun, create_run, finish
from arena.runs.run import Run
from arena.scoring.board import BoardEntry, BoardFilter, Leaderboard, Provenance
from arena.scoring.history import Subject
from arena.scoring.log import BoardEventKind
from arena.scoring.records.rebuilding import adopt_version
from arena.settings import Settings
from factories import a_test, executed
from histories import reported

TEAM = "red"
OLD_SUITE = [a_test(id=f"t{number}", prompt=f"question {number}") for number in range(20)]
EDITED = [a_test(id="t0", prompt="another question"), *OLD_SUITE[1:]]


@pytest.fixture
async def arena(settings: Settings) -> AsyncIterator[Arena]:
    async with open_arena(settings) as opened:
        yield opened


async def run_of(
    arena: Arena,
    agent: str,
    passed: int,
    tests: list[Test] = OLD_SUITE,
    *,
    suite: Suite | None = None,
    cost_usd: float | None = None,
    **keys: object,
) -> Run:
    """A completed run of the agent, which passes the first tests."""
    database = arena.database
    values = {"team_id": TEAM, "agent_id": agent, "agent_version": "1.0.0", "is_full": True} | keys
    whole = suite or Suite(name="words", tests=tuple(tests))
    run = await create_run(database, NewRun(**values), tests, whole)
    await claim(database, run.id, "me")
    results = [
        executed(
            test,
            test_id=test.id,
            passed=place < passed,
            points_earned=float(place < passed),
            cost_usd=cost_usd,
        )
        for place, test in enumerate(tests)
    ]
    await add_results(database, run.id, "me", results)
    return await finish(database, run.id, "me", None)


def subject(agent: str) -> Subject:
    return Subject(team_id=TEAM, agent_id=agent, version="1.0.0")


async def board_of(arena: Arena, **selection: object) -> Leaderboard:
    return await arena.scores.leaderboard(TEAM, BoardFilter(**selection), limit=100)


async def ranks(arena: Arena, **selection: object) -> list[tuple[str, int | None]]:
    board = await board_of(arena, **selection)
    return [(entry.agent_id, entry.rank) for entry in board.leaderboard]


async def entry_of(arena: Arena, agent: str) -> BoardEntry:
    found = await arena.scores.entry(subject(agent))
    assert found is not None
    return found


# What a newcomer saw on the board of 0.1.


async def test_two_tests_of_its_own_put_no_agent_above_one_that_was_measured_on_twenty(
    arena: Arena,
):
    await run_of(arena, "thorough", 17)
    own = [a_test(id="own1", prompt="mine"), a_test(id="own2", prompt="mine too")]
    await run_of(arena, "narrow", 2, own, suite=Suite(name="own", tests=tuple(own)))
    board = await board_of(arena)
    assert [(e.agent_id, e.rank) for e in board.leaderboard] == [("thorough", 1), ("narrow", None)]
    assert board.leaderboard[1].unranked_because == "no complete run of this version of the suite"
    assert board.suites == ["own", "words"]
    assert await ranks(arena, suite="own") == [("narrow", 1)]


async def test_a_run_of_fewer_than_half_of_the_tests_is_listed_after_the_ranked_ones(
    arena: Arena,
):
    whole = Suite(name="words", tests=tuple(OLD_SUITE))
    await run_of(arena, "two", 2, OLD_SUITE[:2], suite=whole)
    # Whoever leads: also if nobody else is there.
    assert await ranks(arena) == [("two", None)]
    await run_of(arena, "half", 5, OLD_SUITE[:10], suite=whole)
    await run_of(arena, "all", 3, suite=whole)
    assert await ranks(arena) == [("half", 1), ("all", 2), ("two", None)]
    entry = await entry_of(arena, "two")
    assert entry.unranked_because == "its run covers 2 of 20 tests, fewer than half"
    assert (entry.tests, entry.suite_tests, entry.benchmark_score) == (2, 20, 100.0)


async def test_an_agent_that_is_not_ranked_is_not_on_the_front_of_accuracy_against_cost(
    arena: Arena,
):
    await run_of(arena, "thorough", 17, cost_usd=0.5)
    whole = Suite(name="words", tests=tuple(OLD_SUITE))
    await run_of(arena, "narrow", 2, OLD_SUITE[:2], suite=whole, cost_usd=0.01)
    found = await arena.scores.pareto(TEAM)
    assert [point.agent_id for point in found.front] == ["thorough"]
    assert [point.agent_id for point in found.unranked] == ["narrow"]
    assert (found.dominated, found.unknown_cost) == ([], [])


async def test_a_paid_task_or_a_vote_alone_earns_no_rank(arena: Arena):
    await run_of(arena, "measured", 5)
    await arena.scores.report_executions(TEAM, [(subject("paid"), reported("completed"))])
    await arena.scores.submit_feedback(subject("loved"), rating=5, user_id="ann")
    assert await ranks(arena) == [("measured", 1), ("loved", None), ("paid", None)]
    rows = (await board_of(arena)).leaderboard
    assert [entry.benchmark_score for entry in rows] == [25.0, None, None]


async def test_a_run_of_other_tests_leaves_the_board_of_a_suite_as_it_was(arena: Arena):
    await run_of(arena, "a", 19)
    before = await board_of(arena)
    other = [a_test(id=f"x{number}", prompt=f"other {number}") for number in range(5)]
    await run_of(arena, "a", 0, other, suite=Suite(name="elsewhere", tests=tuple(other)))
    after = await board_of(arena)
    assert after.leaderboard[0].benchmark_score == before.leaderboard[0].benchmark_score == 95.0
    # Its executions count, whatever the suite.
    assert after.leaderboard[0].execution_count == before.leaderboard[0].execution_count + 5


async def test_a_partial_run_never_counts_however_good_it_is(arena: Arena):
    await run_of(arena, "a", 10)
    whole = Suite(name="words", tests=tuple(OLD_SUITE))
    await run_of(arena, "a", 5, OLD_SUITE[:5], suite=whole, is_full=False)
    entry = await entry_of(arena, "a")
    assert (entry.benchmark_score, entry.runs) == (50.0, 1)


# Versions.


async def test_an_edited_test_makes_a_new_version_and_older_results_are_never_mixed_in(
    arena: Arena,
):
    await run_of(arena, "old", 20)
    await run_of(arena, "both", 10)
    old = await board_of(arena)
    await run_of(arena, "both", 12, EDITED)
    new = await board_of(arena)
    assert new.suite_version != old.suite_version
    assert [(e.agent_id, e.rank) for e in new.leaderboard] == [("both", 1), ("old", None)]
    assert new.leaderboard[1].benchmark_score is None
    asked = await board_of(arena, version=str(old.suite_version)[:8])
    assert [(e.agent_id, e.rank) for e in asked.leaderboard] == [("old", 1), ("both", 2)]
    # "both" has its newer executions there too, but its own result of that version.
    assert asked.leaderboard[1].benchmark_score == 50.0
    (edit,) = [
        one for one in await arena.boards.events(TEAM) if one.kind is BoardEventKind.TESTS_EDITED
    ]
    assert "1 edited (t0)" in edit.reason


async def test_a_newer_version_without_a_complete_run_is_named_and_not_shown(arena: Arena):
    await run_of(arena, "a", 20)
    whole = Suite(name="words", tests=tuple(EDITED))
    await run_of(arena, "a", 3, EDITED[:3], suite=whole, is_full=False)
    board = await board_of(arena)
    assert board.leaderboard[0].benchmark_score == 100.0
    assert [row.version for row in board.newer] == [whole.version]


async def test_going_back_to_an_earlier_version_shows_its_board_again(arena: Arena):
    await run_of(arena, "a", 20)
    first = (await board_of(arena)).suite_version
    await run_of(arena, "a", 5, EDITED)
    await run_of(arena, "b", 10)
    board = await board_of(arena)
    assert board.suite_version == first
    assert [(e.agent_id, e.benchmark_score) for e in board.leaderboard] == [
        ("a", 100.0),
        ("b", 50.0),
    ]


async def test_a_label_names_a_version_and_an_unknown_one_lists_what_there_is(arena: Arena):
    await run_of(arena, "a", 20, suite=Suite(name="words", label="1.0", tests=tuple(OLD_SUITE)))
    await run_of(arena, "a", 5, EDITED, suite=Suite(name="words", label="1.1", tests=tuple(EDITED)))
    board = await board_of(arena, version="1.0")
    assert (board.suite_label, board.leaderboard[0].benchmark_score) == ("1.0", 100.0)
    with pytest.raises(NotFound, match=r"1\.1"):
        await board_of(arena, version="1.2")
    with pytest.raises(NotFound, match="words"):
        await board_of(arena, suite="word")


async def test_a_comparison_uses_the_tests_that_both_have(arena: Arena):
    whole = Suite(name="words", tests=tuple(OLD_SUITE))
    await run_of(arena, "a", 20, suite=whole)
    await run_of(arena, "b", 8, OLD_SUITE[:12], suite=whole)
    (pair,) = (await arena.scores.compare([subject("a"), subject("b")])).pairs
    assert (pair.common_tests, len(pair.only_first), pair.only_second) == (12, 8, [])
    assert pair.difference == pytest.approx(4 / 12)


# Every attempt counts.


async def test_the_latest_run_is_taken_and_never_the_best_and_all_of_them_are_shown(arena: Arena):
    for passed in (18, 12, 15):
        await run_of(arena, "a", passed)
    entry = await entry_of(arena, "a")
    assert entry.benchmark_score == 75.0
    assert (entry.runs, entry.runs_lowest, entry.runs_highest) == (3, 60.0, 90.0)


async def test_the_same_version_with_another_file_is_reported(arena: Arena):
    await run_of(arena, "a", 18, agent_digest="1" * 64)
    assert not (await entry_of(arena, "a")).is_other_file
    await run_of(arena, "a", 18, agent_digest="2" * 64)
    assert (await entry_of(arena, "a")).is_other_file


async def test_an_archived_agent_is_hidden_and_still_counts_for_the_ranks(arena: Arena):
    await run_of(arena, "best", 20)
    await run_of(arena, "second", 10)
    await arena.boards.archive_agent(subject("best"), by="ann", reason="withdrawn")
    board = await board_of(arena)
    assert [(e.agent_id, e.rank) for e in board.leaderboard] == [("second", 2)]
    assert (board.archived, board.total, board.ranked) == (1, 1, 2)
    assert await ranks(arena, with_archived=True) == [("best", 1), ("second", 2)]
    (mark,) = await arena.boards.marks(TEAM)
    assert (mark.by, mark.reason, mark.is_deleted) == ("ann", "withdrawn", False)
    with pytest.raises(Conflict, match="archived already"):
        await arena.boards.archive_agent(subject("best"), by="ann", reason="again")
    await arena.boards.restore_agent(subject("best"), by="ann", reason="back")
    assert await ranks(arena) == [("best", 1), ("second", 2)]


async def test_an_archived_run_is_hidden_in_lists_and_counts_all_the_same(arena: Arena):
    run = await run_of(arena, "a", 20)
    await arena.boards.archive_run(TEAM, run.id, by="ann", reason="noise")
    assert await arena.runs.list(TEAM, with_archived=False) == []
    assert [one.is_archived for one in await arena.runs.list(TEAM, with_archived=True)] == [True]
    assert (await arena.runs.get(run.id, TEAM)).is_archived
    assert (await entry_of(arena, "a")).benchmark_score == 100.0


async def test_a_deleted_run_counts_no_longer_and_leaves_its_mark(arena: Arena):
    await run_of(arena, "a", 10)
    best = await run_of(arena, "a", 20)
    await arena.boards.delete_run(TEAM, best.id, by="op", reason="wrong key")
    entry = await entry_of(arena, "a")
    assert (entry.benchmark_score, entry.runs, entry.execution_count) == (50.0, 1, 20)
    with pytest.raises(NotFound):
        await arena.runs.get(best.id, TEAM)
    (mark,) = await arena.boards.marks(TEAM)
    assert mark.is_deleted and mark.run_id == best.id and mark.summary is not None
    assert mark.summary["score_percent"] == 100.0
    last = (await arena.boards.events(TEAM))[0]
    assert (last.kind, last.by, last.run_id) == (BoardEventKind.DELETED, "op", best.id)


async def test_deleting_the_last_run_of_a_version_shows_the_one_before(arena: Arena):
    await run_of(arena, "a", 20)
    first = (await board_of(arena)).suite_version
    newer = await run_of(arena, "a", 5, EDITED)
    await arena.boards.delete_run(TEAM, newer.id, by="op", reason="mistake")
    board = await board_of(arena)
    assert (board.suite_version, board.leaderboard[0].benchmark_score) == (first, 100.0)


async def test_a_deleted_agent_is_gone_from_every_board_but_not_from_the_log(arena: Arena):
    await run_of(arena, "a", 10)
    await run_of(arena, "b", 20)
    await arena.scores.submit_feedback(subject("b"), rating=5, user_id="ann", comment="nice")
    await arena.boards.delete_agent(subject("b"), by="op", reason="on request")
    assert await ranks(arena) == [("a", 1)]
    assert await arena.scores.feedback(TEAM) == []
    assert {one.is_deleted for one in await arena.boards.marks(TEAM)} == {True}
    assert [one.agent_id for one in await arena.boards.events(TEAM, agent_id="b")]


async def test_a_run_that_is_not_over_cannot_be_deleted(arena: Arena):
    new = NewRun(team_id=TEAM, agent_id="a", agent_version="1.0.0", is_full=True)
    run = await create_run(arena.database, new, OLD_SUITE)
    with pytest.raises(Conflict, match="cancel it first"):
        await arena.boards.delete_run(TEAM, run.id, by="op", reason="now")
    with pytest.raises(NotFound):
        await arena.boards.delete_run("blue", run.id, by="op", reason="not mine")


# Where a run comes from.


async def test_a_reported_run_is_a_claim_and_ranked_only_if_the_team_says_so(arena: Arena):
    await run_of(arena, "here", 10)
    await run_of(arena, "claimed", 20, provenance=Provenance.REPORTED)
    assert await ranks(arena) == [("here", 1), ("claimed", None)]
    entry = await entry_of(arena, "claimed")
    assert entry.provenance is Provenance.REPORTED
    assert "reported from elsewhere" in str(entry.unranked_because)
    await arena.boards.rank_reported(TEAM, True, "ann")
    assert await ranks(arena) == [("claimed", 1), ("here", 2)]
    await arena.boards.rank_reported(TEAM, False, "ann")
    assert await ranks(arena) == [("here", 1), ("claimed", None)]


async def test_a_claim_never_takes_the_place_of_a_run_that_was_executed_here(arena: Arena):
    await run_of(arena, "a", 10)
    await run_of(arena, "a", 20, provenance=Provenance.REPORTED)
    entry = await entry_of(arena, "a")
    assert (entry.benchmark_score, entry.provenance, entry.runs) == (50.0, Provenance.RUN_HERE, 1)


# The default suite.


async def test_the_first_complete_run_decides_the_default_until_somebody_chooses(arena: Arena):
    await run_of(arena, "a", 10)
    own = [a_test(id="own1", prompt="mine")]
    await run_of(arena, "b", 1, own, suite=Suite(name="own", tests=tuple(own)))
    assert (await board_of(arena)).suite == "words"
    await arena.boards.choose_default(TEAM, "own", "ann")
    board = await board_of(arena)
    assert (board.suite, board.is_default_suite) == ("own", True)
    assert [(e.agent_id, e.rank) for e in board.leaderboard] == [("b", 1), ("a", None)]
    with pytest.raises(NotFound, match="own"):
        await arena.boards.choose_default(TEAM, "owl")


async def test_a_run_moves_the_board_once_at_its_end(arena: Arena):
    new = NewRun(team_id=TEAM, agent_id="a", agent_version="1.0.0", is_full=True)
    run = await create_run(arena.database, new, OLD_SUITE[:2])
    await claim(arena.database, run.id, "me")
    for test in OLD_SUITE[:2]:
        await add_results(arena.database, run.id, "me", [executed(test, test_id=test.id)])
        assert await arena.boards.events(TEAM) == []
    await finish(arena.database, run.id, "me", None)
    (event,) = await arena.boards.events(TEAM)
    assert (event.kind, event.run_id) == (BoardEventKind.RUN_COMPLETED, run.id)
    assert event.before is None and event.after is not None and event.after.rank == 1


async def test_copies_of_a_test_do_not_narrow_the_interval_of_a_benchmark(arena: Arena):
    await run_of(arena, "a", 6, OLD_SUITE[:10], suite=Suite(name="s", tests=tuple(OLD_SUITE[:10])))
    interval = (await entry_of(arena, "a")).intervals.benchmark
    copies = [
        a_test(id=f"{test.id}-{copy}", prompt=test.prompt)
        for test in OLD_SUITE[:10]
        for copy in range(10)
    ]
    whole = Suite(name="copied", tests=tuple(copies))
    await run_of(arena, "a", 60, copies, suite=whole)
    (entry,) = (await board_of(arena, suite="copied")).leaderboard
    assert (entry.tests, entry.benchmark_score) == (100, 60.0)
    assert entry.intervals.benchmark == interval


# What must not take a board over, or change what it compares.


async def test_a_claim_of_another_version_does_not_take_the_board_over(arena: Arena):
    await run_of(arena, "good", 20)
    before = await board_of(arena)
    one = EDITED[:1]
    claim_of = Suite(name="words", tests=tuple(one))
    await run_of(arena, "other", 1, one, suite=claim_of, provenance=Provenance.REPORTED)
    after = await board_of(arena)
    assert after.suite_version == before.suite_version
    assert [(e.agent_id, e.rank) for e in after.leaderboard] == [("good", 1), ("other", None)]
    await arena.boards.rank_reported(TEAM, True, "ann")
    assert (await board_of(arena)).suite_version == claim_of.version
    await arena.boards.rank_reported(TEAM, False, "ann")
    assert (await board_of(arena)).suite_version == before.suite_version
    assert "a reported run of words" in str([e.reason for e in await arena.boards.events(TEAM)])


async def test_more_trials_of_a_test_give_it_no_more_weight(arena: Arena):
    await run_of(arena, "steady", 15)
    tests = [a_test(id="t0", prompt="question 0", trials=100), *OLD_SUITE[1:]]
    whole = Suite(name="words", tests=tuple(tests))
    new = NewRun(team_id=TEAM, agent_id="lucky", agent_version="1.0.0", is_full=True)
    run = await create_run(arena.database, new, tests, whole)
    await claim(arena.database, run.id, "me")
    results = [
        executed(test, test_id=test.id, trial=trial, passed=place < 5)
        for place, test in enumerate(tests)
        for trial in range(1, test.trials + 1)
    ]
    await add_results(arena.database, run.id, "me", results)
    await finish(arena.database, run.id, "me", None)
    assert await ranks(arena) == [("steady", 1), ("lucky", 2)]
    entry = await entry_of(arena, "lucky")
    assert (entry.benchmark_score, entry.tests) == (25.0, 20)


async def test_what_was_only_pushed_is_never_newer_than_the_tests_of_the_server(arena: Arena):
    await run_of(arena, "good", 20)
    before = await board_of(arena)
    one = EDITED[:1]
    pushed = KnownVersion(
        name="words", label="smear", fingerprints={test.id: test.fingerprint for test in one}
    )
    async with arena.database.writing() as connection:
        await adopt_version(connection, TEAM, pushed, clock.now(), is_claimed=True)
    again = {"provenance": Provenance.RE_EXECUTED}
    await run_of(arena, "other", 1, one, suite=Suite(name="words", tests=tuple(one)), **again)
    board = await board_of(arena)
    assert board.suite_version == before.suite_version
    assert await ranks(arena) == [("good", 1), ("other", None)]
    kinds = [event.kind for event in await arena.boards.events(TEAM)]
    assert BoardEventKind.TESTS_EDITED not in kinds
    # A team that ranks what was pushed trusts it.
    await arena.boards.rank_reported(TEAM, True, "ann")
    assert (await board_of(arena)).suite_version == pushed.version
    await arena.boards.rank_reported(TEAM, False, "ann")
    assert (await board_of(arena)).suite_version == before.suite_version
    # Once the tests here are that version, it is the newest one.
    await run_of(arena, "good", 1, one, suite=Suite(name="words", tests=tuple(one)))
    assert (await board_of(arena)).suite_version == pushed.version


async def test_a_claim_gives_no_label_to_a_version_that_was_run_here(arena: Arena):
    await run_of(arena, "good", 20)
    prints = {test.id: test.fingerprint for test in OLD_SUITE}
    pushed = KnownVersion(name="words", label="smear", fingerprints=prints)
    async with arena.database.writing() as connection:
        await adopt_version(connection, TEAM, pushed, clock.now(), is_claimed=True)
    assert (await board_of(arena)).suite_label is None


async def test_a_claim_does_not_say_that_the_file_of_an_agent_changed(arena: Arena):
    await run_of(arena, "a", 20, provenance=Provenance.REPORTED, agent_digest="0" * 64)
    await run_of(arena, "a", 20, agent_digest="1" * 64)
    assert not (await entry_of(arena, "a")).is_other_file


async def test_a_partial_run_of_an_earlier_version_shows_its_board_again(arena: Arena):
    await run_of(arena, "a", 20)
    first = (await board_of(arena)).suite_version
    await run_of(arena, "b", 10, EDITED)
    whole = Suite(name="words", tests=tuple(OLD_SUITE))
    await run_of(arena, "b", 1, OLD_SUITE[:1], suite=whole, is_full=False)
    board = await board_of(arena)
    assert (board.suite_version, board.newer) == (first, [])
    past = await arena.scores.leaderboard(TEAM, BoardFilter(), limit=100, at=clock.now())
    assert past.leaderboard == board.leaderboard


async def test_a_group_means_the_same_for_every_run_on_a_board(arena: Arena):
    await run_of(arena, "a", 15)
    grouped = [replace(test, group="rows") for test in OLD_SUITE]
    await run_of(arena, "b", 15, grouped)
    board = await board_of(arena)
    a, b = board.leaderboard
    assert a.intervals.benchmark == b.intervals.benchmark
    assert a.intervals.benchmark is not None and a.intervals.benchmark.width > 60
    reasons = [event.reason for event in await arena.boards.events(TEAM)]
    assert any("groups of words changed" in reason for reason in reasons)
    past = await arena.scores.leaderboard(TEAM, BoardFilter(), limit=100, at=clock.now())
    assert past.leaderboard == board.leaderboard


def placed(hard: int, tag: str = "x") -> list[Test]:
    """Six tests, of which the first are hard and have the tag."""
    return [
        a_test(
            id=f"t{number}",
            prompt=f"question {number}",
            category="hard" if number < hard else "easy",
            tags=(tag,) if number < hard else (),
        )
        for number in range(6)
    ]


async def test_the_board_of_a_category_ranks_by_the_tests_of_that_category(arena: Arena):
    tests = placed(4)
    whole = Suite(name="words", tests=tuple(tests))
    await run_of(arena, "all", 3, tests, suite=whole)
    # Three of the six tests, but only one of the four hard ones.
    await run_of(arena, "few", 1, [tests[0], *tests[4:]], suite=whole)
    assert await ranks(arena) == [("all", 1), ("few", 2)]
    board = await board_of(arena, group=("category", "hard"))
    assert [(e.agent_id, e.rank, e.tests, e.suite_tests) for e in board.leaderboard] == [
        ("all", 1, 4, 4),
        ("few", None, 1, 4),
    ]


async def test_a_tag_means_the_same_for_every_run_on_a_board(arena: Arena):
    before, after = placed(6), placed(2)
    await run_of(arena, "a", 2, before)
    await run_of(arena, "b", 2, after)
    board = await board_of(arena, group=("tag", "x"))
    # The version is the same, and both passed the two tests that have the tag now.
    assert [(e.agent_id, e.rank, e.benchmark_score, e.tests) for e in board.leaderboard] == [
        ("a", 1, 100.0, 2),
        ("b", 1, 100.0, 2),
    ]


async def test_what_is_not_the_whole_suite_is_never_its_current_version(arena: Arena):
    await run_of(arena, "a", 20)
    events = len(await arena.boards.events(TEAM))
    mixed = Suite(name="words", tests=tuple(EDITED), is_mixed=True)
    await run_of(arena, "a", 20, EDITED, suite=mixed, is_full=False)
    board = await board_of(arena)
    assert board.newer == []
    (ended,) = (await arena.boards.events(TEAM))[: -events or None]
    assert ended.reason == "a run of words ended (completed, but partial): 20 executions"


async def test_the_log_says_where_an_agent_stood_before_the_tests_were_edited(arena: Arena):
    await run_of(arena, "a", 20)
    await run_of(arena, "a", 10, EDITED)
    event = (await arena.boards.events(TEAM))[0]
    assert event.before is not None and event.after is not None
    assert (event.before.benchmark_score, event.after.benchmark_score) == (100.0, 50.0)


async def test_going_back_to_an_earlier_version_is_logged(arena: Arena):
    await run_of(arena, "a", 20)
    await run_of(arena, "a", 20, EDITED)
    await run_of(arena, "a", 20)
    kinds = [event.kind for event in await arena.boards.events(TEAM)]
    assert kinds.count(BoardEventKind.TESTS_EDITED) == 2


async def test_a_deleted_agent_cannot_be_deleted_or_archived_again(arena: Arena):
    await run_of(arena, "a", 20)
    await arena.boards.delete_agent(subject("a"), by="op", reason="on request")
    with pytest.raises(NotFound, match="nothing to delete"):
        await arena.boards.delete_agent(subject("a"), by="op", reason="again")
    with pytest.raises(NotFound, match="nothing to archive"):
        await arena.boards.archive_agent(subject("a"), by="op", reason="again")


async def test_an_agent_that_is_not_ranked_does_not_win_a_comparison(arena: Arena):
    whole = Suite(name="words", tests=tuple(OLD_SUITE))
    await run_of(arena, "all", 10, suite=whole)
    await run_of(arena, "few", 4, OLD_SUITE[:4], suite=whole)
    found = await arena.scores.compare([subject("all"), subject("few")])
    assert found.winner is None


async def test_an_event_says_where_an_agent_stands_on_the_board_of_its_suite(arena: Arena):
    await run_of(arena, "a", 20)
    own = [a_test(id=f"own{number}", prompt=f"mine {number}") for number in range(4)]
    for agent, passed in (("b", 4), ("a", 1)):
        await run_of(arena, agent, passed, own, suite=Suite(name="own", tests=tuple(own)))
    event = (await arena.boards.events(TEAM))[0]
    assert event.before is None and event.after is not None
    assert (event.suite, event.after.rank, event.after.benchmark_score) == ("own", 2, 25.0)
