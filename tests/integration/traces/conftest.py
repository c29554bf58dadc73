from collections.abc import AsyncIterator

import httpx2
import pytest

from arena.traces.inbox import Inbox, Session
from arena.traces.receiver import Receiver
from traces_world import Post


@pytest.fixture
async def receiver() -> AsyncIterator[Receiver]:
    receiver = Receiver()
    await receiver.start(0)
    yield receiver
    await receiver.stop()


@pytest.fixture
def session(receiver: Receiver) -> Session:
    return receiver.session("the token of the session")


@pytest.fixture
def inbox(session: Session) -> Inbox:
    return session.open()


@pytest.fixture
async def post() -> AsyncIterator[Post]:
    # A busy machine takes more than the default of 5 s to decode the largest request.
    async with httpx2.AsyncClient(timeout=60) as client:
        yield Post(client)
