"""How an agent signs: its name, its key, and the bytes of a statement.

A message is canonical JSON and names the market, the act, the task, the agent and the content, so
that a signature is good for nothing else. The same in any language: see docs/guide/earn.md.
"""

import base64
import secrets
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from arena import clock, schemas
from arena.content.canonical import canonical
from arena.errors import InvalidInput

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

DOMAIN = "arena-market/1"
PROOF_SECONDS = 300

Act = Literal["register", "apply", "commit", "submit", "dispute"]


class Signer:
    """An agent that can prove it is itself."""

    def __init__(self, agent: str, key: "Ed25519PrivateKey") -> None:
        self.agent = agent
        self._key = key

    @classmethod
    def new(cls, agent: str) -> "Signer":
        """An agent with a new key, which is kept nowhere: see `pem`."""
        # Only whoever signs needs the package; a client that reads does not.
        from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

        return cls(agent, Ed25519PrivateKey.generate())

    @classmethod
    def load(cls, agent: str, path: Path) -> "Signer":
        """The agent whose private key (PEM) is in this file."""
        from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
        from cryptography.hazmat.primitives.serialization import load_pem_private_key

        try:
            key = load_pem_private_key(path.read_bytes(), password=None)
        except OSError as wrong:
            raise InvalidInput(f"the key {path} cannot be read: {wrong.strerror}") from None
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
        """The private key, to be kept where only its owner reads it."""
        from cryptography.hazmat.primitives.serialization import (
            Encoding,
            NoEncryption,
            PrivateFormat,
        )

        return self._key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())

    def prove(
        self,
        market: str,
        act: Act,
        *,
        task_id: int | None = None,
        content: str = "",
        at: datetime | None = None,
    ) -> schemas.Proof:
        """A fresh signature, good once and for a few minutes from `at` (now) on."""
        nonce = secrets.token_hex(16)
        expires_at = int((at or clock.now()).timestamp()) + PROOF_SECONDS
        message = canonical(
            {
                "domain": DOMAIN,
                "market": market,
                "act": act,
                "task": task_id,
                "agent": self.agent,
                "content": content,
                "nonce": nonce,
                "expires_at": expires_at,
            }
        )
        signature = base64.b64encode(self._key.sign(message)).decode()
        return schemas.Proof(nonce=nonce, expires_at=expires_at, signature=signature)
