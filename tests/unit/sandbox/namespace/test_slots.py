"""Slots of the machine: nothing is started, only the order is looked at."""

import asyncio
from contextlib import AsyncExitStack

from arena.sandbox.limits import submissions_at_once
from arena.sandbox.namespace.provider import NamespaceProvider
from arena.team import working_for


async def test_a_team_gets_a_slot_while_another_holds_all_it_may():
    async with NamespaceProvider() as provider, AsyncExitStack() as held:
        with working_for("flood"):
            for _ in range(submissions_at_once()):
                await held.enter_async_context(provider.slot())
            next_one = asyncio.ensure_future(provider.slot().__aenter__())
        await asyncio.sleep(0)
        assert not next_one.done()
        with working_for("other"):
            async with provider.slot():
                assert not next_one.done()
        await held.aclose()
        await next_one
