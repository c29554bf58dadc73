"""The ledger on an EVM chain: the contract decides about moves and holds the money.

A move is a transaction of the party that makes it, signed with its key on this machine. An agent
needs no ether: it signs its act, and somebody else sends it. What happened in the contract comes
back as events (`reader.py`), which become the tasks that everybody reads.
"""

from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime

from arena.amounts import MAX_DECIMALS, Amount, Currency
from arena.chain.calls import ContractCall, Relayed, move_call, post_call, signed_fields
from arena.chain.descriptions import Descriptions
from arena.chain.errors import MissingKey, Reverted, refusal_of
from arena.chain.intent import Intent, IntentState, NewTransaction, what
from arena.chain.money import ChainMoney
from arena.chain.node import Node
from arena.chain.outbox import Outbox
from arena.chain.projection import ChainProjection
from arena.chain.signing import Domain, commitment_of, recover
from arena.content.tree import cid_of
from arena.errors import InvalidInput
from arena.market.audit import STANDS
from arena.market.call import (
    ANYONE,
    Action,
    Call,
    CallKey,
    Receipt,
    ReceiptStatus,
    call_digest,
    digest_of,
    offer_digest,
)
from arena.market.checks import check_terms
from arena.market.errors import BadSignature, InsufficientFunds, KeyConflict
from arena.market.ledger import OnAnotherLedger
from arena.market.money import Audit, Balance, LedgerLine
from arena.market.moves import must_sign
from arena.market.records.claims import check_claim
from arena.market.records.reading import find_agent, read_task
from arena.market.signing import Proof
from arena.market.task import EVM, Task
from arena.settings import Settings
from arena.store.database import Database, shielded

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
        self._settings = settings
        self._team_id = settings.chain_team
        self._database = database
        self._node = node
        self._outbox = outbox
        self._projection = projection
        self._descriptions = descriptions
        self._money = ChainMoney(database, node, projection, self.contract)

    async def now(self) -> datetime:
        """The time of the block that is being made: it decides about windows."""
        block = await self._node.head("pending")
        return datetime.fromtimestamp(block.timestamp, UTC)

    # Tasks

    async def preview_task(self, task: Task, *, key: CallKey) -> Receipt | None:
        """Raise what `post_task` would raise; the receipt if it was done before."""
        self._check_team(task.team_id)
        if earlier := await self._earlier(task.team_id, key, offer_digest(task)):
            return earlier
        check_terms(task, await self.now())
        call = await self._posting(task, cid_of(task.description.encode()))
        await self._simulate(call, self._key_of(task.poster), Action.POST)
        return None

    async def post_task(self, task: Task, *, key: CallKey) -> Receipt:
        """Open a task and lock its reward in the contract."""
        self._check_team(task.team_id)
        description = await self._descriptions.keep(task.description)
        call = await self._posting(task, description)
        return await self._send(
            task.team_id, call, Action.POST, self._key_of(task.poster), key, offer_digest(task)
        )

    async def preview(
        self, team_id: str, task_id: int, call: Call, *, key: CallKey, proof: Proof | None = None
    ) -> Receipt | None:
        """Raise what `act` would raise now; the receipt if the call was done before."""
        task = await self._own_task(team_id, task_id)
        if earlier := await self._earlier(team_id, key, call_digest(task_id, call)):
            return earlier
        made, sender = await self._move(task, call, proof)
        await self._simulate(made, sender, call.action, task)
        return None

    async def act(
        self, team_id: str, task_id: int, call: Call, *, key: CallKey, proof: Proof | None = None
    ) -> Receipt:
        """Make a move in the contract, and wait until it is final."""
        task = await self._own_task(team_id, task_id)
        digest = call_digest(task_id, call)
        if earlier := await self._earlier(team_id, key, digest):
            return earlier
        made, sender = await self._move(task, call, proof)
        return await self._send(team_id, made, call.action, sender, key, digest, task=task)

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
            sender_name=self._relayer(),
            to=address,
            value=int(amount),
        )
        return await self._receipt(await self._outbox.send(new))

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
        call = ContractCall(function="withdraw", arguments=())
        digest = digest_of("withdraw", account=name, amount=int(amount))
        return await self._send(team_id, call, "withdraw", self._key_of(name), key, digest)

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
        """Bring the market's tables up to date, unless that was done just now."""
        await self._projection.refresh()

    async def advance(self) -> None:
        """Go on with every transaction that is not final, and read what is new."""
        await self._outbox.advance()
        await self._projection.read()

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

    async def _posting(self, task: Task, description_cid: str) -> ContractCall:
        named = (task.poster, task.judge, task.fallback_judge, task.arbiter)
        addresses = {
            name: await self.parties.address_of(name) for name in named if name is not None
        }
        return post_call(task, addresses, description_cid)

    async def _move(self, task: Task, call: Call, proof: Proof | None) -> tuple[ContractCall, str]:
        """The call of the contract, and the name of the key that sends it."""
        if call.claim is not None:
            await self._check_claim(task, call.claim)
        is_agents = must_sign(task, call)
        if is_agents:
            call = replace(call, version=await self._version(task, call.by))
        if is_agents and proof is not None:
            relayed = await self._relayed(task, call, proof)
            sender = self._relayer_of(call.by)
            # Its own key is here: it sends the move itself, and needs no signature.
            is_direct = sender == call.by
            if not is_direct and call.action is Action.DISPUTE and task.bond:
                raise InsufficientFunds(
                    f"the dispute of task {task.id} costs {task.bond} {task.currency}, which "
                    f"{call.by!r} pays from its own wallet: do it where its key is"
                )
            return move_call(task, call, relayed=None if is_direct else relayed), sender
        if is_agents and not self.keys.has(call.by):
            raise BadSignature(
                f"agent {call.by!r} must sign this: {call.action} is its own decision"
            )
        agent = None if call.agent is None else await self._agent_address(call.agent)
        sender = self._relayer() if call.by == ANYONE else self._sender(call)
        return move_call(task, call, agent=agent), sender

    def _sender(self, call: Call) -> str:
        """The key that sends a move: the party's own; for timeouts, anybody's."""
        if call.action in (Action.EXPIRE, Action.SETTLE) and not self.keys.has(call.by):
            return self._relayer()
        return self._key_of(call.by)

    async def _agent_address(self, agent: str) -> str:
        try:
            return await self.parties.address_of(agent)
        except MissingKey:
            # Nobody has this address: the contract answers as it does for a stranger.
            return "0x" + 39 * "0" + "1"

    async def _relayed(self, task: Task, call: Call, proof: Proof) -> Relayed:
        """The agent's signed act; an error if the contract would not accept the signature."""
        address = await self.parties.address_of(call.by)
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

    # Keys

    def _key_of(self, name: str) -> str:
        """The name of the key that a party signs with; a party may be named by its address."""
        found = name if self.keys.has(name) else self.keys.name_of(name)
        if found is None:
            known = ", ".join(self.keys.names()) or "nobody"
            raise MissingKey(
                f"the key of {name!r} is not on this machine, so this move cannot be made here: "
                f"make it where the key is, or add it (`arena chain key import {name}`); "
                f"there are keys of: {known}"
            )
        return found

    def _relayer(self) -> str:
        """Whose key sends what nobody in particular does."""
        if self._settings.chain_relayer is not None:
            return self._key_of(self._settings.chain_relayer)
        names = self.keys.names()
        if len(names) != 1:
            raise MissingKey(
                "nobody is named to pay for the gas of agents and timeouts: set "
                f"ARENA_CHAIN_RELAYER to one of: {', '.join(names) or '(no key is here)'}"
            )
        return names[0]

    def _relayer_of(self, agent: str) -> str:
        if self._settings.chain_relayer is None and self.keys.has(agent):
            return agent
        return self._relayer()

    def _check_team(self, team_id: str) -> None:
        if team_id != self._team_id:
            raise InvalidInput(
                f"the contract's tasks belong to the team {self._team_id!r} (ARENA_CHAIN_TEAM): "
                "post with ledger embedded"
            )

    # Transactions

    async def _simulate(
        self, call: ContractCall, sender: str, action: str, task: Task | None = None
    ) -> None:
        """Raise what the contract would say now."""
        address = self.keys.address_of(sender)
        to = task.contract if task else self.contract
        try:
            await self._node.call(
                to or self.contract, call.data, sender=address, value=call.value, block="pending"
            )
        except Reverted as error:
            number = None if task is None else str(task.id)
            raise refusal_of(error.reason, what(action, number)) from None

    async def _send(
        self,
        team_id: str,
        call: ContractCall,
        action: str,
        sender: str,
        key: CallKey,
        digest: str,
        *,
        task: Task | None = None,
    ) -> Receipt:
        new = NewTransaction(
            team_id=team_id,
            key=key,
            digest=digest,
            action=action,
            sender_name=sender,
            to=task.contract if task else self.contract,
            data=call.data,
            value=call.value,
            task=None if task is None else str(task.id),
            extra_gas=call.extra_gas,
        )
        return await self._receipt(await self._outbox.send(new))

    async def _earlier(self, team_id: str, key: CallKey, digest: str) -> Receipt | None:
        """The receipt of the earlier call with this key."""
        intent = await self._outbox.find(team_id, key)
        if intent is None:
            return None
        if intent.digest != digest:
            raise KeyConflict(f"the key {key.text!r} was used for another call: use a new one")
        return await self._receipt(intent)

    async def _receipt(self, intent: Intent) -> Receipt:
        """Wait until a transaction is final and read what it did."""
        intent = await self._outbox.wait(intent.id, seconds=self._settings.chain_wait_seconds)
        if error := intent.error:
            raise error
        receipt = Receipt(
            ref=intent.id,
            task_id=None if intent.task is None else int(intent.task),
            state=None,
            at=intent.updated_at,
            status=ReceiptStatus.PENDING,
            ledger=EVM,
            transaction_hash=intent.hash,
        )
        if intent.state is not IntentState.FINAL:
            return receipt
        await self._projection.read()
        found = await self._projection.outcome(intent.recipient or "", intent.hash)
        if found is None:  # about money, not about a task
            return replace(receipt, status=ReceiptStatus.FINAL)
        task_id, kind, at = found
        return replace(
            receipt, status=ReceiptStatus.FINAL, task_id=task_id, state=STANDS[kind], at=at
        )
