"""The keys of agents that work on this machine: one file each, for its owner only."""

import re
from pathlib import Path

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.serialization import (
    Encoding,
    NoEncryption,
    PrivateFormat,
    load_pem_private_key,
)

from arena.errors import InvalidInput, NotFound
from arena.files import write_atomically

AGENT_ID = re.compile(r"[a-z0-9][a-z0-9-]{0,99}")


class Keys:
    """A folder of private keys, `<agent>.pem`; in Arena that is `ARENA_HOME/keys`."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def make(self, agent: str) -> Ed25519PrivateKey:
        """The agent's key, a new one where it has none. Two at once get the same."""
        path = self._path(agent)
        key = Ed25519PrivateKey.generate()
        pem = key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
        self.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        try:
            write_atomically(path, pem, mode=0o600, overwrite=False)
        except FileExistsError:
            return self.load(agent)
        return key

    def load(self, agent: str) -> Ed25519PrivateKey:
        """The agent's key; `NotFound` where this machine has none."""
        path = self._path(agent)
        try:
            pem = path.read_bytes()
        except FileNotFoundError:
            raise NotFound(
                f"no key of agent {agent!r} in {self.folder}: register it here first"
            ) from None
        try:
            key = load_pem_private_key(pem, password=None)
        except (ValueError, TypeError):
            raise InvalidInput(f"{path} is not a private key in PEM") from None
        if not isinstance(key, Ed25519PrivateKey):
            raise InvalidInput(f"{path} is not an Ed25519 key")
        return key

    def _path(self, agent: str) -> Path:
        if not AGENT_ID.fullmatch(agent):
            raise InvalidInput(
                f"{agent!r} is no agent id: small letters, digits and -, at most 100"
            )
        return self.folder / f"{agent}.pem"
