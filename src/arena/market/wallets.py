"""Signatures of Ethereum wallets, and the libraries that they need (the extra `chain`)."""

import sys
from collections.abc import Generator
from contextlib import contextmanager

from arena.errors import InfrastructureError
from arena.market.errors import BadSignature

HALF_ORDER = 0x7FFFFFFFFFFFFFFFFFFFFFFFFFFFFFFF5D576E7357A4501DDFE92F46681B20A0
"""Of the curve. A signature whose s is above it has a twin that anyone can compute."""


class MissingLibrary(InfrastructureError):
    """The libraries for the chain are not installed: pip install 'agent-arena[chain]'."""

    code = "missing_library"


@contextmanager
def chain_libraries() -> Generator[None]:
    """Turn a missing library into an error that says what to install."""
    limit = sys.getrecursionlimit()
    try:
        yield
    except ModuleNotFoundError as error:
        raise MissingLibrary(
            f"the chain needs the library {error.name}: pip install 'agent-arena[chain]'",
            retryable=False,
        ) from None
    finally:
        # A library that eth_account imports raises the limit so far that a deeply nested request
        # would crash the whole process, not end in an error.
        sys.setrecursionlimit(limit)


def message_signer(message: bytes, signature: str) -> str:
    """The address that signed plain bytes (EIP-191, `personal_sign`)."""
    with chain_libraries():
        from eth_utils.crypto import keccak

    prefix = f"\x19Ethereum Signed Message:\n{len(message)}".encode()
    return digest_signer(keccak(prefix + message), signature)


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


def digest_signer(digest: bytes, signature: str) -> str:
    """The address that signed a hash; `BadSignature` if it is no valid signature."""
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
