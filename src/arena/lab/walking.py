"""Walking through an interface on a device, and executing test cases that way.

A screen loads cold the first time and warm afterwards. A load that takes longer than the edge
allows is a timeout; the walker retries once, then gives up. An edge whose element is not on the
screen cannot be used; the walker looks for another path.
"""

from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum

from arena.lab.lab import shortest_path
from arena.lab.records import Device, Edge, Execution, Node, Outcome, Step, Testcase, Userinterface

ACTION_MS = 120
"""The time of a click, a tap or a key before the next screen starts to load."""


class Arrival(StrEnum):
    """How one move ended."""

    ARRIVED = "arrived"
    TIMEOUT = "timeout"
    MISSING = "missing element"


@dataclass(frozen=True, slots=True, kw_only=True)
class Move:
    """One edge that was tried."""

    edge: Edge
    arrival: Arrival
    allowed_ms: int
    loads_ms: tuple[int, ...]
    """The load time of each attempt."""

    @property
    def spent_ms(self) -> int:
        """The elapsed time: a timeout costs what was allowed, not what was needed."""
        return ACTION_MS + sum(min(load, self.allowed_ms) for load in self.loads_ms)


@dataclass(frozen=True, slots=True, kw_only=True)
class Journey:
    """The moves made towards a node."""

    goal: str
    start: str
    moves: tuple[Move, ...]
    reached: bool

    @property
    def spent_ms(self) -> int:
        """The elapsed time of all moves."""
        return sum(move.spent_ms for move in self.moves)

    @property
    def attempts(self) -> int:
        """The attempts of the slowest screen."""
        return max((len(move.loads_ms) for move in self.moves), default=1)

    @property
    def obstacle(self) -> Move | None:
        """The last move that failed, if the goal was not reached."""
        if self.reached:
            return None
        return next((m for m in reversed(self.moves) if m.arrival is not Arrival.ARRIVED), None)

    @property
    def failure(self) -> tuple[Outcome, str]:
        """Why the goal was not reached."""
        move = self.obstacle
        if move is None:
            return Outcome.FAILED, f"no edge leads from node '{self.start}' to '{self.goal}'"
        if move.arrival is Arrival.TIMEOUT:
            slow = f"node '{move.edge.target}' did not load within {move.allowed_ms} ms"
            return Outcome.TIMEOUT, slow
        return Outcome.FAILED, missing(str(move.edge.element), move.edge.source)


@dataclass(slots=True, kw_only=True)
class Walker:
    """A device that shows an interface, at one node."""

    ui: Userinterface
    device: Device
    limit_ms: int | None = None
    """The longest load that the caller allows; None leaves it to the edges."""
    position: str = ""
    warm: set[str] = field(default_factory=set[str])

    def __post_init__(self) -> None:
        self.position = self.position or self.ui.entry

    def navigate(self, goal: str) -> Journey:
        """Go to a node by the shortest path that works."""
        start = self.position
        moves: list[Move] = []
        closed: set[Edge] = set()
        while self.position != goal:
            path = shortest_path(self.ui, self.position, goal, avoid=closed)
            if path is None:
                break
            move = self.follow(path[0])
            moves.append(move)
            if move.arrival is Arrival.ARRIVED:
                self.position = move.edge.target
            else:
                # Another path may avoid a missing element; a slow screen was already retried.
                closed.add(move.edge)
            if move.arrival is Arrival.TIMEOUT:
                break
        reached = self.position == goal
        return Journey(goal=goal, start=start, moves=tuple(moves), reached=reached)

    def follow(self, edge: Edge) -> Move:
        """Try one edge: once, and once more after a timeout."""
        allowed = edge.timeout_ms if self.limit_ms is None else self.limit_ms
        if edge.element is not None and edge.element not in self.screen.elements:
            return Move(edge=edge, arrival=Arrival.MISSING, allowed_ms=allowed, loads_ms=())
        loads = [self.load_ms(edge.target)]
        if loads[0] > allowed:
            loads.append(self.load_ms(edge.target))
        arrival = Arrival.ARRIVED if loads[-1] <= allowed else Arrival.TIMEOUT
        return Move(edge=edge, arrival=arrival, allowed_ms=allowed, loads_ms=tuple(loads))

    def load_ms(self, node_id: str) -> int:
        """The load time of this node now; loading makes it warm."""
        node = self.ui.node(node_id)
        load = node.warm_load_ms if node_id in self.warm else node.cold_load_ms
        self.warm.add(node_id)
        return round(load * self.device.load_factor)

    @property
    def screen(self) -> Node:
        """The node that is shown."""
        return self.ui.node(self.position)


@dataclass(frozen=True, slots=True, kw_only=True)
class StepResult:
    """The outcome of one step of a test case."""

    step: Step
    status: Outcome
    spent_ms: int
    message: str | None = None
    attempts: int = 1


def execute(
    case: Testcase, walker: Walker, *, name: str, started_at: datetime
) -> tuple[Execution, list[StepResult]]:
    """Perform the steps of a test case up to the first that does not pass."""
    spent = walker.load_ms(walker.position)
    results: list[StepResult] = []
    for step in case.steps:
        results.append(perform(step, walker))
        if results[-1].status is not Outcome.PASSED:
            break
    last = results[-1]
    execution = Execution(
        id=name,
        testcase=case.id,
        device=walker.device.id,
        started_at=started_at,
        status=last.status,
        duration_ms=spent + sum(result.spent_ms for result in results),
        attempts=max(result.attempts for result in results),
        failed_step=None if last.status is Outcome.PASSED else len(results),
        message=last.message,
    )
    return execution, results


def perform(step: Step, walker: Walker) -> StepResult:
    """One step: go to a node, or look for an element on the current one."""
    if step.node is None:
        present = step.element in walker.screen.elements
        message = None if present else missing(str(step.element), walker.position)
        status = Outcome.PASSED if present else Outcome.FAILED
        return StepResult(step=step, status=status, spent_ms=ACTION_MS, message=message)
    journey = walker.navigate(step.node)
    status, message = (Outcome.PASSED, None) if journey.reached else journey.failure
    return StepResult(
        step=step,
        status=status,
        spent_ms=journey.spent_ms,
        message=message,
        attempts=journey.attempts,
    )


def missing(element: str, node: str) -> str:
    """The message for an element that is not on the screen."""
    return f"element '{element}' is missing on node '{node}'"
