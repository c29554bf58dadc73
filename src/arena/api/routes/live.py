"""What goes on in a team, told as it happens; and which teams there are."""

from collections.abc import AsyncGenerator
from contextlib import aclosing

from fastapi.responses import StreamingResponse

from arena import schemas
from arena.api import streaming, team_watch
from arena.api.access import Team
from arena.api.arena import House
from arena.api.problems import responses
from arena.api.room import room_router
from arena.api.routes.runs import progress
from arena.assembly import Arena

router = room_router("/api", "server")


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
