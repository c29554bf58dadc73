"""A process that leads tasks through their life is killed at any moment; nothing is half-done."""

import asyncio
import os
import random
import signal
import subprocess
import sys
from pathlib import Path

from arena.content import LocalStore
from arena.market import Market, TaskState
from arena.settings import Settings
from arena.store.database import Database

WORKER = """
import asyncio, sys
from datetime import timedelta
from pathlib import Path
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from arena import clock
from arena.content import LocalStore, cid_of
from arena.market import *
from arena.settings import Settings
from arena.store.database import Database

async def main(url, folder):
    market = Market(Database(url), LocalStore(Path(folder)))
    key = Keys(Path(folder) / "keys").make("solver")
    identity = await market.identity("t")
    def proof(act, task, content=""):
        statement = Statement(
            market=identity, act=act, task_id=task, agent="solver", content=content
        )
        return sign(key, statement)
    public = public_key_of(key)
    await market.register_agent("t", "solver", public, proof(Act.REGISTER, None, public))
    await market.deposit_test_money("t", "ann", 1000, key="money")
    print("ready", flush=True)
    while True:
        terms = Terms(reward=1, deadline=clock.now() + timedelta(hours=1), judge="jim")
        new = NewTask(
            description="x", evaluation={"type": "checklist", "items": ["ok"]}, terms=terms
        )
        task = (await market.post_task("t", "ann", new)).task_id
        print("open", task, flush=True)
        await market.apply("t", task, "solver", proof(Act.APPLY, task))
        await market.assign("t", task, "solver", by="ann")
        print("assigned", task, flush=True)
        await market.submit_result("t", task, "solver", b"x", proof(Act.SUBMIT, task, cid_of(b"x")))
        print("submitted", task, flush=True)
        verdict = Judgement(score=80, winner="solver", result_hash=cid_of(b"x"), reason_uri="y")
        await market.judge("t", task, verdict, by="jim")
        print("paid", task, flush=True)

asyncio.run(main(*sys.argv[1:]))
"""
ORDER = ["open", "assigned", "submitted", "paid"]


async def test_what_was_answered_is_kept_and_what_was_not_is_whole(settings: Settings):
    folder = settings.home / "content"
    database = Database(settings.database)
    await database.open()
    await database.close()
    chance = random.Random(11)
    told: dict[int, str] = {}
    for _ in range(4):
        command = [sys.executable, "-c", WORKER, settings.database, str(folder)]
        worker = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        assert worker.stdout is not None
        assert worker.stdout.readline() == "ready\n"
        for _ in range(chance.randint(1, 9)):
            state, task = worker.stdout.readline().split()
            told[int(task)] = state
        # Somewhere in the next call, which takes some milliseconds.
        await asyncio.sleep(chance.random() * 0.02)
        os.kill(worker.pid, signal.SIGKILL)
        for line in worker.stdout:
            if line.endswith("\n"):
                state, task = line.split()
                told[int(task)] = state
        worker.wait()
        worker.stdout.close()
        await _check(settings.database, folder, told)


async def _check(url: str, folder: Path, told: dict[int, str]) -> None:
    database = Database(url)
    try:
        market = Market(database, LocalStore(folder))
        assert (await market.audit("t")).violations == ()
        for task_id, state in told.items():
            now = (await market.task("t", task_id)).state
            assert ORDER.index(now) >= ORDER.index(state)
        tasks = await market.tasks("t", limit=1000)
        paid = sum(task.state is TaskState.PAID for task in tasks)
        assert await market.balance("t", "solver") == paid
        assert await market.balance("t", "ann") == 1000 - len(tasks)
    finally:
        await database.close()
