"""A queued Arena on PostgreSQL, and a judge's model that counts what it is asked."""

from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any

import pytest

from arena import clock
from arena.assembly import Arena, open_arena
from arena.content.store import LocalStore
from arena.settings import Settings
from databases import settings_on
from judging import MODEL
from market_desk import Desk
from market_door import Door
from queue_worker import TEAM, Model


@pytest.fixture
async def model() -> AsyncIterator[Model]:
    made = Model()
    await made.start()
    yield made
    made.is_open.set()
    await made.stop()


@pytest.fixture
def settings(request: pytest.FixtureRequest, tmp_path: Path, model: Model) -> Iterator[Settings]:
    """Settings of a server and its workers."""
    queued: dict[str, Any] = {
        "dispatch": "queued",
        "judge_base_url": f"{model.url}/v1",
        "judge_models": (MODEL,),
        "judge_cache_entries": 0,
    }
    with settings_on("postgresql", tmp_path / "home", request.getfixturevalue) as made:
        yield made.model_copy(update=queued)


@pytest.fixture
async def house(settings: Settings) -> AsyncIterator[Arena]:
    """The rooms of a server, which does not work itself."""
    async with open_arena(settings) as opened:
        await opened.jobs.queue.prepare(opened.database)
        yield opened


@pytest.fixture
async def desk(house: Arena) -> AsyncIterator[Desk]:
    """A market whose submissions add tickets."""
    content = LocalStore(house.settings.content_folder)
    market = Door(house.database, content, on_submitted=house.jobs.judging.add)
    made = Desk(market=market, database=house.database, content=content, at=clock.now())
    for agent in ("solver", "rival", "third", "fourth"):
        await made.register(agent)
    for poster in ("ann", "bob", "cleo"):
        await made.market.deposit_test_money(TEAM, poster, 10_000)
    yield made
    assert (await made.market.audit(TEAM)).violations == ()
