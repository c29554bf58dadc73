"""A process that sends transactions is killed between any two steps; each happens exactly once."""

import json
import os
import random
import subprocess
import sys
from collections.abc import Collection, Iterator
from contextlib import contextmanager

from anvil_node import Counter, LocalChain, call, outbox_of, with_keys
from arena.chain.intent import IntentState
from arena.market.call import CallKey
from arena.settings import Settings
from arena.store.database import Database

# It imports everything once, then forks for each life: a cold start takes a second of CPU time.
NURSERY = """
import asyncio, json, os, signal, sys, time
import aiosqlite, eth_account.messages, httpx2, psycopg
import sqlalchemy.dialects.postgresql.psycopg, sqlalchemy.dialects.sqlite.aiosqlite
from pathlib import Path
from arena.chain.intent import NewTransaction
from arena.chain.keys import Keys
from arena.chain.node import Node
from arena.chain.outbox import Outbox
from arena.chain.sending import OutboxOptions
from arena.files import write_atomically
from arena.market.call import CallKey
from arena.settings import Settings
from arena.store.database import Database

database_url, home, url, contract, add = sys.argv[1:]
done = Path(home) / "done"
OTHER = 1000

async def live(first, last, dies_at, begins_with_another):
    node = Node(url)

    def at_step(step, intent):
        if step == dies_at and intent.idempotency_key == f"k{last}":
            os.kill(os.getpid(), signal.SIGKILL)

    settings = Settings(home=home, chain_keys=os.environ["KEYS"])
    options = OutboxOptions(
        folder=Path(home) / "chain", confirmations=2, stuck_seconds=0, poll_seconds=0.02
    )
    outbox = Outbox(Database(database_url), node, Keys(settings), options, at_step=at_step)
    def send(key, number):
        return outbox.send(
            NewTransaction(
                team_id="t",
                key=CallKey(text=key),
                digest=str(number),
                action="add",
                sender_name="alice",
                to=contract,
                data=bytes.fromhex(add) + number.to_bytes(32, "big"),
            )
        )

    await node.ask("evm_setAutomine", True)
    await node.ask("evm_mine")
    if begins_with_another:
        await send(f"other{last}", OTHER + last)
    else:
        await outbox.advance()
    os.write(begun[1], b".")
    for number in range(first, last + 1):
        is_stuck = dies_at == "replacement" and number == last
        if is_stuck:
            await node.ask("evm_setAutomine", False)
        intent = await send(f"k{number}", number)
        if is_stuck:
            await node.ask("evm_setBlockGasLimit", hex(15_000))
            for _ in range(3):
                await node.ask("evm_mine")
            await node.ask("evm_setBlockGasLimit", hex(30_000_000))
            await outbox.advance()
        await outbox.wait(intent.id, "mined", seconds=60)
        await node.ask("evm_mine")
        intent = await outbox.wait(intent.id, seconds=60)
        assert intent.state == "final", intent
        write_atomically(done, str(number).encode())
    os._exit(0)

for line in sys.stdin:
    first, last, dies_at, begins_with_another, seconds = json.loads(line)
    begun = os.pipe()
    child = os.fork()
    if not child:
        asyncio.run(live(first, last, dies_at, begins_with_another))
    os.close(begun[1])
    if seconds is not None and os.read(begun[0], 1):
        time.sleep(seconds)
        os.kill(child, signal.SIGKILL)
    os.close(begun[0])
    _, status = os.waitpid(child, 0)
    killed = os.WIFSIGNALED(status) and os.WTERMSIG(status) == signal.SIGKILL
    print("killed" if killed else os.waitstatus_to_exitcode(status), flush=True)
"""

OTHER = 1000
"""The numbers of the transactions that a life begins with are above it."""


class Nursery:
    """Starts processes that send transactions 0, 1, 2, … and says how they ended."""

    def __init__(self, settings: Settings, process: "subprocess.Popen[str]") -> None:
        self._done = settings.home / "done"
        self._process = process

    def live(
        self,
        last: int,
        dies_at: str,
        *,
        begins_with_another: bool = False,
        seconds: float | None = None,
    ) -> str:
        """A life, from the last transaction that was surely finished to this one.

        It begins with all that is unfinished, or with another transaction of the same sender.
        """
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        words = [self.first(), last, dies_at, begins_with_another, seconds]
        self._process.stdin.write(f"{json.dumps(words)}\n")
        self._process.stdin.flush()
        return self._process.stdout.readline().strip()

    def first(self) -> int:
        """It is sent again, with its key, as a caller does who does not know how it ended."""
        return int(self._done.read_text()) if self._done.exists() else 0


@contextmanager
def nursery(settings: Settings, counter: Counter) -> Iterator[Nursery]:
    add = call("add(uint256)").hex()
    words = [settings.database, str(settings.home), counter.chain.url, counter.address, add]
    keys = ",".join(one.get_secret_value() for one in settings.chain_keys)
    process = subprocess.Popen(
        [sys.executable, "-c", NURSERY, *words],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, "KEYS": keys},
    )
    with process:
        yield Nursery(settings, process)


async def test_a_process_killed_between_any_two_steps_sends_each_transaction_once(
    settings: Settings, database: Database, chain: LocalChain, counter: Counter
):
    keyed = with_keys(settings, chain)
    steps = ["intent", "sent", "mined", "final", "intent"] * 5 + ["replacement"] * 4
    others = set(range(1, len(steps), 2))
    with nursery(keyed, counter) as lives:
        for number, step in enumerate(steps):
            end = lives.live(number, step, begins_with_another=number in others)
            assert end == "killed", (number, step)
        assert lives.live(len(steps), "never") == "0"
    await _check(keyed, database, counter, len(steps) + 1, {OTHER + one for one in others})


async def test_a_process_killed_at_any_moment_sends_each_transaction_once(
    settings: Settings, database: Database, chain: LocalChain, counter: Counter
):
    keyed = with_keys(settings, chain)
    chance = random.Random(7)
    with nursery(keyed, counter) as lives:
        for _ in range(10):
            # Somewhere in the one or two transactions that such a time is enough for.
            assert lives.live(1000, "never", seconds=0.1 * chance.random()) == "killed"
        last = lives.first() + 2
        assert lives.live(last, "never") == "0"
    await _check(keyed, database, counter, last + 1)


async def _check(
    settings: Settings,
    database: Database,
    counter: Counter,
    count: int,
    others: Collection[int] = (),
) -> None:
    """Every transaction has had its effect once, and every row says so."""
    assert sorted(counter.numbers()) == [*range(count), *sorted(others)]
    assert counter.count() == count + len(others)
    async with outbox_of(settings, database) as outbox:
        assert await outbox.unfinished() == []
        for number in range(count):
            intent = await outbox.find("t", CallKey(text=f"k{number}"))
            assert intent is not None
            assert intent.state is IntentState.FINAL
