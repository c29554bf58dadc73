"""Finding the language of long code, without the sandbox."""

import asyncio

import pytest

from arena.sandbox.errors import LanguageRefused
from arena.sandbox.evident_language import evident_code
from arena.sandbox.ports import FunctionCall, FunctionOutcome
from arena.sandbox.submission import Code


async def _no_call(call: FunctionCall) -> FunctionOutcome:
    raise AssertionError(call)


async def test_megabytes_are_searched_while_the_event_loop_runs_on():
    code = Code(source="`a\n" * 1_000_000, language="javascript")
    finding = asyncio.create_task(evident_code([code], "f", _no_call))
    turns = 0
    while not finding.done():
        await asyncio.sleep(0.001)
        turns += 1
    with pytest.raises(LanguageRefused):
        finding.result()
    # On the loop it would have been the first.
    assert turns > 5
