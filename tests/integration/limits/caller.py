"""A process that calls a place within its shared limits, and writes every call into a file.

It stands for a worker; its agent works on for as long as it needs, whatever happens to the worker.
So a line is written when a call begins, and says how long the agent works.
"""

import asyncio
import json
import os
import random
import sys
import time
from pathlib import Path
from typing import Any

from arena.limits.shared_limits import SharedLimits
from arena.store.database import Database
from arena.team import working_for


async def main(order: dict[str, Any]) -> None:
    database = Database(order["url"])
    limits = SharedLimits(database, order["url"], lease_seconds=2.0)
    turns = limits.turns(
        order["place"],
        max_concurrency=order["at_once"],
        per_minute=order["per_window"],
        window_seconds=order["window"],
    )
    log = os.open(order["log"], os.O_WRONLY | os.O_APPEND)
    stop = Path(order["stop"])

    async def call_again_and_again() -> None:
        with working_for(order["team"]):
            while not stop.exists():
                work = order["work"] * random.uniform(0.5, 1.0)
                async with turns.turn(order["seconds"]):
                    now = time.monotonic()
                    line = f"{now} {now + work} {order['team']} {os.getpid()}\n"
                    os.write(log, line.encode())
                    await asyncio.sleep(work)
                await asyncio.sleep(order["rest"])

    print("ready", flush=True)
    await asyncio.gather(*(call_again_and_again() for _ in range(order["callers"])))
    await limits.close()
    await database.close()


if __name__ == "__main__":
    asyncio.run(main(json.loads(sys.argv[1])))
