"""The comparison of two runs as Markdown, for a comment or the summary of a CI step."""

from arena.cli.export.markdown import changes_table, code, notes_list
from arena.runs.comparison import RunComparison
from arena.runs.differences import (
    changes_between,
    comparison_notes,
    comparison_verdict,
    run_text,
)


def comparison_text(comparison: RunComparison) -> str:
    """The page: both runs, the verdict, what changed, what to make of it."""
    first, second = comparison.first, comparison.second
    names = [code(f"{run.agent_id} {run.agent_version}") for run in (first, second)]
    text = f"## {' → '.join(names)}\n\n**{comparison_verdict(comparison)}**\n\n"
    text += f"- A: {code(run_text(first))}\n- B: {code(run_text(second))}\n"
    text += "".join(map(changes_table, changes_between(comparison)))
    return text + notes_list(comparison_notes(comparison))
