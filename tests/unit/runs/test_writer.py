import asyncio

from arena.runs.item import Executed
from arena.runs.result_writer import BATCH_CHARACTERS, BATCH_RESULTS, ResultWriter
from factories import executed


class Written:
    """What was written, batch by batch."""

    def __init__(self) -> None:
        self.batches: list[list[Executed]] = []

    async def __call__(self, results: list[Executed]) -> None:
        await asyncio.sleep(0)
        self.batches.append(results)


async def test_a_full_batch_is_written_at_once():
    written = Written()
    writer = ResultWriter(written)
    for _ in range(BATCH_RESULTS):
        await writer.add(executed())
    assert [len(batch) for batch in written.batches] == [BATCH_RESULTS]


async def test_large_answers_do_not_pile_up():
    written = Written()
    writer = ResultWriter(written)
    for _ in range(3):
        await writer.add(executed(actual_output={"output": "x" * (BATCH_CHARACTERS // 2)}))
    assert [len(batch) for batch in written.batches] == [2]


async def test_a_single_result_is_written_soon():
    written = Written()
    writer = ResultWriter(written)
    done = asyncio.Event()
    flushing = asyncio.create_task(writer.keep_flushing(done))
    await writer.add(executed())
    async with asyncio.timeout(10):
        while not written.batches:
            await asyncio.sleep(0.01)
    done.set()
    await flushing


async def test_pending_results_are_written_at_the_end():
    written = Written()
    writer = ResultWriter(written)
    done = asyncio.Event()
    flushing = asyncio.create_task(writer.keep_flushing(done))
    await asyncio.sleep(0)
    await writer.add(executed())
    done.set()
    await flushing
    assert len(written.batches) == 1


async def test_every_result_is_written_exactly_once_however_results_are_batched():
    written = Written()
    writer = ResultWriter(written)
    done = asyncio.Event()
    flushing = asyncio.create_task(writer.keep_flushing(done))

    async def worker(start: int) -> None:
        for number in range(start, start + 700):
            await writer.add(executed(test_id=f"t{number}"))
            if number % 50 == 0:
                await asyncio.sleep(0)

    await asyncio.gather(*(worker(n * 1000) for n in range(4)))
    done.set()
    await flushing
    ids = [one.result.test_id for batch in written.batches for one in batch]
    assert len(ids) == len(set(ids)) == 2800
