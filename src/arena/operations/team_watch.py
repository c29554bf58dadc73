"""What changes in a team, for all who watch it."""

from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import aclosing
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal
from uuid import UUID

from arena.runs.run import Run, RunStatus

if TYPE_CHECKING:
    from arena.assembly import Arena

POLL_SECONDS = 1.0
"""How often a team is looked at, although nothing has happened in this process."""

Topic = Literal["scores", "reviews", "market", "catalog"]


@dataclass(frozen=True, slots=True, kw_only=True)
class News:
    """What is new to one who watches."""

    runs: Sequence[Run]
    changed: Sequence[Topic]


@dataclass(frozen=True, slots=True, kw_only=True)
class _State:
    """A team as it was seen."""

    runs: Mapping[UUID, Run]
    versions: Mapping[Topic, object]
    """Of each topic, something that differs after every change of it."""


async def watch_team(arena: "Arena", team: str) -> AsyncGenerator[News]:
    """What is new since the last look, now and then nothing; the first says how things are."""
    seen = _State(runs={}, versions={})

    async def look(_: _State | None) -> _State:
        return _State(
            runs=await arena.watcher.present(team),
            versions={
                "scores": await arena.scores.last_change(team),
                "reviews": await arena.reviews.state(team),
                "market": await arena.market.ledger.last_event(team),
                "catalog": arena.catalog.current.loaded_at,
            },
        )

    looks = arena.feed.watch(("team", team), look, poll_seconds=POLL_SECONDS)
    async with aclosing(looks):
        async for state in looks:
            ended = {
                # These ran, and are now neither running nor among the newest.
                run.id: await arena.runs.get(run.id, team)
                for run in seen.runs.values()
                if run.status is RunStatus.RUNNING and run.id not in state.runs
            }
            runs = {**state.runs, **ended}
            yield News(
                runs=[run for run in runs.values() if run != seen.runs.get(run.id)],
                changed=[
                    topic
                    for topic, version in state.versions.items()
                    if topic not in seen.versions or seen.versions[topic] != version
                ],
            )
            seen = _State(runs=runs, versions=state.versions)
