"""Scores: feedback, reported executions, the leaderboard, comparisons."""

import asyncio
from collections.abc import Sequence
from dataclasses import replace
from typing import Annotated, Any, Literal
from uuid import UUID

from pydantic import Field

from arena import clock
from arena.clock import Moment
from arena.errors import InvalidInput, NotFound
from arena.fields import (
    MAX_NAME_LENGTH,
    AgentId,
    NameFilter,
    NewestVersion,
    NonBlank,
    VersionFilter,
    split_agent,
)
from arena.models.message import Message, Role
from arena.models.step import MAX_STEPS, Step
from arena.models.usage import Usage, priced
from arena.operations import paging
from arena.operations.operation import OperationGroup, get, post
from arena.operations.request import Request
from arena.scoring.board import BoardFilter, Leaderboard, Recalculated
from arena.scoring.comparison import Comparison
from arena.scoring.history import (
    Execution,
    ExecutionDetails,
    ExecutionsReported,
    ExecutionStatus,
    FeedbackCreated,
    FeedbackList,
    Source,
    Subject,
    Transcript,
)
from arena.scoring.matrix import Matrix, Standing
from arena.scoring.pareto import Pareto

MAX_COMPARED = 20

Text = Annotated[str | None, Field(max_length=10_000)]
Tokens = Annotated[int | None, Field(ge=0, le=10**12)]
Dollars = Annotated[float | None, Field(ge=0, le=10**9, allow_inf_nan=False)]
AgentNames = Annotated[
    str, Field(max_length=4000, examples=["qa-web-manager@1.0.0,qa-mobile-manager@1.0.0"])
]
ExecutionName = Annotated[
    str, Field(min_length=1, max_length=200, description="Its id, or its idempotency key.")
]

ComparedSuite = Annotated[
    NameFilter,
    Field(description="Default: one that most of the agents have a run on."),
]


class MessageReport(Request):
    """One message of a conversation with an agent."""

    role: Role
    content: str


class StepReport(Request):
    """One tool call of an agent."""

    tool: str = Field(min_length=1, max_length=1000)
    arguments: Any = None
    result: Any = None
    error: str | None = None
    time: Moment | None = None
    turn: int | None = Field(default=None, ge=1)


class ExecutionReport(Request):
    """One execution that happened in your own system."""

    agent_id: AgentId
    version: NewestVersion = None
    status: Literal["completed", "failed", "timeout", "error", "cancelled"] = Field(
        description="Only `completed` is a success: it finished and answered in time."
    )
    idempotency_key: str | None = Field(
        default=None,
        min_length=1,
        max_length=200,
        description="An execution sent again with the same key is counted once.",
    )
    input_tokens: Tokens = None
    output_tokens: Tokens = None
    model: str | None = Field(default=None, max_length=200)
    cost_usd: Dollars = None
    duration_seconds: Dollars = None
    finished_at: Moment | None = Field(default=None, description="Default: now.")
    messages: list[MessageReport] | None = Field(
        default=None, max_length=1000, description="What the user said and the agent replied."
    )
    steps: list[StepReport] | None = Field(
        default=None, max_length=MAX_STEPS, description="The tools that the agent called, in order."
    )
    output: str | None = Field(default=None, description="The answer. Default: the last message.")


class ScoreOperations(OperationGroup):
    """Feedback, reported executions, the leaderboard, comparisons."""

    @post("/api/benchmarks/feedback", tag="scores", errors=(404, 409), body="FeedbackCreate")
    async def submit_feedback(
        self,
        agent_id: AgentId,
        rating: Annotated[int, Field(strict=True, ge=1, le=5, examples=[5])],
        *,
        version: Annotated[NewestVersion, Field(examples=["1.0.0"])] = None,
        comment: Annotated[Text, Field(examples=["Excellent navigation capabilities"])] = None,
        task_description: Annotated[Text, Field(examples=["Navigate to settings"])] = None,
        user_id: Annotated[
            NonBlank,
            Field(
                max_length=MAX_NAME_LENGTH,
                description="Who rates. A user has one current rating per agent version and "
                "execution.",
            ),
        ] = "anonymous",
        execution_id: Annotated[
            UUID | None, Field(description="The execution that the rating is about.")
        ] = None,
    ) -> FeedbackCreated:
        """Rate an agent with 1 to 5 stars; a user's later rating replaces the earlier one."""
        feedback = await self.arena.scores.submit_feedback(
            await self._subject(agent_id, version),
            rating=rating,
            user_id=user_id,
            execution_id=execution_id,
            comment=comment,
            task_description=task_description,
        )
        return FeedbackCreated(feedback_id=feedback.id)

    @get("/api/benchmarks/feedback", id="list_feedback", tag="scores")
    async def feedback(
        self,
        *,
        agent_id: NameFilter = None,
        version: VersionFilter = None,
        history: Annotated[bool, Field(description="Also ratings that were replaced.")] = False,
        limit: paging.Limit = 20,
        cursor: paging.Cursor = None,
    ) -> FeedbackList:
        """List the team's ratings, newest first."""
        found = await self.arena.scores.feedback(
            self.team,
            agent_id=agent_id,
            version=version,
            with_history=history,
            limit=limit + 1,
            before=paging.decode_moment(cursor),
        )
        page = found[:limit]
        last = page[-1] if len(found) > limit else None
        return FeedbackList(
            feedback=page,
            count=len(page),
            next_cursor=paging.encode(last.created_at.isoformat(), last.id) if last else None,
        )

    @post("/api/benchmarks/executions", tag="scores", errors=(404, 409), body="ExecutionsReport")
    async def report_executions(
        self, executions: Annotated[list[ExecutionReport], Field(min_length=1, max_length=1000)]
    ) -> ExecutionsReported:
        """Report executions that happened in your own system; all are recorded, or none."""
        names = dict.fromkeys((one.agent_id, one.version) for one in executions)
        subjects = {name: await self._subject(*name) for name in names}
        # In a thread: the price list takes half a second to load.
        priced = await asyncio.to_thread(lambda: [_execution(one) for one in executions])
        batch = [
            (subjects[one.agent_id, one.version], execution)
            for one, execution in zip(executions, priced, strict=True)
        ]
        return await self.arena.scores.report_executions(self.team, batch)

    @get(
        "/api/benchmarks/executions/{execution_id}",
        id="get_execution",
        tag="scores",
        errors=(404,),
    )
    async def execution(self, execution_id: ExecutionName) -> ExecutionDetails:
        """One execution, with what its report says about it."""
        return await self.arena.scores.execution(self.team, execution_id)

    @get("/api/benchmarks/leaderboard", id="get_leaderboard", tag="scores")
    async def leaderboard(
        self,
        *,
        category: Annotated[
            NameFilter, Field(description="Only tests of this category count.")
        ] = None,
        tag: Annotated[NameFilter, Field(description="Only tests with this tag count.")] = None,
        min_coverage: Annotated[
            float, Field(ge=0, le=1, description="Only scores with data for this much weight.")
        ] = 0.0,
        agent_id: Annotated[NameFilter, Field(description="Only its versions; ranks stay.")] = None,
        suite: Annotated[
            NameFilter, Field(description="Default: the default suite of the team.")
        ] = None,
        version: Annotated[
            NameFilter,
            Field(description="Of the suite: its label or first digits. Default: the one shown."),
        ] = None,
        at: Annotated[Moment | None, Field(description="The board as it was then.")] = None,
        archived: Annotated[bool, Field(description="Also archived agents.")] = False,
        limit: paging.Limit = 20,
        cursor: paging.Cursor = None,
    ) -> Leaderboard:
        """The agents on the board of a suite, best first, with the ranks their intervals allow."""
        if category and tag:
            raise InvalidInput("category and tag: give one of them")
        group = ("category", category) if category else ("tag", tag) if tag else None
        selection = BoardFilter(
            suite=suite,
            version=version,
            group=group,
            min_coverage=min_coverage,
            agent_id=agent_id,
            with_archived=archived,
        )
        offset = paging.decode_number(cursor)
        board = await self.arena.scores.leaderboard(
            self.team, selection, at=at, limit=limit, offset=offset
        )
        end = offset + board.count
        # An offset beyond the end has no next page.
        has_more = board.count and end < board.total
        return replace(board, next_cursor=paging.encode(end) if has_more else None)

    @get("/api/benchmarks/compare", tag="scores")
    async def compare_agents(
        self, agents: AgentNames, *, suite: ComparedSuite = None
    ) -> Comparison:
        """Compare agents: who is ahead, where they differ, and whether it is significant."""
        return await self.arena.scores.compare(_subjects(agents, self.team), suite)

    async def compare(self, agents: Sequence[str], *, suite: str | None = None) -> Comparison:
        """Compare agents, each named as `agent@version`."""
        return await self.compare_agents(",".join(agents), suite=suite)

    @get("/api/benchmarks/compare/tests", tag="scores")
    async def compare_tests(
        self,
        agents: AgentNames,
        *,
        suite: ComparedSuite = None,
        differing: Annotated[
            bool, Field(description="Only tests on which the agents differ.")
        ] = False,
        limit: paging.Limit = 500,
        cursor: paging.Cursor = None,
    ) -> Matrix:
        """Every test of the agents' latest full runs, with the results of each agent."""
        start = paging.decode_number(cursor)
        matrix = await self.arena.scores.matrix(
            _subjects(agents, self.team),
            suite=suite,
            only_differing=differing,
            limit=limit,
            offset=start,
        )
        has_more = start + limit < matrix.total
        return replace(matrix, next_cursor=paging.encode(start + limit) if has_more else None)

    async def matrix(
        self,
        agents: Sequence[str],
        *,
        suite: str | None = None,
        differing: bool = False,
        limit: int = 500,
        cursor: str | None = None,
    ) -> Matrix:
        """A page of tests against agents, each named as `agent@version`."""
        return await self.compare_tests(
            ",".join(agents), suite=suite, differing=differing, limit=limit, cursor=cursor
        )

    @get("/api/benchmarks/pareto", id="get_pareto", tag="scores")
    async def pareto(
        self,
        *,
        suite: Annotated[NameFilter, Field(description="Default: the default suite.")] = None,
    ) -> Pareto:
        """Accuracy against cost: the agents that no other beats on both."""
        return await self.arena.scores.pareto(self.team, suite)

    @post(
        "/api/benchmarks/scores/recalculate",
        id="recalculate_scores",
        tag="scores",
        errors=(404, 409),
        query=("agent_id", "version"),
    )
    async def recalculate(
        self,
        agent_id: Annotated[NameFilter, Field(description="Default: all.")] = None,
        version: VersionFilter = None,
    ) -> Recalculated:
        """Recompute the team's scores from the raw rows."""
        subject = await self._subject(agent_id, version) if agent_id else None
        if not self.arena.settings.is_queued:
            return await self.arena.scores.recalculate(self.team, subject)
        named = {"agent_id": subject.agent_id, "version": subject.version} if subject else {}
        return Recalculated(**await self.arena.jobs.chores.ask("recalculate", self.team, named))

    @get(
        "/api/benchmarks/tests/{test_id}/standing",
        id="get_test_standing",
        tag="tests",
        errors=(404,),
    )
    async def standing(self, test_id: str) -> Standing:
        """The results of a test in the latest full run of each agent, and its discrimination."""
        test = self.arena.catalog.current.test(test_id)
        return await self.arena.scores.standing(self.team, test)

    async def _subject(self, agent_id: str, version: str | None) -> Subject:
        """The agent version to score: a registered one, or one with evidence."""
        scores, registry = self.arena.scores, self.arena.registry
        registry.refresh()
        if version is not None:
            subject = Subject(team_id=self.team, agent_id=agent_id, version=version)
            if await scores.entry(subject):
                return subject
        try:
            agent = registry.find(agent_id, version)
        except NotFound:
            # It may have been run from a folder that is not registered here.
            known = await scores.newest(self.team, agent_id) if version is None else None
            if known is None:
                raise
            return known
        return Subject(team_id=self.team, agent_id=agent.id, version=agent.version)


def _execution(report: ExecutionReport) -> Execution:
    """The reported execution, with its cost if the model's price is known."""
    usage = Usage(
        input_tokens=report.input_tokens,
        output_tokens=report.output_tokens,
        model=report.model,
        cost_usd=report.cost_usd,
    )
    return Execution(
        status=ExecutionStatus(report.status),
        source=Source.REPORTED,
        created_at=report.finished_at or clock.now(),
        usage=priced(usage),
        duration_seconds=report.duration_seconds,
        idempotency_key=report.idempotency_key,
        transcript=_transcript(report),
    )


def _transcript(report: ExecutionReport) -> Transcript | None:
    if report.messages is None and report.steps is None and report.output is None:
        return None
    steps = [Step(**one.model_dump()) for one in report.steps or ()]
    return Transcript(
        messages=tuple(Message(**one.model_dump()) for one in report.messages or ()),
        steps=tuple(steps),
        output=report.output,
    ).storable()


def _subjects(agents: str, team: str) -> list[Subject]:
    """Parse the agents of a comparison: `agent@version`, separated by commas."""
    subjects: list[Subject] = []
    for entry in agents.split(","):
        agent_id, version = split_agent(entry.strip())
        if not agent_id or not version or ":" in version:
            raise InvalidInput(f"agents: {entry!r} is not agent@version, as in my-agent@1.0.0")
        subjects.append(Subject(team_id=team, agent_id=agent_id, version=version))
    if not 2 <= len(subjects) <= MAX_COMPARED:
        raise InvalidInput(f"agents: name 2 to {MAX_COMPARED} agents, not {len(subjects)}")
    return subjects
