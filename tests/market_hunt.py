"""Drives the machine over a market, bounded and always in the same way."""

import sys
import traceback
from collections import Counter
from pathlib import Path

from hypothesis import HealthCheck, Phase, settings
from hypothesis.stateful import run_state_machine_as_test

import arena
from market_machine import MarketMachine
from market_world import World

FOUND, MISSED = 10, 0
EXAMPLES, STEPS = 30, 50


def drive(url: str, folder: Path, *, examples: int, steps: int) -> Counter[str]:
    """Let histories happen until one goes wrong; how often each thing was done."""
    world = World(url, folder)
    done: Counter[str] = Counter()
    machine = type("Driven", (MarketMachine,), {"world": world, "done": done})
    try:
        run_state_machine_as_test(
            machine,
            settings=settings(
                max_examples=examples,
                stateful_step_count=steps,
                deadline=None,
                derandomize=True,
                database=None,
                # What goes wrong is told as it was found: making it small takes minutes.
                phases=[Phase.generate],
                report_multiple_bugs=False,
                suppress_health_check=list(HealthCheck),
            ),
        )
    finally:
        world.close()
    return done


def main(folder: str) -> None:
    """Exit with FOUND where some history goes wrong, with MISSED where none does."""
    print(arena.__file__)
    url = f"sqlite+aiosqlite:///{folder}/hunt.db"
    try:
        drive(url, Path(folder) / "content", examples=EXAMPLES, steps=STEPS)
    except Exception:
        print(traceback.format_exc()[-1500:])
        sys.exit(FOUND)
    sys.exit(MISSED)
