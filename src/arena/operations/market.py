"""The market: its id, its agents, its events, and closing tasks that are due."""

from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import aclosing
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Annotated, TypeVar

from pydantic import Field

from arena import clock
from arena.amounts import CURRENCY, DECIMALS
from arena.errors import Forbidden, InfrastructureError, InvalidInput
from arena.evaluation.verdict import MIN_PASS_SCORE
from arena.fields import MAX_VERSION_LENGTH
from arena.market.agents import MarketAgent, MarketParty
from arena.market.call import EventKind, MarketEvent, Receipt
from arena.market.signing import Act, Proof, Prover, is_wallet
from arena.market.task import EMBEDDED, MAX_ID, Key, Party
from arena.operations.operation import Event, Events, OperationGroup, get, post

T = TypeVar("T")

TaskId = Annotated[int, Field(ge=1, le=MAX_ID)]
IdempotencyKey = Annotated[Key, Field(alias="idempotency_key")]
Since = Annotated[
    int | None, Field(ge=0, le=MAX_ID, description="Only events after the one with this id.")
]


@dataclass(frozen=True, slots=True, kw_only=True)
class MarketInfo:
    """The market of a team, with what a client needs to sign and to read amounts."""

    market: str
    """Its id, which is part of every signature."""
    ledger: Annotated[str, Field(examples=[EMBEDDED])] = EMBEDDED
    """Where new tasks are posted."""
    currency: str = CURRENCY
    """What new tasks are paid in; TEST is test money, worth nothing."""
    decimals: int = DECIMALS
    """How many decimals an amount may have."""
    min_pass_score: Annotated[int, Field(examples=[60])]
    """This score pays, one less refunds."""
    now: datetime
    """The time that windows of new tasks are compared with: that of the ledger."""
    server_now: datetime | None = None
    """The time of the server; null from a server of 0.1, where it is `now`."""
    network: Annotated[str | None, Field(examples=["eip155:31337"])] = None
    """The chain of new tasks; null for the embedded ledger."""
    contract: str | None = None
    """The contract of new tasks."""
    problem: str | None = None
    """Why tasks on the chain may be shown as they were some time ago; null if they are not."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MarketAgentList:
    """Every agent of the team's market."""

    agents: Sequence[MarketAgent]
    count: int


@dataclass(frozen=True, slots=True, kw_only=True)
class MarketPartyList:
    """Every party with an address."""

    parties: Sequence[MarketParty]
    count: int


@dataclass(frozen=True, slots=True, kw_only=True)
class MarketEventList:
    """Events in order."""

    events: Sequence[MarketEvent]
    count: int
    last_id: int
    """The `since` of the next request."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TasksClosed:
    """The tasks that were ended because their time had run out."""

    closed: Sequence[Receipt]
    count: int


@dataclass(frozen=True, slots=True, kw_only=True)
class SigningPlace:
    """What a signature is for."""

    market: str
    """The team's market, or the contract that the task is in."""
    task_id: int | None
    content: str
    at: datetime
    """The time there."""


class MarketOperations(OperationGroup):
    """The market, its agents and its events."""

    signer: Prover | None = None
    """The agent that registers, applies and submits through this object."""
    _market_id: str | None = None
    _behind = timedelta()
    """How far this machine's clock is behind the market's, which decides about expiry."""

    @get("/api/market", id="get_market", tag="market")
    async def market(self) -> MarketInfo:
        """The market of the team: its id, currency and time."""
        market = self.arena.market
        ledger = market.ledger
        server_now = await market.embedded.now()
        info = MarketInfo(
            market=await market.embedded.market_id(self.team),
            ledger=ledger.name,
            currency=ledger.currency.code,
            decimals=ledger.currency.decimals,
            min_pass_score=MIN_PASS_SCORE,
            now=server_now,
            server_now=server_now,
        )
        if not self.arena.settings.has_chain:
            return info
        chain = self.arena.chain
        await chain.refresh()
        if ledger.name == EMBEDDED:
            return replace(info, problem=chain.problem)
        try:
            now, network = await ledger.now(), await chain.network()
        except InfrastructureError as error:
            # The node is away: tasks can still be read.
            return replace(info, contract=chain.contract, problem=error.message)
        return replace(
            info, now=now, network=network, contract=chain.contract, problem=chain.problem
        )

    @get("/api/market/agents", id="list_market_agents", tag="market")
    async def market_agents(self) -> MarketAgentList:
        """Every agent that may apply for tasks, with its reputation."""
        agents = await self.arena.market.reader.agents(self.team)
        return MarketAgentList(agents=agents, count=len(agents))

    @get("/api/market/agents/{agent_id}", id="get_market_agent", tag="market", errors=(404,))
    async def market_agent(self, agent_id: str) -> MarketAgent:
        """One agent and its reputation."""
        return await self.arena.market.reader.agent(self.team, agent_id)

    @post(
        "/api/market/agents",
        id="register_market_agent",
        tag="market",
        errors=(404, 409),
        body="MarketAgentRegister",
    )
    async def _send_registration(
        self,
        *,
        id: Party,
        version: Annotated[str, Field(min_length=1, max_length=MAX_VERSION_LENGTH)] = "1.0.0",
        public_key: Annotated[str, Field(min_length=1, max_length=100)],
        proof: Proof,
        key: IdempotencyKey = None,
    ) -> MarketAgent:
        """Register an agent with its public key; signed with the private one."""
        return await self.arena.market.register_agent(
            self.team, id, public_key, proof, version=version, key=key
        )

    async def register(self, *, version: str = "1.0.0") -> MarketAgent:
        """Register the signer's agent; again with the same key, its version is updated."""
        public_key = self._agent().public_key
        return await self._signed(
            Act.REGISTER,
            None,
            public_key,
            lambda agent, proof: self._send_registration(
                id=agent, version=version, public_key=public_key, proof=proof
            ),
        )

    @get("/api/market/parties", id="list_market_parties", tag="market")
    async def market_parties(self) -> MarketPartyList:
        """Everybody whose address on a chain is known here."""
        parties = await self.arena.market.parties(self.team)
        return MarketPartyList(parties=parties, count=len(parties))

    @post(
        "/api/market/parties",
        id="name_market_party",
        tag="market",
        errors=(409,),
        body="MarketPartyName",
    )
    async def name_market_party(
        self,
        *,
        name: Party,
        address: Annotated[
            str,
            Field(
                pattern="^0x[0-9a-fA-F]{40}$",
                examples=["0x70997970C51812dc3A010C7d01b50e0d17dc79C8"],
            ),
        ],
    ) -> MarketParty:
        """Name an address on a chain; a name belongs to one address for good."""
        return await self.arena.market.name_party(self.team, name, address)

    @post("/api/market/close-due", id="close_due_tasks", tag="market")
    async def close_due(self) -> TasksClosed:
        """End every task whose time has run out. Anyone may do this."""
        closed = await self.arena.market.close_due(self.team)
        return TasksClosed(closed=closed, count=len(closed))

    @get("/api/market/events", id="list_market_events", tag="market", errors=(404,))
    async def market_events(
        self,
        *,
        since: Since = 0,
        task_id: Annotated[int | None, Field(ge=1, le=MAX_ID)] = None,
        limit: Annotated[int, Field(ge=1, le=1000)] = 100,
    ) -> MarketEventList:
        """Events after the event `since`, in order."""
        events = await self.arena.market.reader.events(
            self.team, since=since or 0, limit=limit, task_id=task_id
        )
        last_id = events[-1].id if events else since or 0
        return MarketEventList(events=events, count=len(events), last_id=last_id)

    @get(
        "/api/market/events/stream",
        id="watch_market",
        tag="market",
        headers=("last_event_id",),
        events=dict.fromkeys(EventKind, MarketEvent),
        description="Server-sent events, each named by its kind; they do not end.",
    )
    async def _stream_market(
        self,
        *,
        since: Since = None,
        last_event_id: Annotated[str | None, Field(max_length=20)] = None,
    ) -> Events:
        """Watch the market as server-sent events, after `since` or from now on."""
        if last_event_id is not None:
            if not last_event_id.isdecimal() or int(last_event_id) > MAX_ID:
                raise InvalidInput(f"Last-Event-ID {last_event_id} is not a valid event id")
            since = int(last_event_id)
        reader = self.arena.market.reader
        if since is None:
            since = await reader.last_event(self.team)
        return _as_events(reader.watch(self.team, since=since))

    async def watch_market(self, since: int | None = None) -> AsyncIterator[MarketEvent]:
        """Events as they happen, without end: those after `since`, or from now on."""
        async with aclosing(await self._stream_market(since=since)) as events:
            async for event in events:
                yield event.data

    async def _signed(
        self,
        act: Act,
        task_id: int | None,
        content: str,
        send: Callable[[str, Proof], Awaitable[T]],
        *,
        language: str | None = None,
    ) -> T:
        """Call `send` with the signer's agent and its signature."""
        is_new = self._market_id is None
        agent = self._agent().agent
        try:
            return await send(agent, await self._prove(act, task_id, content, language))
        except Forbidden as error:
            # With an id that was fetched just now, a retry would fail the same way.
            if is_new or error.code != "bad_signature":
                raise
        # The clock was changed, or another market is at this address now. Nothing was done, so
        # retrying with a fresh id and time is safe.
        self._market_id = None
        return await send(agent, await self._prove(act, task_id, content, language))

    async def _prove(
        self, act: Act, task_id: int | None, content: str, language: str | None
    ) -> Proof:
        if self._market_id is None:
            market = await self.market()
            self._market_id, self._behind = (
                market.market,
                (market.server_now or market.now) - clock.now(),
            )
        signer, at = self._agent(), clock.now() + self._behind
        place = SigningPlace(market=self._market_id, task_id=task_id, content=content, at=at)
        if task_id is not None and is_wallet(signer.public_key):
            place = await self._place_on_chain(act, task_id, place)
        return signer.prove(
            place.market,
            act,
            task_id=place.task_id,
            content=place.content,
            language=language,
            at=place.at,
        )

    async def _place_on_chain(self, act: Act, task_id: int, place: SigningPlace) -> SigningPlace:
        """Where an act on a task is signed for, if the task may be on a chain."""
        return place

    def _agent(self) -> Prover:
        if self.signer is None:
            raise InvalidInput("this client has no agent: create it with Client(url, signer=…)")
        return self.signer


async def _as_events(events: AsyncIterator[MarketEvent]) -> Events:
    async for event in events:
        yield Event(name=event.kind, data=event, id=event.id)
