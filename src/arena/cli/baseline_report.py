"""How a run compares with its baseline, for people: what got worse, and what to make of it."""

from collections.abc import Iterable, Iterator

from arena.cli import output
from arena.cli.gate import ON_REGRESSION, Compared, Gate, change_text, why_blind
from arena.runs.differences import (
    UNMATCHED_TRIALS,
    Changes,
    Note,
    counts_text,
    detectable_note,
    difference_notes,
    flaky_changes,
    only_notes,
    whole_notes,
)
from arena.runs.run import Run
from arena.scoring.regression import Regression

WARNING = "warning"


def changes_of(found: Regression) -> list[Changes]:
    """What got worse or better, is flaky or quarantined; lists without tests are left out."""
    lists = (
        Changes(
            title="Worse than the baseline", tests=[one for one in found.worse if not one.flaky]
        ),
        Changes(
            title="Better than the baseline", tests=[one for one in found.better if not one.flaky]
        ),
        flaky_changes(found.flaky),
        Changes(title="Quarantined: they inform and do not block", tests=found.quarantined),
    )
    return [one for one in lists if one.tests]


def headline(compared: Compared) -> str:
    """What the run is compared with."""
    baseline = compared.comparison.baseline
    tests = output.counted(compared.regression.common_tests, "test")
    return (
        f"compared with {compared.name} ({baseline.agent_id} {baseline.agent_version}, run "
        f"{baseline.id}): {tests} in common"
    )


def notes_of(compared: Compared, run: Run) -> Iterator[Note]:
    """What a reader of the verdict should know."""
    comparison, found = compared.comparison, compared.regression
    yield from _detectable(found)
    names = ("the baseline", "this run")
    yield from only_notes(found.only_baseline, found.only_now, names)
    yield from whole_notes(comparison.baseline)
    yield from difference_notes(
        comparison.baseline, run, comparison.suite_difference, comparison.environment
    )


def _detectable(found: Regression) -> Iterator[Note]:
    if not found.common_tests:
        return
    if not found.can_detect:
        yield Note(label=WARNING, detail=why_blind(found))
    elif found.power is not None:
        yield detectable_note(found.power, "drop")
    if found.unmatched_tests:
        yield UNMATCHED_TRIALS


def print_compared(
    compared: Compared, run: Run, gate: Gate | None, *, stderr: bool = False
) -> None:
    """Print the comparison, without the verdict of the gate."""
    found, lines = compared.regression, [headline(compared)]
    options = {part.option for part in gate.parts} if gate else set[str]()
    if found.common_tests and ON_REGRESSION not in options:
        lines.append(change_text(found))
    lines += list_lines(changes_of(found))
    screen = output.console(stderr=stderr)
    for line in lines:
        screen.print(output.plain(line))
    for note in notes_of(compared, run):
        style = "bold yellow" if note.label == WARNING else ""
        screen.print(output.plain(str(note)), style=style)


def list_lines(lists: Iterable[Changes]) -> Iterator[str]:
    """Lists of tests as lines of text; of a long one, the first tests."""
    for changes in lists:
        yield f"{changes.title} ({len(changes.tests)})"
        width = max(len(one.test_id) for one in changes.shown)
        for one in changes.shown:
            yield f"  {one.test_id:<{width}}  {counts_text(one)}"
        if changes.hidden:
            yield f"  … and {changes.hidden} more, as JSON"
