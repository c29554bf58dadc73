"""Plain and async functions are called alike, and a plain one does not block the loop."""

import asyncio
import threading
from contextvars import ContextVar
from functools import partial

import pytest

from arena.client.executing import call_function

who: ContextVar[str] = ContextVar("who", default="nobody")


def plain(word: str) -> str:
    return word.upper()


async def waits(word: str) -> str:
    await asyncio.sleep(0)
    return word.upper()


class Callable:
    async def __call__(self, word: str) -> str:
        return await waits(word)


@pytest.mark.parametrize(
    "function",
    [
        plain,
        waits,
        Callable(),
        partial(waits),
        lambda word: waits(word),  # plain itself, but it returns an awaitable
    ],
)
async def test_every_kind_of_function_gives_its_answer(function):
    assert await call_function(function, "yes") == "YES"


async def test_plain_functions_run_concurrently():
    together = threading.Barrier(2)

    def meet(seconds: float) -> bool:
        together.wait(seconds)
        return True

    assert await asyncio.gather(call_function(meet, 30), call_function(meet, 30)) == [True, True]


async def test_an_async_function_stays_in_the_loop_and_a_plain_one_leaves_it():
    async def here(_: None) -> int:
        return threading.get_ident()

    assert await call_function(here, None) == threading.get_ident()
    assert await call_function(lambda _: threading.get_ident(), None) != threading.get_ident()


async def test_a_plain_function_sees_the_callers_context():
    who.set("my-solver")
    assert await call_function(lambda _: who.get(), None) == "my-solver"


async def test_what_a_plain_function_raises_is_raised():
    def broken(_: None) -> None:
        raise ValueError("no idea")

    with pytest.raises(ValueError, match="no idea"):
        await call_function(broken, None)
    # A future cannot carry this one; the caller must not wait forever.
    with pytest.raises(RuntimeError, match="StopIteration"):
        await asyncio.wait_for(call_function(next, iter(())), 30)
