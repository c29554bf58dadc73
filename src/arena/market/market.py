"""The door of this room: post, apply, assign, submit, judge, dispute, settle, and read."""

import re
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from uuid import uuid4

from arena.content import LocalStore
from arena.market import records
from arena.market.agents import MarketAgent
from arena.market.call import Action, Call
from arena.market.contents import Contents, name_of_result, name_of_standard
from arena.market.errors import BadContent, TooEarly, WrongState
from arena.market.ledger import Ledger
from arena.market.naming import (
    ANYONE,
    MAX_KEY_LENGTH,
    check_agent,
    check_amount,
    check_party,
    check_text,
)
from arena.market.proof import Act, Proof, Statement, commitment_of, read_public_key
from arena.market.reader import MAX_PAGE, MarketReader
from arena.market.receipt import Receipt
from arena.market.records import Offer, Request
from arena.market.task import TaskState
from arena.market.terms import Terms
from arena.store.database import Database

MAX_DESCRIPTION_LENGTH = 20_000
MAX_URI_LENGTH = 2_000
MAX_VERSION_LENGTH = 20
COMMITMENT = re.compile(r"[0-9a-f]{64}")


@dataclass(frozen=True, slots=True, kw_only=True)
class NewTask:
    """What somebody wants done, and how it will be judged."""

    description: str
    evaluation: str | Mapping[str, object]
    """The CID of a standard that is in the content store, or the standard itself."""
    terms: Terms


@dataclass(frozen=True, slots=True, kw_only=True)
class Judgement:
    """A verdict as the market takes it: it names the very result and agent it is about."""

    score: int
    """0 to 100; `MIN_PASS_SCORE` and above pays the agent."""
    winner: str
    """The agent the task is assigned to, whatever the score."""
    result_hash: str
    reason_uri: str
    """Where the verdict's record is, e.g. its CID."""


class Market(MarketReader):
    """Tasks, agents and money of every team. All that changes something takes a `key`.

    The same key and the same arguments give the same receipt and do nothing again; the same key
    with other arguments raises `KeyConflict`. Without a key every call is a new one. Who acts is
    named by `by`; the market checks that this party has the role, not who sent the request.
    """

    def __init__(self, database: Database, content: LocalStore) -> None:
        super().__init__(database, Ledger(database), Contents(content))

    # Tasks: every change.

    async def post_task(
        self, team_id: str, poster: str, new: NewTask, *, key: str | None = None
    ) -> Receipt:
        """Offer a task: the standard is fetched, verified and pinned, then the reward locked."""
        check_party("poster", poster)
        check_text("description", new.description, MAX_DESCRIPTION_LENGTH)
        key = _key(key)
        offer = Offer(
            team_id=team_id,
            poster=poster,
            description=new.description,
            evaluation_cid=name_of_standard(new.evaluation),
            terms=new.terms,
            key=key,
        )
        # Refused before anything is kept, and again when the money is locked.
        earlier = await self._ledger.preview_task(offer)
        if earlier:
            return earlier
        await self._contents.keep_standard(new.evaluation)
        return await self._ledger.post_task(offer)

    async def apply(
        self, team_id: str, task_id: int, agent: str, proof: Proof, *, key: str | None = None
    ) -> Receipt:
        """Ask for a task; signs `Statement(act=APPLY, content="")`.

        With the assignment `first` the receipt's state says whether the agent has it.
        """
        signed = await self._signed(team_id, Act.APPLY, task_id, agent, "", proof)
        return await self._act(
            team_id, task_id, Call(action=Action.APPLY, by=agent), key, signed=signed
        )

    async def assign(
        self, team_id: str, task_id: int, agent: str, *, by: str, key: str | None = None
    ) -> Receipt:
        """Give the task to one of its applicants."""
        call = Call(action=Action.ASSIGN, by=check_party("by", by), agent=check_agent(agent))
        return await self._act(team_id, task_id, call, key)

    async def assign_best(
        self, team_id: str, task_id: int, *, by: str = ANYONE, key: str | None = None
    ) -> Receipt:
        """Give a `best_reputation` task to the applicant ranked first, from `apply_until` on."""
        return await self._act(team_id, task_id, Call(action=Action.ASSIGN_BEST, by=by), key)

    async def commit_result(
        self,
        team_id: str,
        task_id: int,
        agent: str,
        commitment: str,
        proof: Proof,
        *,
        key: str | None = None,
    ) -> Receipt:
        """Bind the agent to a result not yet shown; signs `act=COMMIT, content=commitment`.

        `commitment_of` computes it.
        """
        if not COMMITMENT.fullmatch(commitment):
            raise BadContent("a commitment is 64 hexadecimal digits; commitment_of makes it")
        signed = await self._signed(team_id, Act.COMMIT, task_id, agent, commitment, proof)
        call = Call(action=Action.COMMIT, by=agent, commitment=commitment)
        return await self._act(team_id, task_id, call, key, signed=signed)

    async def submit_result(
        self,
        team_id: str,
        task_id: int,
        agent: str,
        result: bytes | str,
        proof: Proof,
        *,
        salt: str | None = None,
        key: str | None = None,
    ) -> Receipt:
        """Hand in the result, once: bytes, or the CID of content that is in the store.

        Signs `act=SUBMIT, content=<the result's CID>`. `salt` reveals a commitment.
        """
        result_hash = name_of_result(result)
        signed = await self._signed(team_id, Act.SUBMIT, task_id, agent, result_hash, proof)
        revealed = None
        if salt is not None:
            check_text("salt", salt, MAX_KEY_LENGTH)
            market = signed[0].market
            revealed = commitment_of(market, task_id, agent, result_hash, salt)
        call = Call(action=Action.SUBMIT, by=agent, result_hash=result_hash, commitment=revealed)
        request = Request(team_id=team_id, task_id=task_id, call=call, key=_key(key), signed=signed)
        # Whoever may not hand in anything cannot fill the store with it either.
        earlier = await self._ledger.preview(request)
        if earlier:
            return earlier
        await self._contents.keep_result(result)
        return await self._ledger.act(request)

    async def judge(
        self, team_id: str, task_id: int, judgement: Judgement, *, by: str, key: str | None = None
    ) -> Receipt:
        """Give the one verdict (`judgeAndPay`); without a dispute window it settles at once."""
        call = Call(
            action=Action.JUDGE,
            by=check_party("by", by),
            agent=check_agent(judgement.winner),
            score=judgement.score,
            result_hash=check_text("result_hash", judgement.result_hash, MAX_KEY_LENGTH),
            reason_uri=check_text("reason_uri", judgement.reason_uri, MAX_URI_LENGTH),
        )
        return await self._act(team_id, task_id, call, key)

    async def dispute(
        self,
        team_id: str,
        task_id: int,
        *,
        by: str,
        reason_uri: str,
        proof: Proof | None = None,
        key: str | None = None,
    ) -> Receipt:
        """Contest the verdict, once, as the side that lost; locks the bond.

        An agent signs `act=DISPUTE, content=reason_uri`; whoever lets strangers in asks for it.
        """
        call = Call(
            action=Action.DISPUTE,
            by=check_party("by", by),
            reason_uri=check_text("reason_uri", reason_uri, MAX_URI_LENGTH),
        )
        signed = None
        if proof is not None:
            signed = await self._signed(team_id, Act.DISPUTE, task_id, by, reason_uri, proof)
        return await self._act(team_id, task_id, call, key, signed=signed)

    async def resolve(
        self,
        team_id: str,
        task_id: int,
        score: int,
        *,
        by: str,
        reason_uri: str,
        key: str | None = None,
    ) -> Receipt:
        """Decide a dispute as the arbiter; settles at once."""
        call = Call(
            action=Action.RESOLVE,
            by=check_party("by", by),
            score=score,
            reason_uri=check_text("reason_uri", reason_uri, MAX_URI_LENGTH),
        )
        return await self._act(team_id, task_id, call, key)

    async def cancel(
        self, team_id: str, task_id: int, *, by: str, key: str | None = None
    ) -> Receipt:
        """Take an unassigned task back; the reward returns to its poster."""
        call = Call(action=Action.CANCEL, by=check_party("by", by))
        return await self._act(team_id, task_id, call, key)

    async def expire(
        self, team_id: str, task_id: int, *, by: str = ANYONE, key: str | None = None
    ) -> Receipt:
        """End a task whose time has run out: nothing submitted, or nothing judged."""
        return await self._act(team_id, task_id, Call(action=Action.EXPIRE, by=by), key)

    async def settle(
        self, team_id: str, task_id: int, *, by: str = ANYONE, key: str | None = None
    ) -> Receipt:
        """Pay or refund by the first verdict when nobody disputed, or the arbiter kept silent."""
        return await self._act(team_id, task_id, Call(action=Action.SETTLE, by=by), key)

    async def close_due(self, team_id: str) -> Sequence[Receipt]:
        """End every task that is due: a courtesy, since anyone may do it."""
        receipts: list[Receipt] = []
        for task in await self.due(team_id, limit=MAX_PAGE):
            is_judged = task.state in (TaskState.JUDGED, TaskState.DISPUTED)
            end = self.settle if is_judged else self.expire
            with suppress(WrongState, TooEarly):  # somebody was faster
                receipts.append(await end(team_id, task.id))
        return receipts

    # Agents.

    async def register_agent(
        self,
        team_id: str,
        agent: str,
        public_key: str,
        proof: Proof,
        *,
        version: str = "1.0.0",
        key: str | None = None,
    ) -> MarketAgent:
        """Let an agent in; signs `act=REGISTER, task_id=None, content=public_key`.

        Again with the same key: the version is renewed. With another key: `Conflict`.
        """
        check_text("version", version, MAX_VERSION_LENGTH)
        read_public_key(public_key)
        signed = await self._signed(team_id, Act.REGISTER, None, agent, public_key, proof)
        new = MarketAgent(
            team_id=team_id,
            id=agent,
            version=version,
            public_key=public_key,
            registered_at=self.now(),
        )
        digest = records.digest_of(
            Act.REGISTER, agent=agent, public_key=public_key, version=version
        )
        return await records.register(self._database, new, signed, key=_key(key), digest=digest)

    # Money.

    async def deposit_test_money(
        self, team_id: str, account: str, amount: int, *, key: str | None = None
    ) -> Receipt:
        """Give a party test money from outside; it is worth nothing."""
        check_party("account", account)
        check_amount("amount", amount)
        return await self._ledger.deposit(team_id, account, amount, key=_key(key))

    async def withdraw_test_money(
        self, team_id: str, account: str, amount: int, *, key: str | None = None
    ) -> Receipt:
        """Take test money out of a party's account."""
        check_party("account", account)
        check_amount("amount", amount)
        return await self._ledger.withdraw(team_id, account, amount, key=_key(key))

    async def _act(
        self,
        team_id: str,
        task_id: int,
        call: Call,
        key: str | None,
        *,
        signed: tuple[Statement, Proof] | None = None,
    ) -> Receipt:
        if call.by != ANYONE:
            check_party("by", call.by)
        request = Request(team_id=team_id, task_id=task_id, call=call, key=_key(key), signed=signed)
        return await self._ledger.act(request)

    async def _signed(
        self,
        team_id: str,
        act: Act,
        task_id: int | None,
        agent: str,
        content: str,
        proof: Proof,
    ) -> tuple[Statement, Proof]:
        """What the agent must have signed, beside what it sent."""
        check_agent(agent)
        statement = Statement(
            market=await self.identity(team_id),
            act=act,
            task_id=task_id,
            agent=agent,
            content=content,
        )
        return statement, proof


def _key(key: str | None) -> str:
    return uuid4().hex if key is None else check_text("key", key, MAX_KEY_LENGTH)
