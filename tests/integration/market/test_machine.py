"""Random people, times and faults over both databases; after every step all invariants hold."""

from collections import Counter
from pathlib import Path
from random import Random

from hypothesis import HealthCheck, Phase, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, rule, run_state_machine_as_test

from arena.settings import Settings
from market_hunt import HISTORIES, STEPS, drive
from market_machine import REQUIRED, MarketMachine
from market_world import World

CHANCES = st.binary(min_size=8, max_size=8).map(Random)
"""One draw for all the choices of a step. Bytes are drawn evenly; a drawn integer would be small
too often, and the same few histories would come again and again."""


def machine_over(world: World, done: Counter[str]) -> type[RuleBasedStateMachine]:
    class Driven(RuleBasedStateMachine):
        machine: MarketMachine | None = None

        @initialize(number=st.integers(1000, 2**32))
        def begin(self, number: int) -> None:
            self.machine = MarketMachine(world, done, number)
            self.machine.begin()

        @rule(chance=CHANCES)
        def step(self, chance: Random) -> None:
            assert self.machine is not None
            self.machine.step(chance)

        def teardown(self) -> None:
            if self.machine is not None:
                self.machine.end()

    return Driven


def test_hypothesis_finds_no_history_that_breaks_an_invariant(tmp_path: Path):
    world = World(f"sqlite+aiosqlite:///{tmp_path / 'arena.db'}", tmp_path / "content")
    done: Counter[str] = Counter()
    try:
        run_state_machine_as_test(
            machine_over(world, done),
            settings=settings(
                max_examples=5,
                stateful_step_count=STEPS,
                database=None,
                # A failing history is reported unshrunk: shrinking takes minutes.
                phases=[Phase.generate],
                report_multiple_bugs=False,
                suppress_health_check=list(HealthCheck),
            ),
        )
    finally:
        world.close()
    for name in ("post", "apply", "assign", "submit", "judge", "raced", "crashed"):
        assert done[name], f"{name} was never once done; done: {done}"


def test_no_numbered_history_breaks_an_invariant_on_sqlite(tmp_path: Path):
    """The same histories in which every planted mistake is found."""
    url = f"sqlite+aiosqlite:///{tmp_path / 'arena.db'}"
    done = drive(url, tmp_path / "content", histories=HISTORIES, steps=STEPS)
    never = {name for name in REQUIRED if not done[name]}
    assert not never, f"never once done, so nothing is proved of it: {never}; done: {done}"


def test_no_numbered_history_breaks_an_invariant_on_postgresql(tmp_path: Path, postgres_url: str):
    url = Settings(home=tmp_path, database_url=postgres_url).database
    done = drive(url, tmp_path / "content", histories=range(6), steps=40)
    for name in ("post", "apply", "assign", "submit", "judge", "raced", "crashed"):
        assert done[name], f"{name} was never once done; done: {done}"
