"""The ground floor of the rooms: data, content and judging.

Like `assembly.py`, which builds on it: each is imported and opened on first use, closed in order.
"""

from contextlib import AsyncExitStack
from functools import cached_property
from typing import TYPE_CHECKING

from arena.pools.threads import WRITES
from arena.settings import MIB, Settings

if TYPE_CHECKING:
    from arena.agents.registry import Registry
    from arena.catalog.audit import Audits
    from arena.catalog.live import LiveCatalog
    from arena.content.kubo import KuboStore
    from arena.content.ports import ContentStore
    from arena.evaluation.evaluator import Evaluator
    from arena.evaluation.judge.judge import ModelJudge
    from arena.evaluation.resources import Resources
    from arena.evaluation.sealed import SealedFolder
    from arena.evaluation.shared_sealed import SharedSealed
    from arena.evaluation.standard import JudgePrompt
    from arena.evaluation.verdict import Submission, Verdict
    from arena.feed import Feed
    from arena.limits.shared_limits import SharedLimits
    from arena.postgres import Postgres
    from arena.sandbox.ports import SandboxProvider
    from arena.scoring.boards import Boards
    from arena.scoring.scores import Scores
    from arena.store.database import Database


class GroundRooms:
    """The rooms that those of `Arena` build on."""

    def __init__(self, settings: Settings, closing: AsyncExitStack) -> None:
        self.settings = settings
        self._closing = closing
        """Closes opened rooms, the last first."""

    @cached_property
    def database(self) -> "Database":
        """The database; it connects with its first transaction."""
        from arena.store.database import Database

        database = Database(self.settings.database, is_shared=self.settings.is_queued)
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
    def postgres(self) -> "Postgres":
        """The database for blocking calls; only if runs are queued."""
        from arena.postgres import Postgres
        from arena.store.database import make_tables

        postgres = Postgres(self.settings.database, make_tables=make_tables)
        self._closing.callback(postgres.close)
        return postgres

    @cached_property
    def content(self) -> "ContentStore":
        """Content by CID: on this machine, and behind it the network if one is configured.

        If runs are queued, other machines have what is stored here, and this one what they store.
        """
        from arena.content.store import LocalStore

        settings = self.settings
        local = LocalStore(
            settings.content_folder,
            quota_bytes=settings.content_quota_bytes,
            min_free_bytes=settings.content_min_free_mib * MIB,
        )
        if settings.is_queued:
            from arena.content.shared import SharedStore
            from arena.content.table import BlockTable

            local = SharedStore(local, BlockTable(self.postgres))
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

        count = self.limits.count_judged if self.settings.is_queued else None
        judge = ModelJudge(self.settings, count)
        self._closing.push_async_callback(judge.aclose)
        return judge

    @cached_property
    def limits(self) -> "SharedLimits":
        """The limits that all machines with this database share."""
        from arena.limits.shared_limits import SharedLimits

        settings = self.settings
        limits = SharedLimits(self.database, settings.database, listens=settings.queue_listen)
        self._closing.push_async_callback(limits.close)
        return limits

    @cached_property
    def resources(self) -> "Resources":
        """The resources of judging."""
        from arena.evaluation.resources import Resources

        return Resources(sandbox=self.sandbox, judge=self._judged, unseal=self.sealed)

    @cached_property
    def sealed(self) -> "SealedFolder | SharedSealed":
        """The private parts of sealed standards: on this machine, or on all that share runs."""
        from arena.evaluation.sealed import SealedFolder

        folder = SealedFolder(self.settings.sealed_folder)
        if not self.settings.is_queued:
            return folder
        from arena.evaluation.shared_sealed import SharedSealed

        return SharedSealed(folder, self.postgres)

    async def publish_sealed(self) -> int:
        """Let all machines that share runs use the private parts of this one; returns how many.

        Before a run or a verdict is queued; nothing is left to do if they have been published.
        """
        if not self.settings.is_queued:
            return 0
        from arena.evaluation.shared_sealed import SharedSealed

        assert isinstance(self.sealed, SharedSealed)
        return await WRITES.run(self.sealed.publish)

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
