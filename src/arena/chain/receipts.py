"""Calls of the contract as transactions, and their receipts."""

from dataclasses import dataclass, replace

from arena.chain.calls import ContractCall
from arena.chain.errors import NoFunds, Reverted, refusal_of
from arena.chain.intent import Intent, IntentState, NewTransaction, what
from arena.chain.keys import Keys
from arena.chain.node import Node
from arena.chain.outbox import Outbox
from arena.chain.projection import ChainProjection
from arena.market.audit import STANDS
from arena.market.call import CallKey, Receipt, ReceiptStatus
from arena.market.errors import KeyConflict
from arena.market.task import EVM


@dataclass(frozen=True, slots=True, kw_only=True)
class Sent:
    """A call of the contract, and for whom it is made."""

    team_id: str
    contract: str
    call: ContractCall
    action: str
    sender: str
    """The name of the key that sends it."""
    task_id: int | None = None

    @property
    def what(self) -> str:
        """The call, for messages."""
        return what(self.action, None if self.task_id is None else str(self.task_id))


class Receipts:
    """Sends calls and waits for what became of them."""

    def __init__(
        self,
        node: Node,
        outbox: Outbox,
        keys: Keys,
        projection: ChainProjection,
        wait_seconds: float,
    ) -> None:
        self._node = node
        self._outbox = outbox
        self._keys = keys
        self._projection = projection
        self._wait_seconds = wait_seconds
        self._checked: set[str] = set()
        """The contracts that are on the chain."""

    async def simulate(self, sent: Sent) -> bytes:
        """What the contract would answer now, if the sender had enough money, or raise."""
        await self._check(sent.contract)
        try:
            return await self._node.call(
                sent.contract,
                sent.call.data,
                sender=self._keys.address_of(sent.sender),
                value=sent.call.value,
                block="pending",
                is_funded=True,
            )
        except Reverted as error:
            raise refusal_of(error.reason, sent.what) from None

    async def send(self, sent: Sent, key: CallKey, digest: str) -> Receipt:
        """Send a call; the same key again returns the receipt of the first."""
        await self._check(sent.contract)
        new = NewTransaction(
            team_id=sent.team_id,
            key=key,
            digest=digest,
            action=sent.action,
            sender_name=sent.sender,
            to=sent.contract,
            data=sent.call.data,
            value=sent.call.value,
            task=None if sent.task_id is None else str(sent.task_id),
        )
        try:
            intent = await self._outbox.send(new)
        except NoFunds:
            # If the contract would refuse it anyway, that is what the caller should know.
            await self.simulate(sent)
            raise
        return await self.of_intent(intent)

    async def _check(self, contract: str) -> None:
        """Refuse an address without a contract: it takes any call, and keeps the money."""
        if contract not in self._checked:
            await self._node.check_contract(contract)
            self._checked.add(contract)

    async def earlier(self, team_id: str, key: CallKey, digest: str) -> Receipt | None:
        """The receipt of the earlier call with this key; None if there is none."""
        intent = await self._outbox.find(team_id, key)
        if intent is None:
            return None
        if intent.digest != digest:
            raise KeyConflict(f"the key {key.text!r} was used for another call: use a new one")
        return await self.of_intent(intent)

    async def of_intent(self, intent: Intent) -> Receipt:
        """Wait until a transaction is final, and read what it did."""
        intent = await self._outbox.wait(intent, seconds=self._wait_seconds)
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
        final = replace(receipt, status=ReceiptStatus.FINAL)
        if found is None:  # about money, not about a task
            return final
        task_id, kind, at = found
        return replace(final, task_id=task_id, state=STANDS[kind], at=at)
