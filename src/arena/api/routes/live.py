"""What goes on in a team, told as it happens; and which teams there are."""

from collections.abc import AsyncGenerator
from contextlib import aclosing
from typing import Annotated

from fastapi import Depends, Request
from fastapi.responses import StreamingResponse

from arena import schemas
from arena.api import streaming, team_watch
from arena.api.access import DEFAULT_TEAM, Access, Team, authorize
from arena.api.arena import House
from arena.api.problems import responses
from arena.api.room import room_router
from arena.api.routes.runs import progress
from arena.assembly import Arena

router = room_router("/api", "server")


@router.get("/teams", responses=responses())
async def list_teams(
    request: Request, house: House, token_team: Annotated[str | None, Depends(authorize)]
) -> schemas.TeamList:
    """The teams that may be chosen: the token's own, or without tokens all that have a run."""
    access: Access = request.app.state.access
    if token_team is not None:
        return schemas.TeamList(teams=[token_team], is_local=False)
    known = await house.runs.teams()
    return schemas.TeamList(teams=sorted({DEFAULT_TEAM, *known}), is_local=access.is_local)


@router.get(
    "/events",
    response_class=StreamingResponse,
    responses={
        200: {
            "description": "Server-sent events: `progress` of runs and `change`, without end.",
            "content": {"text/event-stream": {"schema": {"type": "string"}}},
        },
        **responses(),
    },
)
async def watch_team(house: House, team: Team) -> StreamingResponse:
    """Watch a team: its runs as they go on; scores, reviews, market and catalog as they change."""
    return streaming.stream(_events(house, team))


async def _events(house: Arena, team: str) -> AsyncGenerator[str]:
    """The events of a team; the first ones tell how things are."""
    async with aclosing(team_watch.watch_team(house, team)) as all_news:
        async for news in all_news:
            for run in news.runs:
                yield streaming.event("progress", progress(run))
            for part in news.changed:
                yield streaming.event("change", schemas.Change(what=part))
