"""The lab as one frozen value, read from the JSON files in `data/`.

An agent sees a part of it: `lab.only({Platform.WEB})` is a lab with fewer records.
"""

import json
from collections import deque
from collections.abc import Iterable, Set
from dataclasses import dataclass, is_dataclass, replace
from datetime import datetime
from enum import StrEnum
from functools import cache
from importlib.resources import files
from typing import Any, get_args, get_origin, get_type_hints

from arena.lab.records import (
    Device,
    Edge,
    Execution,
    Machines,
    Platform,
    Record,
    Requirement,
    Testcase,
    Userinterface,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Lab:
    """All records of the laboratory."""

    machines: Machines
    userinterfaces: tuple[Userinterface, ...]
    testcases: tuple[Testcase, ...]
    requirements: tuple[Requirement, ...]
    executions: tuple[Execution, ...]

    def records(self) -> Iterable[Record]:
        """Every record that has a name."""
        for ui in self.userinterfaces:
            yield from (ui, *ui.nodes)
        yield from (*self.testcases, *self.requirements, *self.executions)
        yield from (*self.machines.hosts, *self.machines.devices, *self.machines.services)

    def interface_of(self, case: Testcase) -> Userinterface:
        """The interface that this test case walks through."""
        return next(ui for ui in self.userinterfaces if ui.id == case.userinterface)

    def devices_for(self, ui: Userinterface) -> tuple[Device, ...]:
        """The devices that can show this interface."""
        return tuple(device for device in self.machines.devices if ui.id in device.interfaces)

    def testcases_covering(self, requirement: Requirement) -> tuple[Testcase, ...]:
        """The test cases that verify this requirement."""
        return tuple(case for case in self.testcases if requirement.id in case.requirements)

    def only(self, platforms: Set[Platform]) -> "Lab":
        """The part of the lab that belongs to these platforms. Hosts and services serve all."""
        interfaces = tuple(ui for ui in self.userinterfaces if ui.platform in platforms)
        names = {ui.id for ui in interfaces}
        cases = tuple(case for case in self.testcases if case.userinterface in names)
        case_names = {case.id for case in cases}
        devices = tuple(d for d in self.machines.devices if d.platform in platforms)
        return Lab(
            machines=replace(self.machines, devices=devices),
            userinterfaces=interfaces,
            testcases=cases,
            requirements=tuple(r for r in self.requirements if r.platform in platforms),
            executions=tuple(run for run in self.executions if run.testcase in case_names),
        )


def open_lab() -> Lab:
    """The lab that ships with Arena; each field of `Lab` is a file."""
    folder = files("arena.lab") / "data"
    names = ("machines", "userinterfaces", "testcases", "requirements", "executions")
    content = {name: json.loads((folder / f"{name}.json").read_bytes()) for name in names}
    return build(Lab, content)


def build(kind: Any, value: Any) -> Any:
    """A JSON value as a value of the annotated type `kind`; an unknown key is an error."""
    if isinstance(kind, type) and is_dataclass(kind):
        hints = hints_of(kind)
        return kind(**{key: build(hints[key], item) for key, item in value.items()})
    if get_origin(kind) is tuple:
        return tuple(build(get_args(kind)[0], item) for item in value)
    if get_origin(kind) is dict:
        key_kind, item_kind = get_args(kind)
        return {key_kind(key): build(item_kind, item) for key, item in value.items()}
    if kind is datetime:
        return datetime.fromisoformat(value)
    return kind(value) if isinstance(kind, type) and issubclass(kind, StrEnum) else value


# Resolving annotations is slow, and every record of a kind has the same ones.
hints_of = cache(get_type_hints)


def shortest_path(
    ui: Userinterface, source: str, target: str, *, avoid: Iterable[Edge] = ()
) -> tuple[Edge, ...] | None:
    """The fewest edges from one node to another, or None; of equal paths the first in the tree."""
    closed = set(avoid)
    paths: dict[str, tuple[Edge, ...]] = {source: ()}
    queue = deque([source])
    while queue and target not in paths:
        here = queue.popleft()
        for edge in ui.edges:
            if edge.source == here and edge.target not in paths and edge not in closed:
                paths[edge.target] = (*paths[here], edge)
                queue.append(edge.target)
    return paths.get(target)
