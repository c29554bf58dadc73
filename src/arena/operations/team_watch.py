"""Watches the changes in a team."""

from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import aclosing
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal
from uuid import UUID

from arena.runs.run import Run, RunStatus

if TYPE_CHECKING:
    from arena.assembly import Arena

POLL_SECONDS = 1.0
"""How often a team is polled without a change in this process."""

Topic = Literal["scores", "reviews", "market", "catalog", "workers"]


@dataclass(frozen=True, slots=True, kw_only=True)
class TeamChanges:
    """What changed since the last event."""

    runs: Sequence[Run]
    changed: Sequence[Topic]


@dataclass(frozen=True, slots=True, kw_only=True)
class _State:
    """The last read state of a team."""

    runs: Mapping[UUID, Run]
    versions: Mapping[Topic, object]
    """A value per topic that differs after every change."""


async def watch_team(arena: "Arena", team: str) -> AsyncGenerator[TeamChanges]:
    """Changes since the last read, possibly none; the first is the current state."""
    seen = _State(runs={}, versions={})

    async def read(_: _State | None) -> _State:
        versions: dict[Topic, object] = {
            "scores": await arena.scores.last_change(team),
            "reviews": await arena.reviews.state(team),
            "market": await arena.market.reader.last_event(team),
            "catalog": arena.catalog.current.loaded_at,
        }
        if arena.settings.is_queued:
            versions["workers"] = await arena.queue_reader.version()
        return _State(runs=await arena.watcher.present(team), versions=versions)

    states = arena.feed.watch(("team", team), read, poll_seconds=POLL_SECONDS)
    async with aclosing(states):
        async for state in states:
            ended = {
                # These were running, and are now neither running nor among the newest.
                run.id: await arena.runs.get(run.id, team)
                for run in seen.runs.values()
                if run.status is RunStatus.RUNNING and run.id not in state.runs
            }
            runs = {**state.runs, **ended}
            yield TeamChanges(
                runs=[run for run in runs.values() if run != seen.runs.get(run.id)],
                changed=[
                    topic
                    for topic, version in state.versions.items()
                    if topic not in seen.versions or seen.versions[topic] != version
                ],
            )
            seen = _State(runs=runs, versions=state.versions)
