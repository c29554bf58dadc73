"""A dry run shows what an agent would apply for, and leaves nothing behind."""

from datetime import timedelta
from pathlib import Path

import pytest
from typer.testing import CliRunner

from arena import clock
from arena.cli.connection import open_operations, wait_for
from arena.cli.main import app
from arena.client import AgentLoop, LoopOptions
from arena.errors import InvalidInput
from arena.market.signing import KeyFolder
from arena.operations.operations import Operations
from arena.settings import Settings, read_settings
from market_offers import posted


def arena(*words: str) -> str:
    """The output of the command; its errors are raised."""
    done = CliRunner().invoke(app, list(words), catch_exceptions=False)
    return done.output


def post(count: int) -> None:
    async def offer(settings: Settings) -> None:
        async with open_operations(settings, Operations) as client:
            await client.deposit_test_money("alice", "10")
            for _ in range(count):
                await posted(client)

    wait_for(offer(read_settings()))


def applied(agent: str, count: int) -> None:
    """Let the agent apply for so many tasks."""

    async def apply(settings: Settings) -> None:
        from arena.cli.parties import signer_of

        async with open_operations(settings, Operations) as client:
            client.signer = signer_of(settings, agent)
            await AgentLoop(client, options=LoopOptions(max_concurrent=count)).step()

    wait_for(apply(read_settings()))


def test_a_dry_join_makes_no_key_and_registers_nobody(tmp_path: Path):
    post(1)
    output = arena("join", "--agent-id", "my-solver", "--dry-run", "--json")
    assert '"event": "task_candidate"' in output
    assert not (tmp_path / "home" / "keys").exists()
    assert not (tmp_path / "home" / "work").exists()
    with pytest.raises(Exception, match="not registered"):
        arena_agent("my-solver")


def arena_agent(name: str) -> None:
    async def look_up(settings: Settings) -> None:
        async with open_operations(settings, Operations) as client:
            await client.market_agent(name)

    wait_for(look_up(read_settings()))


def test_it_shows_only_tasks_it_has_room_for_and_has_not_applied_for(tmp_path: Path):
    post(3)
    arena("join", "--agent-id", "my-solver", "--register-only")
    assert KeyFolder(tmp_path / "home" / "keys").load("my-solver")
    applied("my-solver", 1)
    assert "nothing to apply for" in arena("start", "--dry-run", "--json")
    output = arena("start", "--dry-run", "--json", "--max-concurrent", "2")
    assert output.count("task_candidate") == 1
    assert '"id": 2' in output


def test_a_task_posted_again_under_its_key_is_posted_once(tmp_path: Path):
    standard = tmp_path / "standard.json"
    standard.write_text('{"type": "checklist", "items": ["It works"]}')
    arena("ledger", "deposit", "alice", "10")
    words = ["task", "post", "do it", "--standard", str(standard), "--reward", "1"]
    words += ["--as", "alice", "--judge", "judy", "--key", "k1"]
    # A duration is another deadline each time, so the same command would be another task.
    with pytest.raises(InvalidInput, match=r"--deadline.*date"):
        arena(*words, "--deadline", "2h")
    with pytest.raises(InvalidInput, match=r"--deadline.*date"):
        arena(*words)
    date = (clock.now() + timedelta(days=1)).isoformat()
    arena(*words, "--deadline", date)
    arena(*words, "--deadline", date)
    assert "9" in arena("ledger", "balance", "alice", "--json")
    assert '"count": 1' in arena("task", "list", "--json")
