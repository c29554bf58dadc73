"""Assembles the rooms: each is imported and opened on first use, and closed in order.

A command that lists runs must not pay for the sandbox, the judge or the market: importing all of
them takes longer than the command itself. So the imports are in the properties below.
"""

import sys
from collections.abc import AsyncGenerator, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import replace
from functools import cached_property, partial
from importlib.util import find_spec
from typing import TYPE_CHECKING

from arena.errors import InfrastructureError
from arena.ground_rooms import GroundRooms
from arena.pools.threads import share_threads
from arena.settings import Settings
from arena.team import DEFAULT_TEAM

if TYPE_CHECKING:
    from uuid import UUID

    from arena.chain.keys import Keys
    from arena.chain.ledger import EvmLedger
    from arena.chain.node import Node
    from arena.chain.outbox import Outbox
    from arena.chain.standards.contract import Caller
    from arena.evaluation.resources import Resources
    from arena.evaluation.sealed import SealedFolder
    from arena.evaluation.shared_sealed import SharedSealed
    from arena.jobs import Jobs
    from arena.market.market import Market
    from arena.market.records.projecting import OnSubmitted
    from arena.market.reviewing import TaskReviews
    from arena.queue.queue import JobQueue
    from arena.queue.records.reader import QueueReader
    from arena.reviews.review import Review
    from arena.reviews.reviews import Admission, Reviews, Settler
    from arena.runs.dispatch import Dispatch
    from arena.runs.engine import Engine
    from arena.runs.executor import RunExecutor
    from arena.runs.owner import Owner
    from arena.runs.pushing import Pushing
    from arena.runs.records.reader import RunReader
    from arena.runs.session import AgentSessions
    from arena.runs.simulated_user import SimulatedUsers
    from arena.runs.watcher import RunWatcher


@asynccontextmanager
async def open_arena(settings: Settings) -> AsyncGenerator["Arena"]:
    """The rooms, closed when the block ends."""
    share_threads()
    async with AsyncExitStack() as closing:
        closing.callback(_close_workers)
        if settings.languages:
            # Imported here, like every room: most processes do not need it.
            from arena.pools.workers import prepare_workers
            from arena.sandbox.languages import add_languages

            add_languages(settings.languages)
            prepare_workers(add_languages, settings.languages)
        arena = Arena(settings, closing)
        if settings.is_queued:
            check_queue_installed()
            from arena.models.turns import local_turns, share_turns

            # The turns at models, in this event loop, hold across all machines.
            share_turns(arena.limits.turns)
            closing.callback(share_turns, local_turns)
        if settings.weights:
            await arena.scores.open()
        yield arena


def check_queue_installed() -> None:
    """Raise an error that says what to install, if the packages of the queue are missing."""
    missing = [name for name in ("procrastinate", "psycopg") if find_spec(name) is None]
    if missing:
        raise InfrastructureError(
            f"ARENA_DISPATCH=queued needs {' and '.join(missing)}; install it with: "
            'pip install "agent-arena[distributed]"',
            retryable=False,
        )


def _close_workers() -> None:
    # If nothing has imported it, there are no workers.
    if workers := sys.modules.get("arena.pools.workers"):
        workers.close_workers()


class Arena(GroundRooms):
    """The rooms of this process."""

    @cached_property
    def runs(self) -> "RunReader":
        """Reads benchmark runs."""
        from arena.runs.records.reader import RunReader

        return RunReader(self.database)

    @cached_property
    def queue_reader(self) -> "QueueReader":
        """Reads the state of the queue; only where workers execute runs."""
        from arena.queue.records.reader import QueueReader

        return QueueReader(self.database)

    @cached_property
    def watcher(self) -> "RunWatcher":
        """Follows benchmark runs."""
        from arena.runs.watcher import RunWatcher

        return RunWatcher(self.runs, self.feed)

    @cached_property
    def sessions(self) -> "AgentSessions":
        """Sessions with agents, for runs and checks: they share each agent's limits."""
        from arena.models.turns import local_turns
        from arena.runs.session import AgentSessions, Retries

        # A lambda: few tests have a simulated user, which loads an HTTP library.
        settings = self.settings
        turns = self.limits.turns if settings.is_queued else local_turns
        return AgentSessions(Retries.of(settings), lambda script: self.users.play(script), turns)

    @cached_property
    def users(self) -> "SimulatedUsers":
        """Simulated users of conversations."""
        from arena.runs.simulated_user import SimulatedUsers

        users = SimulatedUsers(self.settings, self._judged)
        self._closing.push_async_callback(users.aclose)
        return users

    @cached_property
    def owner(self) -> "Owner":
        """The current process as an executor of runs."""
        from arena.runs.owner import Owner

        owner = Owner(self.settings.home / "executors")
        self._closing.callback(owner.close)
        return owner

    @cached_property
    def engine(self) -> "Engine":
        """Asks agents and judges their answers."""
        from arena.evaluation.resources import RUN
        from arena.runs.engine import Engine
        from arena.runs.verdicts import Recorder

        settings = self.settings
        return Engine(
            database=self.database,
            feed=self.feed,
            token=self.owner.token,
            sessions=self.sessions,
            resources=replace(self.resources, purpose=RUN),
            recorder=Recorder(store=self.content, sandbox=settings.sandbox),
            reviewers_needed=settings.reviewers_needed,
        )

    @cached_property
    def executor(self) -> "RunExecutor":
        """Creates benchmark runs and lets them be executed."""
        from arena.runs.executor import RunExecutor

        executor = RunExecutor(
            self.engine, self.catalog, self.registry, self.dispatch, self.settings
        )
        self._closing.push_async_callback(executor.close)
        return executor

    @cached_property
    def dispatch(self) -> "Dispatch":
        """Who executes benchmark runs: this process, or workers."""
        if self.settings.is_queued:
            from arena.runs.queued import QueuedDispatch

            return QueuedDispatch(self.database, self.queue, self.feed, self._prepare_run)
        from arena.runs.dispatch import EmbeddedDispatch

        return EmbeddedDispatch(self.engine, self.registry, self.owner)

    async def _prepare_run(self, _run_id: "UUID") -> None:
        await self.publish_sealed()

    @cached_property
    def queue(self) -> "JobQueue":
        """The queue that workers take their work from; only if runs are queued."""
        from arena.queue.queue import JobQueue

        return JobQueue(self.settings.database, listens=self.settings.queue_listen)

    @cached_property
    def pushing(self) -> "Pushing":
        """Sends runs to other servers, and takes those that are pushed."""
        from arena.runs.pushing import Pushing

        rooms = self.database, self.content, lambda: self.sandbox  # only code needs a sandbox
        return Pushing(*rooms, self.settings, self.feed)

    @cached_property
    def market(self) -> "Market":
        """The task market."""
        from arena.market.market import Market

        has_chain = self.settings.has_chain
        return Market(
            self.database,
            self.content,
            self.feed,
            ledger=self.settings.ledger,
            # Lambdas, here and below: only what is used is opened.
            others={"evm": lambda: self.chain} if has_chain else {},
            refresh=self._refresh_chain if has_chain else None,
            sandbox=lambda: self.sandbox,
            on_submitted=self._on_submitted,
        )

    @cached_property
    def node(self) -> "Node":
        """A node of the chain; it connects with the first call."""
        from arena.chain.node import Node

        node = Node.of(self.settings)
        self._closing.push_async_callback(node.close)
        return node

    @cached_property
    def wallets(self) -> "Keys":
        """The keys of this machine on the chain."""
        from arena.chain.keys import Keys

        return Keys(self.settings)

    @cached_property
    def outbox(self) -> "Outbox":
        """The transactions of this machine's keys."""
        from arena.chain.outbox import Outbox
        from arena.chain.sending import OutboxOptions

        return Outbox(self.database, self.node, self.wallets, OutboxOptions.of(self.settings))

    @cached_property
    def chain(self) -> "EvmLedger":
        """The ledger on a chain."""
        from arena.chain.descriptions import Descriptions
        from arena.chain.ledger import EvmLedger
        from arena.chain.projection import ChainProjection

        settings, content = self.settings, self.content
        descriptions = Descriptions(content.put, content.local.get, content.get)
        projection = ChainProjection(
            settings,
            self.database,
            self.node,
            self.wallets,
            descriptions,
            self.feed,
            on_gone=self.outbox.reopen,
            on_submitted=self._on_submitted,
        )
        return EvmLedger(settings, self.database, self.node, self.outbox, projection, descriptions)

    @cached_property
    def caller(self) -> "Caller":
        """Calls other contracts of the chain with the keys of this machine."""
        from arena.chain.standards.contract import Caller

        return Caller.of(self.settings, self.node, self.outbox, self.wallets)

    async def _refresh_chain(self) -> None:
        await self.chain.refresh()

    @cached_property
    def task_reviews(self) -> "TaskReviews":
        """Reviews of paid tasks."""
        from arena.market.reviewing import TaskReviews

        return TaskReviews(
            self.database,
            self.market,
            sandbox=self.settings.sandbox,
            reviewers_needed=self.settings.reviewers_needed,
        )

    @cached_property
    def reviews(self) -> "Reviews":
        """Reviews by people."""
        from arena.reviews.review import SubjectKind
        from arena.reviews.reviews import Reviews

        make: Callable[..., Reviews] = Reviews
        if self.settings.is_queued:
            from arena.reviews.queued import QueuedReviews

            make = partial(QueuedReviews, queue=self.queue)
        # Lambdas, so that listing reviews opens neither runs nor market.
        settlers: dict[SubjectKind, Settler] = {
            SubjectKind.RUN: lambda case, verdict: self.executor.settle(case, verdict),
            SubjectKind.TASK: lambda case, verdict: self.task_reviews.settle(case, verdict),
        }
        admissions: dict[SubjectKind, Admission] = {
            SubjectKind.TASK: lambda review, name: self.task_reviews.admit(review, name)
        }
        return make(
            self.database,
            self.resources,
            settlers,
            feed=self.feed,
            sealed_for=self._sealed_for,
            admissions=admissions,
        )

    def _sealed_for(self, review: "Review") -> "SealedFolder | SharedSealed":
        """The private parts that a review may use: its verdict shows hidden cases to its team."""
        # A team with a token chooses the standard of its task; the tests of a run are the server's.
        from arena.reviews.review import SubjectKind

        if review.subject.kind is not SubjectKind.TASK:
            return self.sealed
        return self._sealed_of(review.team_id)

    def _sealed_of(self, team_id: str) -> "SealedFolder | SharedSealed":
        """The private parts for tasks of a team."""
        # A worker has no tokens, so it cannot know whether the server has: only the team of those
        # who need none may use the server's own parts.
        is_open = team_id == DEFAULT_TEAM or not self.settings.is_queued
        is_own = is_open and not self.settings.tokens
        return self.sealed if is_own else self.sealed.of_team(team_id)

    def _resources_for(self, team_id: str) -> "Resources":
        return replace(self.resources, unseal=self._sealed_of(team_id))

    @cached_property
    def jobs(self) -> "Jobs":
        """The queue and what workers do besides runs; only with `settings.is_queued`."""
        from arena.jobs import Jobs, Rooms

        rooms = Rooms(
            market=lambda: self.market,
            reviews=lambda: self.reviews,
            task_reviews=lambda: self.task_reviews,
            scores=lambda: self.scores,
            resources=self._resources_for,
        )
        return Jobs(self.settings, self.database, self.queue, rooms)

    @property
    def _on_submitted(self) -> "OnSubmitted | None":
        if not self.settings.is_queued:
            return None
        return lambda connection, task: self.jobs.judging.add(connection, task)
