"""The server: its health, its teams, and events of a team."""

from collections.abc import AsyncIterator
from contextlib import aclosing
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Annotated, Literal, get_args

from pydantic import Field

from arena import __version__
from arena.feed import OncePerState
from arena.operations.operation import Event, Events, OperationGroup, get
from arena.operations.readiness import Readiness, readiness
from arena.operations.team_watch import Topic, watch_team
from arena.runs.run import Progress
from arena.team import DEFAULT_TEAM

if TYPE_CHECKING:
    from arena.assembly import Arena


@dataclass(frozen=True, slots=True, kw_only=True)
class Health:
    """The server responds."""

    status: Literal["ok"] = "ok"
    version: str


@dataclass(frozen=True, slots=True, kw_only=True)
class TeamList:
    """The available teams."""

    teams: Annotated[list[str], Field(examples=[["default"]])]
    is_local: bool
    """Whether any team can be used without a token."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """Something else that changed in a team."""

    what: Topic


class ServerOperations(OperationGroup):
    """The server."""

    @get("/api/health", tag="server", public=True)
    async def health(self) -> Health:
        """Whether the server responds, and its version; see `/api/ready` for its parts."""
        return Health(version=__version__)

    @get(
        "/api/ready",
        id="get_readiness",
        tag="server",
        public=True,
        unavailable_unless="ready",
        response_headers={"Cache-Control": "no-store"},
    )
    async def readiness(self) -> Readiness:
        """Whether the server can do its work: its database, disk, catalog and sandbox."""
        found = await readiness(self.arena)
        checks = [replace(check, detail=self._shown(check.detail)) for check in found.checks]
        return replace(found, checks=checks)

    @get("/api/teams", id="list_teams", tag="server", team=False)
    async def teams(self) -> TeamList:
        """The available teams: the token's own, or without tokens all that have a run."""
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
        """Watch a team: the progress of its runs, and other changes."""
        return _events(self.arena, self.team)

    async def watch_team(self) -> AsyncIterator[Progress | Change]:
        """The progress of a team's runs, and other changes; starts with the current state."""
        async with aclosing(await self.team_events()) as events:
            async for event in events:
                yield event.data


_progress = OncePerState(Progress.of)
"""The same value for all watchers of a team, so that it is serialised once."""
_CHANGES = {topic: Change(what=topic) for topic in get_args(Topic)}


async def _events(arena: "Arena", team: str) -> Events:
    async with aclosing(watch_team(arena, team)) as looks:
        async for news in looks:
            for run in news.runs:
                yield Event(name="progress", data=_progress(run))
            for topic in news.changed:
                yield Event(name="change", data=_CHANGES[topic])
