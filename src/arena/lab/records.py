"""The records of the lab.

A `userinterface` is a navigation tree: its `node`s are screens, its `edge`s are the actions that
lead from one screen to the next. A `device` is attached to a `host` and shows interfaces. A
`testcase` walks through an interface and covers `requirement`s; an `execution` is its outcome on
one device. Whatever follows from other records (status, health, coverage) is computed, not stored.
"""

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import ClassVar


class Platform(StrEnum):
    """The kind of product that an interface, a device or a requirement belongs to."""

    WEB = "web"
    MOBILE = "mobile"
    STB = "stb"


class Outcome(StrEnum):
    """How an execution ended."""

    PASSED = "passed"
    FAILED = "failed"
    TIMEOUT = "timeout"
    ERROR = "error"
    """The test case could not be executed at all, because its device was offline."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Node:
    """One screen of an interface."""

    id: str
    title: str
    aliases: tuple[str, ...]
    """Other names that people use for this screen."""
    elements: tuple[str, ...]
    """What is on the screen in the current version of the interface."""
    cold_load_ms: int
    """Load time of the first visit, on a device with load factor 1."""
    warm_load_ms: int
    """Load time of every later attempt; a retry is warm."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Edge:
    """An action that leads from one screen to another."""

    source: str
    target: str
    action: str
    element: str | None = None
    """The element the action needs; a tree that is out of date may name a missing one."""
    key: str | None = None
    """The key of the remote control, if the action needs no element."""
    timeout_ms: int

    @property
    def how(self) -> str:
        """The action in words, as in `click cart_icon` or `press GUIDE`."""
        return f"{self.action} {self.element or self.key}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Userinterface:
    """An interface under test and its navigation tree."""

    id: str
    title: str
    platform: Platform
    version: str
    entry: str
    """The id of the node that is shown first."""
    aliases: tuple[str, ...]
    description: str
    nodes: tuple[Node, ...]
    edges: tuple[Edge, ...]

    def node(self, node_id: str) -> Node:
        """The node with this id; a KeyError if the tree has none."""
        for node in self.nodes:
            if node.id == node_id:
                return node
        raise KeyError(f"userinterface {self.id} has no node {node_id}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Host:
    """A computer of the lab, with devices attached and services running on it."""

    id: str
    title: str
    address: str
    os: str
    location: str
    cpu_percent: int
    memory_percent: int
    disk_percent: int
    last_seen: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class Device:
    """A browser, phone, tablet or set-top box that shows interfaces."""

    id: str
    title: str
    platform: Platform
    os: str
    model: str
    host: str
    state: str
    """As set by its users: ready, busy or maintenance. Whether it is online is computed."""
    interfaces: tuple[str, ...]
    load_factor: float
    """Load times are multiplied by this."""
    battery_percent: int | None
    temperature_celsius: int
    last_seen: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class Service:
    """A program that the lab itself depends on."""

    id: str
    title: str
    host: str
    port: int
    latency_ms: int
    latency_limit_ms: int
    error_percent: float
    error_limit_percent: float
    last_heartbeat: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class Requirement:
    """Something a product must do."""

    id: str
    title: str
    platform: Platform
    area: str
    priority: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """One step of a test case: navigate to a node, or verify or interact with an element."""

    kind: str
    node: str | None = None
    element: str | None = None

    @property
    def what(self) -> str:
        """The step in words."""
        return f"{self.kind} {self.node or self.element}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Testcase:
    """A walk through an interface that verifies requirements."""

    __test__: ClassVar[bool] = False  # pytest would collect every class named Test...

    id: str
    title: str
    userinterface: str
    priority: str
    requirements: tuple[str, ...]
    steps: tuple[Step, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Execution:
    """The outcome of a test case on one device."""

    id: str
    testcase: str
    device: str
    started_at: datetime
    status: Outcome
    duration_ms: int
    attempts: int
    """Attempts of the slowest step: 2 means that a timeout was followed by a retry."""
    failed_step: int | None
    """The number of the step that did not pass, counted from 1."""
    message: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Threshold:
    """The values from which a figure is a warning, and critical; less is worse for a battery."""

    warning: float
    critical: float

    @property
    def limits(self) -> tuple[float, float]:
        """Both values, the milder first."""
        return self.warning, self.critical


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """The figures that decide what is healthy."""

    offline_after_seconds: int
    heartbeat_after_seconds: int
    cpu_percent: Threshold
    memory_percent: Threshold
    disk_percent: Threshold
    battery_percent: Threshold
    temperature_celsius: dict[Platform, Threshold]


@dataclass(frozen=True, slots=True, kw_only=True)
class Machines:
    """Hosts, devices and services, as they were at one moment."""

    as_of: datetime
    """The lab's present: ages count from here, so that every answer is reproducible."""
    limits: Limits
    hosts: tuple[Host, ...]
    devices: tuple[Device, ...]
    services: tuple[Service, ...]


Record = Userinterface | Node | Testcase | Requirement | Execution | Host | Device | Service
"""Everything that a prompt can mention by name."""
