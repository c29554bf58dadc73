"""The ledger on an EVM chain: the contract decides about moves and holds the money.

A move is a transaction of the party that makes it, signed with its key on this machine. An agent
needs no ether: it signs its act, and somebody else sends it. What happened in the contract comes
back as events (`reader.py`), which become the tasks that everybody reads.
"""

import asyncio
import logging
from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import replace
from datetime import UTC, datetime

from arena.amounts import MAX_DECIMALS, Amount, Currency
from arena.chain.calls import ContractCall, Relayed, move_call, post_call, signed_fields
from arena.chain.descriptions import Descriptions
from arena.chain.errors import MissingKey, NoContract
from arena.chain.intent import NewTransaction
from arena.chain.money import ChainMoney
from arena.chain.node import Node
from arena.chain.outbox import Outbox
from arena.chain.projection import ChainProjection
from arena.chain.receipts import Receipts, Sent
from arena.chain.senders import Senders
from arena.chain.signing import Domain, commitment_of, recover
from arena.content.tree import cid_of
from arena.errors import ArenaError, InvalidInput
from arena.market.call import (
    Action,
    Call,
    CallKey,
    Receipt,
    call_digest,
    digest_of,
    offer_digest,
)
from arena.market.checks import check_terms
from arena.market.errors import BadSignature, InsufficientFunds
from arena.market.ledger import OnAnotherLedger
from arena.market.money import Audit, Balance, LedgerLine
from arena.market.moves import must_sign
from arena.market.records.claims import check_claim
from arena.market.records.reading import find_agent, read_task
from arena.market.signing import Proof
from arena.market.task import EVM, Task
from arena.settings import Settings
from arena.store.database import Database, shielded

log = logging.getLogger(__name__)

FOLLOW_SECONDS = 2.0
"""How often a server looks at the chain without being asked."""
DEVELOPMENT_CHAINS = (1337, 31337)
"""Where ether is worth nothing, by convention."""


class EvmLedger:
    """The market's contract on a chain, for one team."""

    name = EVM
    allows_best_reputation = False

    def __init__(
        self,
        settings: Settings,
        database: Database,
        node: Node,
        outbox: Outbox,
        projection: ChainProjection,
        descriptions: Descriptions,
    ) -> None:
        assert settings.chain_contract is not None
        self.currency = Currency(code=settings.chain_currency, decimals=MAX_DECIMALS)
        self.contract = settings.chain_contract.lower()
        self.keys = projection.keys
        self.parties = projection.parties
        self._team_id = settings.chain_team
        self._database = database
        self._node = node
        self._outbox = outbox
        self._projection = projection
        self._descriptions = descriptions
        self._senders = Senders(self.keys, settings.chain_relayer)
        self._receipts = Receipts(node, outbox, self.keys, projection, settings.chain_wait_seconds)
        self._has_resumed = False
        self._money = ChainMoney(database, node, projection, self.contract)

    async def now(self) -> datetime:
        """The time of the block that is being made: it decides about windows."""
        block = await self._node.head("pending")
        return datetime.fromtimestamp(block.timestamp, UTC)

    # Tasks

    async def preview_task(self, task: Task, *, key: CallKey) -> Receipt | None:
        """Raise what `post_task` would raise; the receipt if it was done before."""
        self._check_team(task.team_id)
        if earlier := await self._receipts.earlier(task.team_id, key, offer_digest(task)):
            return earlier
        check_terms(task, await self.now())
        posting = await self._posting(task, cid_of(task.description.encode()))
        if not await self._receipts.simulate(posting):
            # Many contracts take ether with any call; the market's answers with the task's number.
            raise NoContract(
                f"the contract at {self.contract} is not the market's: correct "
                "ARENA_CHAIN_CONTRACT; `arena chain status` compares it"
            )
        return None

    async def post_task(self, task: Task, *, key: CallKey) -> Receipt:
        """Open a task and lock its reward in the contract."""
        self._check_team(task.team_id)
        posting = await self._posting(task, await self._descriptions.keep(task.description))
        return await self._receipts.send(posting, key, offer_digest(task))

    async def preview(
        self, team_id: str, task_id: int, call: Call, *, key: CallKey, proof: Proof | None = None
    ) -> Receipt | None:
        """Raise what `act` would raise now; the receipt if the call was done before."""
        task = await self._own_task(team_id, task_id)
        if earlier := await self._receipts.earlier(team_id, key, call_digest(task_id, call)):
            return earlier
        await self._receipts.simulate(await self._move(task, call, proof))
        return None

    async def act(
        self, team_id: str, task_id: int, call: Call, *, key: CallKey, proof: Proof | None = None
    ) -> Receipt:
        """Make a move in the contract, and wait until it is final."""
        task = await self._own_task(team_id, task_id)
        digest = call_digest(task_id, call)
        if earlier := await self._receipts.earlier(team_id, key, digest):
            return earlier
        return await self._receipts.send(await self._move(task, call, proof), key, digest)

    async def commitment(self, task: Task, agent: str, result_hash: str, salt: str) -> str:
        """What an agent commits to, to reveal this result with this salt."""
        assert task.chain_task is not None
        address = await self.parties.address_of(agent)
        return commitment_of(await self._domain(task), task.chain_task, address, result_hash, salt)

    # Money

    async def deposit(self, team_id: str, name: str, amount: Amount, *, key: CallKey) -> Receipt:
        """Give a party ether from the relayer's wallet, on a development chain only."""
        self._check_team(team_id)
        chain_id = await self._node.chain_id()
        address = await self.parties.address_of(name)
        if chain_id not in DEVELOPMENT_CHAINS:
            raise InvalidInput(
                f"there is no test money on chain {chain_id}: send {self.currency.code} to "
                f"{address}, the address of {name!r}"
            )
        new = NewTransaction(
            team_id=team_id,
            key=key,
            digest=digest_of("deposit", account=name, amount=int(amount)),
            action="deposit",
            sender_name=self._senders.relayer(),
            to=address,
            value=int(amount),
        )
        return await self._receipts.of_intent(await self._outbox.send(new))

    async def withdraw(self, team_id: str, name: str, amount: Amount, *, key: CallKey) -> Receipt:
        """Collect the credit that a refused payment left in the contract: all of it."""
        self._check_team(team_id)
        credit = await self._money.credit(await self.parties.address_of(name))
        if credit == 0:
            raise InsufficientFunds(
                f"{name!r} has no credit in the contract: on a chain, what was paid is in its "
                "wallet already"
            )
        if amount != credit:
            raise InvalidInput(f"the credit of {name!r} is {credit}: it is collected as a whole")
        collecting = Sent(
            team_id=team_id,
            contract=self.contract,
            call=ContractCall(function="withdraw", arguments=()),
            action="withdraw",
            sender=self._senders.key_of(name),
        )
        digest = digest_of("withdraw", account=name, amount=int(amount))
        return await self._receipts.send(collecting, key, digest)

    async def balance(self, team_id: str, name: str) -> Amount:
        """What a party has in its wallet."""
        self._check_team(team_id)
        return self.currency.amount(await self._node.balance(await self.parties.address_of(name)))

    async def balances(self, team_id: str) -> Sequence[Balance]:
        """Wallets of known parties, and what the contract holds for the team's live tasks."""
        self._check_team(team_id)
        return await self._money.balances(team_id)

    async def history(
        self, team_id: str, name: str, *, limit: int = 50, before: int | None = None
    ) -> Sequence[LedgerLine]:
        """What a party gained and paid through tasks, newest first."""
        self._check_team(team_id)
        return await self._money.history(team_id, name, limit=limit, before=before)

    async def audit(self, team_id: str | None = None) -> Audit:
        """Compare every task with the contract, and what it holds with what it owes."""
        return await self._money.audit(self._team_id)

    # Keeping up

    async def network(self) -> str:
        """The chain's name, as CAIP-2 writes it."""
        return await self._projection.network()

    @property
    def problem(self) -> str | None:
        """Why the tables may be behind the chain; None if they are not."""
        return self._projection.problem

    async def refresh(self) -> None:
        """Bring the market's tables up to date, unless that was done just now; never fails.

        The first time in a process, it goes on with what a killed process left unfinished.
        """
        if not self._has_resumed:
            self._has_resumed = True
            with suppress(ArenaError):  # the node is away: `following` and the next move try again
                await self._outbox.advance()
                await self._projection.fill_descriptions()
        await self._projection.refresh()

    async def advance(self) -> None:
        """Go on with every transaction that is not final, and read what is new."""
        await self._outbox.advance()
        await self._projection.read()

    @asynccontextmanager
    async def following(self) -> AsyncGenerator[None]:
        """Do this again and again while the block lasts, for a server."""
        following = asyncio.create_task(self._follow())
        try:
            yield
        finally:
            following.cancel()
            await asyncio.gather(following, return_exceptions=True)

    async def _follow(self) -> None:
        problem = None
        while True:
            try:
                await self.advance()
                await self._projection.fetch_descriptions()
                problem = None
            except ArenaError as error:
                if error.message != problem:  # once, not every time: a node may be away for days
                    log.warning("the chain: %s", error.message)
                problem = error.message
            await asyncio.sleep(FOLLOW_SECONDS)

    # Calls

    async def _own_task(self, team_id: str, task_id: int) -> Task:
        await self._projection.refresh()
        task = await self._read_task(team_id, task_id)
        if task.ledger != EVM:
            raise OnAnotherLedger(task.ledger)
        network = await self._projection.network()
        if task.network != network:
            raise InvalidInput(
                f"task {task.id} is on {task.network}, but the node serves {network}: set "
                "ARENA_CHAIN_URL to a node of that chain"
            )
        return task

    @shielded
    async def _read_task(self, team_id: str, task_id: int) -> Task:
        async with self._database.reading() as connection:
            return await read_task(connection, team_id, task_id)

    async def _posting(self, task: Task, description_cid: str) -> Sent:
        sender = self._senders.key_of(task.poster)  # first: without it the rest is of no use
        named = (task.poster, task.judge, task.fallback_judge, task.arbiter)
        addresses = {
            name: await self.parties.address_of(name) for name in named if name is not None
        }
        return Sent(
            team_id=task.team_id,
            contract=self.contract,
            call=post_call(task, addresses, description_cid),
            action=Action.POST,
            sender=sender,
        )

    async def _move(self, task: Task, call: Call, proof: Proof | None) -> Sent:
        """A move as a call of the contract, by whoever sends it."""
        if call.claim is not None:
            await self._check_claim(task, call.claim)
        if must_sign(task, call):
            call = replace(call, version=await self._version(task, call.by))
            made, sender = await self._agents_move(task, call, proof)
        else:
            agent = None if call.agent is None else await self._agent_address(call.agent)
            made, sender = move_call(task, call, agent=agent), self._senders.of_move(call)
        return Sent(
            team_id=task.team_id,
            contract=task.contract or self.contract,
            call=made,
            action=call.action,
            sender=sender,
            task_id=task.id,
        )

    async def _agents_move(
        self, task: Task, call: Call, proof: Proof | None
    ) -> tuple[ContractCall, str]:
        """What only the agent may do: with its signature, or with its key on this machine."""
        if proof is None:
            if not self.keys.has(call.by):
                raise BadSignature(
                    f"agent {call.by!r} must sign this: {call.action} is its own decision"
                )
            return move_call(task, call), call.by
        relayed = await self._relayed(task, call, proof)
        sender = self._senders.of_signed(call.by)
        if sender == call.by:  # it sends the move itself, and needs no signature
            return move_call(task, call), sender
        if call.action is Action.DISPUTE and task.bond:
            raise InsufficientFunds(
                f"the dispute of task {task.id} costs {task.bond} {task.currency}, which "
                f"{call.by!r} pays from its own wallet: do it where its key is"
            )
        return move_call(task, call, relayed=relayed), sender

    async def _agent_address(self, agent: str) -> str:
        try:
            return await self.parties.address_of(agent)
        except MissingKey:
            # Nobody has this address: the contract answers as it does for a stranger.
            return "0x" + 39 * "0" + "1"

    async def _relayed(self, task: Task, call: Call, proof: Proof) -> Relayed:
        """The agent's signed act; an error if the contract would not accept the signature."""
        try:
            address = await self.parties.address_of(call.by)
        except MissingKey:
            raise MissingKey(
                f"agent {call.by!r} has no wallet, and tasks on a chain need one: make a key with "
                "`arena chain key new ID` and join with that id"
            ) from None
        act, fields = signed_fields(task, call, address, proof.expires_at)
        signer = recover(await self._domain(task), act, fields, proof.signature)
        if signer.lower() != address:
            raise BadSignature(
                f"the signature is not that of agent {call.by!r} for this {call.action}"
            )
        return Relayed(agent=address, proof=proof)

    @shielded
    async def _version(self, task: Task, agent: str) -> str:
        async with self._database.reading() as connection:
            known = await find_agent(connection, task.team_id, agent)
        return known.version if known else "1.0.0"

    @shielded
    async def _check_claim(self, task: Task, token: str) -> None:
        async with self._database.reading() as connection:
            await check_claim(connection, task, token)

    async def _domain(self, task: Task) -> Domain:
        assert task.contract is not None
        return Domain(chain_id=await self._node.chain_id(), contract=task.contract)

    def _check_team(self, team_id: str) -> None:
        if team_id != self._team_id:
            raise InvalidInput(
                f"the contract's tasks belong to the team {self._team_id!r} (ARENA_CHAIN_TEAM): "
                "post with ledger embedded"
            )
