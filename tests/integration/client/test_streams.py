"""Streams of events as a client reads them: every one, once, whatever is in it."""

import asyncio

import pytest

from arena.client import Client
from arena.content.tree import cid_of
from market_offers import ADD, posted


@pytest.mark.parametrize("odd", ["\u2028", "\u2029", "\x85", "\x0b", "\x1e", "\r", "\n"])
async def test_no_character_in_an_event_breaks_the_stream(reader: Client, agent: Client, odd: str):
    """Only line feeds end lines there; a reason with a line separator must not end it for all."""
    task_id = await posted(reader, assignment="first")
    await agent.apply(task_id)
    await agent.submit(task_id, ADD)
    since = (await reader.market_events(limit=1000)).last_id
    reason = f"https://example.org/{odd}why"
    named = {"winner": "my-solver", "result_hash": cid_of(ADD.encode()), "reason_uri": reason}
    await reader.judge(task_id, by="judy", score=60, **named)
    kinds: list[str] = []
    async with asyncio.timeout(30):
        async for event in reader.watch_market(since=since):
            kinds.append(event.kind)
            if event.kind == "Judged":
                assert event.data["reasonURI"] == reason
            if event.kind == "Paid":
                break
    assert kinds == ["Judged", "Paid"]
