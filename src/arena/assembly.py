"""Assembles the rooms: each is imported and opened on first use, and closed in order.

A command that lists runs must not pay for the sandbox, the judge or the market: importing all of
them takes longer than the command itself. So the imports are in the properties below.
"""

import sys
from collections.abc import AsyncGenerator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING

from arena.pools.threads import share_threads
from arena.settings import MIB, Settings

if TYPE_CHECKING:
    from arena.agents.registry import Registry
    from arena.catalog.audit import Audits
    from arena.catalog.live import LiveCatalog
    from arena.chain.keys import Keys
    from arena.chain.ledger import EvmLedger
    from arena.chain.node import Node
    from arena.chain.outbox import Outbox
    from arena.chain.standards.contract import Caller
    from arena.content.kubo import KuboStore
    from arena.content.ports import ContentStore
    from arena.evaluation.evaluator import Evaluator
    from arena.evaluation.judge.judge import ModelJudge
    from arena.evaluation.resources import Resources
    from arena.evaluation.sealed import SealedFolder
    from arena.evaluation.standard import JudgePrompt
    from arena.evaluation.verdict import Submission, Verdict
    from arena.feed import Feed
    from arena.market.market import Market
    from arena.market.reviewing import TaskReviews
    from arena.reviews.review import Review
    from arena.reviews.reviews import Reviews, Settler
    from arena.runs.executor import RunExecutor
    from arena.runs.pushing import Pushing
    from arena.runs.records.reader import RunReader
    from arena.runs.session import AgentSessions
    from arena.runs.simulated_user import SimulatedUsers
    from arena.runs.watcher import RunWatcher
    from arena.sandbox.ports import SandboxProvider
    from arena.scoring.boards import Boards
    from arena.scoring.scores import Scores
    from arena.store.database import Database


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
        if settings.weights:
            await arena.scores.open()
        yield arena


def _close_workers() -> None:
    # If nothing has imported it, there are no workers.
    if workers := sys.modules.get("arena.pools.workers"):
        workers.close_workers()


class Arena:
    """The rooms of this process."""

    def __init__(self, settings: Settings, closing: AsyncExitStack) -> None:
        self.settings = settings
        self._closing = closing
        """Closes opened rooms, the last first."""

    @cached_property
    def database(self) -> "Database":
        """The database; it connects with its first transaction."""
        from arena.store.database import Database

        database = Database(self.settings.database)
        self._closing.push_async_callback(database.close)
        return database

    @cached_property
    def scores(self) -> "Scores":
        """Scores and the leaderboard."""
        from arena.scoring.scorecard import Weights
        from arena.scoring.scores import Scores

        weights = self.settings.weights
        return Scores(self.database, Weights.from_settings(weights) if weights else None)

    @cached_property
    def boards(self) -> "Boards":
        """Suites, the log of their boards, and what was archived."""
        from arena.scoring.boards import Boards

        return Boards(self.database)

    @cached_property
    def catalog(self) -> "LiveCatalog":
        """The tests."""
        from arena.catalog.live import LiveCatalog

        return LiveCatalog(
            self.settings.tests,
            project=self.settings.project_tests,
            home=self.settings.home / "benchmarks",
            builtin=self.settings.has_builtin,
            own_suite=self.settings.own_suite,
        )

    @cached_property
    def audits(self) -> "Audits":
        """Audits of the tests with null agents."""
        from arena.catalog.audit import Audits

        return Audits(self.resources)

    @cached_property
    def registry(self) -> "Registry":
        """The agents."""
        from arena.agents.registry import BUILTIN_DIRECTORY, Registry

        builtin = BUILTIN_DIRECTORY if self.settings.has_builtin else None
        return Registry(self.settings.agent_folders, builtin=builtin)

    @cached_property
    def content(self) -> "ContentStore":
        """Content by CID: on this machine, and behind it the network if one is configured."""
        from arena.content.store import LocalStore

        settings = self.settings
        local = LocalStore(
            settings.content_folder,
            quota_bytes=settings.content_quota_bytes,
            min_free_bytes=settings.content_min_free_mib * MIB,
        )
        if not settings.kubo_url and not settings.ipfs_gateways:
            return local
        from arena.content.gateway import GatewayStore
        from arena.content.tiered import TieredStore

        seconds = settings.ipfs_timeout_seconds
        gateways = [GatewayStore(url, timeout_seconds=seconds) for url in settings.ipfs_gateways]
        sources = [self.kubo, *gateways] if self.kubo else gateways
        store = TieredStore(local, sources, timeout_seconds=seconds)
        self._closing.callback(store.close)
        return store

    @cached_property
    def kubo(self) -> "KuboStore | None":
        """The Kubo daemon, if one is configured: content is read from it and published to it."""
        if self.settings.kubo_url is None:
            return None
        from arena.content.kubo import KuboStore

        url = self.settings.kubo_url.get_secret_value()
        kubo = KuboStore(url, timeout_seconds=self.settings.ipfs_timeout_seconds)
        self._closing.callback(kubo.close)
        return kubo

    @cached_property
    def sandbox(self) -> "SandboxProvider":
        """Runs untrusted code. Nothing is started before the first submission."""
        from arena.sandbox.providers import provider_named

        options: dict[str, object] = {}
        if self.settings.sandbox == "daytona":
            key = self.settings.daytona_api_key
            options["api_key"] = key.get_secret_value() if key else ""
        sandbox = provider_named(self.settings.sandbox)(**options)
        self._closing.push_async_callback(sandbox.close)
        return sandbox

    @cached_property
    def judge(self) -> "ModelJudge":
        """The models that judge."""
        from arena.evaluation.judge.judge import ModelJudge

        judge = ModelJudge(self.settings)
        self._closing.push_async_callback(judge.aclose)
        return judge

    @cached_property
    def resources(self) -> "Resources":
        """The resources of judging."""
        from arena.evaluation.resources import Resources
        from arena.evaluation.sealed import SealedFolder

        unseal = SealedFolder(self.settings.sealed_folder)
        return Resources(sandbox=self.sandbox, judge=self._judged, unseal=unseal)

    async def _judged(
        self, standard: "JudgePrompt", submission: "Submission", purpose: str | None
    ) -> "Verdict":
        # The judge loads an HTTP library, so it is opened by the first standard that needs it.
        return await self.judge.judge(standard, submission, purpose)

    @cached_property
    def evaluation(self) -> "Evaluator":
        """Judging on request."""
        from arena.evaluation.evaluator import Evaluator

        return Evaluator(self.settings, self.resources, self.content)

    @cached_property
    def feed(self) -> "Feed":
        """Notifies watchers of changes."""
        from arena.feed import Feed

        return Feed()

    @cached_property
    def runs(self) -> "RunReader":
        """Reads benchmark runs."""
        from arena.runs.records.reader import RunReader

        return RunReader(self.database)

    @cached_property
    def watcher(self) -> "RunWatcher":
        """Follows benchmark runs."""
        from arena.runs.watcher import RunWatcher

        return RunWatcher(self.runs, self.feed)

    @cached_property
    def sessions(self) -> "AgentSessions":
        """Sessions with agents, for runs and checks: they share each agent's limits."""
        from arena.runs.session import AgentSessions, Retries

        # A lambda: few tests have a simulated user, which loads an HTTP library.
        return AgentSessions(Retries.of(self.settings), lambda script: self.users.play(script))

    @cached_property
    def users(self) -> "SimulatedUsers":
        """Simulated users of conversations."""
        from arena.runs.simulated_user import SimulatedUsers

        users = SimulatedUsers(self.settings, self._judged)
        self._closing.push_async_callback(users.aclose)
        return users

    @cached_property
    def executor(self) -> "RunExecutor":
        """Executes benchmark runs."""
        from arena.evaluation.resources import RUN
        from arena.runs.engine import Engine
        from arena.runs.executor import RunExecutor
        from arena.runs.owner import Owner
        from arena.runs.verdicts import Recorder

        settings = self.settings
        owner = Owner(settings.home / "executors")
        engine = Engine(
            database=self.database,
            feed=self.feed,
            token=owner.token,
            sessions=self.sessions,
            resources=replace(self.resources, purpose=RUN),
            recorder=Recorder(store=self.content, sandbox=settings.sandbox),
            reviewers_needed=settings.reviewers_needed,
        )
        executor = RunExecutor(engine, self.catalog, self.registry, owner, settings)
        self._closing.push_async_callback(executor.close)
        return executor

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

        # Lambdas, so that listing reviews opens neither runs nor market.
        settlers: dict[SubjectKind, Settler] = {
            SubjectKind.RUN: lambda case, verdict: self.executor.settle(case, verdict),
            SubjectKind.TASK: lambda case, verdict: self.task_reviews.settle(case, verdict),
        }
        return Reviews(
            self.database,
            self.resources,
            settlers,
            feed=self.feed,
            sealed_for=self._sealed_for,
            admissions={
                SubjectKind.TASK: lambda review, name: self.task_reviews.admit(review, name)
            },
        )

    def _sealed_for(self, review: "Review") -> "SealedFolder":
        """The private parts that a review may use: its verdict shows hidden cases to its team."""
        # A team with a token chooses the standard of its task; the tests of a run are the server's.
        from arena.evaluation.sealed import SealedFolder
        from arena.reviews.review import SubjectKind

        folder = SealedFolder(self.settings.sealed_folder)
        is_of_a_team = self.settings.tokens and review.subject.kind is SubjectKind.TASK
        return folder.of_team(review.team_id) if is_of_a_team else folder
