"""The development node of a folder."""

import os
import signal
import socket
from pathlib import Path

import pytest

from anvil_node import LocalChain, new_anvil
from arena.chain import anvil
from arena.chain.anvil import Anvil, NoAnvil, find_anvil
from arena.errors import Conflict, InfrastructureError, NotFound
from drills import until


async def test_a_folder_has_one_node_which_keeps_its_chain(tmp_path: Path):
    node = new_anvil(tmp_path)
    assert node.running() is None
    with pytest.raises(NotFound, match="no node of"):
        await node.stop()
    started = await node.start()
    try:
        assert node.running() == Anvil(tmp_path).running() == started
        with pytest.raises(Conflict, match=f"runs already at {started.url}"):
            await Anvil(tmp_path).start()
        chain = LocalChain(started.url, node.accounts())
        assert {chain.balance(one.address) for one in chain.accounts} == {10_000 * 10**18}
        chain.mine(3)
    finally:
        await node.stop()
    again = await node.start()
    try:
        assert LocalChain(again.url, []).number("eth_blockNumber") == 3
    finally:
        await node.stop()
    assert node.running() is None


async def test_a_killed_node_does_not_run(tmp_path: Path):
    node = new_anvil(tmp_path)
    started = await node.start()
    os.kill(started.pid, signal.SIGKILL)
    until(lambda: node.running() is None, "the lock is free")
    again = await node.start()
    assert again.pid != started.pid
    await node.stop()


async def test_a_port_in_use_is_said(tmp_path: Path):
    node = new_anvil(tmp_path)
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
        with pytest.raises(InfrastructureError, match=r"anvil did not start: .*[Aa]ddress"):
            await node.start(port=port)
    assert node.running() is None


def test_a_missing_program_says_how_to_install_it(monkeypatch: pytest.MonkeyPatch, tmp_path: Path):
    monkeypatch.setattr(anvil, "IN_CHECKOUT", Path("nowhere"))
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(NoAnvil, match="scripts/setup --anvil") as raised:
        find_anvil()
    assert not raised.value.retryable
