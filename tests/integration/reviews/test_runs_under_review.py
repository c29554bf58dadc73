"""Runs that people have to judge, on both databases."""

import asyncio
from contextlib import aclosing
from dataclasses import replace

import pytest

from arena.assembly import Arena, open_arena
from arena.errors import Conflict, NotFound
from arena.evaluation.standard import JudgePrompt
from arena.evaluation.verdict import Submission, Verdict
from arena.reviews import records
from arena.reviews.case import ReviewCase
from arena.reviews.review import ReviewAnswer, ReviewStatus, SubjectKind
from arena.reviews.reviews import Reviews
from arena.runs.dispatch import EmbeddedDispatch
from arena.runs.engine import Engine
from arena.runs.executor import RunExecutor
from arena.runs.owner import Owner
from arena.runs.run import Run, RunRequest, RunStatus
from arena.runs.session import AgentSessions, Retries
from arena.scoring.history import Subject
from arena.settings import Settings
from cid_vectors import has
from factories import write_checklist, write_tests
from reviewing import TEAM, answer, execute, furnish, reviews_of

POET = Subject(team_id=TEAM, agent_id="poet", version="1.0.0")


async def kind_judge(
    standard: JudgePrompt, submission: Submission, _purpose: str | None
) -> Verdict:
    return Verdict(score=90, passed=True, reasoning="good", findings=())


def write_judged(settings: Settings) -> None:
    """A test that a model judges, sorted after all others."""
    write_tests(
        settings.home / "benchmarks" / "zz.yaml",
        agents=["poet"],
        count=1,
        case_sensitive=None,
        validation="judge_prompt",
        expected={"prompt": "p", "criteria": ["c"]},
    )


async def reread(house: Arena, run: Run) -> Run:
    return await house.runs.get(run.id, TEAM)


def counters(run: Run) -> tuple[str, int, int, int, int]:
    return run.status, run.completed_tests, run.passed_tests, run.failed_tests, run.awaiting_tests


async def test_a_run_waits_for_people_and_completes_itself_with_the_last_answer(house: Arena):
    run = await execute(house)
    assert counters(run) == ("awaiting_review", 3, 1, 0, 2)
    assert (run.score_percent, run.completed_at, run.error_message) == (None, None, None)
    first, second = await reviews_of(house)
    assert (first.status, first.item_count) == ("open", 3)
    assert first.subject.id == str(run.id)

    done = await answer(house, first.id, True, True, True)
    assert done.status is ReviewStatus.DONE
    assert counters(await reread(house, run)) == ("awaiting_review", 3, 2, 0, 1)
    await answer(house, second.id, True, False, False)
    run = await reread(house, run)
    assert counters(run) == ("completed", 3, 2, 1, 0)
    assert (run.score_percent, run.points_earned, run.points_percent) == (66.67, 3.0, 60.0)
    assert run.completed_at is not None
    (failed,) = (await house.runs.results(run.id, outcome="failed")).results
    assert failed.score == 33
    assert "not met: true" in (failed.failure_reason or "")
    assert [finding.passed for finding in failed.findings] == [True, False, False]
    assert failed.verdict_cid is not None and has(house.content, failed.verdict_cid)


async def test_a_waiting_result_is_neither_passed_nor_failed(house: Arena):
    run = await execute(house, trials=2)
    waiting = (await house.runs.results(run.id, outcome="awaiting")).results
    assert len(waiting) == 4
    assert {(one.passed, one.score) for one in waiting} == {(None, None)}
    assert len((await house.runs.results(run.id, outcome="failed")).results) == 0
    trials = await house.scores.trials(run.id)
    assert trials is not None and [test.test_id for test in trials.tests] == ["plain_00001"]


async def test_a_run_reaches_the_leaderboard_only_when_it_is_judged(house: Arena):
    run = await execute(house)
    # A run changes the board once, when it ends.
    assert await house.scores.entry(POET) is None
    for review in await reviews_of(house):
        await answer(house, review.id, True, True, True)
    row = await house.scores.entry(POET)
    assert row is not None
    assert (row.benchmark_run_id, row.execution_count) == (run.id, 3)
    assert row.benchmark_score == 100.0
    await house.scores.recalculate(TEAM)
    again = await house.scores.entry(POET)
    assert again == row


async def test_a_run_may_be_judged_while_it_is_still_executed(house: Arena, settings: Settings):
    file = settings.home / "benchmarks" / "late.yaml"
    write_tests(file, agents=["poet"], count=1)
    house.catalog.refresh()
    agent = settings.home / "agents" / "poet.py"
    agent.write_text(
        "import time, pathlib\n\ndef answer(prompt):\n"
        "    gate = pathlib.Path(__file__).with_name('go')\n"
        "    while 'word1' in prompt and not gate.exists(): time.sleep(0.02)\n"
        "    return prompt.upper()\n"
    )
    run = await house.executor.create(RunRequest(team_id=TEAM, agent_id="poet", concurrency=4))
    await house.executor.start(run.id, TEAM)
    while not (waiting := await reviews_of(house)):
        await asyncio.sleep(0.02)
    assert (await answer(house, waiting[0].id, True, True, True)).status == "done"
    assert (await reread(house, run)).status is RunStatus.RUNNING
    (settings.home / "agents" / "go").touch()
    run = await house.executor.wait(run.id)
    assert run.status is RunStatus.AWAITING_REVIEW
    for review in await house.reviews.list(TEAM, status=ReviewStatus.OPEN):
        await answer(house, review.id, True, True, True)
    assert counters(await reread(house, run)) == ("completed", 4, 4, 0, 0)


@pytest.mark.parametrize("attempt", range(5))
async def test_two_last_answers_at_once_complete_the_run_once(house: Arena, attempt: int):
    run = await execute(house)
    first, second = await reviews_of(house)
    for review in (first, second):
        await answer(house, review.id, True, True)
    last = [ReviewAnswer(item=2, passed=True)]
    ended = await asyncio.gather(
        house.reviews.answer(first.id, TEAM, "mia", last),
        house.reviews.answer(second.id, TEAM, "bob", last),
        house.reviews.settle_answered(),
    )
    assert {review.status for review in ended[:2]} == {"done"}
    assert counters(await reread(house, run)) == ("completed", 3, 3, 0, 0)
    assert (await reread(house, run)).points_earned == 5.0
    row = await house.scores.entry(POET)
    assert row is not None and row.benchmark_score == 100.0


async def test_two_reviewers_answer_the_last_two_items_of_one_review_at_once(house: Arena):
    run = await execute(house, test_ids=("odes_00001",))
    (review,) = await reviews_of(house)
    await answer(house, review.id, True)
    await asyncio.gather(
        *(
            house.reviews.answer(
                review.id, TEAM, f"r{item}", [ReviewAnswer(item=item, passed=True)]
            )
            for item in (1, 2)
        )
    )
    assert counters(await reread(house, run)) == ("completed", 1, 1, 0, 0)


async def test_a_resumed_run_keeps_its_reviews(settings: Settings):
    async with open_arena(furnish(settings)) as house:
        run = await execute(house)
        before = await reviews_of(house)
    async with open_arena(settings) as house:
        assert await house.executor.dispatch.resume_interrupted() == []
        with pytest.raises(Conflict, match="awaiting_review, it cannot be resumed"):
            await house.executor.resume(run.id, TEAM)
        assert await reviews_of(house) == before


async def test_a_cancelled_run_closes_its_reviews(house: Arena):
    run = await execute(house)
    first, _ = await reviews_of(house)
    await house.executor.cancel(run.id, TEAM)
    assert {review.status for review in await reviews_of(house)} == {"cancelled"}
    with pytest.raises(Conflict, match="is cancelled, it accepts no more answers"):
        await answer(house, first.id, True, True, True)
    assert (await reread(house, run)).status == "cancelled"


async def test_a_failed_run_can_be_judged_and_waits_again_when_it_is_resumed(
    house: Arena, settings: Settings
):
    write_judged(settings)
    house.catalog.refresh()
    run = await execute(house, concurrency=1)
    assert (run.status, run.errored_tests, run.awaiting_tests) == ("failed", 1, 2)
    first, second = await reviews_of(house)
    await answer(house, first.id, True, True, True)
    assert counters(await reread(house, run)) == ("failed", 3, 2, 0, 1)

    owner = Owner(settings.home / "others")
    engine = Engine(
        database=house.database,
        feed=house.feed,
        token=owner.token,
        sessions=AgentSessions(Retries()),
        resources=replace(house.resources, judge=kind_judge),
    )
    dispatch = EmbeddedDispatch(engine, house.registry, owner)
    executor = RunExecutor(engine, house.catalog, house.registry, dispatch, settings)
    await executor.resume(run.id, TEAM)
    assert counters(await executor.wait(run.id)) == ("awaiting_review", 4, 3, 0, 1)
    await answer(house, second.id, True, True, True)
    assert counters(await reread(house, run)) == ("completed", 4, 4, 0, 0)
    await executor.close()


async def test_other_parts_are_judged_after_the_last_answer(house: Arena, settings: Settings):
    parts = [
        {"validation": "contains", "expected": {"contains": ["never said"]}},
        {"validation": "checklist", "expected": {"items": ["kind", "brief"]}},
    ]
    write_checklist(
        settings.home / "benchmarks" / "both.yaml",
        agents=["poet"],
        count=1,
        validation="all_of",
        expected={"all_of": parts},
        pass_score=80,
    )
    house.catalog.refresh()
    run = await execute(house, test_ids=("both_00001",))
    (review,) = await reviews_of(house)
    answers = [ReviewAnswer(item=item, passed=True, place=(1,)) for item in (0, 1)]
    await house.reviews.answer(review.id, TEAM, "mia", answers)
    (recorded,) = (await house.runs.results(run.id)).results
    assert (recorded.passed, recorded.score) == (False, 50)
    assert "never said" in (recorded.failure_reason or "")


async def test_an_error_leaves_the_review_answered_and_it_is_settled_later(
    house: Arena, settings: Settings
):
    parts = [
        {"validation": "judge_prompt", "expected": {"prompt": "p", "criteria": ["c"]}},
        {"validation": "checklist", "expected": {"items": ["kind"]}},
    ]
    write_checklist(
        settings.home / "benchmarks" / "both.yaml",
        agents=["poet"],
        count=1,
        validation="all_of",
        expected={"all_of": parts},
    )
    house.catalog.refresh()
    run = await execute(house, test_ids=("both_00001",))
    (review,) = await reviews_of(house)
    answers = [ReviewAnswer(item=0, passed=True, place=(1,))]
    left = await house.reviews.answer(review.id, TEAM, "mia", answers)
    assert left.status is ReviewStatus.ANSWERED
    assert "no judge is set up" in (left.trouble or "")
    assert counters(await reread(house, run))[0] == "awaiting_review"
    waiting = await house.reviews.settle_answered()
    assert [one.id for one in waiting.waiting] == [review.id] and not waiting.settled

    resources = replace(house.resources, judge=kind_judge)
    with_judge = Reviews(house.database, resources, {SubjectKind.RUN: house.executor.settle})
    settled = await with_judge.settle_answered()
    assert list(settled.settled) == [review.id]
    assert counters(await reread(house, run)) == ("completed", 1, 1, 0, 0)


async def test_an_answer_changed_while_the_verdict_is_made_is_not_overlooked(house: Arena):
    run = await execute(house, test_ids=("odes_00001",))
    (review,) = await reviews_of(house)
    seen: list[bool] = []

    async def slow(one: ReviewCase, verdict: Verdict) -> None:
        if not seen:
            await records.add_answers(
                house.database, one.review.id, TEAM, "mia", [ReviewAnswer(item=0, passed=False)]
            )
        seen.append(verdict.passed)
        await house.executor.settle(one, verdict)

    reviews = Reviews(house.database, house.resources, {SubjectKind.RUN: slow})
    done = await reviews.answer(
        review.id, TEAM, "mia", [ReviewAnswer(item=item, passed=item < 2) for item in range(3)]
    )
    assert done.status == "done"
    assert seen == [True, False]
    assert counters(await reread(house, run)) == ("completed", 1, 0, 1, 0)


async def test_a_watch_ends_when_the_run_awaits_review(house: Arena):
    run = await execute(house)
    async with aclosing(house.watcher.watch(run.id, TEAM)) as events:
        statuses = [event.run.status async for event in events]
    assert statuses == ["awaiting_review"]


async def test_a_review_is_not_found_by_another_team(house: Arena):
    await execute(house)
    review, _ = await reviews_of(house)
    with pytest.raises(NotFound, match=f"there is no review {review.id}"):
        await house.reviews.answer(review.id, "others", "eve", [ReviewAnswer(item=0, passed=True)])
    with pytest.raises(NotFound):
        await house.reviews.get(review.id, "others")
    assert await house.reviews.list("others") == []


async def test_a_reviewer_gets_the_prompt_and_the_whole_answer(house: Arena):
    await execute(house, test_ids=("odes_00001",))
    (review,) = await reviews_of(house)
    details = await house.reviews.get(review.id, TEAM)
    assert (details.prompt, details.submission) == ("say word1", "SAY WORD1")
    assert [item.text for item in details.items] == ["clear", "true", "short"]
    assert not details.truncated
