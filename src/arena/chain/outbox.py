"""Transactions that happen exactly once, whatever is killed, lost or reorganised away.

An *intent* is written to the database with its nonce and the signed transaction before it is sent.
From then on the same bytes are sent again until the chain has them: sending twice is harmless. A
stuck transaction is replaced by one with the same nonce and a higher fee, so still only one of them
can be mined. See `intent.py` for the states.
"""

import asyncio
import logging
import time
from collections import Counter
from collections.abc import Collection, Sequence
from typing import Literal

from arena.chain.errors import NodeUnreachable, Reverted, WrongChain
from arena.chain.following import NOT_MINED, is_known, is_passed, is_stuck, observed, receipt_of
from arena.chain.intent import Chain, Intent, IntentState, NewTransaction
from arena.chain.keys import Keys
from arena.chain.locks import SenderLocks
from arena.chain.node import Node, Progress
from arena.chain.records.transactions import Transactions
from arena.chain.sending import AtStep, OutboxOptions, Sending
from arena.market.call import CallKey
from arena.market.errors import KeyConflict
from arena.store.database import Database

log = logging.getLogger(__name__)

SEND_TRIES = 20
"""How often a new transaction gets another nonce because its key is used on other machines."""
FIRST_POLL_SECONDS = 0.02
OUT_OF_GAS = "it ran out of gas"
DROPPED = "the chain has dropped its block, and another transaction has its nonce now"

Until = Literal["mined", "final"]


class Outbox:
    """The transactions of this machine's keys on one node's chain."""

    def __init__(
        self,
        database: Database,
        node: Node,
        keys: Keys,
        options: OutboxOptions,
        *,
        at_step: AtStep | None = None,
    ) -> None:
        self._node = node
        self._options = options
        self._records = Transactions(database)
        self._locks = SenderLocks(options.folder)
        self._sending = Sending(node, keys, self._records, options, at_step)
        self._chain: Chain | None = None
        self._waited: Counter[str] = Counter()
        """The senders of the transactions that are waited for."""
        self._look: asyncio.Task[dict[int, Intent]] | None = None

    async def send(self, new: NewTransaction) -> Intent:
        """Send a transaction; with a key that was used for it before, the earlier one.

        A transaction that would fail now is an error before anything is written. The intent that is
        returned is sent, or written if the node gave no answer; `wait` and `advance` go on with it.
        """
        sender = await self._sending.unlock(new.sender_name)
        chain = await self.chain()
        async with self._locks.held(chain.chain_id, sender):
            for _ in range(SEND_TRIES):
                chain = await self.chain()
                found, held = await self._records.before(chain, new, sender)
                if found is not None:
                    return _same(found, new)
                held = await self._resumed(held)
                outlook = await self._node.outlook(new.to, new.data, sender=sender, value=new.value)
                if outlook.genesis != chain.genesis:
                    self._forget(chain)
                    continue
                nonce = _next_nonce(outlook.nonce, held)
                intent = await self._sending.write(chain, new, sender, outlook, nonce)
                if intent is not None and (sent := await self._sending.send_new(intent)):
                    return sent
        raise NodeUnreachable(
            f"the node {self._node.name} refuses every nonce of {sender}: its key is in use "
            "elsewhere; try again"
        )

    async def find(self, team_id: str, key: CallKey) -> Intent | None:
        """The transaction with this key; None if there is none, or it failed or was abandoned."""
        return await self._records.find(await self.chain(), team_id, key)

    async def get(self, intent_id: int) -> Intent:
        """One transaction, as it is known here."""
        return await self._records.get(intent_id)

    async def unfinished(self) -> list[Intent]:
        """The transactions that are not final, of every chain."""
        return await self._records.unfinished()

    async def advance(self) -> list[Intent]:
        """Bring every unfinished transaction of the node's chain up to date; returns them.

        What was written but not sent is sent, what the node or the chain has lost is sent again,
        what is stuck is replaced, and what is mined deep enough is final.
        """
        chain = await self.chain()
        return list((await self._follow(chain, await self._records.unfinished(chain))).values())

    async def reopen(self, blocks: Sequence[str]) -> None:
        """Send again what was final in blocks that the chain has dropped all the same."""
        gone = await self._records.final_in(await self.chain(), blocks)
        for intent in gone:
            log.warning("%s was final and is reorganised away: sent again", intent.what)
            columns = {**NOT_MINED, "state": IntentState.SENT}
            changed = await self._records.change(intent, **columns)
            if changed or (await self._records.get(intent.id)).revision != intent.revision:
                continue
            # A newer one has its nonce: only one of them can be mined.
            columns |= {"state": IntentState.FAILED, "reason": DROPPED}
            await self._records.change(intent, **columns)
        if gone:
            await self.advance()

    async def wait(self, intent: Intent | int, until: Until = "final", *, seconds: float) -> Intent:
        """Wait until a transaction is mined or final, has failed, or the time is over.

        By its id, it is read first. An unreachable node does not end the wait.
        """
        if isinstance(intent, int):
            intent = await self._records.get(intent)
        ends, delay, looks = time.monotonic() + seconds, FIRST_POLL_SECONDS, 0
        self._waited[intent.sender] += 1
        try:
            while not _is_reached(intent, until):
                try:
                    intent = await self._looked_at(intent, is_first=looks == 0)
                except NodeUnreachable as error:
                    log.debug("while waiting for %s: %s", intent.what, error.message)
                left, looks = ends - time.monotonic(), looks + 1
                if _is_reached(intent, until) or left <= 0:
                    break
                await asyncio.sleep(min(delay, left))
                delay = min(1.5 * delay, self._options.poll_seconds)
        finally:
            self._waited[intent.sender] -= 1
        return intent

    async def chain(self) -> Chain:
        """The chain that the node serves."""
        if self._chain is None:
            chain_id = await self._node.chain_id()
            self._chain = Chain(chain_id=chain_id, genesis=await self._node.genesis())
        return self._chain

    async def _looked_at(self, intent: Intent, *, is_first: bool) -> Intent:
        """The transaction as the chain has it now."""
        chain = await self.chain()
        if intent.chain != chain:
            raise _other_chain(intent, self._node.name)
        # The first look is at this one alone: on a fast chain it is often enough.
        seen = await (self._follow(chain, [intent]) if is_first else self._look_together())
        return seen.get(intent.id) or await self._records.get(intent.id)

    async def _resumed(self, held: list[Intent]) -> list[Intent]:
        """Send what a process wrote and then died; returns what still holds its nonce."""
        if not any(one.state is IntentState.WRITTEN for one in held):
            return held
        fees = await self._node.fees()
        for intent in held:
            if intent.state is IntentState.WRITTEN:
                await self._sending.send_again(intent, fees)
        return await self._records.unfinished(held[0].chain, [held[0].sender])

    async def _look_together(self) -> dict[int, Intent]:
        """One look at the chain for all that wait."""
        if self._look is None or self._look.done():
            self._look = asyncio.create_task(self._follow_waited())
            # Retrieved, in case every waiter is cancelled.
            self._look.add_done_callback(lambda done: done.cancelled() or done.exception())
        return await asyncio.shield(self._look)

    async def _follow_waited(self) -> dict[int, Intent]:
        """Also the other transactions of the same senders: those before must be mined first."""
        chain = await self.chain()
        senders = [one for one, count in self._waited.items() if count > 0]
        return await self._follow(chain, await self._records.unfinished(chain, senders))

    async def _follow(self, chain: Chain, intents: Sequence[Intent]) -> dict[int, Intent]:
        """Bring transactions up to date with the chain."""
        if not intents:
            return {}
        hashes = [attempt.hash for intent in intents for attempt in intent.attempts]
        progress = await self._node.progress(sorted({one.sender for one in intents}), hashes)
        if progress.genesis != chain.genesis:
            self._forget(chain)
            raise _other_chain(intents[0], self._node.name)
        return {one.id: await self._step(one, progress) for one in intents}

    async def _step(self, intent: Intent, progress: Progress) -> Intent:
        columns = observed(intent, progress, self._options.confirmations)
        if columns.get("is_reverted"):
            columns["reason"] = await self._reason(intent, progress)
        if columns:
            changed = await self._records.change(intent, **columns)
            if changed is None:
                return await self._records.get(intent.id)  # another process was faster
            intent = changed
            if "state" in columns:
                self._sending.at_step(intent.state, intent)
        is_waiting = intent.state in (IntentState.WRITTEN, IntentState.SENT)
        if not is_waiting or is_passed(intent, progress):
            return intent
        if not is_known(intent, progress):
            if intent.state is IntentState.SENT:
                return await self._sending.send_again(intent, progress.fees)
        elif not is_stuck(intent, progress, self._options.stuck_seconds):
            return intent
        return await self._step_locked(intent, progress)

    async def _step_locked(self, intent: Intent, progress: Progress) -> Intent:
        """Send or replace under the sender's lock, unless another process is at it."""
        async with self._locks.attempted(intent.chain_id, intent.sender) as is_held:
            # Whoever has written it sends it, holding the lock: it died if the row is unchanged.
            if not is_held or (await self._records.get(intent.id)).revision != intent.revision:
                return intent
            if is_known(intent, progress):
                return await self._sending.replace(intent, progress.fees)
            return await self._sending.send_again(intent, progress.fees)

    async def _reason(self, intent: Intent, progress: Progress) -> str:
        """Why a mined transaction reverted: the same call again, in the state after its block."""
        receipt = receipt_of(intent, progress)
        if receipt is None or intent.recipient is None:
            return ""
        for block in (receipt.block_number, receipt.block_number - 1):
            try:
                await self._node.call(
                    intent.recipient,
                    intent.data,
                    sender=intent.sender,
                    value=intent.value,
                    block=block,
                )
            except Reverted as refused:
                return refused.reason
            except NodeUnreachable:
                break  # the node no longer has that state
        return OUT_OF_GAS if receipt.gas_used >= intent.gas else ""

    def _forget(self, chain: Chain) -> None:
        log.warning("the node %s serves another chain %d now", self._node.name, chain.chain_id)
        self._chain = None


def _same(found: Intent, new: NewTransaction) -> Intent:
    if found.digest != new.digest:
        raise KeyConflict(f"the key {new.key.text!r} was used for another call: use a new one")
    return found


def _next_nonce(count: int, held: Collection[Intent]) -> int:
    """The lowest free nonce: an abandoned transaction may have left a gap."""
    taken = {one.nonce for one in held}
    nonce = count
    while nonce in taken:
        nonce += 1
    return nonce


def _is_reached(intent: Intent, until: Until) -> bool:
    is_mined = until == "mined" and intent.state is IntentState.MINED
    return is_mined or intent.state.is_finished


def _other_chain(intent: Intent, node: str) -> WrongChain:
    return WrongChain(
        f"{intent.what} was sent to another chain {intent.chain_id} than {node} serves now: the "
        "first block differs; was the node started anew?"
    )
