"""Signs transactions, writes them down and sends them: for the first time, again, or replaced."""

import asyncio
import logging
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Self

from arena import clock
from arena.chain.answers import Fees
from arena.chain.errors import (
    MissingKey,
    NodeUnreachable,
    NoFunds,
    Refusal,
    Refused,
    Reverted,
    refusal_of,
)
from arena.chain.following import is_old
from arena.chain.intent import Attempt, Chain, Intent, IntentState, NewTransaction, what
from arena.chain.keys import Keys, SignedTransaction
from arena.chain.node import Node, Outlook
from arena.chain.price import Price, first_price, raised_price
from arena.chain.records.transactions import Transactions
from arena.chain.wei import GWEI
from arena.settings import Settings

log = logging.getLogger(__name__)

GAS_PERCENT = 125
"""The limit, compared with the estimate: the state may change until the transaction is mined."""
TRANSFER_GAS = 21_000
"""The least that any transaction needs."""
DYNAMIC_FEE = 2
"""The type of transactions that name a maximum fee and a tip (EIP-1559)."""

AtStep = Callable[[str, Intent], None]
"""Called after each step, for tests that stop the process there. The steps: `intent` (written, not
sent), `sent` (accepted by the node, not recorded), `replacement` (a new attempt is written, not
sent), `mined` and `final` (recorded)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class OutboxOptions:
    """How transactions are sent."""

    folder: Path
    """For the lock files of this machine."""
    confirmations: int = 2
    """Blocks that make a transaction final, its own included."""
    max_fee: int = 200 * GWEI
    """The most that is paid per unit of gas, in wei."""
    currency: str = "ETH"
    stuck_seconds: float = 60
    """How old a transaction must be before it is replaced."""
    poll_seconds: float = 1
    """The longest time between two looks at the chain."""

    @classmethod
    def of(cls, settings: Settings) -> Self:
        """The options in the settings."""
        return cls(
            folder=settings.home / "chain",
            confirmations=settings.chain_confirmations,
            max_fee=settings.chain_max_fee_gwei * GWEI,
            currency=settings.chain_currency,
        )


class Sending:
    """Sends the transactions of this machine's keys. Its caller holds the sender's lock."""

    def __init__(
        self,
        node: Node,
        keys: Keys,
        records: Transactions,
        options: OutboxOptions,
        at_step: AtStep | None = None,
    ) -> None:
        self._node = node
        self._keys = keys
        self._records = records
        self._options = options
        self.at_step: AtStep = at_step or (lambda _step, _intent: None)

    async def unlock(self, name: str) -> str:
        """Make a key ready for signing; returns its address."""
        if not self._keys.is_unlocked(name):
            # In a thread: decryption takes a second of CPU time.
            return await asyncio.to_thread(self._keys.unlock, name)
        return self._keys.unlock(name)

    async def write(
        self, chain: Chain, new: NewTransaction, sender: str, outlook: Outlook, nonce: int
    ) -> Intent | None:
        """Sign a new transaction and write it down; None if its key or nonce was just taken."""
        gas, price = await self._plan(new, sender, outlook)
        now = clock.now()
        fields = _fields(chain.chain_id, nonce, new.to, new.value, new.data, gas)
        signed = self._sign(new.sender_name, fields, price)
        intent = await self._records.add(
            Intent(
                chain_id=chain.chain_id,
                genesis=chain.genesis,
                team_id=new.team_id,
                idempotency_key=new.key.text,
                is_internal=new.key.is_internal,
                digest=new.digest,
                action=new.action,
                task=new.task,
                sender=sender,
                recipient=new.to,
                value=new.value,
                data=new.data,
                gas=gas,
                nonce=nonce,
                created_at=now,
                updated_at=now,
                attempts=(_attempt(1, signed, price, outlook.fees),),
            )
        )
        if intent is not None:
            self.at_step("intent", intent)
        return intent

    async def send_new(self, intent: Intent) -> Intent | None:
        """Send an intent that was just written; None if it needs another nonce or price.

        A definite refusal is an error, and the intent is abandoned. If the node gave no answer, the
        transaction may have arrived: it stays written, and is sent again later.
        """
        try:
            await self._node.send_raw(intent.last.raw)
        except NodeUnreachable as error:
            return await self._noted(intent, error.message)
        except Refused as refused:
            return await self._refused_new(intent, refused)
        return await self._sent(intent)

    async def send_again(self, intent: Intent, fees: Fees) -> Intent:
        """Send the newest attempt of an earlier intent, which the node may have had before."""
        try:
            await self._node.send_raw(intent.last.raw)
        except Refused as refused:
            return await self._refused_again(intent, refused, fees)
        return await self._sent(intent)

    async def replace(self, intent: Intent, fees: Fees) -> Intent:
        """Send a transaction again with the same nonce and a higher fee, if that is possible."""
        last = intent.last
        name = self._keys.name_of(intent.sender) or intent.sender  # as the missing one's name
        price = raised_price(last.max_fee, last.tip, fees, self._options.max_fee)
        if price is None:
            limit = f"{self._options.max_fee / GWEI:g} gwei"
            return await self._noted(intent, f"it is stuck, and the fee limit is {limit}")
        try:
            await self.unlock(name)
        except MissingKey as error:
            return await self._noted(intent, f"it is stuck: {error.message}")
        fields = _fields(
            intent.chain_id,
            intent.nonce,
            intent.recipient,
            intent.value,
            intent.data,
            intent.gas,
        )
        attempt = _attempt(last.number + 1, self._sign(name, fields, price), price, fees)
        changed = await self._records.change(intent, attempt, reason=None)
        if changed is None:
            return await self._records.get(intent.id)  # another process was faster
        self.at_step("replacement", changed)
        log.info("%s is stuck and replaced: %g gwei", intent.what, price.max_fee / GWEI)
        try:
            await self._node.send_raw(attempt.raw)
        except Refused as refused:
            return await self._noted(changed, refused.message)
        return await self._sent(changed)

    async def _plan(self, new: NewTransaction, sender: str, outlook: Outlook) -> tuple[int, Price]:
        """The gas and its price; an error if the transaction could not succeed now."""
        price = first_price(outlook.fees, self._options.max_fee)
        gas = outlook.gas if isinstance(outlook.gas, int) else TRANSFER_GAS
        limit = -(-gas * GAS_PERCENT // 100)
        needs = new.value + limit * price.max_fee
        if outlook.balance < (new.value if isinstance(outlook.gas, Reverted) else needs):
            raise NoFunds.of(
                sender, has=outlook.balance, needs=needs, currency=self._options.currency
            )
        if isinstance(outlook.gas, Reverted):
            reason = outlook.gas.reason or await self._reason(new, sender)
            raise refusal_of(reason, what(new.action, new.task))
        if isinstance(outlook.gas, NodeUnreachable):
            raise outlook.gas
        return limit, price

    async def _reason(self, new: NewTransaction, sender: str) -> str:
        """Why a call reverts, for nodes that do not say it with an estimate."""
        if new.to is None:
            return ""
        try:
            await self._node.call(new.to, new.data, sender=sender, value=new.value, block="pending")
        except Reverted as refused:
            return refused.reason
        return ""

    def _sign(self, name: str, fields: dict[str, int | bytes], price: Price) -> SignedTransaction:
        offered = {"maxFeePerGas": price.max_fee, "maxPriorityFeePerGas": price.tip}
        return self._keys.sign_transaction(name, fields | offered)

    async def _sent(self, intent: Intent) -> Intent:
        self.at_step("sent", intent)
        if intent.state is IntentState.SENT and intent.reason is None:
            return intent
        changed = await self._records.change(intent, state=IntentState.SENT, reason=None)
        return changed or await self._records.get(intent.id)

    async def _noted(self, intent: Intent, reason: str) -> Intent:
        if intent.reason == reason:
            return intent
        log.warning("%s (%s): %s", intent.what, intent.hash, reason)
        changed = await self._records.change(intent, reason=reason)
        return changed or await self._records.get(intent.id)

    async def _abandoned(self, intent: Intent, refused: Refused) -> Intent:
        """Give an intent up, unless its row has changed; returns the row as it is now."""
        columns = {"state": IntentState.ABANDONED, "reason": refused.message}
        changed = await self._records.change(intent, **columns)
        return changed or await self._records.get(intent.id)

    async def _refused_new(self, intent: Intent, refused: Refused) -> Intent | None:
        if refused.why is Refusal.TEMPORARY:
            return await self._noted(intent, refused.message)
        try:
            # "Nonce too low" is also said of a transaction that is mined already.
            if await self._node.knows(intent.hash):
                return await self._sent(intent)
        except NodeUnreachable as error:
            return await self._noted(intent, error.message)
        found = await self._abandoned(intent, refused)
        # On another machine, which does not share the lock, somebody may have changed the row.
        while refused.why is Refusal.NONCE_TOO_LOW and not found.state.is_finished:
            found = await self._abandoned(found, refused)  # no machine can send it any more
        if not found.state.is_finished:
            return found  # a machine that has sent it meanwhile goes on with it
        match refused.why:
            case Refusal.NONCE_TOO_LOW | Refusal.UNDERPRICED | Refusal.FEE_TOO_LOW:
                return None
            case Refusal.NO_FUNDS:
                has = await self._node.balance(intent.sender)
                needs = intent.value + intent.gas * intent.last.max_fee
                currency = self._options.currency
                raise NoFunds.of(intent.sender, has=has, needs=needs, currency=currency)
            case _:
                raise refused

    async def _is_last(self, intent: Intent) -> bool:
        """Whether no other one waits for its turn: without its nonce it would wait for ever."""
        held = await self._records.unfinished(intent.chain, [intent.sender])
        return all(one.nonce <= intent.nonce for one in held)

    async def _refused_again(self, intent: Intent, refused: Refused, fees: Fees) -> Intent:
        is_written = intent.state is IntentState.WRITTEN
        match refused.why:
            case Refusal.FEE_TOO_LOW if is_old(intent, self._options.stuck_seconds):
                return await self.replace(intent, fees)
            case Refusal.NONCE_TOO_LOW | Refusal.UNDERPRICED if is_written:
                # It may be mined, or another one has its nonce: the chain will show which.
                return await self._sent(intent)
            case Refusal.NO_FUNDS | Refusal.INVALID if is_written:
                if await self._is_last(intent) and not await self._node.knows(intent.hash):
                    return await self._abandoned(intent, refused)
            case _:
                pass
        return await self._noted(intent, refused.message)


def _fields(
    chain_id: int, nonce: int, to: str | None, value: int, data: bytes, gas: int
) -> dict[str, int | bytes]:
    fields: dict[str, int | bytes] = {
        "type": DYNAMIC_FEE,
        "chainId": chain_id,
        "nonce": nonce,
        "value": value,
        "data": data,
        "gas": gas,
    }
    return fields if to is None else {**fields, "to": bytes.fromhex(to.removeprefix("0x"))}


def _attempt(number: int, signed: SignedTransaction, price: Price, fees: Fees) -> Attempt:
    return Attempt(
        number=number,
        hash=signed.hash,
        raw=signed.raw,
        max_fee=price.max_fee,
        tip=price.tip,
        block_number=fees.block_number,
        created_at=clock.now(),
    )
