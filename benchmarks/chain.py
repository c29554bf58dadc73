"""Full cycles of paid tasks on a local Ethereum node: time per cycle, gas, and what is left.

    python benchmarks/chain.py --cycles 100

A cycle is post, apply (signed, sent by a relayer), assign, submit (likewise) and judge: five
transactions, each waited for and read back. Needs anvil (scripts/setup --anvil).
"""

import argparse
import asyncio
import tempfile
import time
from datetime import timedelta
from pathlib import Path

from arena.assembly import open_arena
from arena.chain.anvil import Anvil, LocalNode
from arena.chain.artifact import load_artifact
from arena.chain.deployment import deploy
from arena.chain.keys import Keys
from arena.chain.node import Node
from arena.chain.outbox import Outbox
from arena.chain.sending import OutboxOptions
from arena.chain.wallet import WalletSigner
from arena.content.tree import cid_of
from arena.market.task import TaskPost
from arena.operations.operation import InProcess
from arena.operations.operations import Operations
from arena.settings import Settings
from arena.store.database import Database

PARTIES = ("alice", "judy", "operator", "solver")
SCORES = (0, 59, 60, 100)


async def main(cycles: int) -> None:
    with tempfile.TemporaryDirectory() as folder:
        anvil = Anvil(Path(folder) / "chain")
        node = await anvil.start()
        try:
            keys = [
                f"{name}:{account.private_key}"
                for name, account in zip(PARTIES, anvil.accounts(), strict=False)
            ]
            settings = await _deployed(Path(folder), node, keys)
            await _run(settings, cycles)
        finally:
            await anvil.stop()


async def _deployed(home: Path, local: LocalNode, keys: list[str]) -> Settings:
    given = {
        "home": home,
        "ledger": "evm",
        "chain_url": local.url,
        "chain_keys": keys,
        "chain_relayer": "operator",
        "chain_confirmations": 1,
    }
    settings = Settings.model_validate(given)
    node, database = Node.of(settings), Database(settings.database)
    try:
        outbox = Outbox(database, node, Keys(settings), OutboxOptions.of(settings))
        done = await deploy(
            outbox, node, load_artifact(), by="operator", team_id="default", seconds=60
        )
    finally:
        await node.close()
        await database.close()
    return Settings.model_validate({**given, "chain_contract": done.contract})


async def _run(settings: Settings, cycles: int) -> None:
    async with open_arena(settings) as arena:
        operations = Operations(InProcess(arena=arena))
        operations.signer = WalletSigner("solver", Keys(settings))
        await operations.register()
        before = (await operations.balance("solver")).balances[0].amount
        started, cpu = time.perf_counter(), time.process_time()
        for number in range(cycles):
            await _cycle(operations, SCORES[number % len(SCORES)])
        seconds, cpu = time.perf_counter() - started, time.process_time() - cpu
        earned = (await operations.balance("solver")).balances[0].amount - before
        audit = await operations.audit()
        held = await arena.node.balance(settings.chain_contract or "")
    print(f"{cycles} cycles, {5 * cycles} transactions: {seconds:.1f} s")
    print(f"per cycle: {1000 * seconds / cycles:.0f} ms, {1000 * cpu / cycles:.0f} ms of CPU here")
    print(f"left in the contract: {held} wei; the agent earned {earned / 10**18:g} ETH")
    print(f"audit: {'clean' if audit.is_clean else audit.violations}")


async def _cycle(operations: Operations, score: int) -> None:
    now = (await operations.market()).now
    posted = await operations.post_task(
        TaskPost(
            poster="alice",
            judge="judy",
            description="Write add(a, b).",
            evaluation={"type": "checklist", "items": ["It works"]},
            reward="0.05",  # pyright: ignore[reportArgumentType] - parsed when it is posted
            deadline=now + timedelta(hours=1),
        )
    )
    assert posted.task_id is not None
    await operations.apply(posted.task_id)
    await operations.assign(posted.task_id, by="alice", agent="solver")
    await operations.submit(posted.task_id, "def add(a, b): return a + b")
    await operations.judge(
        posted.task_id,
        by="judy",
        score=score,
        winner="solver",
        result_hash=cid_of(b"def add(a, b): return a + b"),
        reason_uri=cid_of(b"why"),
    )


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--cycles", type=int, default=100)
    asyncio.run(main(parser.parse_args().cycles))
