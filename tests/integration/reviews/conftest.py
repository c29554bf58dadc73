"""A house whose agent `poet` answers tests that people have to judge."""

from collections.abc import AsyncIterator

import pytest

from arena.assembly import Arena, open_arena
from arena.settings import Settings
from reviewing import furnish


@pytest.fixture
async def house(settings: Settings) -> AsyncIterator[Arena]:
    async with open_arena(furnish(settings)) as opened:
        yield opened
