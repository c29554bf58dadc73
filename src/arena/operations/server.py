"""The server itself: its health, its teams, and what happens in a team."""

from dataclasses import dataclass
from typing import Annotated, Literal

from pydantic import Field

import arena
from arena.operations.operation import DEFAULT_TEAM, OperationGroup, get


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


class ServerOperations(OperationGroup):
    """The server itself."""

    @get("/api/health", tag="server", public=True)
    async def health(self) -> Health:
        """Whether the server works, and its version."""
        return Health(version=arena.__version__)

    @get("/api/teams", id="list_teams", tag="server", team=False)
    async def teams(self) -> TeamList:
        """The teams that may be chosen: the token's own, or without tokens all that have a run."""
        if self.token_team is not None:
            return TeamList(teams=[self.token_team], is_local=False)
        known = await self.arena.runs.teams()
        return TeamList(teams=sorted({DEFAULT_TEAM, *known}), is_local=True)
