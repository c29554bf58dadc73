"""What a command does when a run has ended: print it, export it, decide its gate."""

import sys
from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING
from uuid import UUID

from arena.cli.baseline_report import print_compared
from arena.cli.gate import Compared, Gate, Gates, exit_code, gate_of, quarantined_tests
from arena.cli.run_report import print_run
from arena.errors import InvalidInput, NotFound
from arena.operations.comparisons import ComparisonOperations
from arena.operations.results import ResultOperations
from arena.operations.runs import RunOperations
from arena.runs.run import Outcome, QuarantinedTest, Result, Run

if TYPE_CHECKING:
    from arena.cli.export.target import Target


class EndedRunOperations(ResultOperations, RunOperations, ComparisonOperations):
    """Operations that the end of a run needs."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Ending:
    """What to do at the end of a run."""

    gates: Gates = field(default_factory=Gates)
    exports: Mapping[str, str] = field(default_factory=dict[str, str])
    """The file of each format; `-` is standard output, which then has nothing else."""
    as_json: bool = False

    @property
    def prints(self) -> bool:
        """Whether the results are printed."""
        return "-" not in self.exports.values()

    def check(self) -> None:
        """Refuse what cannot be done, before the run starts."""
        self.gates.check()
        if self.as_json and not self.prints:
            raise InvalidInput("--json and an export to -: give one of them")
        if self.exports:
            from arena.cli.export.target import check_targets  # few runs are exported

            check_targets(self._targets())

    async def show(
        self, arena: EndedRunOperations, run_id: UUID, baseline_id: UUID | None = None
    ) -> int:
        """Print and export a run that has ended, beside its baseline; returns the exit code."""
        run = (await arena.run(run_id, limit=1)).run
        quarantined: list[QuarantinedTest] = []
        if self.gates.options or self.exports:
            quarantined = await quarantined_tests(arena, run)
        compared = await self._compared(arena, run, baseline_id)
        gate = gate_of(run, self.gates, quarantined, compared)
        if self.prints:
            await print_run(arena, run_id, gate, compared, as_json=self.as_json)
        else:
            if compared is not None:
                print_compared(compared, run, gate, stderr=True)
            for part in gate.parts if gate else ():
                print(part, file=sys.stderr)
        for target in self._targets():
            await export_run(arena, run_id, target, gate, compared, quarantined)
        return exit_code(run, gate)

    async def _compared(
        self, arena: ComparisonOperations, run: Run, baseline_id: UUID | None
    ) -> Compared | None:
        """The run beside its baseline; None if one of the two has no results to compare."""
        if baseline_id is None or run.status not in ("completed", "awaiting_review"):
            return None
        try:
            comparison = await arena.check_regression(run.id, baseline_id)
        except NotFound:
            return None  # the baseline's run was deleted during this one
        return Compared(name=self.gates.baseline or str(baseline_id), comparison=comparison)

    def _targets(self) -> "list[Target]":
        if not self.exports:
            return []
        from arena.cli.export.target import Target  # few runs are exported

        return [Target(format=kind, name=name) for kind, name in self.exports.items()]


def ending(gates: Gates, *, as_json: bool = False, **exports: str | None) -> Ending:
    """The ending that the options of a command ask for, checked."""
    files = {kind: name for kind, name in exports.items() if name is not None}
    made = Ending(gates=gates, exports=files, as_json=as_json)
    made.check()
    return made


async def export_run(
    arena: EndedRunOperations,
    run_id: UUID,
    target: "Target",
    gate: Gate | None = None,
    compared: Compared | None = None,
    quarantined: list[QuarantinedTest] | None = None,
) -> None:
    """Write a run to a file; `quarantined` is read if it is not known."""
    from arena.cli.export.exported import ExportedRun  # few runs are exported

    details = await arena.run(run_id, limit=1)
    details = replace(details, results=[], count=0, next_cursor=None)
    if quarantined is None:
        quarantined = await quarantined_tests(arena, details.run)

    def results(outcome: Outcome | None = None, /) -> AsyncIterator[Result]:
        return arena.results(run_id, outcome=outcome)

    await target.write(
        ExportedRun(
            details=details,
            results=results,
            gate=gate,
            compared=compared,
            quarantined={one.test_id: one for one in quarantined},
        )
    )
