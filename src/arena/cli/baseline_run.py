"""The run that `--baseline` means: a baseline by its name, a run, or an agent's run on a board."""

from dataclasses import dataclass
from uuid import UUID

from arena.cli.run_name import find_run
from arena.errors import InvalidInput, NotFound, nearest
from arena.fields import split_agent
from arena.operations.baselines import BaselineOperations
from arena.operations.runs import RunOperations
from arena.runs.run import RunStatus
from arena.scoring.baseline import LATEST, RUN_ID, Baseline

PAGE = 100


class BaselineRunOperations(BaselineOperations, RunOperations):
    """Operations that find the run of a baseline."""


@dataclass(frozen=True, slots=True, kw_only=True)
class NamedBaseline:
    """What a name can mean: one run, or a run per suite."""

    name: str
    run_id: UUID | None = None
    """The run, if the name means one whatever the suite is."""
    by_suite: tuple[Baseline, ...] = ()

    def run_for(self, suite: str) -> UUID:
        """The run to compare a run of this suite with."""
        if self.run_id is not None:
            return self.run_id
        for one in self.by_suite:
            if one.suite == suite:
                if one.is_deleted:
                    raise NotFound(_deleted(one))
                return one.run_id
        suites = ", ".join(one.suite for one in self.by_suite)
        raise InvalidInput(
            f"the baseline {self.name!r} is of the suite {suites}, and the run is of {suite!r}"
        )


async def find_baseline(arena: BaselineRunOperations, name: str | None) -> NamedBaseline | None:
    """What `--baseline` means, before the run starts; an error if it means nothing."""
    if name is None:
        return None
    if "@" in name or ":" in name:
        return await _of_agent(arena, name)
    if name == LATEST:
        return NamedBaseline(name=name, run_id=await _latest_completed(arena))
    if RUN_ID.fullmatch(name):
        return NamedBaseline(name=name, run_id=await _completed(arena, name))
    found = (await arena.baselines(name=name)).baselines
    if not found:
        known = {one.name for one in (await arena.baselines()).baselines}
        hint = nearest(name, known)
        hint += " Or set" if hint.endswith("?") else "; set"
        raise NotFound(
            f"no baseline is called {name!r}{hint} one with: arena baseline set {name} RUN"
        )
    if all(one.is_deleted for one in found):
        raise NotFound(_deleted(found[0]))
    return NamedBaseline(name=name, by_suite=tuple(found))


async def _of_agent(arena: BaselineRunOperations, name: str) -> NamedBaseline:
    agent_id, version = split_agent(name)
    assert version is not None, "a name with @ has one, or split_agent has raised"
    found = (await arena.agent_baselines(agent_id, version)).baselines
    if not found:
        raise NotFound(f"{agent_id}@{version} has no run on a board; see: arena leaderboard")
    return NamedBaseline(name=name, by_suite=tuple(found))


async def _latest_completed(arena: RunOperations) -> UUID:
    cursor: str | None = None
    while True:
        page = await arena.runs(limit=PAGE, cursor=cursor)
        for run in page.runs:
            if run.status is RunStatus.COMPLETED:
                return run.id
        cursor = page.next_cursor
        if cursor is None:
            raise NotFound("no run is completed yet; start one with: arena run AGENT")


async def _completed(arena: RunOperations, name: str) -> UUID:
    run = (await arena.run(await find_run(arena, name), limit=1)).run
    if run.status is not RunStatus.COMPLETED:
        raise InvalidInput(f"run {run.id} is {run.state}; a baseline needs a completed run")
    return run.id


def _deleted(baseline: Baseline) -> str:
    return (
        f"the run of the baseline {baseline.name!r}, {baseline.run_id}, was deleted; set another "
        f"with: arena baseline set {baseline.name} RUN"
    )
