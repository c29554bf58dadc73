"""Signatures of agents: what is signed, and whether it was."""

import base64
import hashlib
import re
import secrets
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey

from arena import clock
from arena.content.canonical import canonical
from arena.errors import InvalidInput
from arena.market.errors import BadSignature

DOMAIN = "arena-market/1"
"""Part of every message, so that a signature for something else is none for this."""
PROOF_SECONDS = 300
MAX_PROOF_SECONDS = 86_400
"""Proofs that are valid for longer are refused."""
NONCE = re.compile(r"[A-Za-z0-9_-]{1,64}")
LATEST = 2**40
"""A time far away; a number beyond all measure must not get into arithmetic."""


class Act(StrEnum):
    """What an agent may sign."""

    REGISTER = "register"
    APPLY = "apply"
    COMMIT = "commit"
    SUBMIT = "submit"
    DISPUTE = "dispute"


@dataclass(frozen=True, slots=True, kw_only=True)
class Statement:
    """What an agent signs: one act, in one market, on one task."""

    market: str
    """The market's id: a signature for one market is worth nothing in another."""
    act: Act
    task_id: int | None
    agent: str
    content: str
    """The result's CID, the commitment, the public key, a dispute's reason; else empty."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Proof:
    """A signature over a statement, good once and for a short time."""

    nonce: str
    expires_at: int
    """Unix seconds; the proof is good before it."""
    signature: str
    """Ed25519, in base64."""


def message_of(statement: Statement, nonce: str, expires_at: int) -> bytes:
    """The bytes that are signed: canonical JSON, the same in every language."""
    return canonical(
        {
            "domain": DOMAIN,
            "market": statement.market,
            "act": statement.act.value,
            "task": statement.task_id,
            "agent": statement.agent,
            "content": statement.content,
            "nonce": nonce,
            "expires_at": expires_at,
        }
    )


def sign(key: Ed25519PrivateKey, statement: Statement, *, seconds: int = PROOF_SECONDS) -> Proof:
    """A fresh proof that the holder of the key says so."""
    nonce = secrets.token_hex(16)
    expires_at = int((clock.now() + timedelta(seconds=seconds)).timestamp())
    signature = key.sign(message_of(statement, nonce, expires_at))
    return Proof(nonce=nonce, expires_at=expires_at, signature=base64.b64encode(signature).decode())


def check_proof(public_key: str, statement: Statement, proof: Proof, at: datetime) -> None:
    """Refuse a proof that is not the key's, not for this statement, or not for this moment."""
    if not NONCE.fullmatch(proof.nonce):
        raise BadSignature("a nonce has 1 to 64 of A-Z a-z 0-9 _ -")
    left = max(0, min(proof.expires_at, LATEST)) - at.timestamp()
    if left <= 0:
        raise BadSignature("the signature has expired: sign again")
    if left > MAX_PROOF_SECONDS:
        raise BadSignature(f"a signature may be good for {MAX_PROOF_SECONDS} seconds at most")
    message = message_of(statement, proof.nonce, proof.expires_at)
    try:
        signature = base64.b64decode(proof.signature, validate=True)
        read_public_key(public_key).verify(signature, message)
    except (InvalidSignature, ValueError):
        raise BadSignature(
            f"the signature is not that of agent {statement.agent!r} for this {statement.act}"
        ) from None


def commitment_of(market: str, task_id: int, agent: str, result_hash: str, salt: str) -> str:
    """What binds an agent to a result it does not show yet; a copy is useless to another."""
    body = {
        "domain": DOMAIN,
        "market": market,
        "task": task_id,
        "agent": agent,
        "result": result_hash,
        "salt": salt,
    }
    return hashlib.sha256(canonical(body)).hexdigest()


def public_key_of(key: Ed25519PrivateKey) -> str:
    """The public half, as the market keeps it: 32 bytes in base64."""
    return base64.b64encode(key.public_key().public_bytes_raw()).decode()


def read_public_key(text: str) -> Ed25519PublicKey:
    """The key that a text stands for."""
    try:
        return Ed25519PublicKey.from_public_bytes(base64.b64decode(text, validate=True))
    except ValueError:
        raise InvalidInput("a public key is 32 bytes (Ed25519) in base64") from None
