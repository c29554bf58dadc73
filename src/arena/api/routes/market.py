"""The market itself: its id, its agents, and what happens in it."""

from collections.abc import AsyncGenerator
from contextlib import aclosing
from typing import Annotated

from fastapi import Header, Query
from fastapi.responses import StreamingResponse

from arena import schemas
from arena.api import streaming
from arena.api.access import Team
from arena.api.arena import House
from arena.api.market_shapes import proof_of, shown_agent, shown_event, shown_receipt
from arena.api.problems import responses
from arena.api.room import room_router
from arena.assembly import Arena
from arena.errors import InvalidInput
from arena.market import MIN_PASS_SCORE

router = room_router("/api/market", "market")

MAX_ID = 2**63 - 1

Since = Annotated[
    int | None, Query(ge=0, le=MAX_ID, description="Only events after the one with this id.")
]


@router.get("", responses=responses())
async def get_market(house: House, team: Team) -> schemas.MarketInfo:
    """The market of the team: its id, currency and time."""
    return schemas.MarketInfo(
        market=await house.market.identity(team),
        min_pass_score=MIN_PASS_SCORE,
        now=house.market.now(),
    )


@router.get("/agents", responses=responses())
async def list_market_agents(house: House, team: Team) -> schemas.MarketAgentList:
    """Every agent that may apply for tasks, with its reputation."""
    agents = [shown_agent(agent) for agent in await house.market.agents(team)]
    return schemas.MarketAgentList(agents=agents, count=len(agents))


@router.post("/agents", responses=responses(404, 409))
async def register_market_agent(
    house: House, team: Team, body: schemas.MarketAgentRegister
) -> schemas.MarketAgent:
    """Let an agent in with its public key; signed with the private one."""
    agent = await house.market.register_agent(
        team,
        body.id,
        body.public_key,
        proof_of(body.proof),
        version=body.version,
        key=body.idempotency_key,
    )
    return shown_agent(agent)


@router.get("/agents/{agent_id}", responses=responses(404))
async def get_market_agent(house: House, team: Team, agent_id: str) -> schemas.MarketAgent:
    """One agent and its reputation."""
    return shown_agent(await house.market.agent(team, agent_id))


@router.post("/close-due", responses=responses())
async def close_due_tasks(house: House, team: Team) -> schemas.TasksClosed:
    """End every task whose time has run out. Anyone may: nothing depends on who does."""
    closed = [shown_receipt(receipt) for receipt in await house.market.close_due(team)]
    return schemas.TasksClosed(closed=closed, count=len(closed))


@router.get("/events", responses=responses(404))
async def list_market_events(
    house: House,
    team: Team,
    since: Since = 0,
    task_id: Annotated[int | None, Query(ge=1, le=MAX_ID)] = None,
    limit: Annotated[int, Query(ge=1, le=1000)] = 100,
) -> schemas.MarketEventList:
    """What happened, in order, after the event `since`."""
    events = await house.market.events(team, since=since or 0, limit=limit, task_id=task_id)
    return schemas.MarketEventList(
        events=[shown_event(event) for event in events],
        count=len(events),
        last_id=events[-1].id if events else since or 0,
    )


@router.get(
    "/events/stream",
    response_class=StreamingResponse,
    responses={
        200: {
            "description": "Server-sent events, each named by its kind; they do not end.",
            "content": {"text/event-stream": {"schema": {"type": "string"}}},
        },
        **responses(),
    },
)
async def watch_market(
    house: House,
    team: Team,
    since: Since = None,
    last_event_id: Annotated[str | None, Header(max_length=20)] = None,
) -> StreamingResponse:
    """Watch the market as server-sent events: after `since`, or from now on."""
    if last_event_id is not None:
        if not last_event_id.isdecimal() or int(last_event_id) > MAX_ID:
            raise InvalidInput(f"Last-Event-ID {last_event_id} is not one that Arena gave out")
        since = int(last_event_id)
    if since is None:
        since = await house.market.last_event(team)
    return streaming.stream(_told(house, team, since))


async def _told(house: Arena, team: str, since: int) -> AsyncGenerator[str]:
    async with aclosing(house.market.watch(team, since=since)) as events:
        async for event in events:
            yield streaming.event(event.kind.value, shown_event(event), ident=event.id)
