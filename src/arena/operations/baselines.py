"""Baselines: runs with a name that later runs of their suite are compared with."""

from typing import Annotated
from uuid import UUID

from pydantic import Field

from arena.fields import MAX_NAME_LENGTH, MAX_VERSION_LENGTH, AgentId, NameFilter
from arena.operations.boards import By
from arena.operations.operation import OperationGroup, get, post
from arena.scoring.baseline import Baseline, BaselineList
from arena.scoring.history import Subject

BaselineName = Annotated[str, Field(min_length=1, max_length=MAX_NAME_LENGTH, examples=["main"])]
BaselineSuite = Annotated[
    NameFilter, Field(description="Needed only if several suites have the name.")
]
Version = Annotated[str, Field(min_length=1, max_length=MAX_VERSION_LENGTH, examples=["1.0.0"])]


class BaselineOperations(OperationGroup):
    """Baselines."""

    @get("/api/benchmarks/baselines", id="list_baselines", tag="runs")
    async def baselines(
        self,
        *,
        name: Annotated[NameFilter, Field(description="Only baselines with this name.")] = None,
        suite: NameFilter = None,
    ) -> BaselineList:
        """The team's baselines, by suite and name; also those whose run was deleted."""
        found = await self.arena.boards.baselines(self.team, name=name, suite=suite)
        return BaselineList(baselines=found, count=len(found))

    @post("/api/benchmarks/baselines", tag="runs", errors=(404, 409), body="BaselineSet")
    async def set_baseline(
        self, name: BaselineName, run_id: UUID, *, suite: BaselineSuite = None, by: By
    ) -> Baseline:
        """Give a completed, full run a name, or move the name to it; nothing else moves it."""
        return await self.arena.boards.set_baseline(self.team, name, run_id, suite=suite, by=by)

    @post("/api/benchmarks/baselines/remove", tag="runs", errors=(404,), body="BaselineRemove")
    async def remove_baseline(self, name: BaselineName, *, suite: BaselineSuite = None) -> Baseline:
        """Remove a name; the run stays."""
        return await self.arena.boards.remove_baseline(self.team, name, suite=suite)

    @get("/api/benchmarks/baselines/{agent_id}/{version}", tag="runs", errors=(404,))
    async def agent_baselines(self, agent_id: AgentId, version: Version) -> BaselineList:
        """The run of an agent version on the board of each suite, to compare a run with."""
        subject = Subject(team_id=self.team, agent_id=agent_id, version=version)
        found = await self.arena.boards.runs_of(subject)
        return BaselineList(baselines=found, count=len(found))
