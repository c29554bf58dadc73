"""Runs random histories in a market; the same numbers give the same histories."""

from collections import Counter
from collections.abc import Iterable
from pathlib import Path

from market_machine import MarketMachine
from market_world import World

HISTORIES = (*range(10), 11, 12, 13, 16, 17, 23, 27)
"""The histories that must pass, and of which one must find each mutant."""
STEPS = 50


class HistoryBroken(Exception):
    """A history failed, with its number and step."""


def drive(url: str, folder: Path, *, histories: Iterable[int], steps: int) -> Counter[str]:
    """Run histories until one fails; returns how often each action was done."""
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
            except Exception as error:
                place = f"history {history}, step {machine.steps}"
                raise HistoryBroken(f"{place}: {error!r}") from error
    finally:
        world.close()
    return done
