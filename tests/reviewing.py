"""Helpers for tests of reviews: an agent `poet` whose answers people judge."""

from uuid import UUID

from arena.assembly import Arena
from arena.reviews.review import Review, ReviewAnswer
from arena.runs.run import Run, RunRequest
from arena.settings import Settings
from factories import write_agent, write_checklist, write_tests

TEAM = "team"


def furnish(settings: Settings) -> Settings:
    """One test that a machine judges, two that people do."""
    folder = settings.home / "benchmarks"
    write_agent(settings.home / "agents", "poet", "return prompt.upper()")
    write_tests(folder / "plain.yaml", agents=["poet"], count=1)
    write_checklist(folder / "odes.yaml", agents=["poet"], count=2, points=2.0)
    return settings


async def execute(house: Arena, agent_id: str = "poet", **options: object) -> Run:
    run = await house.executor.create(RunRequest(team_id=TEAM, agent_id=agent_id, **options))
    await house.executor.start(run.id, TEAM)
    return await house.executor.wait(run.id)


async def reviews_of(house: Arena) -> list[Review]:
    return list(await house.reviews.list(TEAM, limit=1000))


def said(*passed: bool, place: tuple[int, ...] = ()) -> list[ReviewAnswer]:
    """Answers to the first items, in order."""
    return [ReviewAnswer(item=item, passed=one, place=place) for item, one in enumerate(passed)]


async def answer(house: Arena, review_id: UUID, *passed: bool, reviewer: str = "mia") -> Review:
    return await house.reviews.answer(review_id, TEAM, reviewer, said(*passed))
