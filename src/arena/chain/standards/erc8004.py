"""The registries of ERC-8004 (text of 2026-01-25): whose number is it, feedback, validations.

An agent's number is checked with `ownerOf` only: the Identity Registry that is in use on several
chains has no `agentExists`, although an implementation calls it.
"""

import re
from contextlib import suppress
from dataclasses import dataclass

from arena.chain.answers import checksummed
from arena.chain.errors import Reverted, chain_libraries
from arena.chain.parties import Parties
from arena.chain.standards.abi import (
    GET_AGENT_WALLET,
    GET_IDENTITY_REGISTRY,
    GET_VALIDATION_STATUS,
    GIVE_FEEDBACK,
    NEW_FEEDBACK,
    OWNER_OF,
    VALIDATION_RESPONSE,
)
from arena.chain.standards.contract import ZERO, Caller, Sent, StandardContract
from arena.chain.standards.feedback import (
    IPFS,
    QUALITY,
    SOURCE,
    WHOLE,
    SettledVerdict,
    feedback_file,
)
from arena.chain.standards.registration import RegisteredAgent
from arena.content.ports import ContentStore
from arena.errors import Conflict, Forbidden, InvalidInput, NotFound
from arena.market.call import CallKey
from arena.market.records.reading import MarketReader
from arena.market.signing import is_wallet
from arena.pools.threads import WRITES

STANDARD = "ERC-8004"
REQUEST = re.compile("(0x)?[0-9a-fA-F]{64}")
NO_ENDPOINT = ""
"""A task has none: its result is content."""


class UnknownAgentId(NotFound):
    """The Identity Registry has no such agent."""

    code = "unknown_agent_id"


class UnknownRequest(NotFound):
    """The Validation Registry has no such request."""

    code = "unknown_request"


@dataclass(frozen=True, slots=True, kw_only=True)
class Feedback:
    """Feedback that was given."""

    agent_id: int
    registry: str
    """`eip155:<chain>:<address>` of the Reputation Registry."""
    value: int
    file_cid: str
    record_cid: str
    index: int | None
    """Its number among those that this client gave this agent; None while it is pending."""
    sent: Sent


@dataclass(frozen=True, slots=True, kw_only=True)
class ValidationAnswer:
    """A response to a validation request."""

    request: str
    agent_id: int
    registry: str
    response: int
    record_cid: str
    sent: Sent


class IdentityRegistry:
    """Who has which number."""

    def __init__(self, caller: Caller, address: str) -> None:
        self._contract = StandardContract(
            caller, address, what="the Identity Registry", standard=STANDARD
        )

    async def check_agent(self, agent_id: int, *, agent: str, wallet: str) -> RegisteredAgent:
        """The number of an agent, which must be its own: its wallet is the owner or is set there.

        Otherwise the feedback of one agent could be given to another.
        """
        owner = await self.owner_of(agent_id)
        owners = {owner, await self._wallet_of(agent_id)}
        if wallet.lower() not in owners:
            raise Conflict(
                f"agent {agent_id} of {self._contract.address} belongs to {owner}, not to "
                f"{wallet}, the wallet of {agent!r}: check --agent-id"
            )
        return RegisteredAgent(agent_id=agent_id, agent_registry=await self._contract.place())

    async def owner_of(self, agent_id: int) -> str:
        """The owner of a number, in lower case; `UnknownAgentId` if nobody has it."""
        if not 0 <= agent_id < 2**256:
            raise InvalidInput(f"the agent's number is {agent_id}: it has 0 to 256 bits")
        try:
            owner: str = await self._contract.read(OWNER_OF, agent_id)
        except Reverted as error:
            raise UnknownAgentId(
                f"there is no agent {agent_id} in the Identity Registry "
                f"{self._contract.address} ({error.reason or 'no reason was given'})"
            ) from None
        if owner == ZERO:
            raise UnknownAgentId(
                f"there is no agent {agent_id} in the Identity Registry {self._contract.address}"
            )
        return owner.lower()

    async def _wallet_of(self, agent_id: int) -> str:
        try:
            return str(await self._contract.read(GET_AGENT_WALLET, agent_id)).lower()
        except Reverted:
            return ZERO  # earlier versions of the text have no such function


class ReputationRegistry:
    """Takes feedback."""

    def __init__(self, caller: Caller, address: str) -> None:
        self._caller = caller
        self._contract = StandardContract(
            caller, address, what="the Reputation Registry", standard=STANDARD
        )

    async def give(
        self,
        store: ContentStore,
        settled: SettledVerdict,
        agent_id: int,
        *,
        wallet: str,
        by: str,
    ) -> Feedback:
        """Give a settled verdict as feedback, once, whoever does it how often.

        `wallet` is the address of the task's agent.
        """
        _, sender = self._caller.key_of(by)
        settled.check_party(by, sender)
        identity = await _identity_of(self._contract)
        to = await identity.check_agent(agent_id, agent=settled.agent, wallet=wallet)
        if sender == await identity.owner_of(agent_id):
            raise Forbidden(
                f"{by!r} ({sender}) owns agent {agent_id}: the standard allows no feedback from "
                "the owner of an agent"
            )
        client = f"{await self._caller.network()}:{checksummed(sender)}"
        file = feedback_file(settled, to, client=client)
        file_cid = await WRITES.run(keep, store, file)
        sent = await self._contract.send(
            GIVE_FEEDBACK,
            (
                agent_id,
                settled.score,
                WHOLE,
                QUALITY,
                SOURCE,
                NO_ENDPOINT,
                IPFS + file_cid,
                keccak(file),
            ),
            by=by,
            # By the record alone: a verdict is given once, whatever the number and the giver.
            key=_key("feedback", self._contract, settled.record_cid),
            what=f"feedback on task {settled.task.id}",
        )
        return Feedback(
            agent_id=agent_id,
            registry=await self._contract.place(),
            value=settled.score,
            file_cid=file_cid,
            record_cid=settled.record_cid,
            index=await self._index(sent),
            sent=sent,
        )

    async def _index(self, sent: Sent) -> int | None:
        receipt = await self._contract.receipt(sent)
        for log in receipt.logs if receipt else ():
            if log.address.lower() == self._contract.address and NEW_FEEDBACK.is_in(log):
                return int(NEW_FEEDBACK.decode(log)[0])
        return None


class ValidationRegistry:
    """Takes responses to validation requests. There is no common one: it is always named."""

    def __init__(self, caller: Caller, address: str) -> None:
        self._caller = caller
        self._contract = StandardContract(
            caller, address, what="the Validation Registry", standard=STANDARD
        )

    async def respond(
        self, settled: SettledVerdict, request: str, *, wallet: str, by: str
    ) -> ValidationAnswer:
        """Answer an open request with a settled verdict: its score, and its record as evidence."""
        if not REQUEST.fullmatch(request):
            raise InvalidInput(f"the request is {request[:80]!r}: it has 64 hexadecimal digits")
        digest = bytes.fromhex(request.removeprefix("0x"))
        _, sender = self._caller.key_of(by)
        settled.check_giver(by, sender)
        validator, agent_id = await self._request(digest)
        if validator != sender:
            raise Forbidden(
                f"the request 0x{digest.hex()} is for the validator {validator}, not for {by!r} "
                f"({sender})"
            )
        identity = await _identity_of(self._contract)
        await identity.check_agent(agent_id, agent=settled.agent, wallet=wallet)
        evidence = IPFS + settled.record_cid
        sent = await self._contract.send(
            VALIDATION_RESPONSE,
            (digest, settled.score, evidence, keccak(settled.record), SOURCE),
            by=by,
            key=_key("validation", self._contract, digest.hex()),
            what=f"the response to request 0x{digest.hex()}",
        )
        return ValidationAnswer(
            request=f"0x{digest.hex()}",
            agent_id=agent_id,
            registry=await self._contract.place(),
            response=settled.score,
            record_cid=settled.record_cid,
            sent=sent,
        )

    async def _request(self, digest: bytes) -> tuple[str, int]:
        """The validator of a request, in lower case, and the agent's number."""
        try:
            validator, agent_id, *_ = await self._contract.read(GET_VALIDATION_STATUS, digest)
        except Reverted as error:
            raise UnknownRequest(
                f"the Validation Registry {self._contract.address} has no request "
                f"0x{digest.hex()} ({error.reason or 'no reason was given'})"
            ) from None
        if validator == ZERO:
            raise UnknownRequest(
                f"the Validation Registry {self._contract.address} has no request 0x{digest.hex()}"
            )
        return str(validator).lower(), int(agent_id)


async def wallet_of(reader: MarketReader, parties: Parties, team_id: str, agent: str) -> str:
    """The address of an agent: it signs with a wallet, or its name has one here."""
    with suppress(NotFound):  # an agent of the chain need not be registered here
        known = await reader.agent(team_id, agent)
        if is_wallet(known.public_key):
            return known.public_key.lower()
    return await parties.address_of(agent)


def keccak(data: bytes) -> bytes:
    """The hash that the standard asks for."""
    with chain_libraries():
        from eth_utils.crypto import keccak  # here to save start-up

    return keccak(data)


async def _identity_of(contract: StandardContract) -> IdentityRegistry:
    """The Identity Registry that a registry works with."""
    address: str = await contract.read(GET_IDENTITY_REGISTRY)
    if address == ZERO:
        raise Conflict(f"{contract.what} {contract.address} names no Identity Registry yet")
    return IdentityRegistry(contract.caller, address)


def keep(store: ContentStore, data: bytes) -> str:
    """Store a file that the chain names, for good; returns its CID. Writes to disk."""
    cid = store.put(data)
    # Tools that clean up the store must keep it.
    store.pin(cid)
    return cid


def _key(what: str, contract: StandardContract, subject: str) -> CallKey:
    return CallKey(text=f"{STANDARD} {what} {contract.address} {subject}", is_internal=True)
