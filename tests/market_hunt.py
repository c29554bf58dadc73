"""Lets histories happen in a market: as many as are asked for, and always the same ones."""

from collections import Counter
from collections.abc import Iterable
from pathlib import Path

from market_machine import MarketMachine
from market_world import World

HISTORIES = (*range(10), 11, 12, 13, 16, 17, 23, 27)
"""The histories that must go well, and among which each mistake must be found."""
STEPS = 50


class HistoryBroken(Exception):
    """A history went wrong, and where."""


def drive(url: str, folder: Path, *, histories: Iterable[int], steps: int) -> Counter[str]:
    """Let histories happen until one goes wrong; how often each thing was done."""
    world = World(url, folder)
    done: Counter[str] = Counter()
    try:
        for history in histories:
            machine = MarketMachine(world, done, history)
            try:
                machine.begin()
                for _ in range(steps):
                    machine.step()
                machine.end()
            except Exception as wrong:
                place = f"history {history}, step {machine.steps}"
                raise HistoryBroken(f"{place}: {wrong!r}") from wrong
    finally:
        world.close()
    return done
