"""Functions and events of the standards, written from their texts, and their encoding.

A text that a contract returns is declared as `bytes`, which has the same encoding: anyone may have
stored what is not UTF-8.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from arena.chain.answers import Log
from arena.chain.errors import chain_libraries


@dataclass(frozen=True, slots=True)
class Function:
    """A function of a contract: `name(type,…)`, and the types that it returns."""

    signature: str
    outputs: tuple[str, ...] = ()

    @property
    def name(self) -> str:
        """Without its arguments."""
        return self.signature.partition("(")[0]

    def encode(self, *arguments: object) -> bytes:
        """The data of a call."""
        with chain_libraries():
            from eth_abi.abi import encode  # here to save start-up, as below

        return selector(self.signature) + encode(_types(self.signature), arguments)

    def decode(self, data: bytes) -> tuple[Any, ...]:
        """What a call returned; ValueError if it is something else."""
        return _decoded(self.outputs, data)


@dataclass(frozen=True, slots=True)
class Event:
    """An event of a contract, and which of its values are topics."""

    signature: str
    indexed: tuple[int, ...]

    @property
    def topic(self) -> bytes:
        """The first topic of its logs."""
        return _hash(self.signature)

    def is_in(self, log: Log) -> bool:
        """Whether a log is this event."""
        return len(log.topics) == 1 + len(self.indexed) and log.topics[0] == self.topic

    def decode(self, log: Log) -> tuple[Any, ...]:
        """The values that are no topics; ValueError if the log has others."""
        types = _types(self.signature)
        return _decoded([one for at, one in enumerate(types) if at not in self.indexed], log.data)


def selector(signature: str) -> bytes:
    """The first four bytes of a call's data, or of what a custom error returns."""
    return _hash(signature)[:4]


def address_in(topic: bytes) -> str:
    """The address in a topic, in lower case."""
    return f"0x{topic[-20:].hex()}"


def word(number: int) -> bytes:
    """A number as a topic."""
    return number.to_bytes(32, "big")


def _hash(signature: str) -> bytes:
    with chain_libraries():
        from eth_utils.crypto import keccak

    return keccak(text=signature)


def _types(signature: str) -> list[str]:
    inside = signature.partition("(")[2].removesuffix(")")
    return inside.split(",") if inside else []


def _decoded(types: Sequence[str], data: bytes) -> tuple[Any, ...]:
    with chain_libraries():
        from eth_abi.abi import decode
        from eth_abi.exceptions import DecodingError

    try:
        return decode([one.replace("string", "bytes") for one in types], data)
    except (DecodingError, OverflowError) as error:
        raise ValueError(str(error)) from None


# ERC-8004: the Identity Registry, which is an ERC-721 contract.

OWNER_OF = Function("ownerOf(uint256)", ("address",))
GET_AGENT_WALLET = Function("getAgentWallet(uint256)", ("address",))

# ERC-8004: the Reputation Registry.

GET_IDENTITY_REGISTRY = Function("getIdentityRegistry()", ("address",))
"""The Validation Registry has it too."""
GIVE_FEEDBACK = Function(
    "giveFeedback(uint256,int128,uint8,string,string,string,string,bytes32)",
)
"""agentId, value, valueDecimals, tag1, tag2, endpoint, feedbackURI, feedbackHash."""
NEW_FEEDBACK = Event(
    "NewFeedback(uint256,address,uint64,int128,uint8,string,string,string,string,string,bytes32)",
    indexed=(0, 1, 5),
)

# ERC-8004: the Validation Registry.

VALIDATION_RESPONSE = Function("validationResponse(bytes32,uint8,string,bytes32,string)")
"""requestHash, response, responseURI, responseHash, tag."""
GET_VALIDATION_STATUS = Function(
    "getValidationStatus(bytes32)",
    ("address", "uint256", "uint8", "bytes32", "bytes", "uint256"),
)
"""validatorAddress, agentId, response, responseHash, tag, lastUpdate."""

# ERC-8183. Every hookable function takes `optParams`, which is for hooks only.

CREATE_JOB = Function("createJob(address,address,uint256,string,address)", ("uint256",))
"""provider, evaluator, expiredAt, description, hook."""
SET_PROVIDER = Function("setProvider(uint256,address,bytes)")
SET_BUDGET = Function("setBudget(uint256,uint256,bytes)")
FUND = Function("fund(uint256,uint256,bytes)")
"""jobId, expectedBudget, optParams."""
SUBMIT = Function("submit(uint256,bytes32,bytes)")
COMPLETE = Function("complete(uint256,bytes32,bytes)")
REJECT = Function("reject(uint256,bytes32,bytes)")
CLAIM_REFUND = Function("claimRefund(uint256)")
GET_JOB = Function(
    "getJob(uint256)",
    ("(uint256,address,address,address,bytes,uint256,uint256,uint8,address)",),
)
"""id, client, provider, evaluator, description, budget, expiredAt, status, hook.

The prose of the text names these fields, its reference implementation the function. Others return
more fields after these; that changes nothing for those who read only the first nine.
"""
PAYMENT_TOKEN = Function("paymentToken()", ("address",))
"""Of the reference implementation: the prose says only that there is one token."""

JOB_CREATED = (
    Event("JobCreated(uint256,address,address,address,uint256,address)", indexed=(0, 1, 2)),
    Event("JobCreated(uint256,address,address,address,uint256)", indexed=(0, 1, 2)),
)
"""As the reference implementation has it, with the hook, and as the prose does."""
JOB_SUBMITTED = Event("JobSubmitted(uint256,address,bytes32)", indexed=(0, 1))
JOB_COMPLETED = Event("JobCompleted(uint256,address,bytes32)", indexed=(0, 1))
JOB_REJECTED = Event("JobRejected(uint256,address,bytes32)", indexed=(0, 1))
REFUNDED = Event("Refunded(uint256,address,uint256)", indexed=(0, 1))

# ERC-20: the token that jobs are paid in.

ALLOWANCE = Function("allowance(address,address)", ("uint256",))
APPROVE = Function("approve(address,uint256)")

CUSTOM_ERRORS = (
    "InvalidJob()",
    "WrongStatus()",
    "Unauthorized()",
    "ZeroAddress()",
    "ExpiryTooShort()",
    "ZeroBudget()",
    "ProviderNotSet()",
    "BudgetMismatch()",
    "HookNotWhitelisted()",
    "ERC721NonexistentToken(uint256)",
)
"""Errors that implementations of these texts return in place of a reason."""
