"""Signatures of the chain: acts of agents (EIP-712), plain messages (EIP-191), commitments.

The contract recovers the signer from the same structure, so a signature is valid for one act, on
one task, in one contract on one chain.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from arena.market.signing import Act
from arena.market.wallets import chain_libraries, digest_signer

DOMAIN_NAME = "Arena"
DOMAIN_VERSION = "1"

DOMAIN_FIELDS = (
    ("name", "string"),
    ("version", "string"),
    ("chainId", "uint256"),
    ("verifyingContract", "address"),
)
ACTS: Mapping[Act, tuple[str, tuple[tuple[str, str], ...]]] = {
    Act.APPLY: (
        "Apply",
        (
            ("taskId", "uint256"),
            ("agent", "address"),
            ("version", "string"),
            ("expires", "uint256"),
        ),
    ),
    Act.COMMIT: (
        "Commit",
        (
            ("taskId", "uint256"),
            ("agent", "address"),
            ("commitment", "bytes32"),
            ("expires", "uint256"),
        ),
    ),
    Act.SUBMIT: (
        "Submit",
        (
            ("taskId", "uint256"),
            ("agent", "address"),
            ("resultHash", "string"),
            ("language", "string"),
            ("expires", "uint256"),
        ),
    ),
    Act.DISPUTE: (
        "Dispute",
        (
            ("taskId", "uint256"),
            ("agent", "address"),
            ("reasonURI", "string"),
            ("expires", "uint256"),
        ),
    ),
}
"""The name and the fields of each act, as the contract has them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Domain:
    """Where a signature is valid."""

    chain_id: int
    contract: str


def typed_data(domain: Domain, act: Act, fields: Mapping[str, object]) -> dict[str, Any]:
    """An act as wallets sign it: the document of `eth_signTypedData_v4`."""
    name, types = ACTS[act]
    return {
        "types": {
            "EIP712Domain": [{"name": one, "type": kind} for one, kind in DOMAIN_FIELDS],
            name: [{"name": one, "type": kind} for one, kind in types],
        },
        "primaryType": name,
        "domain": {
            "name": DOMAIN_NAME,
            "version": DOMAIN_VERSION,
            "chainId": domain.chain_id,
            "verifyingContract": domain.contract,
        },
        "message": {one: fields[one] for one, _ in types},
    }


def digest(domain: Domain, act: Act, fields: Mapping[str, object]) -> bytes:
    """The hash that is signed."""
    # Imported in functions, here and below, to save start-up: most commands use no chain.
    with chain_libraries():
        from eth_account.messages import encode_typed_data
        from eth_utils.crypto import keccak

    signable = encode_typed_data(full_message=typed_data(domain, act, fields))
    return keccak(b"\x19" + signable.version + signable.header + signable.body)


def recover(domain: Domain, act: Act, fields: Mapping[str, object], signature: str) -> str:
    """The address that signed an act; `BadSignature` if the contract would not accept it."""
    return digest_signer(digest(domain, act, fields), signature)


def commitment_of(domain: Domain, task_id: int, agent: str, result_hash: str, salt: str) -> str:
    """A commitment to a result not yet shown, as the contract computes it: 64 hex digits."""
    with chain_libraries():
        from eth_abi.abi import encode
        from eth_utils.crypto import keccak

    types = ["uint256", "address", "uint256", "address", "bytes32", "bytes32"]
    result, word = keccak(text=result_hash), salt_word(salt)
    values = [domain.chain_id, domain.contract, task_id, agent, result, word]
    return keccak(encode(types, values)).hex()


def salt_word(salt: str) -> bytes:
    """The 32 bytes that stand for a salt's text on the chain."""
    with chain_libraries():
        from eth_utils.crypto import keccak

    return keccak(text=salt)
