"""`arena chain`: a local node, the contract, keys and their secrecy."""

import re
import subprocess
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from acceptance.conftest import Shell, end
from acceptance_chain import chain_up, with_exports
from anvil_node import new_anvil

SECRET = "4c0883a69102937d6231471b5dbb6204fe5129617082792ae468d01a3f362318"
ADDRESS = "0x2c7536E3605D9C16a7a3D7b1898e529396a65c23"
NOWHERE = "0x" + "22" * 20


@pytest.fixture
def on_chain(shell: Shell) -> Iterator[Shell]:
    """A user whose settings are those that `arena chain up` printed."""
    with chain_up(shell) as user:
        yield user


def test_a_contract_is_deployed_once_and_checked(on_chain: Shell):
    status = on_chain.json("chain", "status")
    assert (status["chain_id"], status["block_number"], status["contract"]) == (31337, 0, None)
    assert {one["name"]: one["balance"] for one in status["keys"]} == dict.fromkeys(
        ("alice", "judy", "operator"), "10000"
    )
    variables = {**on_chain.variables, "ARENA_CHAIN_RELAYER": ""}
    missing_name = replace(on_chain, variables=variables).arena("chain", "deploy")
    assert missing_name.returncode == 2
    assert "there are keys of: alice, judy, operator" in missing_name.stderr
    first = on_chain.arena("chain", "deploy", "--as", "alice")
    assert first.returncode == 0, first.stderr
    assert "its code is that of the contract that ships with Arena" in first.stdout
    again = on_chain.json("chain", "deploy", "--as", "alice")
    assert f"ARENA_CHAIN_CONTRACT={again['contract']}" in first.stdout
    another = on_chain.json("chain", "deploy", "--as", "judy", "--again")
    assert another["contract"] != again["contract"]
    used = with_exports(on_chain, first.stdout)
    status = used.json("chain", "status")
    assert status["contract"]["address"] == again["contract"]
    assert (status["contract"]["is_deployed"], status["contract"]["is_artifact"]) == (True, True)
    assert (status["block_number"], status["unfinished"]) == (2, [])
    contract = status["contract"]
    assert (contract["task_count"], contract["held"], contract["balance"]) == (0, "0", "0")
    text = used.arena("chain", "status").stdout
    assert f"{again['contract']}: the contract that ships with Arena" in text
    assert "tasks      0\nmoney      0 ETH held, balance 0 ETH\n" in text
    assert "no unfinished transactions" in text


def test_the_chain_is_kept_between_starts(on_chain: Shell):
    before = on_chain.json("chain", "deploy", "--as", "alice")
    assert on_chain.arena("chain", "up", "--background").returncode == 2  # it runs already
    assert on_chain.arena("chain", "down").returncode == 0
    assert "cannot be reached" in on_chain.arena("chain", "status").stderr
    port = on_chain.variables["ARENA_CHAIN_URL"].rpartition(":")[2]
    started = on_chain.arena("chain", "up", "--background", "--port", port)
    assert started.returncode == 0, started.stderr
    assert "ARENA_CHAIN_KEYS" not in started.stdout, "the parties have their keys"
    assert on_chain.json("chain", "deploy", "--as", "alice") == before


def test_status_tells_a_wrong_contract_from_none(on_chain: Shell):
    on_chain.json("chain", "deploy", "--as", "alice")
    none = replace(on_chain, variables={**on_chain.variables, "ARENA_CHAIN_CONTRACT": NOWHERE})
    text = none.arena("chain", "status").stdout
    assert "there is no contract on this chain" in text
    assert "held" not in text
    other = replace(on_chain, variables={**on_chain.variables, "ARENA_CHAIN_ID": "1"})
    failed = other.arena("chain", "status")
    assert failed.returncode == 2
    assert "serves chain 31337, expected was chain 1" in failed.stderr


def test_a_node_in_the_foreground_ends_with_its_command(shell: Shell):
    new_anvil(shell.home / "chain")
    process = shell.start("chain", "up", "--port", "0", "--party", "zoe")
    assert process.stdout is not None
    lines = [process.stdout.readline()]
    assert re.match(r"# anvil serves chain 31337 at http://127\.0\.0\.1:\d+ ", lines[0])
    while not lines[-1].startswith("# next"):
        lines.append(process.stdout.readline())
    user = with_exports(shell, "".join(lines))
    assert [one["name"] for one in user.json("chain", "keys")] == ["zoe"]
    assert user.json("chain", "status")["chain_id"] == 31337
    assert end(process) == 130
    assert "cannot be reached" in user.arena("chain", "status").stderr
    assert "no node of" in shell.arena("chain", "down").stderr


def test_a_command_without_a_node_says_what_to_do(shell: Shell):
    for words in (("status",), ("deploy", "--as", "alice")):
        done = shell.arena("chain", *words)
        assert done.returncode == 2
        assert "set ARENA_CHAIN_URL; `arena chain up` starts a local one" in done.stderr


def test_keys_are_made_and_imported_with_a_password(shell: Shell):
    assert "arena chain key new NAME" in shell.arena("chain", "keys").stdout
    without = shell.arena("chain", "key", "new", "zoe")
    assert without.returncode == 2
    assert "set ARENA_CHAIN_PASSWORD" in without.stderr
    locked = replace(shell, variables={"ARENA_CHAIN_PASSWORD": "a password"})
    made = locked.arena("chain", "key", "new", "zoe").stdout.strip()
    assert locked.arena("chain", "key", "new", "zoe").stdout.strip() == made
    imported = locked.arena("chain", "key", "import", "yan", input=f"0x{SECRET}\n")
    assert imported.stdout.strip() == ADDRESS
    expected = [{"name": "yan", "address": ADDRESS}, {"name": "zoe", "address": made}]
    assert shell.json("chain", "keys") == expected
    refused = locked.arena("chain", "key", "import", "zoe", input=SECRET)
    assert refused.returncode == 2
    assert SECRET not in refused.stderr


def test_a_private_key_is_seen_nowhere(on_chain: Shell):
    variables = {
        **on_chain.variables,
        "ARENA_CHAIN_PASSWORD": "a password",
        "ARENA_LOG_LEVEL": "debug",
    }
    user = replace(on_chain, variables=variables)
    # While the command runs, its arguments are there for everybody on the machine to read.
    importing = user.start("chain", "key", "import", "yan", stdin=subprocess.PIPE)
    arguments = Path(f"/proc/{importing.pid}/cmdline").read_bytes()
    output, errors = importing.communicate(SECRET, timeout=60)
    assert output.strip() == ADDRESS
    seen = [arguments.decode(), output, errors]
    # `up` also funds the keys of this machine.
    user.arena("chain", "down")
    port = on_chain.variables["ARENA_CHAIN_URL"].rpartition(":")[2]
    seen.append(user.arena("chain", "up", "--background", "--port", port).stdout)
    for words in (
        ("chain", "deploy", "--as", "yan"),
        ("chain", "deploy", "--as", "yan", "--json"),
        ("chain", "deploy", "--as", "nobody"),
        ("chain", "status"),
        ("chain", "status", "--json"),
        ("chain", "keys"),
    ):
        done = user.arena(*words)
        assert (done.returncode == 0) == ("nobody" not in words), done.stderr
        seen += [done.stdout, done.stderr]
    for process in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            seen.append(process.read_text(errors="replace"))
        except OSError:
            continue  # it has ended
    for file in user.home.rglob("*"):
        if file.is_file():
            seen.append(file.read_bytes().decode("latin-1"))
    raw = bytes.fromhex(SECRET).decode("latin-1")
    assert not [text for text in seen if SECRET in text.lower() or raw in text]


def test_a_party_whose_key_is_elsewhere_has_a_name(shell: Shell):
    assert "arena chain party NAME ADDRESS" in shell.arena("chain", "parties").stdout
    named = shell.arena("chain", "party", "judy", ADDRESS)
    assert named.stdout == f"judy is {ADDRESS.lower()}\n"
    assert f"judy   {ADDRESS.lower()}" in shell.arena("chain", "parties").stdout
    taken = shell.arena("chain", "party", "judy", NOWHERE)
    assert (taken.returncode, "belongs to one address" in taken.stderr) == (2, True)
    assert shell.json("chain", "parties")["parties"] == [
        {"name": "judy", "address": ADDRESS.lower()}
    ]


def test_a_home_that_cannot_be_written_is_reported_in_one_line(tmp_path: Path):
    new_anvil(tmp_path)
    user = Shell(home=Path("/proc/nowhere"), variables={"ARENA_CHAIN_PASSWORD": "a password"})
    for words in (("up", "--port", "0"), ("demo",), ("key", "new", "zoe")):
        failed = user.arena("chain", *words)
        assert failed.returncode in (2, 3)
        assert failed.stderr.startswith("error: cannot write "), failed.stderr
        assert failed.stderr.count("\n") == 1
