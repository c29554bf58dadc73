"""A contract that follows a standard: its views, and its functions through the outbox."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any, Self

from arena.chain.answers import Tag, TransactionReceipt, checksummed
from arena.chain.errors import NoContract, Reverted
from arena.chain.intent import Intent, IntentState, NewTransaction
from arena.chain.keys import Keys
from arena.chain.node import Node
from arena.chain.outbox import Outbox
from arena.chain.senders import Senders
from arena.chain.standards.abi import CUSTOM_ERRORS, Function, selector
from arena.errors import CallerError, Conflict, InvalidInput
from arena.market.call import CallKey, ReceiptStatus, digest_of
from arena.market.errors import KeyConflict
from arena.settings import Settings

ADDRESS = re.compile("0x[0-9a-fA-F]{40}")
ZERO = "0x" + 40 * "0"
SELECTOR_LENGTH = len("0x12345678")


class NotThisStandard(InvalidInput):
    """The contract at that address does not follow the standard."""

    code = "not_this_standard"


@dataclass(frozen=True, slots=True, kw_only=True)
class Caller:
    """Whoever calls contracts from this machine: its node, its keys, its transactions."""

    node: Node
    outbox: Outbox
    keys: Keys
    team_id: str
    wait_seconds: float
    """How long a transaction is waited for; then it is pending."""
    confirmations: int

    @classmethod
    def of(cls, settings: Settings, node: Node, outbox: Outbox, keys: Keys) -> Self:
        """The caller in the settings."""
        return cls(
            node=node,
            outbox=outbox,
            keys=keys,
            team_id=settings.team,
            wait_seconds=settings.chain_wait_seconds,
            confirmations=settings.chain_confirmations,
        )

    def key_of(self, name: str) -> tuple[str, str]:
        """The name of the key that a party signs with, and its address, in lower case."""
        found = Senders(self.keys, None).key_of(name)
        address = self.keys.address_of(found)
        assert address is not None
        return found, address.lower()

    async def network(self) -> str:
        """The chain's name, as CAIP-2 writes it."""
        return f"eip155:{await self.node.chain_id()}"

    async def confirmed_block(self) -> int:
        """The newest block with enough blocks on top: what it says may be acted on."""
        head = await self.node.head()
        return max(0, head.number - self.confirmations + 1)


@dataclass(frozen=True, slots=True, kw_only=True)
class Sent:
    """A transaction that carried out a function."""

    transaction_hash: str
    status: ReceiptStatus


class StandardContract:
    """A contract at an address, named by what it is: `the Reputation Registry`."""

    def __init__(self, caller: Caller, address: str, *, what: str, standard: str) -> None:
        if not ADDRESS.fullmatch(address):
            raise InvalidInput(
                f"the address of {what} is {address[:60]!r}: it has 0x and 40 hexadecimal digits"
            )
        self.caller = caller
        self.address = address.lower()
        self.what = what
        self._standard = standard
        self._has_code = False

    async def place(self) -> str:
        """Where it is, as CAIP-10 writes it: `eip155:<chain>:<address>`."""
        return f"{await self.caller.network()}:{checksummed(self.address)}"

    async def read(self, function: Function, *arguments: object, block: Tag = "latest") -> Any:
        """What a view returns: a value, or several as a tuple; `Reverted` if it refuses."""
        await self._check_code()
        data = function.encode(*arguments)
        try:
            returned = await self.caller.node.call(self.address, data, block=block)
            values = function.decode(returned)
        except Reverted as error:
            raise refused(error.reason, f"{function.name} of {self.what}") from None
        except ValueError:
            raise NotThisStandard(
                f"{self.what} {self.address} does not answer {function.name} as {self._standard} "
                f"says: is it the right contract?"
            ) from None
        return values[0] if len(values) == 1 else values

    async def send(
        self, function: Function, arguments: Sequence[object], *, by: str, key: CallKey, what: str
    ) -> Sent:
        """Call a function once for each key, and wait until it is final.

        `what` names the call in messages. A call that would be refused is an error before anything
        is sent. If the wait is over first, the transaction is pending: the same call goes on with
        it.
        """
        await self._check_code()
        name, sender = self.caller.key_of(by)
        data = function.encode(*arguments)
        new = NewTransaction(
            team_id=self.caller.team_id,
            key=key,
            digest=digest_of(function.name, to=self.address, by=sender, data=data.hex()),
            action=f"{function.name} ({self._standard})",
            sender_name=name,
            to=checksummed(self.address),
            data=data,
        )
        try:
            return await self.finished(await self.caller.outbox.send(new), what)
        except Reverted as error:
            raise refused(error.reason, what) from None
        except KeyConflict:
            earlier = await self.caller.outbox.find(new.team_id, key)
            by_whom = f" by {earlier.sender} (transaction {earlier.hash})" if earlier else ""
            raise Conflict(f"{what}: it was done before with other values{by_whom}") from None

    async def finished(self, intent: Intent, what: str) -> Sent:
        """Wait for a transaction; an error if it has no effect."""
        seconds = self.caller.wait_seconds
        intent = await self.caller.outbox.wait(intent.id, seconds=seconds)
        error = intent.error
        if isinstance(error, Reverted):
            raise refused(error.reason, what)
        if error is not None:
            raise error
        is_final = intent.state is IntentState.FINAL
        status = ReceiptStatus.FINAL if is_final else ReceiptStatus.PENDING
        return Sent(transaction_hash=intent.hash, status=status)

    async def receipt(self, sent: Sent) -> TransactionReceipt | None:
        """What a transaction did; None while it is pending."""
        if sent.status is ReceiptStatus.PENDING:
            return None
        return await self.caller.node.receipt(sent.transaction_hash)

    async def _check_code(self) -> None:
        """Without a contract there, a call would succeed and do nothing."""
        if not self._has_code and not await self.caller.node.code(checksummed(self.address)):
            raise NoContract(
                f"{self.what}: there is no contract at {self.address} on chain "
                f"{await self.caller.node.chain_id()} ({self.caller.node.name}): check the address "
                "and ARENA_CHAIN_URL"
            )
        self._has_code = True


def refused(reason: str, what: str) -> CallerError:
    """The error of a call that a contract refuses, with its reason in words."""
    named = error_names().get(reason[:SELECTOR_LENGTH], reason)
    error = Reverted(named)
    error.message = f"{what}: {error.message}"
    error.args = (error.message,)
    return error


@cache
def error_names() -> dict[str, str]:
    """The names of custom errors, by what a contract returns for them."""
    return {f"0x{selector(one).hex()}": one.partition("(")[0] for one in CUSTOM_ERRORS}
