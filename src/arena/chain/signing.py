"""Signatures of the chain: acts of agents (EIP-712), plain messages (EIP-191), commitments.

The contract recovers the signer from the same structure, so a signature is valid for one act, on
one task, in one contract on one chain.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from arena.chain.errors import chain_libraries
from arena.market.errors import BadSignature
from arena.market.signing import Act

DOMAIN_NAME = "Arena"
DOMAIN_VERSION = "1"
HALF_ORDER = 0x7FFFFFFFFFFFFFFFFFFFFFFFFFFFFFFF5D576E7357A4501DDFE92F46681B20A0
"""Of the curve. A signature whose s is above it has a twin that anyone can compute."""

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
    return _signer(digest(domain, act, fields), signature)


def recover_message(message: bytes, signature: str) -> str:
    """The address that signed plain bytes (EIP-191, `personal_sign`)."""
    with chain_libraries():
        from eth_utils.crypto import keccak

    prefix = f"\x19Ethereum Signed Message:\n{len(message)}".encode()
    return _signer(keccak(prefix + message), signature)


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


def signature_bytes(signature: str) -> bytes:
    """The 65 bytes of a signature; `BadSignature` if they are not a valid one's."""
    try:
        found = bytes.fromhex(signature.removeprefix("0x"))
    except ValueError:
        raise BadSignature("a signature is 65 bytes in hexadecimal digits") from None
    if len(found) != 65:
        raise BadSignature("a signature is 65 bytes in hexadecimal digits")
    if found[64] not in (27, 28) or int.from_bytes(found[32:64], "big") > HALF_ORDER:
        raise BadSignature("the signature is not in its one valid form (low s, v of 27 or 28)")
    return found


def _signer(digest: bytes, signature: str) -> str:
    with chain_libraries():
        from eth_keys.datatypes import Signature
        from eth_keys.exceptions import BadSignature as Unrecoverable
        from eth_utils.exceptions import ValidationError

    found = signature_bytes(signature)
    try:
        made = Signature(found[:64] + bytes([found[64] - 27]))
        return made.recover_public_key_from_msg_hash(digest).to_checksum_address()
    except (Unrecoverable, ValidationError):
        raise BadSignature("the signature is of no key") from None
