"""The client for programs without `asyncio`: the same calls, on an event loop in a thread.

    with SyncClient("http://localhost:5109") as client:
        print(client.leaderboard())

Its methods are derived from those of `Client`.
"""

import asyncio
import inspect
import threading
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable, Iterator
from contextlib import aclosing
from types import TracebackType
from typing import Any, Concatenate, ParamSpec, Self, TypeVar, cast

from arena.client.client import Client

P = ParamSpec("P")
T = TypeVar("T")


def _blocking(
    call: Callable[Concatenate[Client, P], Awaitable[T]],
) -> Callable[Concatenate["SyncClient", P], T]:
    """The call as a blocking method."""

    def blocking(self: "SyncClient", /, *args: P.args, **named: P.kwargs) -> T:
        return self.wait_for(call(self.client, *args, **named))

    blocking.__name__, blocking.__doc__ = call.__name__, call.__doc__
    return blocking


def _iterating(
    call: Callable[Concatenate[Client, P], AsyncIterator[T]],
) -> Callable[Concatenate["SyncClient", P], Iterator[T]]:
    """The values of an async iterator as a blocking iterator."""

    def iterating(self: "SyncClient", /, *args: P.args, **named: P.kwargs) -> Iterator[T]:
        values = call(self.client, *args, **named)
        try:
            while True:
                try:
                    yield self.wait_for(anext(values))
                except StopAsyncIteration:
                    return
        finally:
            # Close a stream that is not read to its end now, not when it is garbage collected.
            if isinstance(values, AsyncGenerator) and not self.is_closed:
                self.wait_for(cast("AsyncGenerator[T]", values).aclose())

    iterating.__name__, iterating.__doc__ = call.__name__, call.__doc__
    return iterating


def _streaming(
    call: Callable[Concatenate[Client, P], Awaitable[AsyncGenerator[T]]],
) -> Callable[Concatenate["SyncClient", P], Iterator[T]]:
    """The events of a stream that the call opens, as a blocking iterator."""

    async def opened(client: Client, /, *args: P.args, **named: P.kwargs) -> AsyncIterator[T]:
        async with aclosing(await call(client, *args, **named)) as values:
            async for value in values:
                yield value

    opened.__name__, opened.__doc__ = call.__name__, call.__doc__
    return _iterating(opened)


class SyncClient:
    """Every call of `Client` as a blocking method."""

    def __init__(self, url: str, **options: Any) -> None:
        self.client = Client(url, **options)
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, daemon=True)
        self._thread.start()

    def wait_for(self, work: Awaitable[T]) -> T:
        """Run a coroutine in the client's own loop; must not be called from that loop."""
        doing: list[asyncio.Task[T]] = []
        ended = threading.Event()

        async def done() -> T:
            return await work

        def begin() -> None:
            task = self._loop.create_task(done())
            task.add_done_callback(lambda _: ended.set())
            doing.append(task)

        def give_up() -> None:
            # The loop runs callbacks in order: if `begin` has not run by now, it never will.
            if doing:
                doing[0].cancel()
            else:
                ended.set()

        try:
            self._loop.call_soon_threadsafe(begin)
            ended.wait()
        except BaseException:
            # Ctrl-C: abandoned work must end first, or a stream it reads could not be closed.
            self._loop.call_soon_threadsafe(give_up)
            ended.wait()
            if inspect.iscoroutine(work):
                work.close()  # it may never have started
            raise
        return doing[0].result()

    @property
    def is_closed(self) -> bool:
        """Whether the client was closed."""
        return self._loop.is_closed()

    def close(self) -> None:
        """Close the connection and end the thread."""
        if self.is_closed:
            return
        self.wait_for(self.client.close())
        self.wait_for(self._loop.shutdown_asyncgens())
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    health = _blocking(Client.health)
    readiness = _blocking(Client.readiness)
    teams = _blocking(Client.teams)
    team_events = _streaming(Client.team_events)
    watch_team = _iterating(Client.watch_team)
    workers = _blocking(Client.workers)
    metrics = _blocking(Client.metrics)
    list_tests = _blocking(Client.list_tests)
    tests = _blocking(Client.tests)
    test = _blocking(Client.test)
    catalog = _blocking(Client.catalog)
    audit_tests = _blocking(Client.audit_tests)
    test_from_result = _blocking(Client.test_from_result)
    test_from_execution = _blocking(Client.test_from_execution)
    standing = _blocking(Client.standing)
    agents = _blocking(Client.agents)
    agent = _blocking(Client.agent)
    check_agent = _blocking(Client.check_agent)
    create_run = _blocking(Client.create_run)
    run_and_wait = _blocking(Client.run_and_wait)
    execute_run = _blocking(Client.execute_run)
    resume_run = _blocking(Client.resume_run)
    cancel_run = _blocking(Client.cancel_run)
    run_bundle = _blocking(Client.run_bundle)
    push_run = _blocking(Client.push_run)
    reexecute_run = _blocking(Client.reexecute_run)
    agreement = _blocking(Client.agreement)
    runs = _blocking(Client.runs)
    run = _blocking(Client.run)
    result_rows = _blocking(Client.result_rows)
    result = _blocking(Client.result)
    quarantined_tests = _blocking(Client.quarantined_tests)
    results = _iterating(Client.results)
    watch_run = _streaming(Client.watch_run)
    watch = _iterating(Client.watch)
    reviews = _blocking(Client.reviews)
    review = _blocking(Client.review)
    answer_review = _blocking(Client.answer_review)
    suggest_answers = _blocking(Client.suggest_answers)
    settle_reviews = _blocking(Client.settle_reviews)
    watch_reviews = _iterating(Client.watch_reviews)
    submit_feedback = _blocking(Client.submit_feedback)
    feedback = _blocking(Client.feedback)
    report_executions = _blocking(Client.report_executions)
    execution = _blocking(Client.execution)
    leaderboard = _blocking(Client.leaderboard)
    compare = _blocking(Client.compare)
    compare_agents = _blocking(Client.compare_agents)
    matrix = _blocking(Client.matrix)
    compare_tests = _blocking(Client.compare_tests)
    pareto = _blocking(Client.pareto)
    recalculate = _blocking(Client.recalculate)
    suites = _blocking(Client.suites)
    suite = _blocking(Client.suite)
    suite_diff = _blocking(Client.suite_diff)
    choose_default_suite = _blocking(Client.choose_default_suite)
    rank_reported = _blocking(Client.rank_reported)
    board_log = _blocking(Client.board_log)
    baselines = _blocking(Client.baselines)
    set_baseline = _blocking(Client.set_baseline)
    remove_baseline = _blocking(Client.remove_baseline)
    agent_baselines = _blocking(Client.agent_baselines)
    compare_runs = _blocking(Client.compare_runs)
    check_regression = _blocking(Client.check_regression)
    archive = _blocking(Client.archive)
    archive_run = _blocking(Client.archive_run)
    restore_run = _blocking(Client.restore_run)
    delete_run = _blocking(Client.delete_run)
    archive_agent = _blocking(Client.archive_agent)
    restore_agent = _blocking(Client.restore_agent)
    delete_agent = _blocking(Client.delete_agent)
    content = _blocking(Client.content)
    export_content = _blocking(Client.export_content)
    import_content = _blocking(Client.import_content)
    fetch_content = _blocking(Client.fetch_content)
    publish_content = _blocking(Client.publish_content)
    evaluate = _blocking(Client.evaluate)
    verify = _blocking(Client.verify)
    judges = _blocking(Client.judges)
    post_task = _blocking(Client.post_task)
    tasks = _blocking(Client.tasks)
    all_tasks = _blocking(Client.all_tasks)
    task = _blocking(Client.task)
    apply = _blocking(Client.apply)
    assign = _blocking(Client.assign)
    commit = _blocking(Client.commit)
    submit = _blocking(Client.submit)
    review_task = _blocking(Client.review_task)
    claim = _blocking(Client.claim)
    release = _blocking(Client.release)
    judge = _blocking(Client.judge)
    dispute = _blocking(Client.dispute)
    resolve = _blocking(Client.resolve)
    cancel = _blocking(Client.cancel)
    expire = _blocking(Client.expire)
    settle = _blocking(Client.settle)
    close_due = _blocking(Client.close_due)
    market = _blocking(Client.market)
    market_agents = _blocking(Client.market_agents)
    market_parties = _blocking(Client.market_parties)
    name_market_party = _blocking(Client.name_market_party)
    market_agent = _blocking(Client.market_agent)
    register = _blocking(Client.register)
    market_events = _blocking(Client.market_events)
    watch_market = _iterating(Client.watch_market)
    balance = _blocking(Client.balance)
    balances = _blocking(Client.balances)
    ledger_history = _blocking(Client.ledger_history)
    audit = _blocking(Client.audit)
    rebuild_projections = _blocking(Client.rebuild_projections)
    deposit_test_money = _blocking(Client.deposit_test_money)
    withdraw_test_money = _blocking(Client.withdraw_test_money)
    put_content = _blocking(Client.put_content)
