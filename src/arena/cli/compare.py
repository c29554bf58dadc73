"""`arena compare`: which agent is ahead, where they differ, and whether it is significant."""

from collections.abc import Sequence
from typing import Annotated

import typer
from rich.table import Table

from arena.cli import output
from arena.cli.connection import call
from arena.cli.leaderboard import BAR_CELLS, FEW_CELLS, bar, score
from arena.cli.options import Json, commands
from arena.errors import NotFound, nearest
from arena.fields import agent_reference, split_agent
from arena.operations.scores import ScoreOperations
from arena.runs.differences import points_text
from arena.scoring.board import BoardEntry
from arena.scoring.comparison import ComparedPair, Comparison
from arena.scoring.power import Power

app = commands()

MAX_NAMED = 50
"""Versions, or agents, that an error names or chooses the nearest from."""


@app.command()
def compare(
    context: typer.Context,
    agents: Annotated[
        list[str], typer.Argument(help="Two or more AGENT@VERSION.", metavar="AGENT@VERSION...")
    ],
    suite: Annotated[
        str | None,
        typer.Option(metavar="NAME", help="Compare them on this suite (default: a common one)."),
    ] = None,
    as_json: Json = False,
) -> None:
    """Compare agents and show the tests on which they differ."""

    async def compared(arena: ScoreOperations) -> Comparison:
        comparison = await arena.compare(agents, suite=suite)
        for unknown in comparison.unknown:
            raise NotFound(await _why_unknown(arena, *split_agent(unknown)))
        return comparison

    comparison = call(context, ScoreOperations, compared)
    if as_json:
        output.print_json(comparison)
        return
    screen = output.console()
    if comparison.suite:
        screen.print(f"suite {comparison.suite}", style="bold")
    wide = ("overall", "", "benchmark", "rating", "success", "cost eff.")
    # For a terminal of 80 columns.
    narrow = ("score", "", "bench", "rating", "succ", "cost")
    entries = comparison.comparison
    screen.print(
        output.fitting(screen, _table(entries, wide, BAR_CELLS), _table(entries, narrow, FEW_CELLS))
    )
    for pair in comparison.pairs:
        screen.print()
        _show_pair(pair)
    screen.print()
    screen.print(_verdict(comparison), style="bold")


async def _why_unknown(arena: ScoreOperations, agent_id: str, version: str | None) -> str:
    """The error for an agent version without results, with those that have some."""
    own = (await arena.leaderboard(agent_id=agent_id, limit=MAX_NAMED)).leaderboard
    if own:
        known = ", ".join(entry.agent_version for entry in own)
        return f"{agent_id} has no results of version {version}; it has results of: {known}"
    names = {entry.agent_id for entry in (await arena.leaderboard(limit=MAX_NAMED)).leaderboard}
    return f"{agent_id} has no results{nearest(agent_id, names)}"


def _table(entries: Sequence[BoardEntry], columns: tuple[str, ...], cells: int) -> Table:
    lines = output.table("", "agent", "version", *columns, right=set(columns) - {""}, wraps="agent")
    for entry in entries:
        lines.add_row(
            entry.agent_id,
            entry.agent_version,
            score(entry.overall_score),
            bar(entry.overall_score, cells),
            score(entry.benchmark_score),
            score(entry.user_rating_score),
            score(entry.success_rate_score),
            score(entry.cost_efficiency_score),
        )
    return lines


def _show_pair(pair: ComparedPair) -> None:
    screen = output.console()
    first, second = agent_reference(pair.first), agent_reference(pair.second)
    if not pair.common_tests:
        screen.print(f"{first} and {second} ran no test in common")
        return
    difference = points_text(pair.difference or 0, pair.interval)
    tests = output.counted(pair.common_tests, "test")
    summary = f"{first} against {second}: {tests} in common, {difference}"
    if pair.adjusted_p_value is not None:
        summary += f", p = {pair.adjusted_p_value:.3f}"
    screen.print(summary + (", significant" if pair.significant else ", not significant"))
    if pair.power:
        screen.print(_detectable(pair.power, is_open=not pair.significant))
    if pair.differing:
        lines = output.table("", "they differ on", first, second)
        for test in pair.differing:
            lines.add_row(
                test.test_id,
                f"{test.first_passed}/{test.first_trials}",
                f"{test.second_passed}/{test.second_trials}",
            )
        screen.print(lines)


def _detectable(power: Power, *, is_open: bool) -> str:
    """What these tests could detect; while the difference is open, what it takes to detect it."""
    if power.detectable_difference is None:
        text = "these tests are too few to detect any difference"
    else:
        size = f"{power.detectable_difference:.1f} percentage points"
        text = f"these tests can detect a difference of {size} or more"
    needed: list[str] = []
    if is_open and power.tests_needed:
        needed.append(output.counted(power.tests_needed, "test"))
    if is_open and power.trials_needed:
        needed.append(f"{output.counted(power.trials_needed, 'trial')} of each test")
    return text + (f"; this one needs {' or '.join(needed)}" if needed else "")


def _verdict(comparison: Comparison) -> str:
    if comparison.winner is None:
        return "no winner: the overall scores are equal, or too few are known"
    name = f"{comparison.winner}@{comparison.winner_version}"
    if comparison.significant:
        return f"{name} is ahead, and the difference is significant"
    # The winner by overall score need not be better at the tests: ratings and cost count too.
    return f"{name} has the higher overall score, but the tests do not show that it is better"
