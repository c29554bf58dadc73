"""The entry point of the market: what the parties of a task can do.

Every change takes an idempotency `key`. The same key with the same arguments returns the same
receipt and does nothing; with other arguments it raises `KeyConflict`. Without a key every call is
new. The call names the acting party; the market checks that this party has the role and that an
agent has signed, not who sent the request.
"""

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import fields, replace
from typing import TYPE_CHECKING, Any
from uuid import uuid4

from arena.content.ports import ContentStore
from arena.errors import InvalidInput
from arena.feed import Feed
from arena.fields import MAX_VERSION_LENGTH
from arena.market.agents import MarketAgent
from arena.market.call import Action, Call, CallKey, Receipt
from arena.market.checks import check_agent, check_amount, check_call, check_party, check_text
from arena.market.contents import Contents, cid_of_result, cid_of_standard
from arena.market.errors import TooEarly, WrongState
from arena.market.records.claims import Claims
from arena.market.records.ledger import Ledger, Signed
from arena.market.records.reading import MAX_PAGE
from arena.market.signing import Act, Proof, Statement, commitment_of, read_public_key
from arena.market.task import (
    MAX_DESCRIPTION_LENGTH,
    MAX_KEY_LENGTH,
    Task,
    TaskPost,
    TaskState,
    Terms,
)
from arena.store.database import Database

if TYPE_CHECKING:
    from arena.sandbox.ports import SandboxProvider

SIGNED: Mapping[Action, tuple[Act, Callable[[Call], str | None]]] = {
    Action.APPLY: (Act.APPLY, lambda _: ""),
    Action.COMMIT: (Act.COMMIT, lambda call: call.commitment),
    Action.SUBMIT: (Act.SUBMIT, lambda call: call.result_hash),
    Action.DISPUTE: (Act.DISPUTE, lambda call: call.reason_uri),
}
"""What an agent signs for an action: the act and its content. Only agents have keys, so a dispute
by the poster needs no signature."""


class Market:
    """Tasks, agents and money of every team; `ledger` reads their state."""

    def __init__(
        self,
        database: Database,
        content: ContentStore,
        feed: Feed | None = None,
        *,
        sandbox: "Callable[[], SandboxProvider] | None" = None,
    ) -> None:
        self.ledger = Ledger(database, feed)
        self.claims = Claims(database)
        self.contents = Contents(content)
        self._sandbox = sandbox
        """Opens the sandbox that parses results; None: their language is not checked."""

    async def post_task(self, team_id: str, post: TaskPost) -> Receipt:
        """Offer a task: the standard is verified and pinned, then the reward is locked."""
        check_party("poster", post.poster)
        check_text("description", post.description, MAX_DESCRIPTION_LENGTH)
        key = _key(post.idempotency_key)
        if (post.evaluation is None) == (post.evaluation_cid is None):
            raise InvalidInput("give either evaluation (the standard) or evaluationCID")
        evaluation: Any = post.evaluation_cid if post.evaluation is None else post.evaluation
        judge = post.judge or (post.poster if post.is_self_judged else None)
        if judge is None:
            raise InvalidInput("judge is missing: name one, or set is_self_judged")
        terms: dict[str, Any] = {field.name: getattr(post, field.name) for field in fields(Terms)}
        task = Task(
            **terms,
            judge=judge,
            id=0,  # assigned by the ledger
            team_id=team_id,
            poster=post.poster,
            description=post.description,
            evaluation_cid=cid_of_standard(evaluation),
            state=TaskState.OPEN,
            posted_at=self.ledger.now(),
        )
        # Bad terms are refused before anything is stored; checked again when the money is locked.
        earlier = await self.ledger.preview_task(task, key=key)
        if earlier:
            return earlier
        await self.contents.keep_standard(evaluation, task.shortest_window_seconds)
        return await self.ledger.post_task(task, key=key)

    async def act(
        self,
        team_id: str,
        task_id: int,
        call: Call,
        *,
        proof: Proof | None = None,
        key: str | CallKey | None = None,
    ) -> Receipt:
        """Make a move of the table in `moves.py`, if it is allowed now.

        An agent's call has a proof: its signature over the content that `SIGNED` names.
        """
        signed = await self._signed(team_id, task_id, call, proof)
        return await self.ledger.act(team_id, task_id, call, key=_key(key), signed=signed)

    async def submit(
        self,
        team_id: str,
        task_id: int,
        agent: str,
        result: bytes | str,
        *,
        proof: Proof,
        language: str | None = None,
        salt: str | None = None,
        key: str | None = None,
    ) -> Receipt:
        """Submit the result, once: bytes, or the CID of stored content.

        `language` names that of its code; `salt` reveals a commitment. A result whose language
        is unclear, or is not the standard's, is refused: the agent may submit again.
        """
        result_hash, revealed = cid_of_result(result), None
        if salt is not None:
            check_text("salt", salt, MAX_KEY_LENGTH)
            market = await self.ledger.market_id(team_id)
            revealed = commitment_of(market, task_id, agent, result_hash, salt)
        call = Call(
            action=Action.SUBMIT,
            by=agent,
            result_hash=result_hash,
            commitment=revealed,
            language=language,
        )
        signed, checked = await self._signed(team_id, task_id, call, proof), _key(key)
        # Checked first: a party that may not submit must not be able to fill the store either.
        earlier = await self.ledger.preview(team_id, task_id, call, key=checked, signed=signed)
        if earlier:
            return earlier
        if self._sandbox is not None:
            task = await self.ledger.task(team_id, task_id)
            await self.contents.check_language(task.evaluation_cid, result, language, self._sandbox)
        await self.contents.keep_result(result)
        return await self.ledger.act(team_id, task_id, call, key=checked, signed=signed)

    async def close_due(self, team_id: str) -> Sequence[Receipt]:
        """Close every task whose time has run out; anyone may do this."""
        receipts: list[Receipt] = []
        for task in await self.ledger.due(team_id, limit=MAX_PAGE):
            action = Action.SETTLE if task.state.has_verdict else Action.EXPIRE
            with suppress(WrongState, TooEarly):  # another process closed it first
                receipts.append(await self.act(team_id, task.id, Call(action=action)))
        return receipts

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
        """Register an agent, which signs its public key.

        Again with the same key: the version is updated. With another key: `Conflict`.
        """
        check_text("version", version, MAX_VERSION_LENGTH)
        read_public_key(public_key)
        statement = await self._statement(team_id, Act.REGISTER, None, agent, public_key)
        new = MarketAgent(
            id=agent, version=version, public_key=public_key, registered_at=self.ledger.now()
        )
        return await self.ledger.register(team_id, new, (statement, proof), key=_key(key))

    async def deposit_test_money(
        self, team_id: str, account: str, amount: int, *, key: str | None = None
    ) -> Receipt:
        """Deposit test money into a party's account; it is worth nothing."""
        checked = check_party("account", account), check_amount("amount", amount)
        return await self.ledger.deposit(team_id, *checked, key=_key(key))

    async def withdraw_test_money(
        self, team_id: str, account: str, amount: int, *, key: str | None = None
    ) -> Receipt:
        """Withdraw test money from a party's account."""
        checked = check_party("account", account), check_amount("amount", amount)
        return await self.ledger.withdraw(team_id, *checked, key=_key(key))

    async def _signed(
        self, team_id: str, task_id: int, call: Call, proof: Proof | None
    ) -> Signed | None:
        check_call(call)
        if proof is None or call.action not in SIGNED:
            return None
        act, content_of = SIGNED[call.action]
        content = content_of(call) or ""
        statement = await self._statement(team_id, act, task_id, call.by, content)
        return replace(statement, language=call.language), proof

    async def _statement(
        self, team_id: str, act: Act, task_id: int | None, agent: str, content: str
    ) -> Statement:
        return Statement(
            market=await self.ledger.market_id(team_id),
            act=act,
            task_id=task_id,
            agent=check_agent(agent),
            content=content,
        )


def _key(key: str | CallKey | None) -> CallKey:
    if isinstance(key, CallKey):
        return key
    text = uuid4().hex if key is None else check_text("key", key, MAX_KEY_LENGTH)
    return CallKey(text=text)
