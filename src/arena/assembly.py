"""Puts the rooms together, and closes them in the right order."""

from collections.abc import AsyncGenerator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from functools import partial

from arena.agents import Registry
from arena.catalog import Audits, LiveCatalog
from arena.content import LocalStore
from arena.evaluation import Resources, SealedFolder
from arena.evaluation.judge import ModelJudge, open_judge
from arena.market import Market, TaskReviews
from arena.reviews import Review, Reviews, SubjectKind
from arena.runs import Changes, Engine, Owner, Recorder, Retries, Runs
from arena.sandbox import SandboxProvider, provider_named
from arena.scoring import Weights
from arena.scoring.scores import Scores
from arena.settings import Settings
from arena.store.database import Database


@dataclass(frozen=True, slots=True, kw_only=True)
class Arena:
    """The whole house, ready for use."""

    settings: Settings
    database: Database
    catalog: LiveCatalog
    audits: Audits
    registry: Registry
    content: LocalStore
    market: Market
    task_reviews: TaskReviews
    resources: Resources
    judge: ModelJudge
    runs: Runs
    reviews: Reviews
    scores: Scores


@asynccontextmanager
async def open_arena(settings: Settings) -> AsyncGenerator[Arena]:
    """Everything, open until the block ends."""
    async with AsyncExitStack() as closing:
        database = Database(settings.database)
        closing.push_async_callback(database.close)
        await database.open()
        scores = Scores(database, Weights(**settings.weights) if settings.weights else None)
        await scores.open()
        catalog = LiveCatalog(settings.tests, home=settings.home / "benchmarks")
        registry = Registry([settings.home / "agents", *settings.agents])
        content = LocalStore(settings.content_folder)
        resources, judge = open_resources(settings, closing)
        owner = Owner(settings.home / "executors")
        engine = Engine(
            database=database,
            changes=Changes(),
            token=owner.token,
            resources=resources,
            recorder=Recorder(store=content, sandbox=settings.sandbox),
            reviewers_needed=settings.reviewers_needed,
            retries=Retries(count=settings.retries, delay_seconds=settings.retry_delay_seconds),
        )
        runs = Runs(database, catalog, registry, owner, engine)
        closing.push_async_callback(runs.close)
        market = Market(database, content)
        task_reviews = TaskReviews(
            database,
            market,
            content,
            sandbox=settings.sandbox,
            reviewers_needed=settings.reviewers_needed,
        )
        settlers = {SubjectKind.RUN: runs.settle, SubjectKind.TASK: task_reviews.settle}
        reviews = Reviews(database, resources, settlers, sealed_for=partial(_sealed_for, settings))
        yield Arena(
            settings=settings,
            database=database,
            catalog=catalog,
            audits=Audits(resources),
            registry=registry,
            content=content,
            market=market,
            task_reviews=task_reviews,
            resources=resources,
            judge=judge,
            runs=runs,
            reviews=reviews,
            scores=scores,
        )


def open_resources(settings: Settings, closing: AsyncExitStack) -> tuple[Resources, ModelJudge]:
    """What judging needs, by the settings; closed with the stack."""
    sandbox = open_sandbox(settings)
    closing.push_async_callback(sandbox.close)
    judge = open_judge(settings)
    closing.push_async_callback(judge.close)
    unseal = SealedFolder(settings.sealed_folder)
    return Resources(sandbox=sandbox, judge=judge, unseal=unseal), judge


def _sealed_for(settings: Settings, review: Review) -> SealedFolder:
    """The private parts that a review may open: its verdict shows the hidden cases to its team.

    A team with a token chooses the standard of its task, so it gets only what was left for it;
    the tests of a run are the server's own.
    """
    folder = SealedFolder(settings.sealed_folder)
    is_of_a_team = settings.tokens and review.subject.kind is SubjectKind.TASK
    return folder.of_team(review.team_id) if is_of_a_team else folder


def open_sandbox(settings: Settings) -> SandboxProvider:
    """The provider the settings name. Nothing is started before the first submission."""
    options: dict[str, object] = {}
    if settings.sandbox == "daytona":
        key = settings.daytona_api_key
        options["api_key"] = key.get_secret_value() if key else ""
    return provider_named(settings.sandbox)(**options)
