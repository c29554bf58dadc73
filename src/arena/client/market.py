"""The market's calls: tasks, agents, money, events."""

from collections.abc import AsyncIterator, Sequence
from contextlib import aclosing
from datetime import timedelta

import httpx2

from arena import clock, schemas
from arena.client.connection import Connection, Shape, asked, quoted
from arena.client.signing import Act, Signer
from arena.content import cid_of, parse_cid
from arena.errors import Forbidden, InvalidInput
from arena.text import utf8

TASKS_PAGE = 500
UNSIGNED = schemas.Proof(nonce="-", expires_at=0, signature="-")
"""Stands in a body until the signature is made."""


class MarketCalls(Connection):
    """What can be done in the task market. `key` makes a call that may be repeated one call."""

    def __init__(
        self,
        url: str,
        *,
        team_id: str | None = None,
        token: str | None = None,
        signer: Signer | None = None,
        transport: httpx2.AsyncBaseTransport | None = None,
    ) -> None:
        super().__init__(url, team_id=team_id, token=token, transport=transport)
        self.signer = signer
        """The agent that registers, applies and submits through this client."""
        self._market_id: str | None = None
        self._behind = timedelta()
        """How far this machine's clock is behind the server's, which alone decides."""

    # Tasks

    async def post_task(self, task: schemas.TaskPost) -> schemas.Receipt:
        """Offer a task; the reward is locked at once."""
        return await self._post("/api/tasks", schemas.Receipt, body=task)

    async def tasks(
        self,
        *,
        state: str | Sequence[str] | None = None,
        poster: str | None = None,
        agent: str | None = None,
        applicant: str | None = None,
        judge: str | None = None,
        min_reward: str | None = None,
        limit: int | None = None,
        cursor: str | None = None,
    ) -> schemas.TaskList:
        """A page of tasks, newest first; `judge` is judge, fallback judge or arbiter."""
        return await self._get(
            "/api/tasks",
            schemas.TaskList,
            state=state,
            poster=poster,
            agent=agent,
            applicant=applicant,
            judge=judge,
            min_reward=min_reward,
            limit=limit,
            cursor=cursor,
        )

    async def all_tasks(
        self,
        *,
        state: str | Sequence[str] | None = None,
        poster: str | None = None,
        agent: str | None = None,
        applicant: str | None = None,
        judge: str | None = None,
        min_reward: str | None = None,
    ) -> list[schemas.Task]:
        """Every task that fits, newest first."""
        tasks: list[schemas.Task] = []
        cursor: str | None = None
        while True:
            page = await self.tasks(
                state=state,
                poster=poster,
                agent=agent,
                applicant=applicant,
                judge=judge,
                min_reward=min_reward,
                limit=TASKS_PAGE,
                cursor=cursor,
            )
            tasks += page.tasks
            cursor = page.next_cursor
            if cursor is None:
                return tasks

    async def task(self, task_id: int) -> schemas.TaskStory:
        """A task with its applicants, events and entries."""
        return await self._get(f"/api/tasks/{task_id}", schemas.TaskStory)

    async def apply(self, task_id: int, *, key: str | None = None) -> schemas.Receipt:
        """Ask for a task, as the client's agent."""
        body = asked(
            schemas.TaskApply, agent=self._agent().agent, proof=UNSIGNED, idempotency_key=key
        )
        return await self._move_signed("apply", task_id, "", body)

    async def assign(
        self, task_id: int, *, by: str, agent: str | None = None, key: str | None = None
    ) -> schemas.Receipt:
        """Give a task to an applicant; without one, to the best where the terms say so."""
        body = asked(schemas.TaskAssign, by=by, agent=agent, idempotency_key=key)
        return await self._move(task_id, "assign", body)

    async def commit(
        self, task_id: int, commitment: str, *, key: str | None = None
    ) -> schemas.Receipt:
        """Bind the client's agent to a result that it does not show yet."""
        body = asked(
            schemas.TaskCommit,
            agent=self._agent().agent,
            commitment=commitment,
            proof=UNSIGNED,
            idempotency_key=key,
        )
        return await self._move_signed("commit", task_id, commitment, body)

    async def submit(
        self,
        task_id: int,
        result: str | bytes | None = None,
        *,
        result_hash: str | None = None,
        salt: str | None = None,
        key: str | None = None,
    ) -> schemas.Receipt:
        """Hand in a result, as the client's agent: the result, or its CID in the server's store."""
        if (result is None) == (result_hash is None):
            raise InvalidInput("submit takes the result or its hash: one of them")
        if isinstance(result, bytes):
            kept = await self._upload("/api/content", schemas.ContentKept, result)
            result_hash, result = kept.cid, None
        signed = (
            cid_of(utf8(result, "the result"))
            if result is not None
            else str(parse_cid(result_hash or ""))
        )
        body = asked(
            schemas.TaskSubmit,
            agent=self._agent().agent,
            result=result,
            result_hash=result_hash,
            salt=salt,
            proof=UNSIGNED,
            idempotency_key=key,
        )
        return await self._move_signed("submit", task_id, signed, body)

    async def review_task(self, task_id: int, *, by: str) -> schemas.Review:
        """Have people answer a submitted task's checklists, as its judge."""
        body = asked(schemas.TaskReview, by=by)
        return await self._post(f"/api/tasks/{task_id}/review", schemas.Review, body=body)

    async def judge(self, task_id: int, verdict: schemas.TaskJudge) -> schemas.Receipt:
        """Give the one verdict; without a dispute window it settles at once."""
        return await self._move(task_id, "judge", verdict)

    async def dispute(
        self, task_id: int, *, by: str, reason_uri: str, key: str | None = None
    ) -> schemas.Receipt:
        """Contest a verdict as the side that lost; as the client's agent, signed."""
        body = asked(schemas.TaskDispute, by=by, reason_uri=reason_uri, idempotency_key=key)
        if self.signer is not None and self.signer.agent == by:
            return await self._move_signed("dispute", task_id, reason_uri, body)
        return await self._move(task_id, "dispute", body)

    async def resolve(
        self, task_id: int, *, by: str, score: int, reason_uri: str, key: str | None = None
    ) -> schemas.Receipt:
        """Decide a dispute as the arbiter."""
        body = asked(
            schemas.TaskResolve, by=by, score=score, reason_uri=reason_uri, idempotency_key=key
        )
        return await self._move(task_id, "resolve", body)

    async def cancel(self, task_id: int, *, by: str, key: str | None = None) -> schemas.Receipt:
        """Take an unassigned task back."""
        return await self._move(
            task_id, "cancel", asked(schemas.TaskEnd, by=by, idempotency_key=key)
        )

    async def expire(
        self, task_id: int, *, by: str | None = None, key: str | None = None
    ) -> schemas.Receipt:
        """End a task whose time has run out: nothing submitted, or nothing judged."""
        return await self._move(
            task_id, "expire", asked(schemas.TaskEnd, by=by, idempotency_key=key)
        )

    async def settle(
        self, task_id: int, *, by: str | None = None, key: str | None = None
    ) -> schemas.Receipt:
        """Pay or refund by the verdict when its time for disputes has passed."""
        return await self._move(
            task_id, "settle", asked(schemas.TaskEnd, by=by, idempotency_key=key)
        )

    async def close_due(self) -> schemas.TasksClosed:
        """End every task whose time has run out; anyone may."""
        return await self._post("/api/market/close-due", schemas.TasksClosed)

    # Agents and events

    async def market(self) -> schemas.MarketInfo:
        """The market's id, currency and time."""
        return await self._get("/api/market", schemas.MarketInfo)

    async def market_agents(self) -> schemas.MarketAgentList:
        """Every agent that may apply for tasks."""
        return await self._get("/api/market/agents", schemas.MarketAgentList)

    async def market_agent(self, agent: str) -> schemas.MarketAgent:
        """One agent and its reputation."""
        return await self._get(f"/api/market/agents/{quoted(agent)}", schemas.MarketAgent)

    async def register(self, *, version: str = "1.0.0") -> schemas.MarketAgent:
        """Let the client's agent in; again with the same key, its version is renewed."""
        signer = self._agent()
        body = asked(
            schemas.MarketAgentRegister,
            id=signer.agent,
            version=version,
            public_key=signer.public_key,
            proof=UNSIGNED,
        )
        path = "/api/market/agents"
        return await self._signed(
            "register", None, signer.public_key, path, body, schemas.MarketAgent
        )

    async def market_events(
        self, *, since: int | None = None, task_id: int | None = None, limit: int | None = None
    ) -> schemas.MarketEventList:
        """Events in order: those after `since`, of all tasks or of one."""
        query = {"since": since, "task_id": task_id, "limit": limit}
        return await self._get("/api/market/events", schemas.MarketEventList, **query)

    async def watch_market(self, since: int | None = None) -> AsyncIterator[schemas.MarketEvent]:
        """Events as they happen, for ever: those after `since`, or from now on."""
        path, until = "/api/market/events/stream", "you had seen enough"
        events = self._watch(path, schemas.MarketEvent, until=until, since=since)
        async with aclosing(events):
            async for _, event in events:
                yield event

    # Money

    async def balance(self, account: str) -> schemas.Balances:
        """What a party has."""
        return await self._get("/api/ledger/balance", schemas.Balances, account=account)

    async def balances(self) -> schemas.Balances:
        """Every account that is not empty."""
        return await self._get("/api/ledger/balance", schemas.Balances)

    async def ledger_history(
        self, account: str, *, limit: int | None = None, cursor: str | None = None
    ) -> schemas.LedgerHistory:
        """A page of a party's postings, newest first."""
        query = {"account": account, "limit": limit, "cursor": cursor}
        return await self._get("/api/ledger/history", schemas.LedgerHistory, **query)

    async def audit(self) -> schemas.Audit:
        """Whether every invariant of the market holds."""
        return await self._get("/api/ledger/audit", schemas.Audit)

    async def deposit_test_money(
        self, account: str, amount: str, *, key: str | None = None
    ) -> schemas.Receipt:
        """Give a party test money, which is worth nothing."""
        body = asked(schemas.TestMoney, account=account, amount=amount, idempotency_key=key)
        return await self._post("/api/ledger/deposit", schemas.Receipt, body=body)

    async def withdraw_test_money(
        self, account: str, amount: str, *, key: str | None = None
    ) -> schemas.Receipt:
        """Take test money out of a party's account."""
        body = asked(schemas.TestMoney, account=account, amount=amount, idempotency_key=key)
        return await self._post("/api/ledger/withdraw", schemas.Receipt, body=body)

    async def _move(self, task_id: int, name: str, body: schemas.Asked) -> schemas.Receipt:
        return await self._post(f"/api/tasks/{task_id}/{name}", schemas.Receipt, body=body)

    async def _move_signed(
        self, act: Act, task_id: int, content: str, body: schemas.Asked
    ) -> schemas.Receipt:
        path = f"/api/tasks/{task_id}/{act}"
        return await self._signed(act, task_id, content, path, body, schemas.Receipt)

    async def _signed(
        self,
        act: Act,
        task_id: int | None,
        content: str,
        path: str,
        body: schemas.Asked,
        shape: type[Shape],
    ) -> Shape:
        """What the server answers to the body with the agent's signature in it."""
        is_new = self._market_id is None
        proof = await self._prove(act, task_id, content)
        try:
            return await self._post(path, shape, body=body.model_copy(update={"proof": proof}))
        except Forbidden as wrong:
            if is_new or wrong.code != "bad_signature":
                raise
        # A clock was set since, or another market answers there now. Nothing was done: once more.
        self._market_id = None
        proof = await self._prove(act, task_id, content)
        return await self._post(path, shape, body=body.model_copy(update={"proof": proof}))

    async def _prove(self, act: Act, task_id: int | None, content: str) -> schemas.Proof:
        if self._market_id is None:
            market = await self.market()
            self._market_id, self._behind = market.market, market.now - clock.now()
        at = clock.now() + self._behind
        return self._agent().prove(self._market_id, act, task_id=task_id, content=content, at=at)

    def _agent(self) -> Signer:
        if self.signer is None:
            raise InvalidInput("this client has no agent: make it with Client(url, signer=…)")
        return self.signer
