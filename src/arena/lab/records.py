"""The lab's vocabulary: what a QA laboratory is made of.

A `userinterface` is a navigation tree: its `node`s are screens, its `edge`s are the actions that
lead from one screen to the next. A `device` hangs on a `host` and shows interfaces. A `testcase`
walks an interface and covers `requirement`s; an `execution` is what came of it on one device.
Nothing that follows from other records (status, health, coverage) is stored: `health.py` and
`coverage.py` work it out.
"""

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import ClassVar


class Platform(StrEnum):
    """What kind of product an interface, a device or a requirement belongs to."""

    WEB = "web"
    MOBILE = "mobile"
    STB = "stb"


class Outcome(StrEnum):
    """How an execution ended."""

    PASSED = "passed"
    FAILED = "failed"
    TIMEOUT = "timeout"
    ERROR = "error"
    """The test case could not be executed at all: its device was not there."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Node:
    """One screen of an interface."""

    id: str
    title: str
    aliases: tuple[str, ...]
    """Other names that people use for this screen."""
    elements: tuple[str, ...]
    """What is really on the screen in this version of the interface."""
    cold_load_ms: int
    """How long the screen takes the first time, on a device with load factor 1."""
    warm_load_ms: int
    """How long it takes when it was asked for before: a retry is warm."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Edge:
    """A way from one screen to another."""

    source: str
    target: str
    action: str
    element: str | None = None
    """The element the action needs on the source screen. It may be missing there: trees get old."""
    key: str | None = None
    """The key of the remote control, where the action needs no element."""
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
    """The node that is shown first."""
    aliases: tuple[str, ...]
    description: str
    nodes: tuple[Node, ...]
    edges: tuple[Edge, ...]

    def node(self, node_id: str) -> Node | None:
        """The node with this id, if the tree has it."""
        return next((node for node in self.nodes if node.id == node_id), None)


@dataclass(frozen=True, slots=True, kw_only=True)
class Host:
    """A computer of the lab that devices and services live on."""

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
    """What its users say: ready, busy or maintenance. Whether it is there at all is worked out."""
    interfaces: tuple[str, ...]
    load_factor: float
    """How many times longer a screen takes here than on the fastest device."""
    battery_percent: int | None
    temperature_celsius: int
    last_seen: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class Service:
    """A program of the lab itself."""

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
    """A walk through an interface that shows that requirements hold."""

    __test__: ClassVar[bool] = False  # pytest takes every class called Test... for its own

    id: str
    title: str
    userinterface: str
    priority: str
    requirements: tuple[str, ...]
    steps: tuple[Step, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Execution:
    """What came of a test case on one device."""

    id: str
    testcase: str
    device: str
    started_at: datetime
    status: Outcome
    duration_ms: int
    attempts: int
    """How often the slowest step was tried: 2 means that a time-out was followed by a retry."""
    failed_step: int | None
    """The number of the step that did not work, counted from 1."""
    message: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Threshold:
    """From where on a figure is a warning, and from where on critical."""

    warning: float
    critical: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """The figures that decide what is healthy."""

    offline_after_seconds: int
    heartbeat_after_seconds: int
    cpu_percent: Threshold
    memory_percent: Threshold
    disk_percent: Threshold
    battery_percent: Threshold
    """The one threshold where less is worse."""
    temperature_celsius: dict[Platform, Threshold]


@dataclass(frozen=True, slots=True, kw_only=True)
class Machines:
    """All that runs in the lab, as it was seen at one moment."""

    as_of: datetime
    """The lab's present: ages are counted from here, so that every answer can be repeated."""
    limits: Limits
    hosts: tuple[Host, ...]
    devices: tuple[Device, ...]
    services: tuple[Service, ...]
