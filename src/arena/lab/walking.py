"""A device walking through an interface: what happens follows from the tree and the device.

A screen that is asked for the first time loads cold, afterwards warm. A load that takes longer than
the edge allows is a time-out; the walker retries once and then gives up. An edge whose element is
not on the screen cannot be used; the walker looks for a way round.
"""

from dataclasses import dataclass, field
from enum import StrEnum

from arena.lab.lab import shortest_path
from arena.lab.records import Device, Edge, Node, Userinterface

ACTION_MS = 120
"""What a click, a tap or a key takes before the next screen starts to load."""


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
    """How long each attempt would have taken, or took."""

    @property
    def spent_ms(self) -> int:
        """The time that went by: a time-out costs what was allowed, not what was needed."""
        return ACTION_MS + sum(min(load, self.allowed_ms) for load in self.loads_ms)


@dataclass(frozen=True, slots=True, kw_only=True)
class Journey:
    """A way to a node, as far as it went."""

    goal: str
    start: str
    moves: tuple[Move, ...]
    reached: bool

    @property
    def spent_ms(self) -> int:
        """The time of all moves."""
        return sum(move.spent_ms for move in self.moves)

    @property
    def attempts(self) -> int:
        """How often the slowest screen was asked for."""
        return max((len(move.loads_ms) for move in self.moves), default=1)

    @property
    def obstacle(self) -> Move | None:
        """The last move that did not arrive, where the goal was not reached."""
        if self.reached:
            return None
        return next((m for m in reversed(self.moves) if m.arrival is not Arrival.ARRIVED), None)


@dataclass(slots=True, kw_only=True)
class Walker:
    """A device that shows an interface, at one node."""

    ui: Userinterface
    device: Device
    limit_ms: int | None = None
    """The longest wait for a screen that the caller allows; None leaves it to the edges."""
    position: str = ""
    warm: set[str] = field(default_factory=set[str])

    def __post_init__(self) -> None:
        self.position = self.position or self.ui.entry

    def navigate(self, goal: str) -> Journey:
        """Goes to a node by the shortest way that works, and says what it met."""
        start = self.position
        moves: list[Move] = []
        closed: set[Edge] = set()
        while self.position != goal:
            way = shortest_path(self.ui, self.position, goal, avoid=closed)
            if way is None:
                break
            move = self.follow(way[0])
            moves.append(move)
            if move.arrival is Arrival.ARRIVED:
                self.position = move.edge.target
            else:
                closed.add(move.edge)
            if move.arrival is Arrival.TIMEOUT:
                break
        reached = self.position == goal
        return Journey(goal=goal, start=start, moves=tuple(moves), reached=reached)

    def follow(self, edge: Edge) -> Move:
        """Tries one edge: once, and once more after a time-out."""
        allowed = edge.timeout_ms if self.limit_ms is None else self.limit_ms
        if edge.element is not None and edge.element not in self.screen.elements:
            return Move(edge=edge, arrival=Arrival.MISSING, allowed_ms=allowed, loads_ms=())
        loads: list[int] = []
        for _attempt in range(2):
            loads.append(self.load_ms(edge.target))
            if loads[-1] <= allowed:
                arrival = Arrival.ARRIVED
                break
        else:
            arrival = Arrival.TIMEOUT
        return Move(edge=edge, arrival=arrival, allowed_ms=allowed, loads_ms=tuple(loads))

    def load_ms(self, node_id: str) -> int:
        """How long this node takes now; asking for it makes it warm."""
        node = self.node(node_id)
        figure = node.warm_load_ms if node_id in self.warm else node.cold_load_ms
        self.warm.add(node_id)
        return round(figure * self.device.load_factor)

    @property
    def screen(self) -> Node:
        """The node that is shown."""
        return self.node(self.position)

    def node(self, node_id: str) -> Node:
        """A node that is known to be in the tree."""
        node = self.ui.node(node_id)
        if node is None:
            raise KeyError(f"userinterface {self.ui.id} has no node {node_id}")
        return node
