"""The lab as one value, and the questions one can ask it.

A `Lab` never changes. What an agent may see is a smaller lab: `lab.only({Platform.WEB})` has the
same questions and fewer records.
"""

from collections import deque
from collections.abc import Iterable, Sequence, Set
from dataclasses import dataclass, replace
from typing import Protocol, TypeVar

from arena.lab.loading import (
    read_executions,
    read_machines,
    read_requirements,
    read_testcases,
    read_userinterfaces,
)
from arena.lab.records import (
    Device,
    Edge,
    Execution,
    Host,
    Machines,
    Platform,
    Requirement,
    Service,
    Testcase,
    Userinterface,
)


class HasId(Protocol):
    """A record that is called by its id."""

    @property
    def id(self) -> str:
        """The name that no other record of its kind has."""
        ...


Record = TypeVar("Record", bound=HasId)


@dataclass(frozen=True, slots=True, kw_only=True)
class Lab:
    """Everything that is known in the laboratory."""

    machines: Machines
    userinterfaces: tuple[Userinterface, ...]
    testcases: tuple[Testcase, ...]
    requirements: tuple[Requirement, ...]
    executions: tuple[Execution, ...]

    def userinterface(self, name: str) -> Userinterface | None:
        """The interface with this id."""
        return by_id(self.userinterfaces, name)

    def testcase(self, name: str) -> Testcase | None:
        """The test case with this id."""
        return by_id(self.testcases, name)

    def requirement(self, name: str) -> Requirement | None:
        """The requirement with this id."""
        return by_id(self.requirements, name)

    def execution(self, name: str) -> Execution | None:
        """The execution with this id."""
        return by_id(self.executions, name)

    def device(self, name: str) -> Device | None:
        """The device with this id."""
        return by_id(self.machines.devices, name)

    def host(self, name: str) -> Host | None:
        """The host with this id."""
        return by_id(self.machines.hosts, name)

    def service(self, name: str) -> Service | None:
        """The service with this id."""
        return by_id(self.machines.services, name)

    def devices_on(self, host: Host) -> tuple[Device, ...]:
        """The devices that hang on this host."""
        return tuple(device for device in self.machines.devices if device.host == host.id)

    def services_on(self, host: Host) -> tuple[Service, ...]:
        """The services that run on this host."""
        return tuple(service for service in self.machines.services if service.host == host.id)

    def devices_for(self, ui: Userinterface) -> tuple[Device, ...]:
        """The devices that can show this interface."""
        return tuple(device for device in self.machines.devices if ui.id in device.interfaces)

    def testcases_for(self, ui: Userinterface) -> tuple[Testcase, ...]:
        """The test cases that walk this interface."""
        return tuple(case for case in self.testcases if case.userinterface == ui.id)

    def testcases_covering(self, requirement: Requirement) -> tuple[Testcase, ...]:
        """The test cases that show that this requirement holds."""
        return tuple(case for case in self.testcases if requirement.id in case.requirements)

    def executions_of(self, case: Testcase) -> tuple[Execution, ...]:
        """What came of this test case, oldest first."""
        return tuple(run for run in self.executions if run.testcase == case.id)

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
    """The lab that ships with Arena."""
    return Lab(
        machines=read_machines(),
        userinterfaces=read_userinterfaces(),
        testcases=read_testcases(),
        requirements=read_requirements(),
        executions=read_executions(),
    )


def by_id(records: Sequence[Record], name: str) -> Record | None:
    """The record with this id, whatever the case of its letters."""
    wanted = name.casefold()
    return next((record for record in records if record.id.casefold() == wanted), None)


def shortest_path(
    ui: Userinterface, source: str, target: str, *, avoid: Iterable[Edge] = ()
) -> tuple[Edge, ...] | None:
    """The fewest edges that lead from one node to another, or None where no way does.

    Of two ways of one length the one that stands first in the tree is taken.
    """
    closed = set(avoid)
    arrivals: dict[str, tuple[Edge, ...]] = {source: ()}
    queue = deque([source])
    while queue and target not in arrivals:
        here = queue.popleft()
        for edge in ui.edges:
            if edge.source == here and edge.target not in arrivals and edge not in closed:
                arrivals[edge.target] = (*arrivals[here], edge)
                queue.append(edge.target)
    return arrivals.get(target)
