"""The entry point of the market: what the parties of a task can do.

Every change takes an idempotency `key`. The same key with the same arguments returns the same
receipt and does nothing; with other arguments it raises `KeyConflict`. Without a key every call is
new. The call names the acting party; the market checks that this party has the role and that an
agent has signed, not who sent the request.
"""

import logging
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import fields
from typing import TYPE_CHECKING, Any, TypeVar
from uuid import uuid4

from arena.content.ports import ContentStore
from arena.errors import Conflict, Forbidden, InfrastructureError, InvalidInput
from arena.feed import Feed
from arena.fields import MAX_VERSION_LENGTH
from arena.market.agents import MarketAgent, MarketParty
from arena.market.call import Action, Call, CallKey, Claim, Receipt
from arena.market.checks import MAX_PAGE, check_amount, check_call, check_party, check_text
from arena.market.contents import Contents, cid_of_result, cid_of_standard
from arena.market.errors import TooEarly, WrongState
from arena.market.ledger import Ledger, OnAnotherLedger
from arena.market.records.claims import Claims
from arena.market.records.embedded import EmbeddedLedger
from arena.market.records.participants import Participants
from arena.market.records.projecting import OnSubmitted
from arena.market.records.reading import MarketReader
from arena.market.signing import Act, Proof, check_public_key
from arena.market.task import (
    EMBEDDED,
    MAX_DESCRIPTION_LENGTH,
    MAX_KEY_LENGTH,
    Assignment,
    Task,
    TaskPost,
    TaskState,
    Terms,
)
from arena.store.database import Database

if TYPE_CHECKING:
    from arena.sandbox.ports import SandboxProvider

log = logging.getLogger(__name__)

T = TypeVar("T")
OpenLedger = Callable[[], Ledger]


class Market:
    """Tasks, agents and money of every team; `reader` reads them."""

    def __init__(
        self,
        database: Database,
        content: ContentStore,
        feed: Feed | None = None,
        *,
        ledger: str = EMBEDDED,
        others: Mapping[str, OpenLedger] | None = None,
        refresh: Callable[[], Awaitable[None]] | None = None,
        sandbox: "Callable[[], SandboxProvider] | None" = None,
        on_submitted: OnSubmitted | None = None,
    ) -> None:
        """`ledger` is for new tasks; `others` opens the ledgers besides the embedded one."""
        feed = feed or Feed()
        self.embedded = EmbeddedLedger(database, feed, on_submitted)
        self.reader = MarketReader(database, feed, refresh=refresh)
        self.contents = Contents(content)
        self._claims = Claims(database)
        self._participants = Participants(database)
        self._default = ledger
        self._others = others or {}
        self._sandbox = sandbox
        """Opens the sandbox that parses results; None: their language is not checked."""

    @property
    def ledger(self) -> Ledger:
        """The ledger for new tasks."""
        return self.ledger_named(self._default)

    def ledger_named(self, name: str) -> Ledger:
        """A ledger; an error if it is not configured here."""
        if name == EMBEDDED:
            return self.embedded
        if name not in self._others:
            raise InvalidInput(
                f"the ledger {name!r} is not configured here: set ARENA_CHAIN_URL and "
                "ARENA_CHAIN_CONTRACT (docs/chain.md)"
            )
        return self._others[name]()

    async def post_task(self, team_id: str, post: TaskPost) -> Receipt:
        """Offer a task: the standard is verified and pinned, then the reward is locked."""
        check_party("poster", post.poster)
        check_text("description", post.description, MAX_DESCRIPTION_LENGTH)
        key = _key(post.idempotency_key)
        ledger = self.ledger_named(post.ledger or self._default)
        task, evaluation = await new_task(team_id, post, ledger)
        # Bad terms are refused before anything is stored; checked again when the money is locked.
        earlier = await ledger.preview_task(task, key=key)
        if earlier:
            return earlier
        await self.contents.keep_standard(evaluation, task.shortest_window_seconds)
        return await ledger.post_task(task, key=key)

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

        An agent's call has a proof: its signature.
        """
        check_call(call)
        checked = _key(key)
        return await self._on_its_ledger(
            lambda ledger: ledger.act(team_id, task_id, call, key=checked, proof=proof)
        )

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
        task = await self.reader.task(team_id, task_id)
        ledger = self.ledger_named(task.ledger)
        if salt is not None:
            check_text("salt", salt, MAX_KEY_LENGTH)
            revealed = await ledger.commitment(task, agent, result_hash, salt)
        call = Call(
            action=Action.SUBMIT,
            by=agent,
            result_hash=result_hash,
            commitment=revealed,
            salt=salt,
            language=language,
        )
        check_call(call)
        checked = _key(key)
        # Checked first: a party that may not submit must not be able to fill the store either.
        earlier = await ledger.preview(team_id, task_id, call, key=checked, proof=proof)
        if earlier:
            return earlier
        if self._sandbox is not None:
            await self.contents.check_language(task.evaluation_cid, result, language, self._sandbox)
        await self.contents.keep_result(result)
        return await ledger.act(team_id, task_id, call, key=checked, proof=proof)

    async def close_due(self, team_id: str) -> Sequence[Receipt]:
        """Close every task whose time has run out; anyone may do this."""
        receipts: list[Receipt] = []
        for ledger in self._open_ledgers():
            try:
                now = await ledger.now()
            except InfrastructureError:
                continue  # its node is away: the tasks of the others can still be closed
            for task in await self.reader.due(team_id, ledger.name, now, limit=MAX_PAGE):
                action = Action.SETTLE if task.state.has_verdict else Action.EXPIRE
                try:
                    receipts.append(await self.act(team_id, task.id, Call(action=action)))
                except (WrongState, TooEarly):
                    pass  # another process closed it first
                except (Conflict, Forbidden, InfrastructureError) as error:
                    # On a chain somebody must pay for the gas; whoever can closes it.
                    log.info("task %d is due, but cannot be closed here: %s", task.id, error)
        return receipts

    async def claim(self, team_id: str, task_id: int, *, by: str, token: str) -> Claim:
        """Claim a submitted task for a process of its judge, or renew the claim."""
        task = await self.reader.task(team_id, task_id)
        now = await self.ledger_named(task.ledger).now()
        return await self._claims.take(team_id, task_id, by=by, token=token, now=now)

    async def release(self, team_id: str, task_id: int, *, token: str) -> None:
        """End a claim before it expires."""
        await self._claims.release(team_id, task_id, token=token)

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
        check_public_key(public_key)
        statement = await self.embedded.statement(team_id, Act.REGISTER, None, agent, public_key)
        new = MarketAgent(
            id=agent,
            version=version,
            public_key=public_key,
            registered_at=await self.embedded.now(),
        )
        return await self._participants.register(team_id, new, (statement, proof), key=_key(key))

    async def parties(self, team_id: str) -> Sequence[MarketParty]:
        """Everybody whose address on a chain is known, by name."""
        known = await self.reader.parties(team_id)
        return [MarketParty(name=name, address=known[name]) for name in sorted(known)]

    async def name_party(self, team_id: str, name: str, address: str) -> MarketParty:
        """Give an address on a chain a name; `Conflict` if either is taken."""
        check_party("name", name)
        await self._participants.name_party(team_id, name, address)
        return MarketParty(name=name, address=address.lower())

    async def deposit_test_money(
        self, team_id: str, account: str, amount: int, *, key: str | None = None
    ) -> Receipt:
        """Deposit test money into a party's account; it is worth nothing."""
        ledger = self.ledger
        given = check_amount("amount", amount, currency=ledger.currency)
        return await ledger.deposit(team_id, check_party("account", account), given, key=_key(key))

    async def withdraw_test_money(
        self, team_id: str, account: str, amount: int, *, key: str | None = None
    ) -> Receipt:
        """Withdraw test money from a party's account."""
        ledger = self.ledger
        given = check_amount("amount", amount, currency=ledger.currency)
        return await ledger.withdraw(team_id, check_party("account", account), given, key=_key(key))

    def _open_ledgers(self) -> list[Ledger]:
        return [self.embedded, *(opened() for opened in self._others.values())]

    async def _on_its_ledger(self, do: Callable[[Ledger], Awaitable[T]]) -> T:
        """Do it on the ledger of the task; mostly that is the default one."""
        try:
            return await do(self.ledger)
        except OnAnotherLedger as other:
            return await do(self.ledger_named(other.ledger))


async def new_task(team_id: str, post: TaskPost, ledger: Ledger) -> tuple[Task, Any]:
    """The task of an offer, and its standard: the document, or its CID."""
    if (post.evaluation is None) == (post.evaluation_cid is None):
        raise InvalidInput("give either evaluation (the standard) or evaluationCID")
    evaluation: Any = post.evaluation_cid if post.evaluation is None else post.evaluation
    judge = post.judge or (post.poster if post.is_self_judged else None)
    if judge is None:
        raise InvalidInput("judge is missing: name one, or set is_self_judged")
    if post.assignment is Assignment.BEST_REPUTATION and not ledger.allows_best_reputation:
        raise InvalidInput(
            f"the ledger {ledger.name!r} cannot rank applicants: use the assignment manual or first"
        )
    terms: dict[str, Any] = {field.name: getattr(post, field.name) for field in fields(Terms)}
    currency = ledger.currency
    terms["reward"] = check_amount("reward", post.reward, currency=currency)
    terms["bond"] = check_amount("bond", post.bond, least=0, currency=currency)
    task = Task(
        **terms,
        judge=judge,
        id=0,  # assigned by the ledger
        team_id=team_id,
        poster=post.poster,
        description=post.description,
        evaluation_cid=cid_of_standard(evaluation),
        state=TaskState.OPEN,
        posted_at=await ledger.now(),
        ledger=ledger.name,
        currency=currency.code,
        decimals=currency.decimals,
        payout=currency.amount(0),
    )
    return task, evaluation


def _key(key: str | CallKey | None) -> CallKey:
    if isinstance(key, CallKey):
        return key
    text = uuid4().hex if key is None else check_text("key", key, MAX_KEY_LENGTH)
    return CallKey(text=text)
