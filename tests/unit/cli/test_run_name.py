"""A run is named by its id, the beginning of its id, or as `latest`."""

from collections.abc import Sequence
from types import SimpleNamespace
from typing import Any, cast
from uuid import UUID

import pytest

from arena.cli.run_name import find_run
from arena.errors import InvalidInput, NotFound
from arena.operations.runs import RunOperations

ONE = UUID("abcd1111-0000-4000-8000-000000000001")
TWO = UUID("abcd2222-0000-4000-8000-000000000002")


class OldServer:
    """A server of 0.1: it does not know the filter by id."""

    def __init__(self, ids: Sequence[UUID]) -> None:
        self._ids = ids

    async def runs(self, **_: object) -> Any:
        named = {"agent_id": "agent", "agent_version": "1.0.0"}
        return SimpleNamespace(runs=[SimpleNamespace(id=one, **named) for one in self._ids])


def server(*ids: UUID) -> RunOperations:
    return cast(RunOperations, OldServer(ids))


async def test_a_beginning_that_several_runs_share_is_an_error_that_lists_them():
    with pytest.raises(InvalidInput) as error:
        await find_run(server(ONE, TWO), "abcd")
    assert str(ONE) in error.value.message
    assert str(TWO) in error.value.message
    assert await find_run(server(ONE, TWO), "abcd2") == TWO
    assert await find_run(server(ONE, TWO), "ABCD-1111") == ONE


async def test_a_server_that_ignores_the_filter_never_gives_another_run():
    with pytest.raises(NotFound):
        await find_run(server(ONE), "abcd2")


async def test_a_whole_id_is_not_looked_up():
    assert await find_run(server(), str(ONE)) == ONE
