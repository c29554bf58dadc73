"""A process that works on tasks is killed at random moments; nothing is left half-done."""

import asyncio
import os
import random
import signal
import subprocess
import sys
from pathlib import Path

from arena.content.store import LocalStore
from arena.market.market import Market
from arena.market.task import TaskState
from arena.settings import Settings
from arena.store.database import Database

WORKER = """
import asyncio, sys
from datetime import timedelta
from pathlib import Path
from arena import clock
from arena.amounts import Amount
from arena.market.call import Action, Call
from arena.market.market import Market
from arena.market.signing import Act, KeyFolder
from arena.market.task import TaskPost
from arena.content.store import LocalStore
from arena.content.tree import cid_of
from arena.settings import Settings
from arena.store.database import Database

async def main(url, folder):
    market = Market(Database(url), LocalStore(Path(folder)))
    solver = KeyFolder(Path(folder) / "keys").make("solver")
    identity = await market.embedded.market_id("t")
    def proof(act, task, content=""):
        return solver.prove(identity, act, task_id=task, content=content)
    def act(task, action, by, **call):
        return market.act("t", task, Call(action=action, by=by, **call))
    public = solver.public_key
    await market.register_agent("t", "solver", public, proof(Act.REGISTER, None, public))
    await market.deposit_test_money("t", "ann", 1000, key="money")
    print("ready", flush=True)
    while True:
        new = TaskPost(
            poster="ann",
            description="x",
            evaluation={"type": "checklist", "items": ["ok"]},
            reward=Amount(1),
            deadline=clock.now() + timedelta(hours=1),
            judge="jim",
        )
        task = (await market.post_task("t", new)).task_id
        print("open", task, flush=True)
        apply = Call(action=Action.APPLY, by="solver")
        await market.act("t", task, apply, proof=proof(Act.APPLY, task))
        await act(task, Action.ASSIGN, "ann", agent="solver")
        print("assigned", task, flush=True)
        signed = proof(Act.SUBMIT, task, cid_of(b"x"))
        await market.submit("t", task, "solver", b"x", proof=signed)
        print("submitted", task, flush=True)
        verdict = {"agent": "solver", "result_hash": cid_of(b"x"), "reason_uri": "y"}
        await act(task, Action.JUDGE, "jim", score=80, **verdict)
        print("paid", task, flush=True)

asyncio.run(main(*sys.argv[1:]))
"""
ORDER = ["open", "assigned", "submitted", "paid"]


async def test_reported_steps_are_kept_and_unreported_ones_are_atomic(settings: Settings):
    folder = settings.home / "content"
    database = Database(settings.database)
    await database.open()
    await database.close()
    chance = random.Random(11)
    reported: dict[int, str] = {}
    for _ in range(4):
        command = [sys.executable, "-c", WORKER, settings.database, str(folder)]
        worker = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        assert worker.stdout is not None
        assert worker.stdout.readline() == "ready\n"
        for _ in range(chance.randint(1, 9)):
            state, task = worker.stdout.readline().split()
            reported[int(task)] = state
        # Somewhere in the next call, which takes some milliseconds.
        await asyncio.sleep(chance.random() * 0.02)
        os.kill(worker.pid, signal.SIGKILL)
        for line in worker.stdout:
            if line.endswith("\n"):
                state, task = line.split()
                reported[int(task)] = state
        worker.wait()
        worker.stdout.close()
        await _check(settings.database, folder, reported)


async def _check(url: str, folder: Path, reported: dict[int, str]) -> None:
    database = Database(url)
    try:
        whole = Market(database, LocalStore(folder))
        ledger, market = whole.embedded, whole.reader
        assert (await ledger.audit("t")).violations == ()
        for task_id, state in reported.items():
            now = (await market.task("t", task_id)).state
            assert ORDER.index(now) >= ORDER.index(state)
        tasks = await market.tasks("t", limit=1000)
        paid = sum(task.state is TaskState.PAID for task in tasks)
        assert await ledger.balance("t", "solver") == paid
        assert await ledger.balance("t", "ann") == 1000 - len(tasks)
    finally:
        await database.close()
