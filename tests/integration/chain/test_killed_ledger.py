"""A process that works on tasks on a chain is killed between any two steps of any move.

The next process makes the same calls with the same keys, as a caller does who does not know how
they ended: each move has exactly one effect, on the chain and in the tables.
"""

import itertools
import json
import os
import subprocess
import sys
from datetime import timedelta

from anvil_node import LocalChain
from arena import clock
from arena.settings import Settings
from chain_market import COIN, chain_settings, opened

MOVES = ("post", "apply", "assign", "submit", "judge")
STEPS = ("intent", "sent", "mined", "final", "projecting", "projected")

# It imports everything once, then forks for each life: a cold start takes seconds of CPU time.
WORKER = """
import asyncio, json, os, signal, sys
import aiosqlite, psycopg, eth_account.messages, eth_abi.abi
import sqlalchemy.dialects.postgresql.psycopg, sqlalchemy.dialects.sqlite.aiosqlite
from arena.chain import reader
from arena.chain.reader import ChainReader
from arena.settings import Settings
from chain_market import ANSWER, opened

settings = Settings.model_validate(json.loads(os.environ["SETTINGS"]))

async def confirming(node, is_mined):
    "One more block for whatever was mined: it takes two to be final."
    while True:
        await node.ask("evm_mine")
        await is_mined.wait()
        is_mined.clear()

async def live(number, dies_in, dies_at):
    doing, is_mined = None, asyncio.Event()
    def at(step):
        if step == "mined":
            is_mined.set()
        if (doing, step) == (f"{dies_in} {number}", dies_at):
            os.kill(os.getpid(), signal.SIGKILL)
    store_cursor, write = reader.records.store_cursor, ChainReader._write
    async def projecting(*given):
        await store_cursor(*given)
        at("projecting")
    async def projected(self, before, after, events, names):
        await write(self, before, after, events, names)
        if events:
            at("projected")
    reader.records.store_cursor, ChainReader._write = projecting, projected
    async with opened(settings) as stall:
        operations, ledger = stall.operations, stall.arena.chain
        ledger._outbox._sending.at_step = lambda step, intent: at(str(step))
        confirmed = asyncio.create_task(confirming(stall.arena.node, is_mined))
        stall.sign_as("solver")
        await operations.register()
        # The last task again, with the same keys: nobody knows how far it came.
        for one in range(max(0, number - 1), number + 1):
            doing = f"post {one}"
            offer = await stall.offer(
                description=f"task {one}", deadline=os.environ["DEADLINE"], idempotency_key=doing
            )
            task = (await operations.post_task(offer)).task_id
            doing = f"apply {one}"
            await operations.apply(task, key=doing)
            doing = f"assign {one}"
            await operations.assign(task, by="alice", agent="solver", key=doing)
            doing = f"submit {one}"
            await operations.submit(task, ANSWER, key=doing)
            doing = f"judge {one}"
            await stall.judge(task, 60 + one % 40, key=doing)
        confirmed.cancel()
    os._exit(0)

for line in sys.stdin:
    child = os.fork()
    if not child:
        asyncio.run(live(*json.loads(line)))
    _, status = os.waitpid(child, 0)
    is_killed = os.WIFSIGNALED(status) and os.WTERMSIG(status) == signal.SIGKILL
    print("killed" if is_killed else os.waitstatus_to_exitcode(status), flush=True)
"""


async def test_a_process_killed_between_any_two_steps_has_made_each_move_once(
    settings: Settings, chain: LocalChain
):
    where = chain_settings(settings, chain, chain_confirmations=2)
    given = json.loads(where.model_dump_json(exclude_unset=True))
    given["chain_keys"] = [one.get_secret_value() for one in where.chain_keys]
    given["chain_url"] = chain.url
    if where.database_url is not None:
        given["database_url"] = where.database_url.get_secret_value()
    process = subprocess.Popen(
        [sys.executable, "-c", WORKER],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        env={
            **os.environ,
            "SETTINGS": json.dumps(given),
            "DEADLINE": (clock.now() + timedelta(days=100)).isoformat(),
            "PYTHONPATH": os.pathsep.join(sys.path),
        },
    )
    deaths = list(itertools.product(MOVES, STEPS))
    if where.database_url is not None:
        deaths = deaths[::3]  # the other database has had all of them
    with process:
        assert process.stdin is not None and process.stdout is not None

        def live(*words: object) -> str:
            process.stdin.write(json.dumps(words) + "\n")
            process.stdin.flush()
            return process.stdout.readline().strip()

        for number, (move, step) in enumerate(deaths):
            assert live(number, move, step) == "killed", (number, move, step)
        assert live(len(deaths) - 1, "never", "") == "0"
    async with opened(where) as stall:
        tasks = await stall.operations.all_tasks()
        assert sorted(task.description for task in tasks) == sorted(
            f"task {number}" for number in range(len(deaths))
        )
        assert {task.state for task in tasks} == {"paid"}
        for task in tasks:
            kinds = [event.kind for event in (await stall.operations.task(task.id)).events]
            assert kinds == [
                "TaskPosted", "Applied", "Assigned", "ResultSubmitted", "Judged", "Paid",
            ]  # fmt: skip
        # The agent paid no gas, so its wallet has exactly the rewards.
        assert await stall.balance("solver") == 10_000 * COIN + len(deaths) * COIN // 20
        assert (await stall.operations.audit()).violations == ()
        rebuilt = await stall.operations.rebuild_projections()
        assert (rebuilt.reputations, rebuilt.executions) == (0, 0)
        assert chain.number("eth_getBalance", where.chain_contract, "latest") == 0
