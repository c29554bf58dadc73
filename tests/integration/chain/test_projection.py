"""The market's tables follow the chain: rebuilt they are equal, and dropped blocks are undone."""

from dataclasses import astuple
from typing import Any

from sqlalchemy import select, update

from anvil_node import LocalChain
from arena.market.task import TaskState
from arena.settings import Settings
from arena.store.database import Database
from arena.store.tables.market import MarketAgents
from arena.store.tables.scores import Executions
from chain_market import Stall, chain_settings, opened


async def everything(stall: Stall) -> dict[str, Any]:
    """What the market's tables say, without the numbers that each database gives."""
    operations = stall.operations
    stories = [await operations.task(task.id) for task in await operations.all_tasks()]
    async with stall.arena.database.reading() as connection:
        columns = (Executions.agent_id, Executions.status, Executions.created_at)
        executions = (await connection.execute(select(*columns))).all()
    return {
        "tasks": [one.task for one in stories],
        "applicants": [
            [(a.agent, a.version, a.applied_at, a.reputation) for a in one.applicants]
            for one in stories
        ],
        "events": [
            [(e.kind, e.who, e.at, e.why, e.data, e.transaction_hash) for e in one.events]
            for one in stories
        ],
        "reputations": {
            one.id: astuple(one.reputation) for one in (await operations.market_agents()).agents
        },
        "executions": sorted(map(tuple, executions)),
    }


def without_marks(found: dict[str, Any]) -> dict[str, Any]:
    """Without the events that tell of a reorganisation."""
    events = [[e for e in one if e[0] != "Reorganised"] for one in found["events"]]
    return {**found, "events": events}


async def several_tasks(stall: Stall, chain: LocalChain) -> None:
    """Tasks that end in different ways, and one that goes on."""
    for agent in ("solver", "rival"):
        await stall.join(agent)
    await stall.judge(await stall.submitted(), 90)
    await stall.judge(await stall.submitted(agent="rival"), 10)
    missed = await stall.post()
    stall.sign_as("solver")
    await stall.operations.apply(missed)
    await stall.operations.assign(missed, by="alice", agent="solver")
    await stall.submitted(judge_window_seconds=600)
    chain.ask("evm_increaseTime", 3700)
    chain.mine()
    assert len((await stall.operations.close_due()).closed) == 2
    await stall.submitted(agent="rival")


async def test_the_projection_rebuilt_from_nothing_equals_the_live_one(
    settings: Settings, chain: LocalChain
):
    where = chain_settings(settings, chain)
    async with opened(where) as stall:
        await several_tasks(stall, chain)
        live = await everything(stall)
    empty = where.model_copy(update={"home": settings.home / "empty", "database_url": None})
    async with opened(empty) as stall:
        for agent in ("solver", "rival"):
            await stall.join(agent)  # names and versions are this machine's
        assert (await stall.operations.task(1)).task.description.startswith("ipfs://")
        # Content comes from the poster, or from the network; the next process finds it.
        for task in live["tasks"]:
            stall.arena.content.put(task.description.encode())
    async with opened(empty) as stall:
        rebuilt = await everything(stall)
        assert rebuilt == live
        assert len(live["tasks"]) == 5
        again = await stall.operations.rebuild_projections()
        assert (again.tasks, again.reputations, again.executions) == (5, 0, 0)


async def test_rebuilding_corrects_what_does_not_follow_from_the_events(
    settings: Settings, database: Database, chain: LocalChain
):
    async with opened(chain_settings(settings, chain)) as stall:
        await several_tasks(stall, chain)
        right = await everything(stall)
        async with database.writing() as connection:
            await connection.execute(update(MarketAgents).values(no_shows=7))
            await connection.execute(
                update(Executions).where(Executions.status == "timeout").values(status="completed")
            )
        assert await everything(stall) != right
        rebuilt = await stall.operations.rebuild_projections()
        assert (rebuilt.reputations, rebuilt.executions) == (2, 2)
        assert await everything(stall) == right


async def test_a_reorganisation_of_three_blocks_is_followed(settings: Settings, chain: LocalChain):
    where = chain_settings(settings, chain)
    async with opened(where) as stall:
        await stall.join()
        first = await stall.submitted()
        before = await everything(stall)
        snapshot = chain.ask("evm_snapshot")
        second = await stall.post()
        stall.sign_as("solver")
        await stall.operations.apply(second)
        await stall.judge(first, 80)
        after = await everything(stall)
        assert await stall.state(first) is TaskState.PAID
        # The last three blocks are replaced by others, without their transactions.
        chain.ask("evm_revert", snapshot)
        chain.ask("evm_setAutomine", False)
        chain.mine(4)
        await stall.arena.chain._projection.read()
        undone = await everything(stall)
        states = {task.id: task.state for task in undone["tasks"]}
        assert states == {first: TaskState.SUBMITTED, second: TaskState.CANCELLED}
        assert without_marks(undone)["events"][-1:] == before["events"]
        assert undone["reputations"] == before["reputations"]
        assert undone["executions"] == before["executions"]
        kinds = [event.kind for event in (await stall.operations.market_events(limit=1000)).events]
        assert kinds.count("Reorganised") == 2
        # What was sent from here has been sent again: the tasks become what they were.
        chain.ask("evm_setAutomine", True)
        chain.mine()
        await stall.arena.chain.advance()
        again = await everything(stall)
        assert [(task.state, task.final_score) for task in again["tasks"]] == [
            (task.state, task.final_score) for task in after["tasks"]
        ]
        assert again["reputations"] == after["reputations"]
        kinds_again = [[e[0] for e in one] for one in without_marks(again)["events"]]
        assert kinds_again == [[e[0] for e in one] for one in after["events"]]
        assert (await stall.operations.audit()).violations == ()


async def test_watchers_are_told_of_every_event_once_and_of_what_was_undone(
    settings: Settings, chain: LocalChain
):
    async with opened(chain_settings(settings, chain)) as stall:
        snapshot = chain.ask("evm_snapshot")
        await stall.post()
        (seen,) = [
            event
            for event in (await stall.operations.market_events()).events
            if event.kind == "TaskPosted"
        ]
        chain.ask("evm_revert", snapshot)
        chain.mine(2)
        await stall.arena.chain._projection.read()
        later = (await stall.operations.market_events(since=seen.id)).events[:1]
        assert [(event.kind, event.data) for event in later] == [
            ("Reorganised", {"undone": [seen.id], "kinds": ["TaskPosted"]})
        ]
        assert later[0].id > seen.id
