"""The server itself: its health, its teams, and what happens in a team."""

from collections.abc import AsyncIterator, Mapping
from contextlib import aclosing
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Literal
from uuid import UUID

from pydantic import Field

from arena import __version__
from arena.operations.operation import DEFAULT_TEAM, Event, Events, OperationGroup, get
from arena.runs.run import Progress, Run, RunStatus

if TYPE_CHECKING:
    from arena.assembly import Arena

POLL_SECONDS = 1.0
"""How often a team is looked at, although nothing has happened in this process."""

Topic = Literal["scores", "reviews", "market", "catalog"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Health:
    """Whether the server works."""

    status: Literal["ok"] = "ok"
    version: str


@dataclass(frozen=True, slots=True, kw_only=True)
class TeamList:
    """The teams that may be chosen."""

    teams: Annotated[list[str], Field(examples=[["default"]])]
    is_local: bool
    """Whether any team may be named, without a token."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """What else has changed, for those who watch a team."""

    what: Topic


class ServerOperations(OperationGroup):
    """The server itself."""

    @get("/api/health", tag="server", public=True)
    async def health(self) -> Health:
        """Whether the server works, and its version."""
        return Health(version=__version__)

    @get("/api/teams", id="list_teams", tag="server", team=False)
    async def teams(self) -> TeamList:
        """The teams that may be chosen: the token's own, or without tokens all that have a run."""
        if self.token_team is not None:
            return TeamList(teams=[self.token_team], is_local=False)
        known = await self.arena.runs.teams()
        return TeamList(teams=sorted({DEFAULT_TEAM, *known}), is_local=True)

    @get(
        "/api/events",
        id="watch_team",
        tag="server",
        events={"progress": Progress, "change": Change},
        description="Server-sent events: `progress` of runs and `change`, without end.",
    )
    async def team_events(self) -> Events:
        """Watch a team: the progress of its runs, and what else changes."""
        return _team_events(self.arena, self.team)

    async def watch_team(self) -> AsyncIterator[Progress | Change]:
        """A team's runs as they go on, and what else changes; the first say how things are."""
        async with aclosing(await self.team_events()) as events:
            async for event in events:
                yield event.data


@dataclass(frozen=True, slots=True, kw_only=True)
class _State:
    """A team as it was seen."""

    runs: Mapping[UUID, Run]
    versions: Mapping[Topic, object]
    """Of each topic, something that differs after every change of it."""


async def _team_events(arena: "Arena", team: str) -> Events:
    """What is new since the last look; the first events say how things are."""
    seen = _State(runs={}, versions={})

    async def look(_: _State | None) -> _State:
        return _State(
            runs=await arena.watcher.present(team),
            versions={
                "scores": await arena.scores.last_change(team),
                "reviews": await arena.reviews.state(team),
                "market": await arena.market.last_event(team),
                "catalog": arena.catalog.current.loaded_at,
            },
        )

    looks = arena.feed.watch(("team", team), look, poll_seconds=POLL_SECONDS)
    async with aclosing(looks):
        async for state in looks:
            ended = {
                # These ran, and are now neither running nor among the newest.
                run.id: await arena.runs.get(run.id, team)
                for run in seen.runs.values()
                if run.status is RunStatus.RUNNING and run.id not in state.runs
            }
            runs = {**state.runs, **ended}
            for run in runs.values():
                if run != seen.runs.get(run.id):
                    yield Event(name="progress", data=Progress.of(run))
            for topic, version in state.versions.items():
                if topic not in seen.versions or seen.versions[topic] != version:
                    yield Event(name="change", data=Change(what=topic))
            seen = _State(runs=runs, versions=state.versions)
