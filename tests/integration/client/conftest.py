"""A market behind a real client: every request goes through the whole stack, without a network."""

from collections.abc import AsyncIterator, Callable

import pytest

from app_transport import AppTransport
from arena.api import create_app
from arena.client import Client, Signer
from arena.settings import Settings

Connect = Callable[..., Client]


@pytest.fixture
def dialect() -> str:
    """One will do: a client cannot tell databases apart, and the market's own tests use both."""
    return "sqlite"


@pytest.fixture
async def connect(settings: Settings) -> AsyncIterator[Connect]:
    """Makes clients of one server: for a reader, or for an agent by its name."""
    app = create_app(settings)
    clients: list[Client] = []
    async with app.router.lifespan_context(app):

        def make(agent: str | None = None, team: str | None = None) -> Client:
            signer = Signer.new(agent) if agent else None
            transport = AppTransport(app)
            clients.append(
                Client("http://localhost", team_id=team, signer=signer, transport=transport)
            )
            return clients[-1]

        yield make
        for client in clients:
            await client.close()


@pytest.fixture
async def reader(connect: Connect) -> Client:
    """Somebody without a key; alice has 10 to spend."""
    client = connect()
    await client.deposit_test_money("alice", "10")
    return client


@pytest.fixture
async def agent(connect: Connect) -> Client:
    """An agent that is registered."""
    client = connect("my-solver")
    await client.register()
    return client
