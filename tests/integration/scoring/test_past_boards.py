"""The board of any past moment, rebuilt from the log, equals the board that was shown then."""

import random
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from dataclasses import asdict, dataclass, field
from datetime import datetime
from typing import Any
from uuid import UUID

import pytest

from arena import clock
from arena.assembly import Arena, open_arena
from arena.catalog.suite import Suite
from arena.catalog.test import Test
from arena.runs.records.lease import claim
from arena.runs.records.results import add_results
from arena.runs.records.runs import NewRun, cancel_run, create_run, finish
from arena.scoring.board import BoardFilter, Leaderboard, Provenance
from arena.scoring.history import Subject
from arena.scoring.scorecard import DEFAULT_WEIGHTS, Weights
from arena.scoring.scores import Scores
from arena.settings import Settings
from factories import a_test, executed
from histories import reported

TEAM = "red"
AGENTS = [("a", "1.0.0"), ("a", "1.1.0"), ("a-b", "1.0.0"), ("b", "1.0.0"), ("c", "2.0.0")]
SUITES = ("words", "numbers")
STEPS = 230
OTHER_WEIGHTS = Weights(benchmark=0.7, user_rating=0.1, success_rate=0.1, cost_efficiency=0.1)


@dataclass
class World:
    """A team with a random history."""

    arena: Arena
    random: random.Random
    tests: dict[str, list[Test]] = field(default_factory=dict)
    runs: list[UUID] = field(default_factory=list)
    archived: set[Subject] = field(default_factory=set)
    weights: Weights = DEFAULT_WEIGHTS

    def __post_init__(self) -> None:
        for suite in SUITES:
            self.tests[suite] = [self._test(suite, number, 0) for number in range(6)]

    def _test(self, suite: str, number: int, edition: int) -> Test:
        group = "pair" if number < 2 else None
        prompt = f"{suite} {number}, edition {edition}"
        return a_test(id=f"{suite}{number}", prompt=prompt, group=group, suite=suite)

    def subject(self) -> Subject:
        agent, version = self.random.choice(AGENTS)
        return Subject(team_id=TEAM, agent_id=agent, version=version)

    async def step(self) -> None:
        actions = [self.run] * 8 + [self.vote] * 5 + [self.report] * 3
        actions += [self.edit, self.partial_run, self.unfinished_run, self.reported_run]
        actions += [self.archive, self.restore, self.delete_run, self.delete_agent]
        actions += [self.choose_default, self.rank_reported, self.change_weights, self.recalculate]
        await self.random.choice(actions)()

    async def run(self, **keys: Any) -> None:
        suite = self.random.choice(SUITES)
        everything = tuple(self.tests[suite])
        # Fewer tests apply to some agents: their entries may rest on less than half of the suite.
        count = self.random.choice([2, 3, 6, 6, 6])
        await self._run(Suite(name=suite, tests=everything), everything[:count], **keys)

    async def _run(self, suite: Suite, tests: tuple[Test, ...], **keys: Any) -> None:
        database, subject = self.arena.database, self.subject()
        values = {"is_full": True, "agent_digest": self.random.choice("xyz") * 64} | keys
        ending = values.pop("ending", "completed")
        new = NewRun(
            team_id=TEAM,
            agent_id=subject.agent_id,
            agent_version=subject.version,
            **values,
        )
        run = await create_run(database, new, tests, suite)
        await claim(database, run.id, "me")
        results = [
            executed(
                test,
                test_id=test.id,
                passed=self.random.random() < 0.6,
                attempts=self.random.choice([1, 1, 1, 2]),
                input_tokens=self.random.choice([None, 500, 5000]),
                output_tokens=0,
            )
            for test in (tests if ending == "completed" else tests[1:])
        ]
        await add_results(database, run.id, "me", results)
        if ending == "cancelled":
            await cancel_run(database, run.id, TEAM)
        else:
            await finish(database, run.id, "me", None)
        self.runs.append(run.id)

    async def partial_run(self) -> None:
        await self.run(is_full=False)

    async def unfinished_run(self) -> None:
        await self.run(ending=self.random.choice(["failed", "cancelled"]))

    async def reported_run(self) -> None:
        await self.run(provenance=Provenance.REPORTED)

    async def edit(self) -> None:
        suite, number = self.random.choice(SUITES), self.random.randrange(6)
        # Few editions: sometimes an edit goes back to an earlier version.
        self.tests[suite][number] = self._test(suite, number, self.random.randrange(2))

    async def vote(self) -> None:
        await self.arena.scores.submit_feedback(
            self.subject(), rating=self.random.randint(1, 5), user_id=self.random.choice("uvw")
        )

    async def report(self) -> None:
        status = self.random.choice(["completed", "failed"])
        await self.arena.scores.report_executions(TEAM, [(self.subject(), reported(status))])

    async def archive(self) -> None:
        subject = self.subject()
        known = await self.arena.scores.entry(subject)
        if known and subject not in self.archived:
            await self.arena.boards.archive_agent(subject, by="ann", reason="withdrawn")
            self.archived.add(subject)

    async def restore(self) -> None:
        for subject in sorted(self.archived, key=str)[:1]:
            await self.arena.boards.restore_agent(subject, by="ann", reason="back")
            self.archived.discard(subject)

    async def delete_run(self) -> None:
        if self.runs:
            run_id = self.runs.pop(self.random.randrange(len(self.runs)))
            await self.arena.boards.delete_run(TEAM, run_id, by="op", reason="wrong key")

    async def delete_agent(self) -> None:
        if self.random.random() < 0.3 and await self.arena.scores.entry(subject := self.subject()):
            mine = [run.id for run in await self.arena.runs.list(TEAM, limit=1000)]
            await self.arena.boards.delete_agent(subject, by="op", reason="on request")
            left = {run.id for run in await self.arena.runs.list(TEAM, limit=1000)}
            self.runs = [run_id for run_id in self.runs if run_id in left or run_id not in mine]
            self.archived.discard(subject)

    async def choose_default(self) -> None:
        known = await self.arena.boards.suites(TEAM)
        if known:
            await self.arena.boards.choose_default(TEAM, self.random.choice(sorted(known)), "ann")

    async def rank_reported(self) -> None:
        await self.arena.boards.rank_reported(TEAM, self.random.random() < 0.5, "ann")

    async def change_weights(self) -> None:
        self.weights = self.random.choice([DEFAULT_WEIGHTS, OTHER_WEIGHTS])
        await Scores(self.arena.database, self.weights).open()

    async def recalculate(self) -> None:
        await self.arena.scores.recalculate(TEAM)

    async def boards(self, at: datetime | None = None) -> dict[str, Any]:
        """The board of every suite, and the default one, now or then."""
        shown: dict[str, Any] = {}
        default = await self.board(at, None)
        shown["default"] = compared(default)
        for suite in default.suites:
            shown[suite] = compared(await self.board(at, suite))
        return shown

    async def board(self, at: datetime | None, suite: str | None) -> Leaderboard:
        selection = BoardFilter(suite=suite, with_archived=True)
        return await self.arena.scores.leaderboard(TEAM, selection, at=at, limit=1000)


def compared(board: Leaderboard) -> dict[str, Any]:
    """What of a board must be equal: its entries, their order and their numbers."""
    names = ("suite", "suite_version", "suite_label", "suite_tests", "is_default_suite", "ranked")
    kept = {name: getattr(board, name) for name in (*names, "weights", "total", "suites")}
    return kept | {"entries": [asdict(entry) for entry in board.leaderboard]}


@pytest.fixture
async def arena(settings: Settings) -> AsyncIterator[Arena]:
    async with AsyncExitStack() as closing:
        yield await closing.enter_async_context(open_arena(settings))


@pytest.mark.parametrize("seed", [14])
async def test_a_board_rebuilt_at_any_past_moment_is_the_one_that_was_shown(
    arena: Arena, seed: int
):
    world = World(arena, random.Random(seed))
    seen: list[tuple[datetime, dict[str, Any]]] = []
    for _ in range(STEPS):
        await world.step()
        seen.append((clock.now(), await world.boards()))
    events = await arena.boards.events(TEAM, limit=1000)
    assert len(events) >= 200
    assert [event.number for event in reversed(events)] == list(range(1, len(events) + 1))
    assert all(event.reason for event in events)
    for moment, shown in world.random.sample(seen, 20):
        assert await world.boards(moment) == shown
    # The newest moment, and one before anything happened.
    assert await world.boards(seen[-1][0]) == seen[-1][1]
    assert (await world.board(events[-1].at.replace(year=2020), None)).leaderboard == []


async def test_a_rebuild_from_the_raw_rows_changes_no_board(arena: Arena):
    world = World(arena, random.Random(3))
    for _ in range(60):
        await world.step()
    before, events = await world.boards(), await arena.boards.events(TEAM, limit=1000)
    await arena.scores.recalculate(TEAM)
    assert await world.boards() == before
    # Nothing has changed, so there is no event.
    assert len(await arena.boards.events(TEAM, limit=1000)) == len(events)
