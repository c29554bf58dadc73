"""Private keys of parties: from settings or the keystore, and nowhere else to be seen."""

import json
import logging
import stat
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from eth_account import Account

from arena.chain.errors import MissingKey
from arena.chain.keys import Keys
from arena.errors import Conflict, InvalidInput
from arena.settings import Settings

SECRET = "4c0883a69102937d6231471b5dbb6204fe5129617082792ae468d01a3f362318"
ADDRESS = "0x2c7536E3605D9C16a7a3D7b1898e529396a65c23"
TRANSACTION: dict[str, int | bytes] = {
    "type": 2,
    "chainId": 1,
    "nonce": 0,
    "to": b"\x11" * 20,
    "value": 1,
    "gas": 21_000,
    "maxFeePerGas": 10**9,
    "maxPriorityFeePerGas": 10**9,
    "data": b"",
}


def keys(home: Path, password: str | None = "secret", **given: Any) -> Keys:
    return Keys(Settings(home=home, chain_password=password, **given))


@pytest.fixture(scope="module")
def stored(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A home with one stored key: encrypting takes a second."""
    home = tmp_path_factory.mktemp("home")
    keys(home).add("alice", SECRET)
    return home


def test_a_key_in_the_settings_is_used(tmp_path: Path):
    given = keys(tmp_path, None, chain_keys=(f"alice:0x{SECRET}",))
    assert given.names() == ["alice"]
    assert given.address_of("alice") == ADDRESS
    assert (given.name_of(ADDRESS), given.name_of(ADDRESS.lower())) == ("alice", "alice")
    assert given.has("alice")
    assert not given.has("bob")
    assert (given.address_of("bob"), given.name_of("0x" + "11" * 20)) == (None, None)


def test_a_signed_transaction_is_eth_accounts(tmp_path: Path):
    given = keys(tmp_path, None, chain_keys=(f"alice:0x{SECRET}",))
    signed = given.sign_transaction("alice", TRANSACTION)
    theirs = Account.sign_transaction(dict(TRANSACTION), SECRET)
    assert signed.raw == bytes(theirs.raw_transaction)
    assert signed.hash == f"0x{bytes(theirs.hash).hex()}"
    assert Account.recover_transaction(signed.raw) == ADDRESS


def test_a_stored_key_is_encrypted_readable_by_its_owner_only_and_of_the_common_format(
    stored: Path,
):
    file = stored / "keystore" / "alice.json"
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert stat.S_IMODE(file.parent.stat().st_mode) == 0o700
    text = file.read_text()
    assert SECRET not in text.lower()
    assert json.loads(text)["version"] == 3
    assert bytes(Account.decrypt(text, "secret")).hex() == SECRET


def test_names_and_addresses_need_no_password(stored: Path):
    locked = keys(stored, None)
    assert locked.names() == ["alice"]
    assert (locked.address_of("alice"), locked.name_of(ADDRESS)) == (ADDRESS, "alice")
    assert not locked.is_unlocked("alice")
    with pytest.raises(MissingKey, match="set ARENA_CHAIN_PASSWORD"):
        locked.sign_message("alice", b"x")


def test_a_stored_key_signs_with_its_password_only(stored: Path):
    with pytest.raises(MissingKey, match="ARENA_CHAIN_PASSWORD is not the password"):
        keys(stored, "wrong").unlock("alice")
    opened = keys(stored)
    assert opened.unlock("alice") == ADDRESS
    assert opened.is_unlocked("alice")
    assert Account.recover_transaction(opened.sign_transaction("alice", TRANSACTION).raw) == ADDRESS


def test_a_new_key_is_made_once_however_many_ask_for_it(tmp_path: Path):
    # Each has its own `Keys`, like processes.
    with ThreadPoolExecutor(4) as pool:
        addresses = set(pool.map(lambda _: keys(tmp_path).make("bob"), range(4)))
    assert len(addresses) == 1
    assert keys(tmp_path).unlock("bob") == addresses.pop()
    assert [path.name for path in (tmp_path / "keystore").iterdir()] == ["bob.json"]


def test_a_key_is_made_only_with_a_password(tmp_path: Path):
    with pytest.raises(MissingKey, match="set ARENA_CHAIN_PASSWORD"):
        keys(tmp_path, None).make("bob")
    assert not (tmp_path / "keystore").exists()


def test_a_party_keeps_its_key(stored: Path):
    other = "11" * 32
    with pytest.raises(Conflict, match="'alice' has another key here"):
        keys(stored).add("alice", other)
    assert keys(stored).make("alice") == ADDRESS


@pytest.mark.parametrize("name", ["../alice", "a/b", "", ".hidden", "anyone", "a b"])
def test_a_name_that_is_no_party_is_refused(tmp_path: Path, name: str):
    for work in (lambda: keys(tmp_path).make(name), lambda: keys(tmp_path).has(name)):
        with pytest.raises(InvalidInput, match="a party's name has"):
            work()


@pytest.mark.parametrize("text", ["", "0x", SECRET[:-1], SECRET + "0", "zz" * 32, "00" * 32])
def test_what_is_no_private_key_is_refused_and_not_shown(tmp_path: Path, text: str):
    with pytest.raises(InvalidInput, match="64 hexadecimal digits") as raised:
        keys(tmp_path).add("alice", text)
    shown = f"{raised.value!r} {raised.value.__cause__!r} {raised.value.__context__!r}"
    assert len(text) < 10 or text not in shown


@pytest.mark.parametrize("content", [b"", b"{", b"[]", b"{}", b'{"address": "12"}'])
def test_a_file_that_is_no_keystore_is_named(tmp_path: Path, content: bytes):
    (tmp_path / "keystore").mkdir()
    (tmp_path / "keystore" / "alice.json").write_bytes(content)
    with pytest.raises(InvalidInput, match=r"alice\.json"):
        keys(tmp_path).address_of("alice")


def test_a_key_is_in_no_log_and_no_text_of_an_object(
    stored: Path, caplog: pytest.LogCaptureFixture
):
    caplog.set_level(logging.DEBUG)
    settings = Settings(home=stored, chain_password="secret", chain_keys=(f"bob:0x{SECRET}",))
    both = Keys(settings)
    for name in ("alice", "bob"):
        both.unlock(name)
        signed = both.sign_transaction(name, TRANSACTION)
        assert SECRET not in f"{signed!r}"
    assert SECRET not in f"{both!r} {both} {settings!r} {vars(both)!r} {caplog.text}"
