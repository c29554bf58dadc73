"""Scores through the API of a whole Arena, on both databases.

One Arena serves all tests of a file, and every test has a team of its own: teams are isolated.
"""

from collections.abc import AsyncIterator, Iterator
from uuid import uuid4

import httpx2
import pytest
import pytest_asyncio
from fastapi import FastAPI

from app_transport import AppTransport
from arena.api import create_app
from arena.assembly import Arena
from arena.settings import Settings
from databases import settings_on
from factories import write_agent, write_tests


@pytest.fixture(scope="module", params=["sqlite", "postgresql"])
def shared(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Settings]:
    """Settings of an Arena with two versions of one agent, and another agent."""
    home = tmp_path_factory.mktemp("home")
    write_agent(home / "agents", "parrot", "return prompt.upper()")
    old = (home / "agents" / "parrot.yaml").read_text()
    (home / "agents" / "parrot-2.yaml").write_text(old.replace("1.0.0", "2.0.0"))
    every_other = (
        "answer.calls = getattr(answer, 'calls', 0) + 1\n"
        "return prompt.upper() if answer.calls % 2 else 'no'"
    )
    write_agent(home / "agents", "moody", every_other, limits={"max_concurrency": 1})
    write_agent(home / "agents", "mute", "return 'hm'")
    write_tests(home / "benchmarks" / "words.yaml", count=5)
    with settings_on(request.param, home, request.getfixturevalue) as made:
        yield made


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def app(shared: Settings) -> AsyncIterator[FastAPI]:
    made = create_app(shared)
    async with made.router.lifespan_context(made):
        yield made


@pytest.fixture(scope="module")
def house(app: FastAPI) -> Arena:
    return app.state.arena


@pytest.fixture
def era() -> str:
    """The prefix of the team names of this test."""
    return uuid4().hex


@pytest.fixture
def team(era: str) -> str:
    """The team of the API requests: `red` in the histories of this era."""
    return f"{era}-red"


@pytest_asyncio.fixture(loop_scope="module")
async def api(app: FastAPI, team: str) -> AsyncIterator[httpx2.AsyncClient]:
    async with httpx2.AsyncClient(
        transport=AppTransport(app),
        base_url="http://localhost/api/benchmarks",
        params={"team_id": team},
    ) as client:
        yield client
