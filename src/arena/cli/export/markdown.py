"""Markdown for the summary of a CI step: the verdict, the counts, the failures.

Text of agents and users stands in code spans only. There it is neither HTML nor markup, and
`@name`, `#1` and addresses do not become mentions or links. Arena's own words stand outside.
"""

import re
from collections.abc import AsyncIterator, Iterable, Sequence

from arena.catalog.suite import short_version
from arena.cli import output
from arena.cli.baseline_report import changes_of, notes_of
from arena.cli.export.exported import ExportedRun, cut
from arena.cli.gate import Compared
from arena.cli.run_report import budget_text, claim_text
from arena.models.budget import Spent
from arena.runs.differences import Changes, Note, counts_text
from arena.runs.run import Run
from arena.text import percent_text, printable, seconds_text, to_unicode

MAX_ROWS = 50
MAX_CELL = 300
"""So that the page stays far below the 1 MiB that a step summary may have."""

HARMLESS = re.compile(r"(?:[A-Za-z0-9 ,%()→]|[:.](?= |$)|(?<=[0-9])[.](?=[0-9]))+")
"""Text that can be neither markup nor a link or a mention, whoever wrote it."""
TICKS = re.compile("`+")
BACKSLASHES = re.compile(r"(\\+)(?=\|)")


async def pieces(exported: ExportedRun) -> AsyncIterator[str]:
    """The page; only as many results are read as it shows."""
    run = exported.details.run
    yield f"## {agent_of(run)}: {percent_text(run.score_percent)}\n\n"
    yield f"{_verdict(exported)}\n\n{origin_of(run)}\n\n{_budget(run)}{_counts(exported)}"
    if exported.compared is not None:
        yield compared_section(exported.compared, run)
    failed, quarantined = await _failures(exported)
    informing = sum(one.failed for one in exported.quarantined.values())
    yield _section("Failures", failed, run.failed_tests - informing, run)
    yield _section("Quarantined failures, which do not block", quarantined, informing, run)
    errors = exported.details.errors
    rows = [
        (code(one.test_id), str(one.trial), code(one.category or ""), code(one.reason))
        for one in errors
    ]
    yield _section("Not executed", rows[:MAX_ROWS], run.errored_tests, run)
    yield f"\nRun {run.id}\n"


def agent_of(run: Run) -> str:
    """The agent of a run, as Markdown."""
    return code(f"{run.agent_id}@{run.agent_version}")


def origin_of(run: Run) -> str:
    """The suite of a run, and whether somebody only reports it, as Markdown."""
    suite = f"Suite {code(run.suite)} {short_version(run.suite_version)}" if run.suite else ""
    return f"{suite}{claim_text(run)}".removeprefix(", ")


def _verdict(exported: ExportedRun) -> str:
    run, gate = exported.details.run, exported.gate
    text = f"{run.passed_tests} of {run.total_tests} passed"
    if run.status != "completed":
        text = f"The run is {run.state.replace('_', ' ')}: {text}"
    if gate is None:
        return f"**{text}.**"
    word = {True: "Passed", False: "Failed", None: "Not decided"}[gate.passed]
    parts = [f"`{part.option}` {part.reason}." for part in gate.parts]
    return f"**{word}.** {text}. {' '.join(parts)}"


def _budget(run: Run) -> str:
    """What was spent of the budget; empty without one."""
    if run.budget is None:
        return ""
    return f"Budget: {budget_text(run.budget, run.spent or Spent())}\n\n"


def compared_section(compared: Compared, run: Run) -> str:
    """The run beside its baseline: what got worse, and what to make of it."""
    baseline = compared.comparison.baseline
    text = f"\n### Compared with {code(compared.name)}\n\n"
    text += f"{output.counted(compared.regression.common_tests, 'test')} in common with run "
    text += f"{baseline.id} of {agent_of(baseline)}{claim_text(baseline)}\n"
    for changes in changes_of(compared.regression):
        text += changes_table(changes)
    return text + notes_list(notes_of(compared, run))


def changes_table(changes: Changes) -> str:
    """Tests with their counts before and now; of a long list, the first ones."""
    rows = [(code(one.test_id), counts_text(one)) for one in changes.shown]
    text = f"\n**{changes.title}** ({len(changes.tests)})\n\n{table(('test', 'passed'), rows)}"
    return text + (f"\n… and {changes.hidden} more\n" if changes.hidden else "")


def notes_list(notes: Iterable[Note]) -> str:
    """Remarks, as a list; their details may hold anyone's text."""
    lines = [f"- {note.label}: {_detail(note.detail)}\n" for note in notes]
    return "\n" + "".join(lines) if lines else ""


def _detail(text: str) -> str:
    return text if HARMLESS.fullmatch(text) else code(text)


def _counts(exported: ExportedRun) -> str:
    run = exported.details.run
    cells = {
        "passed": str(run.passed_tests),
        "failed": str(run.failed_tests),
        "not executed": str(run.errored_tests),
        "to be judged": str(run.awaiting_tests),
        "quarantined": str(len(exported.quarantined)),
        "points": f"{run.points_earned:g}/{run.points_possible:g}",
        "cost": "unknown" if run.cost_usd is None else f"${run.cost_usd:.4f}",
        "took": seconds_text(run.duration_seconds),
    }
    return table(tuple(cells), [tuple(cells.values())])


async def _failures(exported: ExportedRun) -> tuple[list[Sequence[str]], list[Sequence[str]]]:
    """The rows of failures, and of quarantined ones."""
    failed: list[Sequence[str]] = []
    quarantined: list[Sequence[str]] = []
    async for result in exported.results("failed"):
        known = exported.quarantined.get(result.test_id)
        rows = failed if known is None else quarantined
        if len(rows) < MAX_ROWS:
            reason = code(result.failure_reason or "")
            if known is not None:
                reason = f"until {known.until}: {code(known.reason or '') or reason}"
            row = (code(result.test_id), str(result.trial), code(result.category), reason)
            rows.append(row)
        elif len(failed) == MAX_ROWS:
            break  # the rest is only counted
    return failed, quarantined


def _section(title: str, rows: Sequence[Sequence[str]], total: int, run: Run) -> str:
    if not rows:
        return ""
    text = f"\n### {title}\n\n{table(('test', 'trial', 'category', 'why'), rows)}"
    if total > len(rows):
        text += f"\n… and {total - len(rows)} more: {code(f'arena runs show {run.id} --json')}\n"
    return text


def table(columns: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A table of cells that are already Markdown."""
    lines = [columns, ["---"] * len(columns), *rows]
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)


def code(text: str, length: int = MAX_CELL) -> str:
    """Any text as a code span that fits into a cell of a table; empty if it is blank."""
    line = printable(" ".join(to_unicode(text).split()))
    line = cut(line, length)
    if not line.strip():
        return ""
    # A pipe ends a cell even inside a code span, and an escaped backslash before it would not be
    # an escaped pipe: a space keeps them apart.
    line = BACKSLASHES.sub(r"\1 ", line).replace("|", r"\|")
    fence = "`" * (1 + max(map(len, TICKS.findall(line)), default=0))
    space = " " if line[0] == "`" or line[-1] == "`" else ""
    return f"{fence}{space}{line}{space}{fence}"
