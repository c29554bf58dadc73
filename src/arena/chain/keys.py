"""The private keys of parties on this machine, and what is signed with them.

A key comes from the setting `chain_keys` or from the keystore, a folder with one encrypted file per
party (`home/keystore/<name>.json`, the V3 format that every Ethereum wallet reads). No key leaves
this file: callers get addresses and signatures.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, cast

from arena.chain.answers import Invalid
from arena.chain.answers import address as read_address
from arena.chain.errors import MissingKey, chain_libraries
from arena.errors import Conflict, InvalidInput
from arena.files import write_atomically
from arena.market.checks import check_party
from arena.settings import Settings

if TYPE_CHECKING:
    from eth_account.messages import SignableMessage
    from eth_account.signers.local import LocalAccount

ADD_KEY = "`arena chain key import NAME` adds one"


@dataclass(frozen=True, slots=True, kw_only=True)
class SignedTransaction:
    """A transaction that any node accepts."""

    raw: bytes
    hash: str


class Keys:
    """The keys of this machine. Creating it reads nothing."""

    def __init__(self, settings: Settings) -> None:
        self._given = settings.key_by_party
        self._relayer = settings.chain_relayer
        self._password = settings.chain_password
        self._folder = settings.keystore_folder
        self._accounts: dict[str, LocalAccount] = {}
        """The keys in use, decrypted: that takes a second of CPU time each."""
        self._addresses: dict[str, str] = {}

    def __repr__(self) -> str:
        return f"Keys({', '.join(self.names())})"

    def names(self) -> list[str]:
        """The parties that have a key here."""
        return sorted({*self._given, *(path.stem for path in self._folder.glob("*.json"))})

    def has(self, name: str) -> bool:
        """Whether the key of this party is here."""
        return self.address_of(name) is not None

    def address_of(self, name: str) -> str | None:
        """The party's address, for which no password is needed; None if its key is not here."""
        if name not in self._addresses:
            if name in self._given:
                self._addresses[name] = self._account(name).address
            elif (found := self._stored_address(name)) is not None:
                self._addresses[name] = found
        return self._addresses.get(name)

    def name_of(self, address: str) -> str | None:
        """The party with this address; None if its key is not here."""
        wanted = address.lower()
        for name in self.names():
            if (self.address_of(name) or "").lower() == wanted:
                return name
        return None

    def payer(self) -> str:
        """Whose key pays where no party does: the configured one, or the only one here."""
        names = self.names()
        if self._relayer is not None:
            return self._relayer
        if len(names) != 1:
            have = f"there are keys of: {', '.join(names)}" if names else "there are no keys here"
            raise MissingKey(f"whose key pays for the gas? Set ARENA_CHAIN_RELAYER; {have}")
        return names[0]

    def is_unlocked(self, name: str) -> bool:
        """Whether signing needs no decryption first."""
        return name in self._accounts

    def unlock(self, name: str) -> str:
        """Decrypt the key of a party; returns its address. `MissingKey` if it cannot be had."""
        return self._account(name).address

    def make(self, name: str) -> str:
        """The address of the party; a new key if it has none. Concurrent callers get the same."""
        if (found := self.address_of(name)) is None:
            with chain_libraries():
                from eth_account import Account  # here to save start-up, as below

            found = self._store(name, Account.create())
        return found

    def add(self, name: str, private_key: str) -> str:
        """Store an existing private key (64 hexadecimal digits); returns its address."""
        with chain_libraries():
            from eth_account import Account

        text = private_key.strip().lower().removeprefix("0x")
        try:
            account = Account.from_key(bytes.fromhex(text))
        except (ValueError, TypeError):
            account = None
        if account is None or len(text) != 64:
            # Raised here, without a cause: the error of the library quotes the key.
            raise InvalidInput("a private key has 64 hexadecimal digits, with or without 0x")
        if self.address_of(name) not in (None, account.address):
            raise Conflict(
                f"{name!r} has another key here: choose another name, or remove that one"
            )
        return self._store(name, account)

    def sign_transaction(self, name: str, fields: Mapping[str, int | bytes]) -> SignedTransaction:
        """A signed transaction; the fields are those of eth_account, addresses as bytes."""
        signed = self._account(name).sign_transaction(dict(fields))
        return SignedTransaction(
            raw=bytes(signed.raw_transaction), hash=f"0x{bytes(signed.hash).hex()}"
        )

    def sign_typed_data(self, name: str, typed_data: Mapping[str, Any]) -> str:
        """A signature of structured data (EIP-712): 65 bytes as `0x…`."""
        with chain_libraries():
            from eth_account.messages import encode_typed_data

        return self._signature(name, encode_typed_data(full_message=dict(typed_data)))

    def sign_message(self, name: str, message: bytes) -> str:
        """A signature of plain bytes, as wallets make it (EIP-191): 65 bytes as `0x…`."""
        with chain_libraries():
            from eth_account.messages import encode_defunct

        return self._signature(name, encode_defunct(message))

    def _signature(self, name: str, message: "SignableMessage") -> str:
        return f"0x{bytes(self._account(name).sign_message(message).signature).hex()}"

    def _account(self, name: str) -> "LocalAccount":
        if (found := self._accounts.get(name)) is None:
            with chain_libraries():
                from eth_account import Account

            given = self._given.get(name)
            secret = given.get_secret_value() if given else self._decrypted(name)
            found = self._accounts[name] = Account.from_key(secret)
        return found

    def _decrypted(self, name: str) -> bytes:
        from eth_account import Account

        if (file := self._read(name)) is None:
            raise MissingKey(
                f"the key of {name!r} is not on this machine: {ADD_KEY}, or set it in "
                f"ARENA_CHAIN_KEYS; there are keys of: {', '.join(self.names()) or 'nobody'}"
            )
        try:
            return bytes(Account.decrypt(file, self._secret))
        except (ValueError, KeyError, TypeError):
            pass
        raise MissingKey(
            f"the key of {name!r} cannot be decrypted: ARENA_CHAIN_PASSWORD is not the password of "
            f"{self._folder / name}.json"
        )

    @cached_property
    def _secret(self) -> str:
        if self._password is None:
            raise MissingKey(
                f"the keystore {self._folder} needs its password: set ARENA_CHAIN_PASSWORD"
            )
        return self._password.get_secret_value()

    def _store(self, name: str, account: "LocalAccount") -> str:
        check_party("the name", name)
        encrypted = json.dumps(account.encrypt(self._secret)).encode()
        path = self._folder / f"{name}.json"
        try:
            self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            # Of two concurrent callers the second gets FileExistsError and uses the first key.
            write_atomically(path, encrypted, mode=0o600, overwrite=False)
        except FileExistsError:
            found = self._stored_address(name)
            assert found is not None
            return found
        except OSError as error:
            raise InvalidInput(f"cannot write {path}: {error.strerror}") from None
        return account.address

    def _stored_address(self, name: str) -> str | None:
        if (file := self._read(name)) is None:
            return None
        try:
            return read_address(f"0x{str(file.get('address', '')).removeprefix('0x')}")
        except Invalid:
            raise InvalidInput(f"{self._folder / name}.json names no address") from None

    def _read(self, name: str) -> dict[str, Any] | None:
        check_party("the name", name)  # also prevents path traversal out of the folder
        path = self._folder / f"{name}.json"
        try:
            found: Any = json.loads(path.read_bytes())
        except FileNotFoundError:
            return None
        except OSError as error:
            raise InvalidInput(f"cannot read {path}: {error.strerror}") from None
        except ValueError:
            raise InvalidInput(f"{path} is not a keystore file (JSON)") from None
        if not isinstance(found, dict):
            raise InvalidInput(f"{path} is not a keystore file")
        return cast(dict[str, Any], found)
