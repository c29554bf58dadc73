"""The server itself: its health, its teams, and what happens in a team."""

from collections.abc import AsyncIterator
from contextlib import aclosing
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Literal

from pydantic import Field

from arena import __version__
from arena.operations.operation import DEFAULT_TEAM, Event, Events, OperationGroup, get
from arena.operations.team_watch import Topic, watch_team
from arena.runs.run import Progress

if TYPE_CHECKING:
    from arena.assembly import Arena


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
        return _events(self.arena, self.team)

    async def watch_team(self) -> AsyncIterator[Progress | Change]:
        """A team's runs as they go on, and what else changes; the first say how things are."""
        async with aclosing(await self.team_events()) as events:
            async for event in events:
                yield event.data


async def _events(arena: "Arena", team: str) -> Events:
    async with aclosing(watch_team(arena, team)) as looks:
        async for news in looks:
            for run in news.runs:
                yield Event(name="progress", data=Progress.of(run))
            for topic in news.changed:
                yield Event(name="change", data=Change(what=topic))
