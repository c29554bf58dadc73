"""The comparison of two runs as Markdown, for a comment or the summary of a CI step."""

from arena.cli.export.markdown import agent_of, changes_table, notes_list, origin_of
from arena.runs.comparison import RunComparison
from arena.runs.differences import (
    changes_between,
    comparison_notes,
    comparison_verdict,
)
from arena.runs.run import Run
from arena.text import percent_text


def comparison_text(comparison: RunComparison) -> str:
    """The page: both runs, the verdict, what changed, what to make of it."""
    first, second = comparison.first, comparison.second
    names = " → ".join(map(agent_of, (first, second)))
    text = f"## {names}\n\n**{comparison_verdict(comparison)}**\n\n"
    text += f"- A: {_line(first)}\n- B: {_line(second)}\n"
    text += "".join(map(changes_table, changes_between(comparison)))
    return text + notes_list(comparison_notes(comparison))


def _line(run: Run) -> str:
    passed = f"{run.passed_tests} of {run.total_tests} passed, {percent_text(run.score_percent)}"
    origin = origin_of(run)
    return f"{agent_of(run)}, run {run.id}{origin and f'. {origin}'}: {passed}"
