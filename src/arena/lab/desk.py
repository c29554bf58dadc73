"""The five agents: what each may see and do, and what it has done since its process started."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from arena.lab.health import status_of
from arena.lab.lab import Lab
from arena.lab.prompt import Intent, Request
from arena.lab.records import (
    Device,
    Execution,
    Node,
    Platform,
    Requirement,
    Service,
    Testcase,
    Userinterface,
)

MONITORING = {Intent.DEVICE_STATUS, Intent.HEALTH_CHECK, Intent.LIST_HOSTS, Intent.HELP}


class CannotAnswer(Exception):
    """The request is clear but cannot be met; the message is the answer."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Role:
    """One agent of the lab."""

    id: str
    nickname: str
    platforms: frozenset[Platform] = frozenset(Platform)
    intents: frozenset[Intent] = frozenset(Intent)
    may_act: bool = True
    """False for an agent that reads and analyses but never touches a device."""


SPECIALISTS = {
    platform: Role(id=f"qa-{platform}-manager", nickname=name, platforms=frozenset({platform}))
    for platform, name in zip(Platform, ("Sherlock", "Scout", "Watcher"), strict=True)
}
MONITOR = Role(
    id="monitoring-manager", nickname="Guardian", intents=frozenset(MONITORING), may_act=False
)
ASSISTANT = Role(id="ai-assistant", nickname="Atlas", may_act=False)
ROLES = {role.id: role for role in (*SPECIALISTS.values(), MONITOR, ASSISTANT)}


@dataclass(slots=True, kw_only=True)
class Desk:
    """An agent's view of the lab, and its memory."""

    role: Role
    lab: Lab
    """The part of the lab that the role may see."""
    everything: Lab
    executions: list[Execution] = field(default_factory=list[Execution])

    def next_execution(self) -> tuple[str, datetime]:
        """The id and start of the next execution, in the lab's own time."""
        # Continues the numbers of the data, so that ids never clash.
        number = max(int(run.id.removeprefix("EX-")) for run in self.everything.executions)
        spent = sum(run.duration_ms for run in self.executions)
        start = self.everything.machines.as_of + timedelta(milliseconds=spent)
        return f"EX-{number + 1 + len(self.executions)}", start

    def scope(self, request: Request) -> Lab:
        """The part of the lab that the request is about: the named platforms, or all."""
        platforms = request.platforms & self.role.platforms
        platforms = platforms or {ui.platform for ui in request.of(Userinterface)}
        return self.lab.only(platforms) if platforms else self.lab

    def testcases(self, request: Request) -> tuple[Testcase, ...]:
        """The named test cases, those of the named interfaces and requirements, or all."""
        if request.of(Testcase):
            return request.of(Testcase)
        interfaces = {ui.id for ui in request.of(Userinterface)}
        requirements = {requirement.id for requirement in request.of(Requirement)}
        found = tuple(
            case
            for case in self.scope(request).testcases
            if (not interfaces or case.userinterface in interfaces)
            and (not requirements or requirements & set(case.requirements))
        )
        if not found:
            raise CannotAnswer("Error: no testcase was found that fits that.")
        return found

    def choose_userinterface(self, request: Request) -> Userinterface:
        """The named interface, or the first that has the named node or device, or the first."""
        candidates = request.of(Userinterface) or self.scope(request).userinterfaces
        for device in request.of(Device):
            candidates = tuple(ui for ui in candidates if ui.id in device.interfaces) or candidates
        having = tuple(ui for node in request.of(Node) for ui in candidates if node in ui.nodes)
        return (having or candidates)[0]

    def choose_device(self, request: Request, ui: Userinterface) -> Device:
        """The named device, or the first that is online; refused if it cannot be used."""
        online = [d for d in self.lab.devices_for(ui) if status_of(self.lab, d) == "online"]
        named = request.of(Device)
        if named and named[0] not in online:
            device = named[0]
            reason = f"is {status_of(self.lab, device)}"
            if ui.id not in device.interfaces:
                reason = f"cannot show userinterface {ui.id}"
            raise CannotAnswer(
                f"Error: device {device.id} {reason}, so nothing was done. Online for"
                f" {ui.id}: {ids(online)}."
            )
        if not online:
            raise CannotAnswer(f"Error: no device that can show userinterface {ui.id} is online.")
        return named[0] if named else online[0]


def scope_name(lab: Lab) -> str:
    """The platforms of a lab: `web`, or `web, mobile, stb`."""
    return ", ".join(dict.fromkeys(ui.platform for ui in lab.userinterfaces))


def ids(records: Sequence[Device | Service | Testcase]) -> str:
    """The ids of these records, or `none`."""
    return ", ".join(record.id for record in records) or "none"
