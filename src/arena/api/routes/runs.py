"""Do it: runs are created, executed, watched, cancelled and read."""

from collections.abc import AsyncGenerator
from contextlib import aclosing
from dataclasses import replace
from typing import Annotated, Literal
from uuid import UUID

from fastapi import Header, Query, Response
from fastapi.responses import StreamingResponse

from arena import schemas
from arena.api import streaming
from arena.api.access import NamedTeam, Team
from arena.api.arena import House
from arena.api.problems import responses
from arena.api.room import room_router
from arena.assembly import Arena
from arena.errors import InvalidInput
from arena.operations import paging
from arena.runs.executor import RunRequest
from arena.runs.run import Progress, Result, ResultEvent, Run, RunEvent, RunStatus

router = room_router("/api/benchmarks", "runs")

Wait = Annotated[bool, Query(description="Answer when the run is done; false answers 202 at once.")]


@router.post("/run", responses=responses(404, 409))
async def create_run(house: House, team: Team, body: schemas.RunCreate) -> schemas.RunCreated:
    """Create a benchmark run of an agent; it waits until it is executed."""
    house.registry.refresh()
    request = RunRequest(
        team_id=team,
        agent_id=body.agent_id,
        version=body.version,
        category=body.category,
        test_ids=tuple(body.test_ids or ()),
        trials=body.trials,
        concurrency=body.concurrency,
    )
    run = await house.executor.create(request)
    return schemas.RunCreated(
        run_id=run.id,
        agent_id=run.agent_id,
        version=run.agent_version,
        total_tests=run.total_tests,
        status=run.status,
    )


@router.post(
    "/run/{run_id}/execute",
    responses={202: {"model": schemas.RunExecuted}, **responses(404, 409)},
)
async def execute_run(
    house: House, team: Team, run_id: UUID, response: Response, wait: Wait = True
) -> schemas.RunExecuted:
    """Execute a pending run."""
    house.registry.refresh()
    run = await house.executor.start(run_id, team)
    return await _executed(house, run, response, wait)


@router.post(
    "/runs/{run_id}/resume",
    responses={202: {"model": schemas.RunExecuted}, **responses(404, 409)},
)
async def resume_run(
    house: House, team: Team, run_id: UUID, response: Response, wait: Wait = True
) -> schemas.RunExecuted:
    """Go on with a run that was interrupted, or that the infrastructure stopped."""
    house.registry.refresh()
    run = await house.executor.resume(run_id, team)
    return await _executed(house, run, response, wait)


@router.post("/runs/{run_id}/cancel", responses=responses(404, 409))
async def cancel_run(house: House, team: Team, run_id: UUID) -> schemas.Run:
    """Stop a run for good; the results it has stay."""
    return shown(await house.executor.cancel(run_id, team))


@router.get("/runs", responses=responses())
async def list_runs(
    house: House,
    team: Team,
    agent_id: Annotated[str | None, Query(max_length=100)] = None,
    status: Annotated[RunStatus | None, Query()] = None,
    limit: paging.Limit = 20,
    cursor: paging.Cursor = None,
) -> schemas.RunList:
    """List the team's runs, newest first."""
    runs = await house.runs.list(
        team,
        agent_id=agent_id,
        status=status,
        limit=limit + 1,
        before=paging.decode_moment(cursor),
    )
    page = runs[:limit]
    has_more = len(runs) > limit
    return schemas.RunList(
        runs=[shown(run) for run in page],
        count=len(page),
        next_cursor=paging.encode(page[-1].created_at.isoformat(), page[-1].id)
        if has_more
        else None,
    )


@router.get("/runs/{run_id}", responses=responses(404))
async def get_run(
    house: House,
    team: NamedTeam,
    run_id: UUID,
    outcome: Annotated[
        Literal["passed", "failed", "awaiting"] | None,
        Query(description="Only these results; `awaiting` are those that people have to judge."),
    ] = None,
    limit: paging.Limit = 1000,
    cursor: paging.Cursor = None,
) -> schemas.RunDetails:
    """A run with a page of its results, in the order they were recorded."""
    run = await house.runs.get(run_id, team)
    page = await house.runs.results(
        run_id,
        after=paging.decode_number(cursor),
        limit=limit,
        outcome=outcome,
    )
    trials = await _trials(house, run)
    per_test = {test.test_id: test for test in trials.tests} if trials else {}
    return schemas.RunDetails(
        run=shown(run),
        results=[shown_result(one, per_test.get(one.test_id)) for one in page.results],
        count=len(page.results),
        next_cursor=paging.encode(page.results[-1].sequence) if page.has_more else None,
        errors=[
            schemas.RunError.model_validate(error) for error in await house.runs.errors(run_id)
        ],
        categories=[
            schemas.CategoryCount.model_validate(one) for one in await house.runs.categories(run_id)
        ],
        trials=trials,
        cost_usd_per_passed_test=_cost_per_pass(run),
    )


@router.get(
    "/runs/{run_id}/events",
    response_class=StreamingResponse,
    responses={
        200: {
            "description": "Server-sent events: `progress`, `result` and, last, `end`.",
            "content": {"text/event-stream": {"schema": {"type": "string"}}},
        },
        **responses(404),
    },
)
async def watch_run(
    house: House,
    team: NamedTeam,
    run_id: UUID,
    results: Annotated[bool, Query(description="Tell each result too.")] = True,
    last_event_id: Annotated[str | None, Header(max_length=20)] = None,
) -> StreamingResponse:
    """Watch a run as server-sent events until it has ended or waits for people."""
    await house.runs.get(run_id, team)
    after = int(last_event_id) if last_event_id and last_event_id.isdecimal() else 0
    if after >= 2**31:
        raise InvalidInput(f"Last-Event-ID {last_event_id} is not one that Arena gave out")
    events = house.watcher.watch(run_id, team, after=after, with_results=results)
    return streaming.stream(_told(events))


async def _told(events: AsyncGenerator[RunEvent]) -> AsyncGenerator[str]:
    """The events of a run in the form of the wire."""
    run: Run | None = None
    async with aclosing(events):
        async for event in events:
            run = event.run
            for result in event.results:
                yield streaming.event("result", _result_event(result), ident=result.sequence)
            yield streaming.event("progress", progress(run))
    if run is not None:
        yield streaming.event("end", progress(run))


async def _executed(house: House, run: Run, response: Response, wait: bool) -> schemas.RunExecuted:
    if wait:
        run = await house.executor.wait(run.id)
    else:
        response.status_code = 202
    return schemas.RunExecuted(
        run_id=run.id,
        status=run.status,
        passed=run.passed_tests,
        failed=run.failed_tests,
        score_percent=run.score_percent,
        points_percent=run.points_percent,
        total_tests=run.total_tests,
        errored=run.errored_tests,
        awaiting=run.awaiting_tests,
        error_message=run.error_message,
    )


def shown(run: Run) -> schemas.Run:
    """A run by the names of the API."""
    return schemas.Run.model_validate(run)


def shown_result(result: Result, trials: schemas.TestTrials | None = None) -> schemas.Result:
    """A result by the names of the API, with what its test's trials come to."""
    if trials is not None:
        result = replace(result, pass_at_k=trials.pass_at_k, pass_all_k=trials.pass_all_k)
    return schemas.Result.model_validate(result)


async def _trials(house: Arena, run: Run) -> schemas.Trials | None:
    """The repeats of a run's tests; None where every test has one trial."""
    trials = await house.scores.trials(run.id)
    return None if trials is None else schemas.Trials.model_validate(trials)


def _cost_per_pass(run: Run) -> float | None:
    if run.cost_usd is None or run.costed_tests < run.completed_tests or not run.passed_tests:
        return None
    return run.cost_usd / run.passed_tests


def progress(run: Run) -> schemas.Progress:
    """How far a run is."""
    return schemas.Progress.model_validate(Progress.of(run))


def _result_event(event: ResultEvent) -> schemas.ResultEvent:
    return schemas.ResultEvent.model_validate(event)
