"""`arena tests from-result`: how a command names a result, and the test that is made of it."""

import typer

from arena.catalog.test import WrittenTest
from arena.cli.connection import call
from arena.cli.run_name import find_run
from arena.operations.runs import RunOperations
from arena.operations.tests import TestOperations


class ResultTestOperations(RunOperations, TestOperations):
    """Operations that find a run and make a test of a result."""


def test_of_result(context: typer.Context, name: str, test_id: str | None) -> WrittenTest:
    """The test of the result that `name` means: an id, its beginning, or RUN:TEST."""
    run, separator, test = name.partition(":")

    async def make(arena: ResultTestOperations) -> WrittenTest:
        # The command knows more names of a run than the server: `latest`, its first digits.
        full = f"{await find_run(arena, run)}:{test}" if separator else name
        return await arena.test_from_result(result=full, test_id=test_id)

    return call(context, ResultTestOperations, make)
