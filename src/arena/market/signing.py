"""Signatures of agents: keys, signed messages and their verification.

A message is canonical JSON with the market, the act, the task, the agent and the content, so a
signature is valid for nothing else. Any language can produce it: see docs/guide/earn.md.
"""

import base64
import hashlib
import re
import secrets
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Protocol, Self

from pydantic import Field

from arena import clock
from arena.content.canonical import canonical
from arena.errors import InvalidInput, NotFound
from arena.files import write_atomically
from arena.market.errors import BadSignature
from arena.market.wallets import message_signer

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import (
        Ed25519PrivateKey,
        Ed25519PublicKey,
    )

DOMAIN = "arena-market/1"
"""Part of every message, so that a signature made for something else is invalid here."""
PROOF_SECONDS = 300
MAX_PROOF_SECONDS = 86_400
"""Proofs that are valid for longer are refused."""
LATEST = 2**40
"""A time in the far future. A client's `expires_at` is capped to it before any arithmetic."""
WALLET = re.compile(r"0x[0-9a-f]{40}")
NONCE = re.compile(r"[A-Za-z0-9_-]{1,64}")
AGENT_ID = re.compile(r"[a-z0-9][a-z0-9-]{0,99}")
BAD_AGENT_ID = "is not an agent id: use lowercase letters, digits and -, at most 100"


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
    """The market's id: a signature for one market is invalid in another."""
    act: Act
    task_id: int | None
    agent: str
    content: str
    """The result's CID, the commitment, the public key, a dispute's reason; else empty."""
    language: str | None = None
    """The language of a submitted result, if the agent names it."""

    def message(self, nonce: str, expires_at: int) -> bytes:
        """The bytes that are signed."""
        document: dict[str, object] = {
            "domain": DOMAIN,
            "market": self.market,
            "act": self.act.value,
            "task": self.task_id,
            "agent": self.agent,
            "content": self.content,
            "nonce": nonce,
            "expires_at": expires_at,
        }
        # Left out if there is none, so that signatures of programs that know no language are valid.
        if self.language is not None:
            document["language"] = self.language
        return canonical(document)


@dataclass(frozen=True, slots=True, kw_only=True)
class Proof:
    """An agent's signature over a statement, valid once and for a short time."""

    nonce: Annotated[str, Field(min_length=1, max_length=64)]
    expires_at: Annotated[int, Field(strict=True, ge=0, le=2**53)]
    """Unix seconds; the proof is valid before it."""
    signature: Annotated[str, Field(min_length=1, max_length=200)]
    """Ed25519 in base64, or of an Ethereum wallet as `0x…`; see docs/guide/earn.md."""


class Prover(Protocol):
    """An agent that can prove its identity: with an Ed25519 key, or with an Ethereum wallet."""

    @property
    def agent(self) -> str:
        """The agent's id."""
        ...

    @property
    def public_key(self) -> str:
        """What it registers with: its public key, or the address of its wallet."""
        ...

    def prove(
        self,
        market: str,
        act: Act | str,
        *,
        task_id: int | None = None,
        content: str = "",
        language: str | None = None,
        at: datetime | None = None,
        seconds: int = PROOF_SECONDS,
    ) -> Proof:
        """A new signature, valid once and for `seconds` from `at` (default: now)."""
        ...


class Signer:
    """An agent that can prove its identity."""

    def __init__(self, agent: str, key: "Ed25519PrivateKey") -> None:
        self.agent = agent
        self._key = key

    @classmethod
    def new(cls, agent: str) -> Self:
        """An agent with a new key, which is not stored: see `pem`."""
        # Imported in functions, here and below, to save start-up: most commands use no key.
        from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

        return cls(agent, Ed25519PrivateKey.generate())

    @classmethod
    def load(cls, agent: str, path: Path) -> Self:
        """The agent whose private key (PEM) is in this file."""
        from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
        from cryptography.hazmat.primitives.serialization import load_pem_private_key

        try:
            key = load_pem_private_key(path.read_bytes(), password=None)
        except OSError as error:
            raise InvalidInput(f"cannot read the key {path}: {error.strerror}") from None
        except (ValueError, TypeError):
            raise InvalidInput(f"{path} is not a private key in PEM") from None
        if not isinstance(key, Ed25519PrivateKey):
            raise InvalidInput(f"{path} is not an Ed25519 key")
        return cls(agent, key)

    @property
    def public_key(self) -> str:
        """The public half: 32 bytes in base64."""
        return base64.b64encode(self._key.public_key().public_bytes_raw()).decode()

    @property
    def pem(self) -> bytes:
        """The private key; store it so that only its owner can read it."""
        from cryptography.hazmat.primitives.serialization import (
            Encoding,
            NoEncryption,
            PrivateFormat,
        )

        return self._key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())

    def prove(
        self,
        market: str,
        act: Act | str,
        *,
        task_id: int | None = None,
        content: str = "",
        language: str | None = None,
        at: datetime | None = None,
        seconds: int = PROOF_SECONDS,
    ) -> Proof:
        """A new signature, valid once and for `seconds` from `at` (default: now)."""
        statement = Statement(
            market=market,
            act=Act(act),
            task_id=task_id,
            agent=self.agent,
            content=content,
            language=language,
        )
        nonce = secrets.token_hex(16)
        expires_at = int((at or clock.now()).timestamp()) + seconds
        signature = self._key.sign(statement.message(nonce, expires_at))
        return Proof(
            nonce=nonce, expires_at=expires_at, signature=base64.b64encode(signature).decode()
        )


class KeyFolder:
    """The private keys of this machine's agents, one `<agent>.pem` each, in ARENA_HOME/keys."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def agents(self) -> list[str]:
        """The agents that have a key here."""
        return sorted(path.stem for path in self.path.glob("*.pem"))

    def make(self, agent: str) -> Signer:
        """The agent with its key; a new key if it has none. Concurrent callers get the same."""
        path = self._path(agent)
        signer = Signer.new(agent)
        self.path.mkdir(mode=0o700, parents=True, exist_ok=True)
        try:
            # Of two concurrent callers the second gets FileExistsError and loads the first key.
            write_atomically(path, signer.pem, mode=0o600, overwrite=False)
        except FileExistsError:
            return Signer.load(agent, path)
        return signer

    def load(self, agent: str) -> Signer:
        """The agent with its key; `NotFound` if this machine has none."""
        path = self._path(agent)
        if not path.exists():
            raise NotFound(f"no key of agent {agent!r} in {self.path}: register it here first")
        return Signer.load(agent, path)

    def _path(self, agent: str) -> Path:
        # Also prevents path traversal out of the folder.
        if not AGENT_ID.fullmatch(agent):
            raise InvalidInput(f"{agent!r} {BAD_AGENT_ID}")
        return self.path / f"{agent}.pem"


def check_proof(public_key: str, statement: Statement, proof: Proof, at: datetime) -> None:
    """Refuse a proof by another key, for another statement, or that is not valid now."""
    from cryptography.exceptions import InvalidSignature

    if not NONCE.fullmatch(proof.nonce):
        raise BadSignature("a nonce has 1 to 64 of A-Z a-z 0-9 _ -")
    left = max(0, min(proof.expires_at, LATEST)) - at.timestamp()
    if left <= 0:
        raise BadSignature("the signature has expired: sign again")
    if left > MAX_PROOF_SECONDS:
        raise BadSignature(f"a signature may be valid for {MAX_PROOF_SECONDS} seconds at most")
    message = statement.message(proof.nonce, proof.expires_at)
    try:
        if is_wallet(public_key):
            if message_signer(message, proof.signature).lower() != public_key.lower():
                raise ValueError("another wallet")
        else:
            signature = base64.b64decode(proof.signature, validate=True)
            read_public_key(public_key).verify(signature, message)
    except (InvalidSignature, ValueError):
        raise BadSignature(
            f"the signature is not that of agent {statement.agent!r} for this {statement.act}"
        ) from None


def check_public_key(text: str) -> None:
    """Refuse what is neither an Ed25519 key nor the address of a wallet."""
    if not is_wallet(text):
        read_public_key(text)


def is_wallet(public_key: str) -> bool:
    """Whether this is the address of an Ethereum wallet."""
    return WALLET.fullmatch(public_key) is not None


def read_public_key(text: str) -> "Ed25519PublicKey":
    """Parse a public key."""
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

    try:
        return Ed25519PublicKey.from_public_bytes(base64.b64decode(text, validate=True))
    except ValueError:
        raise InvalidInput(
            "a public key is 32 bytes (Ed25519) in base64, or the address of a wallet (0x and 40 "
            "hexadecimal digits in lower case)"
        ) from None


def commitment_of(market: str, task_id: int, agent: str, result_hash: str, salt: str) -> str:
    """A commitment to a result not yet shown. It names the agent: a copy is useless to others."""
    body = {
        "domain": DOMAIN,
        "market": market,
        "task": task_id,
        "agent": agent,
        "result": result_hash,
        "salt": salt,
    }
    return hashlib.sha256(canonical(body)).hexdigest()
