"""Several processes send with the same private key at the same time."""

import asyncio
import os
import sys
from pathlib import Path

import pytest

from anvil_node import Counter, LocalChain, call, outbox_of, with_keys
from arena.chain.intent import IntentState
from arena.market.call import CallKey
from arena.settings import Settings
from arena.store.database import Database

SENDER = """
import asyncio, os, sys
from pathlib import Path
from arena.chain.intent import NewTransaction
from arena.chain.keys import Keys
from arena.chain.node import Node
from arena.chain.outbox import Outbox
from arena.chain.sending import OutboxOptions
from arena.market.call import CallKey
from arena.settings import Settings
from arena.store.database import Database

database_url, home, url, contract, add, first, last = sys.argv[1:]

async def main():
    settings = Settings(home=home, chain_keys=os.environ["KEYS"])
    options = OutboxOptions(folder=Path(home) / "chain", confirmations=1)
    database, node = Database(database_url), Node(url)
    outbox = Outbox(database, node, Keys(settings), options)

    async def send(number):
        intent = await outbox.send(
            NewTransaction(
                team_id="t",
                key=CallKey(text=f"k{number}"),
                digest=str(number),
                action="add",
                sender_name="alice",
                to=contract,
                data=bytes.fromhex(add) + number.to_bytes(32, "big"),
            )
        )
        done = await outbox.wait(intent.id, seconds=60)
        assert done.state == "final", done

    print("ready", flush=True)
    sys.stdin.readline()
    await asyncio.gather(*map(send, range(int(first), int(last))))
    await node.close()
    await database.close()

asyncio.run(main())
"""


async def send_at_once(
    settings: Settings, counter: Counter, ranges: list[tuple[int, int]], homes: list[Path]
) -> None:
    """Start a process for each range of numbers; they begin together."""
    add = call("add(uint256)").hex()
    keys = ",".join(one.get_secret_value() for one in settings.chain_keys)
    processes = [
        await asyncio.create_subprocess_exec(
            *(sys.executable, "-c", SENDER, settings.database, str(home)),
            *(counter.chain.url, counter.address, add, str(first), str(last)),
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
            env={**os.environ, "KEYS": keys},
        )
        for (first, last), home in zip(ranges, homes, strict=True)
    ]
    for process in processes:
        assert process.stdout is not None
        assert await process.stdout.readline() == b"ready\n"
    outputs = await asyncio.gather(*(process.communicate(b"go\n") for process in processes))
    for process, (_, errors) in zip(processes, outputs, strict=True):
        assert process.returncode == 0, errors.decode()


@pytest.mark.parametrize("share", [True, False], ids=["one machine", "two machines"])
async def test_two_processes_with_one_private_key_make_each_call_once(
    settings: Settings,
    database: Database,
    chain: LocalChain,
    counter: Counter,
    tmp_path: Path,
    share: bool,
):
    keyed = with_keys(settings, chain)
    # On two machines there is no common lock: the database decides.
    homes = [settings.home, settings.home if share else tmp_path / "other"]
    await send_at_once(keyed, counter, [(0, 20), (15, 35)], homes)  # five calls in common
    assert sorted(counter.numbers()) == list(range(35))
    async with outbox_of(keyed, database) as outbox:
        assert await outbox.unfinished() == []
        found = [await outbox.find("t", CallKey(text=f"k{number}")) for number in range(35)]
        assert {intent.state for intent in found if intent} == {IntentState.FINAL}
        assert {intent.nonce for intent in found if intent} == set(range(35))
